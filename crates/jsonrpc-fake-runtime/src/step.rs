//! The closed set of things a script can do, with the JSON spelling of each.
//!
//! Owns the vocabulary only. Building scripts is `script`, carrying them out is `engine`.
//!
//! In JSON a step is an object with one member named after the step, `{"expect": {"method": "initialize"}}`, or just
//! the name where a step has no parameters, `"close_stdin"`. Unknown names and unknown parameters are refused.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::descendant::Descendant;

/// One thing a fake runtime does.
///
/// Every string of a frame, text or path may hold placeholders such as `{prompt}`; see [`crate::Script`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Step {
    // ---- receiving -------------------------------------------------------------------------------------------
    /// Waits for the next request or notification of `method`. Frames of other methods that arrive meanwhile are
    /// kept, in order, for later steps. The frame becomes the one that `respond` answers.
    Expect {
        /// The JSON-RPC method.
        method: String,
    },
    /// Waits for the answer (result or error) to the request sent with `id`.
    ExpectAnswer {
        /// The id that the `request` step used.
        id: Value,
    },
    /// Waits until a condition holds.
    WaitFor(Condition),

    // ---- sending ---------------------------------------------------------------------------------------------
    /// Answers a received request with a result. May be used several times for one request.
    Respond {
        /// The method of the request that is answered; by default the last one expected.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<String>,
        /// How the answer's `id` relates to the request's.
        #[serde(default, skip_serializing_if = "AnswerId::is_same")]
        id: AnswerId,
        /// The result.
        result: Value,
    },
    /// Answers a received request with a JSON-RPC error.
    RespondError {
        /// The method of the request that is answered; by default the last one expected.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<String>,
        /// The error code.
        code: i64,
        /// The error message.
        message: String,
        /// The error's additional data.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data: Option<Value>,
    },
    /// Sends a notification.
    Notify {
        /// The JSON-RPC method.
        method: String,
        /// The parameters.
        params: Value,
    },
    /// Sends a request to the peer. Its answer is awaited with `expect_answer`, or ignored.
    Request {
        /// The id, any JSON value.
        id: Value,
        /// The JSON-RPC method.
        method: String,
        /// The parameters.
        params: Value,
    },
    /// Sends one JSON value as a line, whatever it is.
    Frame {
        /// The value.
        frame: Value,
    },
    /// Sends one line of exactly `bytes` bytes, its newline not counted: the placeholder `{pad}` in `frame` is
    /// replaced by as many letters `x` as are missing.
    Padded {
        /// The value; it must hold `{pad}` once.
        frame: Value,
        /// The length of the line in bytes, without the newline.
        bytes: usize,
    },
    /// Writes text and a newline, JSON or not.
    Line {
        /// The text.
        text: String,
    },
    /// Writes text as it is, without a newline.
    Raw {
        /// The text.
        text: String,
    },
    /// Writes bytes as they are: invalid UTF-8, NUL, anything.
    Bytes {
        /// The bytes, as numbers.
        bytes: Vec<u8>,
    },
    /// Writes everything that `steps` send in one single write.
    Together {
        /// Sending steps only.
        steps: Vec<Step>,
    },
    /// Writes everything that `steps` send one byte at a time, each in a write of its own.
    ByteByByte {
        /// Sending steps only.
        steps: Vec<Step>,
        /// The pause after each byte, in microseconds.
        #[serde(default, skip_serializing_if = "is_zero")]
        pause_us: u64,
    },
    /// Carries out `steps` so many times; `{index}` counts from 0. Sending steps without `{index}` are rendered once
    /// and written in large blocks, so a million notifications cost a moment.
    Repeat {
        /// How often.
        times: u64,
        /// What.
        steps: Vec<Step>,
    },
    /// Cuts `text` into parts and carries out `steps` for each; `{part}` is the part. The parts concatenate to the text.
    EachPart {
        /// The text, usually `{prompt}`.
        text: String,
        /// Where it is cut.
        split: Split,
        /// What is done for each part.
        steps: Vec<Step>,
    },
    /// Carries out `steps` again and again, `every_ms` apart, until a frame of `method` has arrived. The frame is kept
    /// for a later `expect`.
    UntilFrame {
        /// The JSON-RPC method that ends the loop.
        method: String,
        /// The pause between two rounds, in milliseconds.
        every_ms: u64,
        /// What is done in each round.
        steps: Vec<Step>,
    },
    /// Writes text to stderr, without adding a newline.
    Stderr {
        /// The text.
        text: String,
    },
    /// Writes exactly `bytes` bytes to stderr: lines of 64 bytes, the last one cut where the count is reached.
    StderrFlood {
        /// How many bytes.
        bytes: u64,
        /// Whether the last byte is a newline.
        #[serde(default, skip_serializing_if = "is_false")]
        final_newline: bool,
    },

    // ---- time and signs to the test --------------------------------------------------------------------------
    /// Does nothing for so long. For behaviours that are about time; to wait for something use `wait_for`.
    Sleep {
        /// Milliseconds.
        ms: u64,
    },
    /// Creates a file (or truncates it) with `text` in it, atomically: whoever sees the file sees all of it.
    WriteFile {
        /// The path; a relative one is relative to the fake's working directory.
        path: String,
        /// The content.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        text: String,
    },
    /// Writes argv, working directory, environment and process numbers to a file; see [`crate::Facts`].
    WriteFacts {
        /// The path; a relative one is relative to the fake's working directory.
        path: String,
    },

    // ---- life and death --------------------------------------------------------------------------------------
    /// Closes stdin for real: the peer's next write fails.
    CloseStdin,
    /// Closes stdout for real: the peer reads its end.
    CloseStdout,
    /// Closes stderr for real.
    CloseStderr,
    /// From here on the end of stdin does not end the script's process: it stays until it is killed.
    IgnoreEof,
    /// From here on SIGTERM is noted, and nothing else happens. (Unix.)
    IgnoreSigterm,
    /// From here on SIGTERM exits at once with this code. (Unix.)
    ExitOnSigterm {
        /// The exit code.
        code: u8,
    },
    /// Exits.
    Exit {
        /// The exit code.
        code: u8,
    },
    /// Sends a signal to the own process. (Unix.)
    KillSelf {
        /// The signal.
        signal: Signal,
    },
    /// Starts a process that outlives the steps after it, and waits until its pid file exists. (Unix.)
    Spawn(Descendant),
}

