//! Plays a row: from a configuration file through loader, registry and real provider to a real child, once as a call in
//! the foreground and once as a background job. Owns what holds for every row, whatever it says: its facts, nothing of the
//! machine in a text, and the same diagnostics both ways. The texts themselves are pinned by the table.

use std::path::PathBuf;
use std::time::Duration;

use jsonrpc_fake_runtime::Prepared;
use subagent_config::Deployment;
use subagent_seam::{Parent, StopReason, text_of};
use subagent_tool::jobs::{JobOptions, JobTable, Wait};
use subagent_tool::{Call, Context, Outcome, Refusal, SubagentTool};

use super::deployed::{deployed, entry, tool};
use super::row::{Cancel, Ends, Program, Row, SIGN, Session};
use super::wedge::{Wedge, Wedged};
use crate::support::{fake_program, file};

/// The loud bound of playing a row once.
pub(super) const BOUND: Duration = Duration::from_secs(40);

/// The most bytes that a diagnostic may have.
const MAX_DIAGNOSTIC_BYTES: usize = 4096;

/// What a parent model reads of a row.
pub(crate) struct Texts {
    /// The answer of the call.
    pub(crate) foreground: String,
    /// The answer of `job_output`, once the job has settled.
    pub(crate) background: String,
}

impl Row {
    /// Plays the row both ways. `kind` is that of the provider's entry.
    pub(crate) async fn play(&self, kind: &str) -> Texts {
        let foreground = self.in_time(self.foreground(kind)).await;
        let (background, outcome) = self.in_time(self.background(kind)).await;
        if let Some(outcome) = outcome {
            self.assert_alike(&foreground, &outcome, &background);
        }
        Texts {
            foreground: foreground.text,
            background,
        }
    }

    pub(super) async fn in_time<T>(&self, playing: impl Future<Output = T>) -> T {
        let played = tokio::time::timeout(BOUND, playing).await;
        played.unwrap_or_else(|_| panic!("row {:?}: still going on after {BOUND:?}", self.name))
    }

    async fn foreground(&self, kind: &str) -> Outcome {
        let scene = Scene::of(self, kind);
        let context = scene.context();
        let cancel = context.cancel.clone();
        let call = scene.tool.call(self.call(), context);
        let outcome = scene.play(call, || cancel.cancel()).await;
        scene.finish(&outcome.text).await;
        assert_eq!(self.facts(&outcome), self.ends, "the text is: {}", outcome.text);
        outcome
    }

    /// What the job came to, and the facts behind it unless the call was refused.
    async fn background(&self, kind: &str) -> (String, Option<Outcome>) {
        let scene = Scene::of(self, kind);
        let table = JobTable::new(JobOptions::default());
        let session = table.session();
        let started = scene
            .tool
            .start_background(self.call(), scene.context(), &session);
        if self.cancel == Cancel::BeforeTheCall {
            let refusal = started.unwrap_err();
            assert!(matches!(refusal, Refusal::Cancelled), "{refusal:?}");
            return (refusal.text(), None);
        }
        let mut started = started.unwrap();
        let id = started.job.id().as_str().to_owned();
        let reading = session.output(&id, Wait::AtMost(BOUND));
        let output = scene
            .play(reading, || drop(session.kill(&id, None).unwrap()))
            .await;
        let output = output.unwrap();
        assert!(output.job.status.is_final(), "{output:?}");
        let outcome = started.outcome().await.unwrap();
        table.shutdown().await;
        scene.finish(&output.text).await;
        assert_eq!(self.facts(&outcome), self.ends, "the text is: {}", output.text);
        (output.text, Some(outcome))
    }

    fn call(&self) -> Call {
        Call::new("test task", &self.prompt)
    }

    fn facts(&self, outcome: &Outcome) -> Ends {
        let facts = match (&outcome.start_error, &outcome.result, &outcome.dispose_error) {
            (Some(error), None, None) if error.is_clean_abort() => Ends::CleanAbort,
            (Some(_), None, None) => Ends::Unstarted,
            (None, Some(result), None) => Ends::With(result.stop_reason),
            (None, Some(result), Some(_)) => Ends::WithFailedTeardown(result.stop_reason),
            _ => panic!("an outcome that is neither a run nor an error: {outcome:?}"),
        };
        let succeeded = facts == Ends::With(StopReason::Completed);
        assert_eq!(outcome.is_error, !succeeded, "{}: {outcome:?}", self.name);
        facts
    }

