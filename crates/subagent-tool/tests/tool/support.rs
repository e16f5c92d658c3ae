//! A provider that runs nothing, and the pieces of its runs. Owns no assertion.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use subagent_seam::{
    BoxFuture, Capabilities, CheckError, Diagnostic, DisposeError, FailureLine, Provider, Registration,
    Registry, Run, RunId, RunResult, SafeFailure, StartError, StartRequest, StopReason, closed_words,
};
use subagent_tool::{SubagentTool, ToolError, ToolOptions};

closed_words! {
    pub(crate) enum Words { Package = "subagent-acp", Acp = "ACP", Prompt = "prompt", Transport = "transport",
                 Process = "process", ProcessStart = "process-start", Teardown = "teardown", Unknown = "unknown" }
}

/// How the scripted provider's one kind of run goes.
pub(crate) enum Plan {
    StartFails(StartError),
    StartWaitsForCancel,
    Ends(RunResult, Result<(), DisposeError>),
    WaitsForCancel,
    /// Ends like this, and cleanly, once so much time is over.
    EndsAfter(Duration, RunResult),
    /// As [`Self::WaitsForCancel`], and takes so much time over it.
    CancelTakes(Duration),
}

struct Scripted {
    plan: Plan,
    capabilities: Capabilities,
    requests: Arc<Mutex<Vec<StartRequest>>>,
}

impl Provider for Scripted {
    fn name(&self) -> &'static str {
        "acp"
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn inherits_parent_context(&self) -> bool {
        false
    }

    fn start(&self, request: StartRequest) -> BoxFuture<'_, Result<Run, StartError>> {
        let cancel = request.cancel.clone();
        self.requests
            .lock()
            .expect("no test panics with the lock")
            .push(request);
        Box::pin(async move {
            let (run, driver) = Run::publish(RunId::fresh());
            match &self.plan {
                Plan::StartFails(error) => return Err(error.clone()),
                Plan::StartWaitsForCancel => {
                    cancel.cancelled().await;
                    return Err(StartError::aborted(Words::Acp));
                }
                Plan::Ends(result, disposed) => {
                    let (result, disposed) = (result.clone(), disposed.clone());
                    tokio::spawn(async move {
                        driver.settle(result);
                        driver.dispose_requested().await;
                        driver.finish(disposed);
                    });
                }
                Plan::EndsAfter(time, result) => {
                    let (time, result) = (*time, result.clone());
                    tokio::spawn(async move {
                        tokio::time::sleep(time).await;
                        driver.settle(result);
                        driver.dispose_requested().await;
                        driver.finish(Ok(()));
                    });
                }
                Plan::WaitsForCancel | Plan::CancelTakes(_) => {
                    let takes = match self.plan {
                        Plan::CancelTakes(time) => time,
                        _ => Duration::ZERO,
                    };
                    tokio::spawn(async move {
                        cancel.cancelled().await;
                        tokio::time::sleep(takes).await;
                        driver.settle(RunResult::new(StopReason::Aborted, vec!["so far".into()]));
                        driver.dispose_requested().await;
                        driver.finish(Ok(()));
                    });
                }
            }
            Ok(run)
        })
    }

    fn check(&self, _: StartRequest) -> BoxFuture<'_, Result<(), CheckError>> {
        Box::pin(async { Ok(()) })
    }
}

/// A registry with one scripted provider, and what that provider was asked.
pub(crate) struct Stage {
    pub(crate) registry: Registry,
    pub(crate) requests: Arc<Mutex<Vec<StartRequest>>>,
    pub(crate) registered: Registration,
}

impl Stage {
    pub(crate) fn set(plan: Plan, capabilities: Capabilities) -> Self {
        let registry = Registry::new();
        let requests = Arc::default();
        let provider = Scripted {
            plan,
            capabilities,
            requests: Arc::clone(&requests),
        };
        let registered = registry.register(Arc::new(provider)).expect("the name is free");
        Self {
            registry,
            requests,
            registered,
        }
    }

    pub(crate) fn tool(&self, options: ToolOptions) -> Result<SubagentTool, ToolError> {
        SubagentTool::new(self.registry.clone(), options)
    }
}

pub(crate) fn ended(stop_reason: StopReason, output: &[&str]) -> RunResult {
    RunResult::new(stop_reason, output.iter().map(|text| (*text).into()).collect())
}

pub(crate) fn diagnostic() -> Diagnostic {
    FailureLine::new(Words::Acp, Words::Prompt, Words::Transport).into()
}

pub(crate) fn teardown_failure() -> DisposeError {
    let line = FailureLine::new(Words::Acp, Words::Teardown, Words::Unknown);
    DisposeError::Failed(SafeFailure::new(Words::Package, line).caused_by(std::io::Error::other("raw")))
}

/// Waits for something that has to happen soon. Fails loudly if it does not.
pub(crate) async fn soon<F: Future>(what: &str, future: F) -> F::Output {
    let waited = tokio::time::timeout(Duration::from_mins(1), future).await;
    waited.unwrap_or_else(|_| panic!("{what} did not happen"))
}

/// A small generator of the same numbers for the same seed.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn seeded(seed: u64) -> Self {
        Self((seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) % bound
    }

    /// Lets other tasks go first, up to five times.
    pub(crate) async fn stagger(&mut self) {
        for _ in 0..self.below(6) {
            tokio::task::yield_now().await;
        }
    }
}
