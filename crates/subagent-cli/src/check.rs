//! `subagent check`: each provider is started and ended without a task. Owns the collecting of raw causes, which this
//! command shows since it is the operator's; the report's looks are `report`'s.

use std::collections::HashMap;
use std::env;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use subagent_seam::{
    Chain, CheckError, HostObserver, HostReport, HostReporter, Parent, Provider, RunId, StartRequest, Word,
};

use crate::args::{CheckArgs, Format};
use crate::depth::Depth;
use crate::error::CliError;
use crate::exit::Exit;
use crate::report::{json, text};
use crate::signals::Signals;
use crate::terminal::Terminal;
use crate::{deployment, output};

/// What the check of one provider came to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Checked {
    /// The provider's registered name.
    pub(crate) provider: String,
    /// What a parent would read, if the check failed.
    pub(crate) error: Option<String>,
    /// The raw causes, in the order in which they were met.
    pub(crate) findings: Vec<Finding>,
    /// The end of what the child wrote to its standard error.
    pub(crate) stderr: Option<String>,
    /// How long it took, teardown included.
    pub(crate) time: Duration,
}

/// One raw cause. It may hold text that the child controls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// The operation that failed, where that is known.
    pub(crate) stage: Option<Word>,
    /// The failure and all that caused it.
    pub(crate) error: String,
}

impl Checked {
    /// Whether the provider works.
    pub(crate) fn is_ok(&self) -> bool {
        self.error.is_none()
    }
}

/// Checks every provider of the configuration, all at once, and prints a report in the order of the file.
pub(crate) async fn check(args: CheckArgs, terminal: &Arc<Terminal>) -> Result<Exit, CliError> {
    // An agent is started, if only to be ended: an agent that checks its own configuration must come to an end too.
    let depth = Depth::within(args.recursion.max_depth)?;
    let notes = Arc::new(Notes::default());
    let reporter = HostReporter::observed_by(Arc::clone(&notes) as Arc<dyn HostObserver>);
    let deployment = deployment::deploy(deployment::from_file(args.config.as_deref())?, None, &reporter)?;
    // As for a run: until here a signal ends the process there and then.
    let signals = Signals::listen()?;

    let registry = deployment.registry();
    let checks: Vec<_> = registry
        .names()
        .into_iter()
        .filter_map(|name| registry.provider(&name))
        .map(|provider| tokio::spawn(check_one(provider, request(depth, &signals), Arc::clone(&notes))))
        .collect();
    let mut checked = Vec::with_capacity(checks.len());
    for check in checks {
        checked.push(check.await.map_err(|error| CliError::System {
            what: "a check ended without a word",
            source: error.into(),
        })?);
    }

    let exit = if checked.iter().all(Checked::is_ok) {
        Exit::Success
    } else {
        Exit::Failure
    };
    let report = match args.format {
        Format::Json => json::text(&json::Check::new(&checked)),
        Format::Text => text::check(&checked),
    };
    output::print(report, terminal, &signals).await?;
    Ok(exit.unless_stopped(signals.first()))
}

fn request(depth: Depth, signals: &Signals) -> StartRequest {
    let parent = Parent {
        session_id: RunId::fresh().to_string(),
        cwd: env::current_dir().ok(),
        depth: depth.get(),
    };
    let mut request = StartRequest::text("", parent);
    request.cancel = signals.cancel();
    request.urgency = signals.urgency();
    request
}

async fn check_one(provider: Arc<dyn Provider>, request: StartRequest, notes: Arc<Notes>) -> Checked {
    let began = Instant::now();
    let outcome = provider.check(request).await;
    let time = began.elapsed();
    let Noted { mut findings, stderr } = notes.take(provider.name());
    if let Err(error) = &outcome {
        add_sources(&mut findings, error);
    }
    Checked {
        provider: provider.name().to_owned(),
        error: outcome.err().map(|error| error.to_string()),
        findings,
        stderr,
        time,
    }
}

