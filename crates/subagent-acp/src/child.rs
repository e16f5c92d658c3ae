//! The child of one run from its spawn to its proven end. Owns the rules that hold in every stage: how a broken
//! conversation is explained, how a failure is reported, how the child is torn down.

use std::future::Future;
use std::sync::Arc;

use subagent_seam::{
    Diagnostic, DisposeError, HostReport, Progress, RunId, SafeFailure, TeardownUrgency, Urgency, Word,
};
use subagent_subprocess::rpc::RpcError;
use subagent_subprocess::{AgentProcess, ChildProcess, Haste, ManagedChild};

use crate::AcpError;
use crate::failure::{Category, Finding, Stage, dispose_error};
use crate::provider::Settings;

/// A child that is being talked to.
#[derive(Debug)]
pub(crate) struct Child<P: ChildProcess = ManagedChild> {
    pub(crate) settings: Arc<Settings>,
    pub(crate) agent: AgentProcess<P>,
    pub(crate) progress: Progress,
    /// Absent until the run is published.
    pub(crate) run: Option<RunId>,
}

/// What a broken conversation came to.
pub(crate) struct Broken {
    pub(crate) finding: Finding,
    pub(crate) error: AcpError,
}

impl<P: ChildProcess> Child<P> {
    /// Tells the caller how far the child is.
    pub(crate) fn tell_progress(&mut self) {
        self.progress.received(self.agent.connection().received_bytes());
    }

    /// Explains why the conversation broke while `method` was open. A closed pipe proves nothing yet, so the child's exit
    /// is awaited for as long as a window of the ladder; a bound that was passed is what it is. Bounded; a caller that is
    /// cancelled drops the future.
    pub(crate) async fn explain(&mut self, stage: Stage, method: &'static str, source: RpcError) -> Broken {
        let exit = if source.is_closed_pipe() {
            tokio::time::timeout(self.settings.ladder.grace, self.agent.exited())
                .await
                .ok()
        } else {
            None
        };
        match exit {
            Some(exit) => {
                // Once a prompt was sent the child's life belongs to the run as a whole, not to a request.
                let stage = if stage == Stage::Prompt {
                    Stage::Process
                } else {
                    stage
                };
                Broken {
                    finding: Finding::exited(stage, exit),
                    error: AcpError::Exited { method, exit },
                }
            }
            None => Broken {
                finding: Finding::new(stage, Category::Transport),
                error: AcpError::Conversation { method, source },
            },
        }
    }

    /// Reports a raw failure to the host, once, with the text that the parent gets.
    pub(crate) async fn report(&mut self, stage: Stage, shown: &Diagnostic, error: &AcpError) {
        let stderr_tail = self.agent.stderr_tail().await;
        let mut report = HostReport::new(&self.settings.name, Word::of(stage), error);
        report.run = self.run;
        report.shown = Some(shown);
        report.stderr_tail = &stderr_tail;
        self.settings.host.report(&report);
    }

    /// Ends the child and everything of its group. `abandoned` is ready when nobody cares for patience any more.
    pub(crate) async fn teardown(
        &mut self,
        urgency: &TeardownUrgency,
        abandoned: impl Future<Output = ()> + Send,
    ) -> Result<(), DisposeError> {
        self.progress.enter(Stage::Teardown);
        let ladder = self.settings.ladder;
        let haste = Haste {
            hurried: urgency.reached(Urgency::Hurried),
            immediate: urgency.immediate_or(abandoned),
        };
        let ignored = self.agent.connection().ignored();
        let outcome = self.agent.teardown(&ladder, haste).await;
        tracing::debug!(
            provider = self.settings.name,
            ?outcome,
            ?ignored,
            "teardown of an agent"
        );
        match outcome {
            Ok(_) => Ok(()),
            Err(error) => {
                let finding = Finding::teardown(error.exit);
                Err(dispose_error(
                    self.failure(finding, AcpError::Teardown(error)).await,
                ))
            }
        }
    }

    /// Reports a raw failure and puts it into words.
    pub(crate) async fn failure(&mut self, finding: Finding, error: AcpError) -> SafeFailure {
        let failure = finding.into_safe();
        self.report(finding.stage, failure.diagnostic(), &error).await;
        failure.caused_by(error)
    }
}
