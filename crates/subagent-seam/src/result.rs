//! What a run came to. Owns the result and its stop reason; how an attempt becomes one is `settlement`'s.

use std::fmt;

use crate::{ContentBlock, Diagnostic};

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StopReason {
    /// The child finished the task.
    Completed,
    /// Somebody stopped it: the caller, or the child itself.
    Aborted,
    /// It failed; the [diagnostic](RunResult::diagnostic) may tell where.
    Error,
    /// The child's model ran out of output tokens.
    MaxTokens,
    /// The child declined the task.
    Refusal,
}

impl StopReason {
    /// The reason's name on wires and in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Aborted => "aborted",
            Self::Error => "error",
            Self::MaxTokens => "max-tokens",
            Self::Refusal => "refusal",
        }
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The outcome of a published run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RunResult {
    /// What the child said; partial unless the run completed.
    pub output: Vec<ContentBlock>,
    /// The structured result, where one was asked for.
    pub structured: Option<serde_json::Value>,
    /// Why the run did not complete, as far as that is known and safe.
    pub diagnostic: Option<Diagnostic>,
    /// Why the run ended.
    pub stop_reason: StopReason,
}

impl RunResult {
    /// A result with an output and neither structure nor diagnostic.
    pub fn new(stop_reason: StopReason, output: Vec<ContentBlock>) -> Self {
        Self {
            output,
            structured: None,
            diagnostic: None,
            stop_reason,
        }
    }

    /// The same with a diagnostic.
    #[must_use]
    pub fn with_diagnostic(mut self, diagnostic: Option<Diagnostic>) -> Self {
        self.diagnostic = diagnostic;
        self
    }
}
