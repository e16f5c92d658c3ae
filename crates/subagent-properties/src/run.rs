//! A whole run of a provider, from its start to its proven end, against a child that a script plays in memory. Owns what
//! must hold for every provider; what a protocol's frames look like is its own file's.
//!
//! # Scripts
//!
//! One step a line; its first character says what it is. Whatever is no step is sent as it is, so that any bytes are a
//! script, and a line of noise is noise.
//!
//! | line | the child |
//! |---|---|
//! | `>` | waits for the next frame of the host, for a second at most; the rest of the line is a comment |
//! | `<text` | sends the text as a line; `$id` is the id of the last frame that it waited for, `$session` the run's session, `$canary` a word that may reach nobody |
//! | `+text` | sends the text without ending the line |
//! | `=words` | sends a well-formed frame that the provider's protocol knows by these words |
//! | `@9` | sends nine KiB of a line that does not end |
//! | `*9` | is read in pieces of nine bytes from now on; `*0` in whole ones |
//! | `~9` | lets nine milliseconds pass |
//! | `#9` | exits with the code nine; `#-9` by the signal |
//! | `!x` | closes its output (`x`), closes its input (`d`), stops reading (`s`), reads on (`g`), hides how much it has written (`b`), leaves its output to a descendant when it exits (`o`), stays when its input is closed (`e`), also when asked to end (`t`), whatever is done (`k`) |
//! | `?c` | the host cancels (`c`), disposes (`d`), or is in haste (`h`, `i`) |
//! | `%word` | in the first line: an option of the provider |

mod fold;
pub(crate) mod peer;
pub(crate) mod process;
pub(crate) mod script;
pub(crate) mod wire;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use subagent_seam::{
    DisposeError, HostReport, HostReporter, Parent, Run, RunResult, StartError, StartRequest, StopReason,
    text_of,
};
use subagent_subprocess::Spawned;
use subagent_tool::presentation;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use self::peer::{CANARY, Deeds, Peer, Speech};
use self::process::Puppet;
use self::wire::{Wire, Written};
use crate::words::foreign;

/// The bounds that every run has here: small enough to be met.
pub(crate) const MAX_FRAME_BYTES: usize = 64 * 1024;
pub(crate) const MAX_OUTPUT_BYTES: usize = 4096;
pub(crate) const MAX_QUEUED_BYTES: usize = 4096;
pub(crate) const STARTUP_TIMEOUT: Duration = Duration::from_secs(10);
pub(crate) const RUN_TIMEOUT: Duration = Duration::from_mins(1);
pub(crate) const IDLE_TIMEOUT: Duration = Duration::from_secs(20);

/// Longer than all of these and every window of a teardown together.
const MOST_TIME: Duration = Duration::from_mins(2);

/// What a run came to, as far as a test may want to know.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Why it ended; `None` when it did not start.
    pub stop_reason: Option<StopReason>,
    /// What a parent model reads.
    pub text: String,
    /// How many texts that were said on purpose are in its output.
    pub folded: usize,
    /// How many frames the host wrote.
    pub frames: usize,
}

/// What the host is told aside.
#[derive(Clone, Default)]
pub(crate) struct Reports(Arc<Mutex<Vec<Option<String>>>>);

impl Reports {
    pub(crate) fn reporter(&self) -> HostReporter {
        let reports = self.clone();
        HostReporter::observed_by(Arc::new(move |report: &HostReport<'_>| {
            let shown = report.shown.map(ToString::to_string);
            reports
                .0
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(shown);
        }))
    }
}

type Ended = Result<(Arc<RunResult>, Result<(), DisposeError>), StartError>;

