//! One row of the table: what a child does, under which options it is delegated to, and how that must end. Owns playing
//! a row against a real child; the text that the row comes to is pinned elsewhere, once for each way of delegating.

use std::path::PathBuf;
use std::time::Duration;

use jsonrpc_fake_runtime::{Script, Step};
use subagent_acp::{AcpConfig, PermissionPolicy};
use subagent_seam::StopReason;
use subagent_tool::{Context, Outcome};

use super::wedge::{Wedge, Wedged, after_hanging};
use crate::support::{FakeAgent, file};

/// What a row's facts must be, whatever its text says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    /// The run ended like this and its teardown succeeded.
    With(StopReason),
    /// The run ended like this and its teardown failed.
    WithFailedTeardown(StopReason),
    /// The run did not start.
    Unstarted,
    /// The same because it was cancelled, and nothing is left behind.
    CleanAbort,
}

/// The session on whose behalf a row delegates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Session {
    /// Its directory is the row's own.
    InDir,
    /// It has no directory.
    Nowhere,
    /// Its directory is this one, resolved against the row's own unless it begins with `./`.
    At(PathBuf),
}

/// When a row is cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cancel {
    Never,
    BeforeTheCall,
    /// Once the fake has given the [`sign`].
    AtTheSign,
}

const SIGN: &str = "here";

/// The fake tells the test that it has come so far.
pub(crate) fn sign(script: Script) -> Script {
    script.step(Step::WriteFile {
        path: SIGN.into(),
        text: "x".into(),
    })
}

/// The same, once the host has taken everything that was sent before: it answers in order.
pub(crate) fn sign_when_heard(script: Script) -> Script {
    sign(
        script
            .request("heard", "test/heard", serde_json::json!({}))
            .expect_answer("heard"),
    )
}

type Change = Box<dyn Fn(&mut AcpConfig) + Send + Sync>;

/// One row.
pub(crate) struct Row {
    /// What was observed: the heading of the row, and its name in a failure.
    pub(crate) name: String,
    pub(crate) ends: Ends,
    script: Script,
    prompt: String,
    config: Vec<Change>,
    session: Session,
    cancel: Cancel,
    wedged: Option<Wedged>,
}

impl Row {
    pub(crate) fn new(name: impl Into<String>, ends: Ends, script: Script) -> Self {
        Self {
            name: name.into(),
            ends,
            script,
            prompt: "task".to_owned(),
            config: Vec::new(),
            session: Session::InDir,
            cancel: Cancel::Never,
            wedged: None,
        }
    }

    /// Under other options.
    pub(crate) fn with(mut self, change: impl Fn(&mut AcpConfig) + Send + Sync + 'static) -> Self {
        self.config.push(Box::new(change));
        self
    }

    pub(crate) fn policy(self, policy: PermissionPolicy) -> Self {
        self.with(move |config| config.permission = policy)
    }

    /// With windows that a child is expected to sit out.
    pub(crate) fn impatient(self) -> Self {
        let window = Duration::from_millis(600);
        self.with(move |config| (config.dispose_eof_grace, config.dispose_grace) = (window, window))
    }

    /// A long task instead of a short one.
    pub(crate) fn prompt_of(mut self, bytes: usize) -> Self {
        self.prompt = "p".repeat(bytes);
        self
    }

    pub(crate) fn session(mut self, session: Session) -> Self {
        self.session = session;
        self
    }

    pub(crate) fn cancelled_before_the_call(mut self) -> Self {
        self.cancel = Cancel::BeforeTheCall;
        self
    }

    /// Cancelled once the fake has given the [`sign`].
    pub(crate) fn cancelled_at_the_sign(mut self) -> Self {
        self.cancel = Cancel::AtTheSign;
        self
    }

    /// With a process of the child's group that no signal ends.
    pub(crate) fn wedged(mut self, wedged: Wedged) -> Self {
        self.script = after_hanging(self.script);
        self.wedged = Some(wedged);
        self
    }

    /// Plays the row through `delegate`, which is given the agent, the task and a context, and checks that nothing of
    /// the machine is in what `text_of` makes of its outcome.
    pub(crate) async fn play<T>(
        &self,
        delegate: impl AsyncFnOnce(&FakeAgent, &str, Context) -> T,
        text_of: impl FnOnce(&T) -> &str,
    ) -> T {
        let mut agent = FakeAgent::running(&self.script);
        for change in &self.config {
            agent = agent.with(change);
        }
        agent = match &self.session {
            Session::InDir => agent,
            Session::Nowhere => agent.in_session_at(None),
            Session::At(path) if path.starts_with(".") => agent.in_session_at(Some(path.clone())),
            Session::At(path) => {
                let path = agent.dir().join(path);
                agent.in_session_at(Some(path))
            }
        };
        let wedge = self.wedged.map(|wedged| (wedged, Wedge::locked()));
        if let Some((wedged, wedge)) = &wedge {
            agent = agent.with(|config| wedge.applied(*wedged, config));
        }

        let context = Context::default();
        let cancel = context.cancel.clone();
        let cancelling = async {
            match self.cancel {
                Cancel::Never => {}
                Cancel::BeforeTheCall => cancel.cancel(),
                Cancel::AtTheSign => {
                    file(&agent.dir().join(SIGN)).await;
                    cancel.cancel();
                }
            }
        };
        let hanging = async {
            match &wedge {
                Some((_, wedge)) => Some(wedge.hanging(agent.dir()).await),
                None => None,
            }
        };
        let ((), pid, played) =
            tokio::join!(biased; cancelling, hanging, delegate(&agent, &self.prompt, context));
        if let Some(((_, wedge), pid)) = wedge.zip(pid) {
            wedge.undo(pid).await;
        }
        let text = text_of(&played);
        for place in [agent.dir(), &std::env::temp_dir()] {
            assert!(
                !text.contains(place.to_str().unwrap()),
                "a path is in the text: {text}"
            );
        }
        played
    }

    /// Plays it as a foreground call of the tool.
    pub(crate) async fn foreground(&self) -> String {
        let delegate =
            async |agent: &FakeAgent, prompt: &str, context| agent.delegate_with(prompt, context).await;
        let outcome = self.play(delegate, |outcome: &Outcome| &outcome.text).await;
        assert_eq!(self.facts(&outcome), self.ends, "the text is: {}", outcome.text);
        outcome.text
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
}
