//! The private mapping from what was observed to the words that a parent may read. Owns every stage and category of
//! this provider; nothing of a child's text has a way into it.

use subagent_seam::{
    Diagnostic, DisposeError, FailureLine, Line, SafeFailure, Signal, StartError, StopReason, closed_words,
};
use subagent_subprocess::ExitFacts;

use crate::permission::Decision;
use crate::wire::AcpStopReason;

closed_words! {
    enum Label { Package = "subagent-acp", Provider = "ACP" }
}

closed_words! {
    /// The operation that a failure belongs to.
    pub(crate) enum Stage {
        Initialize = "initialize",
        NewSession = "new-session",
        Prompt = "prompt",
        Process = "process",
        Teardown = "teardown",
    }
}

closed_words! {
    /// The kind of a failure.
    pub(crate) enum Category {
        Configuration = "configuration",
        Protocol = "protocol",
        Transport = "transport",
        ProcessStart = "process-start",
        ProcessExit = "process-exit",
        RemoteLimit = "remote-limit",
        Timeout = "timeout",
        Unknown = "unknown",
    }
}

closed_words! {
    enum LimitReason { MaxTurnRequests = "max_turn_requests", Unknown = "unknown" }
}

/// What a failure came to, before it is put into words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) stage: Stage,
    pub(crate) category: Category,
    pub(crate) exit: Option<ExitFacts>,
}

impl Finding {
    pub(crate) const fn new(stage: Stage, category: Category) -> Self {
        Self {
            stage,
            category,
            exit: None,
        }
    }

    /// The child ended on its own while `stage` was active.
    pub(crate) const fn exited(stage: Stage, exit: ExitFacts) -> Self {
        Self {
            stage,
            category: Category::ProcessExit,
            exit: Some(exit),
        }
    }

    /// A teardown failed, with the child's exit if it was seen.
    pub(crate) fn teardown(exit: Option<ExitFacts>) -> Self {
        let category = if exit.is_some() {
            Category::ProcessExit
        } else {
            Category::Unknown
        };
        Self {
            stage: Stage::Teardown,
            category,
            exit,
        }
    }

    fn line(self) -> FailureLine {
        let line = FailureLine::new(Label::Provider, self.stage, self.category);
        match self.exit {
            Some(ExitFacts { code: Some(code), .. }) => line.exit_code(code),
            Some(ExitFacts {
                signal: Some(signal), ..
            }) => line.signal(Signal::new(signal)),
            _ => line,
        }
    }

    /// The failure of a run that has been published.
    pub(crate) fn diagnostic(self, decision: Option<Decision>) -> Diagnostic {
        with_decision(self.line().into(), decision)
    }

    /// A failure that is told as an error, with its raw cause for the host.
    pub(crate) fn into_safe(self) -> SafeFailure {
        SafeFailure::new(Label::Package, self.line())
    }
}

/// The error of a start that was cancelled and left nothing behind.
pub(crate) fn clean_abort() -> StartError {
    StartError::aborted(Label::Provider)
}

/// The error of a teardown that could not prove that everything is gone.
pub(crate) fn dispose_error(failure: SafeFailure) -> DisposeError {
    DisposeError::Failed(failure)
}

/// What a terminal answer means: its stop reason, and what the parent may know beyond it.
pub(crate) fn terminal(
    reason: AcpStopReason,
    decision: Option<Decision>,
) -> (StopReason, Option<Diagnostic>) {
    let decided = || decision.map(|decision| Diagnostic::from(Line::from(decision)));
    let failed = |category, reason| {
        let line = FailureLine::new(Label::Provider, Stage::Prompt, category).stop_reason(reason);
        (StopReason::Error, Some(with_decision(line.into(), decision)))
    };
    match reason {
        AcpStopReason::EndTurn => (StopReason::Completed, None),
        AcpStopReason::MaxTokens => (StopReason::MaxTokens, decided()),
        AcpStopReason::Refusal => (StopReason::Refusal, decided()),
        AcpStopReason::Cancelled => (StopReason::Aborted, decided()),
        AcpStopReason::MaxTurnRequests => failed(Category::RemoteLimit, LimitReason::MaxTurnRequests),
        AcpStopReason::Unknown => failed(Category::Unknown, LimitReason::Unknown),
    }
}

fn with_decision(diagnostic: Diagnostic, decision: Option<Decision>) -> Diagnostic {
    match decision {
        Some(decision) => diagnostic.and(decision),
        None => diagnostic,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PermissionPolicy;
    use crate::permission::ToolKind;

    const DECISION: Option<Decision> = Some(Decision {
        policy: PermissionPolicy::Reject,
        request: ToolKind::Edit,
        allowed: false,
    });

    const DENIED: &str = "ACP unattended decision (policy: reject; request: edit; decision: denied)";

    #[test]
    fn only_a_completed_turn_hides_the_decision() {
        assert_eq!(
            terminal(AcpStopReason::EndTurn, DECISION),
            (StopReason::Completed, None)
        );
        for (answered, meant) in [
            (AcpStopReason::MaxTokens, StopReason::MaxTokens),
            (AcpStopReason::Refusal, StopReason::Refusal),
            (AcpStopReason::Cancelled, StopReason::Aborted),
        ] {
            let (reason, diagnostic) = terminal(answered, DECISION);
            assert_eq!((reason, diagnostic.unwrap().as_str()), (meant, DENIED));
            assert_eq!(terminal(answered, None), (meant, None));
        }
    }

    #[test]
    fn a_limit_and_an_unknown_reason_are_errors_with_the_decision_below() {
        let (reason, diagnostic) = terminal(AcpStopReason::MaxTurnRequests, DECISION);
        assert_eq!(reason, StopReason::Error);
        assert_eq!(
            diagnostic.unwrap().to_string(),
            format!(
                "Subagent failure (provider: ACP; stage: prompt; category: remote-limit; stop reason: \
                 max_turn_requests)\n{DENIED}"
            )
        );
        let (_, diagnostic) = terminal(AcpStopReason::Unknown, None);
        assert_eq!(
            diagnostic.unwrap().as_str(),
            "Subagent failure (provider: ACP; stage: prompt; category: unknown; stop reason: unknown)"
        );
    }

    #[test]
    fn an_exit_is_told_by_code_or_by_signal() {
        let code = ExitFacts {
            code: Some(127),
            signal: None,
        };
        assert_eq!(
            Finding::exited(Stage::Initialize, code).into_safe().to_string(),
            "subagent-acp: Subagent failure (provider: ACP; stage: initialize; category: process-exit; exit code: 127)"
        );
        let signal = ExitFacts {
            code: None,
            signal: Some(9),
        };
        assert_eq!(
            Finding::teardown(Some(signal)).diagnostic(None).as_str(),
            "Subagent failure (provider: ACP; stage: teardown; category: process-exit; signal: SIGKILL)"
        );
        assert_eq!(
            Finding::teardown(None).diagnostic(None).as_str(),
            "Subagent failure (provider: ACP; stage: teardown; category: unknown)"
        );
    }
}