/// What `wait_for` waits for. In JSON `{"file": {"path": "…"}}`, `{"frame": {"method": "…"}}`, `"stdin_eof"`,
/// `"sigterm"`, `"never"`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Condition {
    /// A file exists. Stdin is not read meanwhile.
    File {
        /// The path; a relative one is relative to the fake's working directory.
        path: String,
    },
    /// A frame of a method has arrived. It is kept for a later `expect`.
    Frame {
        /// The JSON-RPC method.
        method: String,
    },
    /// The peer closed stdin. Everything it wrote before is read, recorded and kept.
    StdinEof,
    /// A SIGTERM arrived since `ignore_sigterm` (implied from here on if that step is missing). Stdin is not read
    /// meanwhile. (Unix.)
    Sigterm,
    /// Nothing: the fake stays as it is, reading nothing, until it is killed or its lifetime is over.
    Never,
}

/// How the `id` of an answer is made from the `id` of its request.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum AnswerId {
    /// The same id.
    #[default]
    Same,
    /// The id as a JSON string: `"0"` for `0`.
    AsString,
    /// Another value.
    Other(Value),
    /// No `id` member.
    Missing,
}

impl AnswerId {
    fn is_same(&self) -> bool {
        *self == Self::Same
    }
}

/// Where `each_part` cuts a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Split {
    /// Before each word; white space stays at the end of the word before it.
    Words,
    /// After each character.
    Characters,
    /// After each newline.
    Lines,
}

/// A signal that a fake can send to itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Signal {
    /// SIGHUP
    Hup,
    /// SIGINT
    Int,
    /// SIGQUIT
    Quit,
    /// SIGABRT
    Abrt,
    /// SIGKILL
    Kill,
    /// SIGSEGV
    Segv,
    /// SIGTERM
    Term,
    /// SIGUSR1
    Usr1,
}

impl Step {
    /// The step's name in a script file.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Expect { .. } => "expect",
            Self::ExpectAnswer { .. } => "expect_answer",
            Self::WaitFor(_) => "wait_for",
            Self::Respond { .. } => "respond",
            Self::RespondError { .. } => "respond_error",
            Self::Notify { .. } => "notify",
            Self::Request { .. } => "request",
            Self::Frame { .. } => "frame",
            Self::Padded { .. } => "padded",
            Self::Line { .. } => "line",
            Self::Raw { .. } => "raw",
            Self::Bytes { .. } => "bytes",
            Self::Together { .. } => "together",
            Self::ByteByByte { .. } => "byte_by_byte",
            Self::Repeat { .. } => "repeat",
            Self::EachPart { .. } => "each_part",
            Self::UntilFrame { .. } => "until_frame",
            Self::Stderr { .. } => "stderr",
            Self::StderrFlood { .. } => "stderr_flood",
            Self::Sleep { .. } => "sleep",
            Self::WriteFile { .. } => "write_file",
            Self::WriteFacts { .. } => "write_facts",
            Self::CloseStdin => "close_stdin",
            Self::CloseStdout => "close_stdout",
            Self::CloseStderr => "close_stderr",
            Self::IgnoreEof => "ignore_eof",
            Self::IgnoreSigterm => "ignore_sigterm",
            Self::ExitOnSigterm { .. } => "exit_on_sigterm",
            Self::Exit { .. } => "exit",
            Self::KillSelf { .. } => "kill_self",
            Self::Spawn(_) => "spawn",
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(flag: &bool) -> bool {
    !*flag
}