/// Plays the script `input` to a provider, and judges what came of it. `start` starts a run with the child that it gets;
/// `words` are all that may stand in a diagnostic.
pub(crate) async fn conduct(
    input: &[u8],
    speech: impl Speech,
    words: &[&str],
    reports: &Reports,
    start: impl AsyncFnOnce(StartRequest, Spawned<Puppet>) -> Result<Run, StartError>,
) -> Seen {
    let wire = Wire::default();
    let (child, life) = Puppet::on(&wire);
    let parent = Parent {
        session_id: "parent".to_owned(),
        cwd: Some("/".into()),
        depth: 0,
    };
    let request = StartRequest::text("a task", parent);
    let dispose = CancellationToken::new();
    let mut deeds = Deeds::default();
    let peer = Peer {
        wire: wire.clone(),
        life,
        cancel: request.cancel.clone(),
        dispose: dispose.clone(),
        urgency: request.urgency.clone(),
        session: session_of(&speech).to_owned(),
        speech,
        deeds: &mut deeds,
        taken: 0,
        id: "null".to_owned(),
        line: Vec::new(),
        outlived: false,
    };

    let begun = Instant::now();
    let ended = tokio::select! {
        biased;
        ended = timeout(2 * MOST_TIME, host(start, request, child, &dispose)) => ended.expect("the run hangs"),
        never = peer.play(input) => match never {},
    };
    assert!(begun.elapsed() < MOST_TIME, "the run took {:?}", begun.elapsed());

    let state = wire.lock();
    well_formed(&state.frames);
    let mut seen = judge(&ended, words, reports);
    seen.frames = state.frames.len();
    if let Ok((result, _)) = &ended {
        let output = text_of(&result.output);
        assert!(
            output.len() <= MAX_OUTPUT_BYTES + "\n[output truncated]".len(),
            "an output of {} bytes",
            output.len()
        );
        seen.folded = fold::check(input, &output, result, &deeds, &state.frames);
    }
    seen
}

fn session_of<S: Speech>(_: &S) -> &'static str {
    S::SESSION
}

/// What a host does with a run: starts it, waits for its result, disposes of it.
async fn host(
    start: impl AsyncFnOnce(StartRequest, Spawned<Puppet>) -> Result<Run, StartError>,
    request: StartRequest,
    child: Spawned<Puppet>,
    dispose: &CancellationToken,
) -> Ended {
    let run = start(request, child).await?;
    tokio::select! {
        biased;
        _ = run.result() => {}
        () = dispose.cancelled() => {}
    }
    let disposed = run.dispose().await;
    Ok((run.result().await, disposed))
}

/// Nothing of a child's text may be in what is ours, and nothing of ours may be missing.
fn judge(ended: &Ended, words: &[&str], reports: &Reports) -> Seen {
    let shown = reports.0.lock().unwrap_or_else(PoisonError::into_inner);
    assert!(
        shown.len() <= 3,
        "the same failure is reported again and again: {shown:?}"
    );
    for shown in shown.iter().flatten() {
        assert_eq!(foreign(shown, words), None, "{shown}");
    }
    let closed = |error: &dyn std::error::Error| {
        let text = error.to_string();
        for part in text.split("; subagent-") {
            let package = part.split_once(": ").map_or(part, |(_, diagnostic)| diagnostic);
            assert_eq!(foreign(package, words), None, "{text}");
        }
    };
    match ended {
        Err(error) => {
            if !error.is_clean_abort() {
                closed(error);
            }
            let text = presentation::of_start_error(error);
            assert!(!text.contains(CANARY), "{text}");
            Seen {
                text,
                ..Seen::default()
            }
        }
        Ok((result, disposed)) => {
            if let Some(diagnostic) = &result.diagnostic {
                assert_eq!(foreign(diagnostic.as_str(), words), None, "{diagnostic}");
                assert_ne!(result.stop_reason, StopReason::Completed, "{diagnostic}");
            }
            if let Err(error) = disposed {
                assert!(
                    !matches!(error, DisposeError::Abandoned),
                    "the run's task has panicked"
                );
                closed(error);
            }
            let text = match presentation::of_run(result, disposed.as_ref().map(|&()| ())) {
                Ok(text) | Err(text) => text,
            };
            assert!(
                !text.contains(CANARY) || text_of(&result.output).contains(CANARY),
                "{text}"
            );
            Seen {
                stop_reason: Some(result.stop_reason),
                text,
                ..Seen::default()
            }
        }
    }
}

/// Whatever the child does, what it is sent are frames, and each request has an id of its own.
fn well_formed(frames: &[Written]) {
    let mut ids = std::collections::BTreeSet::new();
    for written in frames {
        let text = written.line.escape_ascii();
        let Ok(frame) = serde_json::from_slice::<Value>(&written.line) else {
            panic!("the child was sent what is no JSON: {text}")
        };
        assert_eq!(frame["jsonrpc"], "2.0", "{text}");
        if frame.get("method").is_some() && frame.get("id").is_some() {
            assert!(ids.insert(frame["id"].to_string()), "an id is used twice: {text}");
        }
    }
}
