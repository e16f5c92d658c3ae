//! The builder: one method for each step, to be chained.
//!
//! Owns nothing but convenience: whatever it builds can be built from `Step` as well.

use serde_json::{Value, json};

use crate::descendant::Descendant;
use crate::script::Script;
use crate::step::{AnswerId, Condition, Signal, Split, Step};

impl Script {
    /// Says in one line what the script is for.
    #[must_use]
    pub fn about(mut self, about: impl Into<String>) -> Self {
        self.about = about.into();
        self
    }

    /// Bounds the whole life.
    #[must_use]
    pub fn lifetime_ms(mut self, ms: u64) -> Self {
        self.lifetime_ms = ms;
        self
    }

    /// Gives a placeholder its value.
    #[must_use]
    pub fn var(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.vars.insert(name.into(), value.into());
        self
    }

    /// Appends any step.
    #[must_use]
    pub fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Appends what a function adds: a way to share a run of steps between scripts.
    #[must_use]
    pub fn then(self, add: impl FnOnce(Self) -> Self) -> Self {
        add(self)
    }

    /// Waits for a request or notification of `method`.
    #[must_use]
    pub fn expect(self, method: impl Into<String>) -> Self {
        self.step(Step::Expect {
            method: method.into(),
        })
    }

    /// Waits for the answer to the own request `id`.
    #[must_use]
    pub fn expect_answer(self, id: impl Into<Value>) -> Self {
        self.step(Step::ExpectAnswer { id: id.into() })
    }

    /// Waits until a condition holds.
    #[must_use]
    pub fn wait_for(self, condition: Condition) -> Self {
        self.step(Step::WaitFor(condition))
    }

    /// Answers the last expected request.
    #[must_use]
    pub fn respond(self, result: Value) -> Self {
        self.step(Step::Respond {
            to: None,
            id: AnswerId::Same,
            result,
        })
    }

    /// Answers the last expected request of `method`.
    #[must_use]
    pub fn respond_to(self, method: impl Into<String>, result: Value) -> Self {
        self.step(Step::Respond {
            to: Some(method.into()),
            id: AnswerId::Same,
            result,
        })
    }

    /// Answers the last expected request under another id.
    #[must_use]
    pub fn respond_as(self, id: AnswerId, result: Value) -> Self {
        self.step(Step::Respond { to: None, id, result })
    }

    /// Answers the last expected request with an error.
    #[must_use]
    pub fn respond_error(self, code: i64, message: impl Into<String>) -> Self {
        self.step(Step::RespondError {
            to: None,
            code,
            message: message.into(),
            data: None,
        })
    }

    /// Sends a notification.
    #[must_use]
    pub fn notify(self, method: impl Into<String>, params: Value) -> Self {
        self.step(Step::Notify {
            method: method.into(),
            params,
        })
    }

    /// Sends a request.
    #[must_use]
    pub fn request(self, id: impl Into<Value>, method: impl Into<String>, params: Value) -> Self {
        self.step(Step::Request {
            id: id.into(),
            method: method.into(),
            params,
        })
    }

    /// Sends a JSON value as a line.
    #[must_use]
    pub fn frame(self, frame: Value) -> Self {
        self.step(Step::Frame { frame })
    }

    /// Writes a line of text.
    #[must_use]
    pub fn line(self, text: impl Into<String>) -> Self {
        self.step(Step::Line { text: text.into() })
    }

    /// Writes text without a newline.
    #[must_use]
    pub fn raw(self, text: impl Into<String>) -> Self {
        self.step(Step::Raw { text: text.into() })
    }

    /// Writes bytes.
    #[must_use]
    pub fn bytes(self, bytes: impl Into<Vec<u8>>) -> Self {
        self.step(Step::Bytes { bytes: bytes.into() })
    }

    /// Writes what `add` sends in one single write.
    #[must_use]
    pub fn together(self, add: impl FnOnce(Self) -> Self) -> Self {
        self.step(Step::Together {
            steps: add(Self::new()).steps,
        })
    }

    /// Writes what `add` sends a byte at a time.
    #[must_use]
    pub fn byte_by_byte(self, add: impl FnOnce(Self) -> Self) -> Self {
        self.step(Step::ByteByByte {
            steps: add(Self::new()).steps,
            pause_us: 0,
        })
    }

    /// Does what `add` says so many times.
    #[must_use]
    pub fn repeat(self, times: u64, add: impl FnOnce(Self) -> Self) -> Self {
        self.step(Step::Repeat {
            times,
            steps: add(Self::new()).steps,
        })
    }

    /// Does what `add` says for each part of `text`.
    #[must_use]
    pub fn each_part(self, text: impl Into<String>, split: Split, add: impl FnOnce(Self) -> Self) -> Self {
        self.step(Step::EachPart {
            text: text.into(),
            split,
            steps: add(Self::new()).steps,
        })
    }

    /// Does what `add` says every so many milliseconds until a frame of `method` has arrived.
    #[must_use]
    pub fn until_frame(
        self,
        method: impl Into<String>,
        every_ms: u64,
        add: impl FnOnce(Self) -> Self,
    ) -> Self {
        self.step(Step::UntilFrame {
            method: method.into(),
            every_ms,
            steps: add(Self::new()).steps,
        })
    }

    /// Writes text to stderr.
    #[must_use]
    pub fn stderr(self, text: impl Into<String>) -> Self {
        self.step(Step::Stderr { text: text.into() })
    }

    /// Does nothing for so many milliseconds.
    #[must_use]
    pub fn sleep_ms(self, ms: u64) -> Self {
        self.step(Step::Sleep { ms })
    }

    /// Creates an empty file: a sign to the test.
    #[must_use]
    pub fn touch(self, path: impl Into<String>) -> Self {
        self.step(Step::WriteFile {
            path: path.into(),
            text: String::new(),
        })
    }

    /// Waits until a file exists: a sign from the test.
    #[must_use]
    pub fn wait_for_file(self, path: impl Into<String>) -> Self {
        self.wait_for(Condition::File { path: path.into() })
    }

    /// Stays as it is, reading and writing nothing, until killed.
    #[must_use]
    pub fn hang(self) -> Self {
        self.wait_for(Condition::Never)
    }

    /// Stays alive at the end of stdin.
    #[must_use]
    pub fn ignore_eof(self) -> Self {
        self.step(Step::IgnoreEof)
    }

    /// Stays alive at SIGTERM.
    #[must_use]
    pub fn ignore_sigterm(self) -> Self {
        self.step(Step::IgnoreSigterm)
    }

    /// Exits.
    #[must_use]
    pub fn exit(self, code: u8) -> Self {
        self.step(Step::Exit { code })
    }

    /// Kills itself.
    #[must_use]
    pub fn kill_self(self, signal: Signal) -> Self {
        self.step(Step::KillSelf { signal })
    }

    /// Starts a descendant.
    #[must_use]
    pub fn spawn(self, descendant: Descendant) -> Self {
        self.step(Step::Spawn(descendant))
    }

    /// Sends a line of exactly `bytes` bytes, its newline not counted, made from a frame that holds `{pad}`.
    #[must_use]
    pub fn padded(self, bytes: usize, frame: Value) -> Self {
        self.step(Step::Padded { frame, bytes })
    }

    /// A complete notification frame, for the steps that take a whole frame.
    pub fn notification(method: &str, params: &Value) -> Value {
        json!({"jsonrpc": "2.0", "method": method, "params": params})
    }
}