    /// Both ways carry the same diagnostics, each whole and bounded; only a completed job carries what the child said.
    fn assert_alike(&self, foreground: &Outcome, background: &Outcome, job: &str) {
        let told = told(foreground);
        assert_eq!(told, self::told(background), "{}", self.name);
        for diagnostic in &told {
            assert!(diagnostic.len() <= MAX_DIAGNOSTIC_BYTES, "{}", self.name);
            assert!(foreground.text.contains(diagnostic), "{}", foreground.text);
            let killed = self.ends == Ends::CleanAbort;
            assert_eq!(job.contains(diagnostic), !killed, "{}: {job}", self.name);
        }
        if told.is_empty() {
            assert!(!job.contains("Subagent failure"), "{}: {job}", self.name);
        }
        if !foreground.is_error {
            let answered = format!("{}\n[status: completed]", foreground.text);
            assert_eq!(job, answered, "{}", self.name);
            return;
        }
        let status = job.strip_prefix("(no new output)\n[status: ");
        let status = status.unwrap_or_else(|| panic!("{}: output in a failed job: {job}", self.name));
        for outcome in [foreground, background] {
            let said = outcome.result.as_ref().map(|result| text_of(&result.output));
            let said = said.unwrap_or_default();
            let said = said.trim();
            assert!(said.is_empty() || !status.contains(said), "{}: {job}", self.name);
        }
    }
}

/// Everything about a failure that may reach a parent, in the order of the text.
fn told(outcome: &Outcome) -> Vec<String> {
    let diagnostic = outcome
        .result
        .as_ref()
        .and_then(|result| result.diagnostic.as_ref());
    let told = [
        outcome.start_error.as_ref().map(ToString::to_string),
        diagnostic.map(ToString::to_string),
        outcome.dispose_error.as_ref().map(ToString::to_string),
    ];
    told.into_iter().flatten().collect()
}

/// Everything that a row needs to be played once.
pub(super) struct Scene<'a> {
    row: &'a Row,
    prepared: Prepared,
    wedge: Option<(Wedged, Wedge)>,
    /// Set once the process hangs.
    hanging: std::sync::OnceLock<u32>,
    tool: SubagentTool,
    deployment: Deployment,
}

impl<'a> Scene<'a> {
    pub(super) fn of(row: &'a Row, kind: &str) -> Self {
        let prepared = Prepared::in_temp_dir(&row.script).unwrap();
        let wedge = row.wedged.map(|wedged| (wedged, Wedge::locked()));
        let mut command = match &row.program {
            Program::Fake => {
                let args = prepared.args();
                let fake = std::iter::once(fake_program().into()).chain(args);
                fake.map(|word| word.into_string().unwrap()).collect()
            }
            Program::Named(command) => command.clone(),
            Program::ScriptFile => vec![prepared.script_file().to_str().unwrap().to_owned()],
        };
        let mut keys = row.keys.clone();
        if let Some((wedged, wedge)) = &wedge {
            let (name, value) = wedge.launching(*wedged, &mut command);
            keys.push(("env", serde_json::json!({ name: value })));
        }
        let deployment = deployed(prepared.dir(), &entry(kind, &command, &keys));
        Self {
            row,
            prepared,
            wedge,
            hanging: std::sync::OnceLock::new(),
            tool: tool(&deployment, "subagent"),
            deployment,
        }
    }

    pub(super) fn deployment(&self) -> &Deployment {
        &self.deployment
    }

    /// The session's directory.
    pub(super) fn cwd(&self) -> Option<PathBuf> {
        match &self.row.session {
            Session::InDir => Some(self.prepared.dir().to_owned()),
            Session::Nowhere => None,
            Session::At(path) if path.starts_with(".") => Some(path.clone()),
            Session::At(path) => Some(self.prepared.dir().join(path)),
        }
    }

    fn context(&self) -> Context {
        let parent = Parent {
            session_id: "parent".to_owned(),
            cwd: self.cwd(),
            depth: 0,
        };
        let context = Context {
            parent,
            ..Context::default()
        };
        if self.row.cancel == Cancel::BeforeTheCall {
            context.cancel.cancel();
        }
        context
    }

    /// Waits for `playing`; meanwhile cancels it when its time has come, and looks after what hangs.
    pub(super) async fn play<T>(&self, playing: impl Future<Output = T>, cancel: impl FnOnce()) -> T {
        let cancelling = async {
            if self.row.cancel == Cancel::AtTheSign {
                file(&self.prepared.dir().join(SIGN)).await;
                cancel();
            }
        };
        let hanging = async {
            if let Some((_, wedge)) = &self.wedge {
                let pid = wedge.hanging(self.prepared.dir()).await;
                self.hanging.set(pid).unwrap();
            }
        };
        let ((), (), played) = tokio::join!(biased; cancelling, hanging, playing);
        played
    }

    /// Ends what hangs, and checks that nothing of the machine is in the text.
    pub(super) async fn finish(self, text: &str) {
        for place in [self.prepared.dir(), &std::env::temp_dir()] {
            assert!(
                !text.contains(place.to_str().unwrap()),
                "a path is in the text: {text}"
            );
        }
        if let Some(((_, wedge), pid)) = self.wedge.zip(self.hanging.into_inner()) {
            wedge.undo(pid).await;
        }
    }
}
