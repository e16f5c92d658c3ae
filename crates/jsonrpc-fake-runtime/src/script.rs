//! The script: what a fake runtime does, as data, with a builder and a JSON file format.
//!
//! Owns the `Script` type. The single steps are in `step`, the words of a protocol in `acp` and its neighbours, the
//! execution in `engine`.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::descendant::Descendant;
use crate::step::{AnswerId, Condition, Signal, Split, Step};

/// Milliseconds that a fake lives at most unless its script says otherwise: nothing is ever left behind for good.
pub const DEFAULT_LIFETIME_MS: u64 = 120_000;

/// What a fake runtime does, step after step.
///
/// After the last step the fake behaves well: it reads (and records) until its stdin ends and then exits with code 0.
/// A stdin that ends while a step waits for a frame ends the script in the same way, unless `ignore_eof` came before.
///
/// Strings of steps may hold placeholders:
///
/// | placeholder | value |
/// |---|---|
/// | `{NAME}` | the script's variable of that name (`vars`, or `--set NAME=VALUE`) |
/// | `{prompt}` | the text of the last `session/prompt`: its text blocks, concatenated |
/// | `{sessionId}` | unless a variable: the `sessionId` of the last received frame that had one |
/// | `{METHOD#/pointer}` | the value at that JSON pointer in the last expected frame of METHOD |
/// | `{answer:ID#/pointer}` | the same in the answer to the request ID |
/// | `{index}`, `{part}`, `{pad}` | inside `repeat`, `each_part`, `padded` |
/// | `{pid}`, `{cwd}` | of the fake itself |
///
/// Anything else in braces stays as it is. A string that is nothing but one pointer placeholder takes the value
/// itself, so that a number stays a number.
///
/// ```
/// use jsonrpc_fake_runtime::Script;
/// use serde_json::json;
///
/// let script = Script::new()
///     .expect("initialize")
///     .respond(json!({"protocolVersion": 1}))
///     .exit(3);
/// assert_eq!(Script::from_json(&script.to_json())?, script);
/// # Ok::<(), jsonrpc_fake_runtime::ScriptError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// One line for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// The bound of the whole life in milliseconds; past it the fake exits with code 124.
    #[serde(default = "default_lifetime", skip_serializing_if = "is_default_lifetime")]
    pub lifetime_ms: u64,
    /// Values of placeholders.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub vars: BTreeMap<String, String>,
    /// The steps, in order.
    pub steps: Vec<Step>,
}

/// Why a script could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// The text is not a script; the source names line, column and the unknown or missing key.
    #[error("not a valid script")]
    Invalid(#[source] serde_json::Error),
    /// The file could not be read or written.
    #[error("script file `{path}`")]
    File {
        /// The file.
        path: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

impl Default for Script {
    fn default() -> Self {
        Self::new()
    }
}

impl Script {
    /// An empty script: reads until stdin ends, answers nothing, exits 0.
    pub fn new() -> Self {
        Self {
            about: String::new(),
            lifetime_ms: DEFAULT_LIFETIME_MS,
            vars: BTreeMap::new(),
            steps: Vec::new(),
        }
    }

    /// Reads a script from its JSON text.
    pub fn from_json(text: &str) -> Result<Self, ScriptError> {
        serde_json::from_str(text).map_err(ScriptError::Invalid)
    }

    /// The script as JSON text, ready for a file.
    pub fn to_json(&self) -> String {
        // A script is a tree of strings, numbers and JSON values with string keys: nothing in it can fail to serialise.
        serde_json::to_string_pretty(self).expect("a script is plain JSON data") + "\n"
    }

    /// Reads a script file.
    pub fn load(path: &Path) -> Result<Self, ScriptError> {
        let text = fs::read_to_string(path).map_err(|source| ScriptError::File {
            path: path.display().to_string(),
            source,
        })?;
        Self::from_json(&text)
    }

    /// Writes a script file.
    pub fn save(&self, path: &Path) -> Result<(), ScriptError> {
        fs::write(path, self.to_json()).map_err(|source| ScriptError::File {
            path: path.display().to_string(),
            source,
        })
    }

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

fn default_lifetime() -> u64 {
    DEFAULT_LIFETIME_MS
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_default_lifetime(ms: &u64) -> bool {
    *ms == DEFAULT_LIFETIME_MS
}
