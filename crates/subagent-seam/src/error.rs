//! Errors of starting and of disposing. Owns their texts, which a parent may read whole; the raw causes hang on
//! `source()` and are for the host alone.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use crate::{ClosedWord, Diagnostic, Feature, Word};

/// A raw cause, for the host's eyes only.
pub type Cause = Arc<dyn Error + Send + Sync + 'static>;

/// A failure that is safe to show: `<package>: <diagnostic>`. Its `source()` is the raw cause.
#[derive(Clone, Debug)]
pub struct SafeFailure {
    package: Word,
    diagnostic: Diagnostic,
    cause: Option<Cause>,
}

impl SafeFailure {
    /// A failure of `package` that `diagnostic` describes.
    pub fn new(package: impl ClosedWord, diagnostic: impl Into<Diagnostic>) -> Self {
        Self {
            package: Word::of(package),
            diagnostic: diagnostic.into().bounded(),
            cause: None,
        }
    }

    /// The same with the raw cause.
    #[must_use]
    pub fn caused_by(mut self, cause: impl Error + Send + Sync + 'static) -> Self {
        self.cause = Some(Arc::new(cause));
        self
    }

    /// The safe text without the package.
    pub fn diagnostic(&self) -> &Diagnostic {
        &self.diagnostic
    }
}

impl fmt::Display for SafeFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.package, self.diagnostic)
    }
}

impl Error for SafeFailure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause
            .as_ref()
            .map(|cause| &**cause as &(dyn Error + 'static))
    }
}

/// Why a run did not start. Whatever had been spawned is gone, unless the error says that a teardown failed too.
///
/// Its `Display` may reach a parent model.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The start failed and was rolled back.
    #[error(transparent)]
    Failed(SafeFailure),
    /// The start failed, and so did its rollback: quiescence is not proven.
    #[error("{start}; {teardown}")]
    RollbackFailed {
        /// Why the start failed.
        start: SafeFailure,
        /// Why the rollback failed.
        #[source]
        teardown: DisposeError,
    },
    /// The request was cancelled before publication, and nothing is left behind.
    #[error("subagent request was aborted before the {child} child started")]
    Aborted {
        /// What kind of child it would have been.
        child: Word,
    },
    /// The request was cancelled before publication, and the rollback failed: quiescence is not proven.
    #[error(transparent)]
    AbortRollbackFailed(DisposeError),
    /// The request asks for a feature that the provider does not advertise.
    #[error("provider {provider} does not support {}", Word::of(*feature))]
    Unsupported {
        /// The provider's registered name.
        provider: String,
        /// The feature.
        feature: Feature,
    },
    /// No provider has this name.
    #[error("no provider is named {provider}")]
    UnknownProvider {
        /// The name that was asked for.
        provider: String,
    },
    /// The registry is shut down.
    #[error("the registry is shut down and starts no more runs")]
    ShutDown,
}

impl StartError {
    /// The clean abort of a child of the kind `child`, for example `ACP`.
    pub fn aborted(child: impl ClosedWord) -> Self {
        Self::Aborted {
            child: Word::of(child),
        }
    }

    /// Whether the start was cancelled and left nothing behind.
    pub fn is_clean_abort(&self) -> bool {
        matches!(self, Self::Aborted { .. })
    }
}

/// Why a teardown failed: the child's process tree is not proven to be gone. Every caller of
/// [`Run::dispose`](crate::Run::dispose) gets the same one.
///
/// Its `Display` may reach a parent model.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DisposeError {
    /// The teardown was walked and failed.
    #[error(transparent)]
    Failed(SafeFailure),
    /// The task that owned the child ended without a word, because its async runtime was shut down or it panicked.
    #[error("subagent run was abandoned before its teardown was done")]
    Abandoned,
}

/// Why a provider's [`check`](crate::Provider::check) failed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// The child could not be started up to the point where it would take a prompt.
    #[error(transparent)]
    Start(#[from] StartError),
    /// It could, but its teardown failed.
    #[error(transparent)]
    Dispose(#[from] DisposeError),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FailureLine, closed_words};

    closed_words! {
        enum Words { Package = "subagent-acp", Acp = "ACP", Process = "process", Start = "process-start",
                     Teardown = "teardown", Unknown = "unknown" }
    }

    fn start() -> SafeFailure {
        SafeFailure::new(
            Words::Package,
            FailureLine::new(Words::Acp, Words::Process, Words::Start),
        )
    }

    fn teardown() -> DisposeError {
        let line = FailureLine::new(Words::Acp, Words::Teardown, Words::Unknown);
        DisposeError::Failed(SafeFailure::new(Words::Package, line))
    }

    #[test]
    fn a_failure_shows_its_safe_text_and_keeps_its_cause_as_source() {
        let error = StartError::Failed(start().caused_by(std::io::Error::other("secret path")));
        assert_eq!(
            error.to_string(),
            "subagent-acp: Subagent failure (provider: ACP; stage: process; category: process-start)"
        );
        assert_eq!(error.source().unwrap().to_string(), "secret path");
    }

    #[test]
    fn a_failed_rollback_is_told_in_full() {
        let error = StartError::RollbackFailed {
            start: start(),
            teardown: teardown(),
        };
        assert_eq!(
            error.to_string(),
            "subagent-acp: Subagent failure (provider: ACP; stage: process; category: process-start); \
             subagent-acp: Subagent failure (provider: ACP; stage: teardown; category: unknown)"
        );
    }

    #[test]
    fn only_an_abort_that_left_nothing_behind_is_clean() {
        let aborted = StartError::aborted(Words::Acp);
        assert_eq!(
            aborted.to_string(),
            "subagent request was aborted before the ACP child started"
        );
        assert!(aborted.is_clean_abort());
        let failed = StartError::AbortRollbackFailed(teardown());
        assert_eq!(failed.to_string(), teardown().to_string());
        assert!(!failed.is_clean_abort());
    }

    #[test]
    fn a_refused_feature_names_feature_and_provider() {
        let error = StartError::Unsupported {
            provider: "acp".to_owned(),
            feature: Feature::Persona,
        };
        assert_eq!(error.to_string(), "provider acp does not support persona");
    }
}
