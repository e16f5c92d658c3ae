//! One row of a table: what a child does, under which options it is delegated to, and how that must end. Owns the data;
//! a row is played by `play`, and what it comes to is pinned by the table.

use std::path::PathBuf;

use jsonrpc_fake_runtime::{Script, Step};
use serde_json::{Value, json};
use subagent_seam::StopReason;

use super::wedge::{Wedged, after_hanging};

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

/// When a row is cancelled: the call in the foreground, the job in the background.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cancel {
    Never,
    /// The call itself, in the background too.
    BeforeTheCall,
    /// Once the fake has given the [`sign`].
    AtTheSign,
}

/// What is started as the child.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    /// The fake runtime with the row's script.
    Fake,
    /// Something else.
    Named(Vec<String>),
    /// A file that is there and is no program.
    ScriptFile,
}

/// The file by which the fake gives its [`sign`].
pub(crate) const SIGN: &str = "here";

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
            .request("heard", "test/heard", json!({}))
            .expect_answer("heard"),
    )
}

/// One row.
pub(crate) struct Row {
    /// What was observed: the heading of the row, and its name in a failure.
    pub(crate) name: String,
    pub(crate) ends: Ends,
    pub(super) script: Script,
    pub(super) program: Program,
    pub(super) prompt: String,
    /// Further keys of the provider's entry in the configuration file.
    pub(super) keys: Vec<(&'static str, Value)>,
    pub(super) session: Session,
    pub(super) cancel: Cancel,
    pub(super) wedged: Option<Wedged>,
}

impl Row {
    pub(crate) fn new(name: impl Into<String>, ends: Ends, script: Script) -> Self {
        Self {
            name: name.into(),
            ends,
            script,
            program: Program::Fake,
            prompt: "task".to_owned(),
            keys: Vec::new(),
            session: Session::InDir,
            cancel: Cancel::Never,
            wedged: None,
        }
    }

    /// With a key of the configuration file. The last value given counts.
    pub(crate) fn key(mut self, key: &'static str, value: impl Into<Value>) -> Self {
        self.keys.retain(|(known, _)| *known != key);
        self.keys.push((key, value.into()));
        self
    }

    /// With windows of so many milliseconds.
    pub(crate) fn windows(self, eof: u32, signal: u32) -> Self {
        self.key("disposeEofGraceMs", eof).key("disposeGraceMs", signal)
    }

    /// With windows that a child is expected to sit out.
    pub(crate) fn impatient(self) -> Self {
        self.windows(600, 600)
    }

    /// With another child than the fake.
    pub(crate) fn program(mut self, program: Program) -> Self {
        self.program = program;
        self
    }

    /// With a shell that does this.
    pub(crate) fn shell(self, script: &str) -> Self {
        let command = ["/bin/sh", "-c", script].map(str::to_owned);
        self.program(Program::Named(command.into()))
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
    fn wedged(mut self, wedged: Wedged) -> Self {
        self.script = after_hanging(self.script);
        self.wedged = Some(wedged);
        self
    }

    /// The child itself hangs.
    pub(crate) fn hung(self) -> Self {
        self.wedged(Wedged::Leader).windows(200, 200)
    }

    /// Something else of its group hangs; the child itself has all the time it needs.
    pub(crate) fn half_hung(self) -> Self {
        self.wedged(Wedged::Rest).key("disposeGraceMs", 800)
    }
}

/// The rows that every kind of child has in common, because nothing is started.
pub(crate) fn launches(script: &Script) -> Vec<Row> {
    let row = |name: &str| Row::new(name, Ends::Unstarted, script.clone());
    let at = |path: &str| Session::At(path.into());
    let named = |command: &str| Program::Named(vec![command.to_owned()]);
    let directory = std::env::temp_dir().to_str().unwrap().to_owned();
    vec![
        row("the session has no working directory").session(Session::Nowhere),
        row("the session's working directory is relative").session(at("./here")),
        row("the session's working directory is missing").session(at("missing")),
        row("the session's working directory is a file").session(at("script.json")),
        row("the session's working directory is not UTF-8").session(not_utf8()),
        row("the command is not found").program(named("no-such-agent-4711")),
        row("the command is a directory").program(named(&directory)),
        // A configured directory is checked when the provider is built, a program when it is spawned.
        row("the command may not be executed").program(Program::ScriptFile),
    ]
}

fn not_utf8() -> Session {
    use std::os::unix::ffi::OsStringExt as _;

    Session::At(std::ffi::OsString::from_vec(b"\xff".to_vec()).into())
}
