//! How the attempt of a published run becomes its result. Owns that one rule; what an attempt came to is the
//! provider's finding.

use crate::{ContentBlock, Diagnostic, RunResult, StopReason};

/// What a provider found at the end of a published run.
#[derive(Clone, Debug, PartialEq)]
pub enum Attempt {
    /// The child gave a terminal answer.
    Ended {
        /// What the answer means.
        stop_reason: StopReason,
        /// What the child said.
        output: Vec<ContentBlock>,
        /// What the parent may know beyond the stop reason.
        diagnostic: Option<Diagnostic>,
    },
    /// The run failed before a terminal answer.
    Failed {
        /// What the child had said until then.
        output: Vec<ContentBlock>,
        /// Where and how it failed.
        diagnostic: Diagnostic,
    },
    /// A local cancellation came first.
    Cancelled {
        /// What the child had said until then.
        output: Vec<ContentBlock>,
    },
}

/// Turns an attempt into the run's result and bounds its diagnostic.
///
/// An answer passes through; a failure becomes `error` with the collected output; a local cancellation becomes
/// `aborted` with the collected output and never has a diagnostic.
pub fn settle(attempt: Attempt) -> RunResult {
    let (stop_reason, output, diagnostic) = match attempt {
        Attempt::Ended {
            stop_reason,
            output,
            diagnostic,
        } => (stop_reason, output, diagnostic),
        Attempt::Failed { output, diagnostic } => (StopReason::Error, output, Some(diagnostic)),
        Attempt::Cancelled { output } => (StopReason::Aborted, output, None),
    };
    RunResult::new(stop_reason, output).with_diagnostic(diagnostic.map(Diagnostic::bounded))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FailureLine, MAX_DIAGNOSTIC_BYTES, closed_words};

    closed_words! { enum Words { Word = "word" } }

    fn line() -> FailureLine {
        FailureLine::new(Words::Word, Words::Word, Words::Word)
    }

    fn said() -> Vec<ContentBlock> {
        vec!["partial".into()]
    }

    #[test]
    fn an_answer_passes_through() {
        let attempt = Attempt::Ended {
            stop_reason: StopReason::Refusal,
            output: said(),
            diagnostic: None,
        };
        assert_eq!(settle(attempt), RunResult::new(StopReason::Refusal, said()));
    }

    #[test]
    fn a_failure_keeps_the_output_and_the_diagnostic() {
        let result = settle(Attempt::Failed {
            output: said(),
            diagnostic: line().into(),
        });
        assert_eq!(result.stop_reason, StopReason::Error);
        assert_eq!(result.output, said());
        assert_eq!(result.diagnostic, Some(line().into()));
    }

    #[test]
    fn a_cancellation_has_no_diagnostic() {
        assert_eq!(
            settle(Attempt::Cancelled { output: said() }),
            RunResult::new(StopReason::Aborted, said())
        );
    }

    #[test]
    fn the_diagnostic_is_bounded() {
        let diagnostic = (0..100).fold(Diagnostic::from(line()), |text, _| text.and(line()));
        let result = settle(Attempt::Failed {
            output: Vec::new(),
            diagnostic,
        });
        let text = result.diagnostic.unwrap().to_string();
        assert!(text.len() <= MAX_DIAGNOSTIC_BYTES);
        assert!(text.ends_with("[diagnostic truncated]"));
    }
}
