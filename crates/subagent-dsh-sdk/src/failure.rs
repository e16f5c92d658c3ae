//! The private mapping from what was observed to the words that a parent may read. Owns every stage and category of
//! this provider; nothing of a child's text has a way into it.

use subagent_seam::{
    Diagnostic, DisposeError, FailureLine, SafeFailure, StartError, StopReason, closed_words,
};

use crate::client::{ClientError, TurnEnd};

closed_words! {
    enum Label { Package = "subagent-dsh-sdk", Provider = "DSH SDK", Child = "SDK" }
}

closed_words! {
    /// The operation that a failure belongs to.
    pub(crate) enum Stage {
        Initialize = "initialize",
        SessionRun = "session-run",
        Shutdown = "shutdown",
    }
}

closed_words! {
    /// The kind of a failure.
    pub(crate) enum Category {
        Configuration = "configuration",
        Protocol = "protocol",
        Transport = "transport",
        ChildError = "child-error",
        ChildDisposed = "child-disposed",
        ChildUnknown = "child-unknown",
        MissingTerminal = "missing-terminal",
        Timeout = "timeout",
        Unknown = "unknown",
    }
}

impl Category {
    /// The kind of a client's error, by its type alone.
    pub(crate) fn of(error: &ClientError) -> Self {
        match error {
            ClientError::ProtocolViolation(_) | ClientError::Response { .. } => Self::Protocol,
            ClientError::TransportClosed(_) => Self::Transport,
            ClientError::RequestTimeout { .. } | ClientError::ClientClosed => Self::Unknown,
        }
    }
}

/// What a failure came to, before it is put into words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) stage: Stage,
    pub(crate) category: Category,
}

impl Finding {
    pub(crate) const fn new(stage: Stage, category: Category) -> Self {
        Self { stage, category }
    }

    /// A teardown failed.
    pub(crate) const fn teardown() -> Self {
        Self::new(Stage::Shutdown, Category::Unknown)
    }

    /// The failure of a run that has been published.
    pub(crate) fn diagnostic(self) -> Diagnostic {
        FailureLine::new(Label::Provider, self.stage, self.category).into()
    }

    /// A failure that is told as an error, with its raw cause for the host.
    pub(crate) fn into_safe(self) -> SafeFailure {
        SafeFailure::new(Label::Package, self.diagnostic())
    }
}

/// The error of a start that was cancelled and left nothing behind.
pub(crate) fn clean_abort() -> StartError {
    StartError::aborted(Label::Child)
}

/// The error of a teardown that could not prove that everything is gone.
pub(crate) fn dispose_error(failure: SafeFailure) -> DisposeError {
    DisposeError::Failed(failure)
}

/// What the last end of a turn means: the stop reason, and what the parent may know beyond it.
pub(crate) fn terminal(end: Option<TurnEnd>) -> (StopReason, Option<Diagnostic>) {
    let told = |reason, category| {
        let finding = Finding::new(Stage::SessionRun, category);
        (reason, Some(finding.diagnostic()))
    };
    match end {
        Some(TurnEnd::Completed) => (StopReason::Completed, None),
        Some(TurnEnd::MaxTokens) => (StopReason::MaxTokens, None),
        Some(TurnEnd::Aborted { disposed: true }) => told(StopReason::Aborted, Category::ChildDisposed),
        Some(TurnEnd::Aborted { disposed: false }) => (StopReason::Aborted, None),
        Some(TurnEnd::Blocked) => (StopReason::Refusal, None),
        Some(TurnEnd::Error) => told(StopReason::Error, Category::ChildError),
        Some(TurnEnd::Interrupted) => (StopReason::Error, None),
        None => told(StopReason::Error, Category::MissingTerminal),
        Some(TurnEnd::Unknown) => told(StopReason::Error, Category::ChildUnknown),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::value::RawValue;
    use subagent_subprocess::rpc::{RemoteError, RpcError};

    use super::*;
    use crate::client::{Bound, TransportFailure, Violation};

    fn category(error: &ClientError) -> Category {
        Category::of(error)
    }

    #[test]
    fn errors_of_the_client_are_told_apart_by_type_alone() {
        let violation = Violation::receipt(RawValue::NULL);
        assert_eq!(category(&violation.into()), Category::Protocol);
        let error = RemoteError {
            code: -32000,
            message: "timeout".to_owned(),
            data: None,
        };
        let response = ClientError::Response {
            method: "initialize".to_owned(),
            error,
        };
        assert_eq!(category(&response), Category::Protocol);
        assert_eq!(
            category(&TransportFailure::Conversation(RpcError::Closed).into()),
            Category::Transport
        );
        assert_eq!(category(&Bound { limit: 1 }.into()), Category::Transport);
        let late = ClientError::RequestTimeout {
            method: "initialize".to_owned(),
            after: Duration::ZERO,
        };
        assert_eq!(category(&late), Category::Unknown);
        assert_eq!(category(&ClientError::ClientClosed), Category::Unknown);
    }

    #[test]
    fn each_end_of_a_turn_has_its_meaning() {
        let line = |category: &str| {
            Some(format!(
                "Subagent failure (provider: DSH SDK; stage: session-run; category: {category})"
            ))
        };
        for (end, reason, diagnostic) in [
            (Some(TurnEnd::Completed), StopReason::Completed, None),
            (Some(TurnEnd::MaxTokens), StopReason::MaxTokens, None),
            (
                Some(TurnEnd::Aborted { disposed: true }),
                StopReason::Aborted,
                line("child-disposed"),
            ),
            (
                Some(TurnEnd::Aborted { disposed: false }),
                StopReason::Aborted,
                None,
            ),
            (Some(TurnEnd::Blocked), StopReason::Refusal, None),
            (Some(TurnEnd::Error), StopReason::Error, line("child-error")),
            (Some(TurnEnd::Interrupted), StopReason::Error, None),
            (None, StopReason::Error, line("missing-terminal")),
            (Some(TurnEnd::Unknown), StopReason::Error, line("child-unknown")),
        ] {
            let (found, told) = terminal(end);
            assert_eq!(
                (found, told.map(|told| told.to_string())),
                (reason, diagnostic),
                "{end:?}"
            );
        }
    }

    #[test]
    fn errors_carry_the_package_and_the_abort_names_the_child() {
        assert_eq!(
            Finding::teardown().into_safe().to_string(),
            "subagent-dsh-sdk: Subagent failure (provider: DSH SDK; stage: shutdown; category: unknown)"
        );
        assert_eq!(
            clean_abort().to_string(),
            "subagent request was aborted before the SDK child started"
        );
    }
}
