//! Where raw failures go: to the host, once each, and to nobody else. Owns the report, the log event and the
//! containment of the host's observer.

use std::error::Error;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::{Diagnostic, RunId, Word};

/// One original failure with everything that is known about it. It may hold text that a child controls: never show it
/// to a model.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct HostReport<'a> {
    /// The provider's registered name.
    pub provider: &'a str,
    /// The run, once it has been published.
    pub run: Option<RunId>,
    /// The operation that failed.
    pub stage: Word,
    /// The safe text that the parent gets, if it gets one.
    pub shown: Option<&'a Diagnostic>,
    /// The raw failure.
    pub error: &'a (dyn Error + Send + Sync + 'static),
    /// The end of what the child wrote to its standard error.
    pub stderr_tail: &'a [u8],
}

impl<'a> HostReport<'a> {
    /// A report of `error` in `stage`.
    pub fn new(provider: &'a str, stage: Word, error: &'a (dyn Error + Send + Sync + 'static)) -> Self {
        Self {
            provider,
            run: None,
            stage,
            shown: None,
            error,
            stderr_tail: &[],
        }
    }
}

/// Takes the raw failures of a provider on behalf of the host.
pub trait HostObserver: Send + Sync {
    /// Takes one failure. A panic in here is contained and logged.
    fn failure(&self, report: &HostReport<'_>);
}

impl<F: Fn(&HostReport<'_>) + Send + Sync> HostObserver for F {
    fn failure(&self, report: &HostReport<'_>) {
        self(report);
    }
}

/// The host's end of a provider: logs each failure through `tracing` at `warn` and hands it to the observer.
#[derive(Clone, Default)]
pub struct HostReporter {
    observer: Option<Arc<dyn HostObserver>>,
}

impl HostReporter {
    /// A reporter that also calls `observer`.
    pub fn observed_by(observer: Arc<dyn HostObserver>) -> Self {
        Self {
            observer: Some(observer),
        }
    }

    /// Reports one failure.
    pub fn report(&self, report: &HostReport<'_>) {
        tracing::warn!(
            provider = report.provider,
            run = report.run.map(tracing::field::display),
            stage = %report.stage,
            error = %Chain(report.error),
            stderr = (!report.stderr_tail.is_empty())
                .then(|| tracing::field::display(String::from_utf8_lossy(report.stderr_tail))),
            "subagent failure"
        );
        if let Some(observer) = &self.observer
            && catch_unwind(AssertUnwindSafe(|| observer.failure(report))).is_err()
        {
            tracing::error!(provider = report.provider, "the host's failure observer panicked");
        }
    }
}

impl fmt::Debug for HostReporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostReporter")
            .field("observed", &self.observer.is_some())
            .finish()
    }
}

/// Shows an error and all that caused it: `outer: inner: innermost`.
#[derive(Clone, Copy, Debug)]
pub struct Chain<'a>(pub &'a (dyn Error + 'a));

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut next = self.0.source();
        while let Some(error) = next {
            write!(f, ": {error}")?;
            next = error.source();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::closed_words;

    closed_words! { enum Stage { Prompt = "prompt" } }

    #[derive(Debug, thiserror::Error)]
    #[error("outer")]
    struct Outer(#[source] std::io::Error);

    #[test]
    fn the_observer_gets_the_whole_report() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&seen);
        let reporter = HostReporter::observed_by(Arc::new(move |report: &HostReport<'_>| {
            let text = format!("{} {} {}", report.provider, report.stage, Chain(report.error));
            sink.lock().unwrap().push(text);
        }));
        let error = Outer(std::io::Error::other("inner"));
        reporter.report(&HostReport::new("acp", Word::of(Stage::Prompt), &error));
        assert_eq!(*seen.lock().unwrap(), ["acp prompt outer: inner"]);
    }

    #[test]
    fn a_panicking_observer_is_contained() {
        let reporter = HostReporter::observed_by(Arc::new(|_: &HostReport<'_>| {
            panic!("an observer that panics on purpose")
        }));
        reporter.report(&HostReport::new(
            "acp",
            Word::of(Stage::Prompt),
            &std::io::Error::other("x"),
        ));
    }
}