/// Adds the sources of the error itself, unless the provider reported them too, as it should.
fn add_sources(findings: &mut Vec<Finding>, error: &CheckError) {
    if let Some(source) = std::error::Error::source(error) {
        let error = Chain(source).to_string();
        if !findings.iter().any(|finding| finding.error.contains(&error)) {
            findings.push(Finding { stage: None, error });
        }
    }
}

/// The raw failures of each provider, as they are reported.
#[derive(Debug, Default)]
struct Notes(Mutex<HashMap<String, Noted>>);

#[derive(Debug, Default)]
struct Noted {
    findings: Vec<Finding>,
    stderr: Option<String>,
}

impl Notes {
    fn take(&self, provider: &str) -> Noted {
        let mut providers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        providers.remove(provider).unwrap_or_default()
    }
}

impl HostObserver for Notes {
    fn failure(&self, report: &HostReport<'_>) {
        let mut providers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let noted = providers.entry(report.provider.to_owned()).or_default();
        noted.findings.push(Finding {
            stage: Some(report.stage),
            error: Chain(report.error).to_string(),
        });
        // A later report holds all that an earlier one held.
        if !report.stderr_tail.is_empty() {
            noted.stderr = Some(String::from_utf8_lossy(report.stderr_tail).into_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use subagent_seam::{
        BoxFuture, Capabilities, FailureLine, NO_START_CAPABILITIES, Run, SafeFailure, StartError,
        closed_words,
    };

    use super::*;

    closed_words! {
        enum Words { Package = "subagent-acp", Acp = "ACP", NewSession = "new-session", Transport = "transport" }
    }

    /// Fails its check with `cause`, after reporting it to the host if it has a reporter.
    struct Failing {
        cause: &'static str,
        reporter: Option<HostReporter>,
    }

    impl Provider for Failing {
        fn name(&self) -> &'static str {
            "acp"
        }

        fn capabilities(&self) -> Capabilities {
            NO_START_CAPABILITIES
        }

        fn inherits_parent_context(&self) -> bool {
            false
        }

        fn start(&self, _: StartRequest) -> BoxFuture<'_, Result<Run, StartError>> {
            Box::pin(async { Err(StartError::ShutDown) })
        }

        fn check(&self, _: StartRequest) -> BoxFuture<'_, Result<(), CheckError>> {
            Box::pin(async {
                let cause = io::Error::other(self.cause);
                if let Some(reporter) = &self.reporter {
                    let mut report = HostReport::new("acp", Word::of(Words::NewSession), &cause);
                    report.stderr_tail = b"please log in\xff\n";
                    reporter.report(&report);
                }
                let line = FailureLine::new(Words::Acp, Words::NewSession, Words::Transport);
                Err(StartError::Failed(SafeFailure::new(Words::Package, line).caused_by(cause)).into())
            })
        }
    }

    async fn checked(by_the_provider: bool) -> Checked {
        let notes = Arc::new(Notes::default());
        let reporter = HostReporter::observed_by(Arc::clone(&notes) as Arc<dyn HostObserver>);
        let provider = Failing {
            cause: "error -32000: authentication required",
            reporter: by_the_provider.then_some(reporter),
        };
        let request = StartRequest::text("", Parent::default());
        let checked = check_one(Arc::new(provider), request, notes).await;
        Checked {
            time: Duration::ZERO,
            ..checked
        }
    }

    fn expected(stage: Option<Word>, stderr: Option<&str>) -> Checked {
        Checked {
            provider: "acp".to_owned(),
            error: Some(
                "subagent-acp: Subagent failure (provider: ACP; stage: new-session; category: transport)"
                    .to_owned(),
            ),
            findings: vec![Finding {
                stage,
                error: "error -32000: authentication required".to_owned(),
            }],
            stderr: stderr.map(str::to_owned),
            time: Duration::ZERO,
        }
    }

    #[tokio::test]
    async fn a_reported_cause_is_shown_once_with_its_stage_and_the_childs_stderr() {
        assert_eq!(
            checked(true).await,
            expected(Some(Word::of(Words::NewSession)), Some("please log in\u{fffd}\n"))
        );
    }

    #[tokio::test]
    async fn a_cause_that_nobody_reported_is_taken_from_the_error() {
        assert_eq!(checked(false).await, expected(None, None));
    }
}
