//! The child of one run from its spawn to its proven end. Owns the rules that hold in every stage: how a failure is
//! reported, how the child is torn down.

use std::future::Future;
use std::sync::Arc;

use subagent_seam::{
    Diagnostic, DisposeError, HostReport, Progress, RunId, SafeFailure, TeardownUrgency, Word,
};
use subagent_subprocess::{ChildProcess, ManagedChild};

use crate::DshSdkError;
use crate::client::ClientError;
use crate::failure::{Category, Finding, Stage, dispose_error};
use crate::provider::Settings;
use crate::runtime::Runtime;

/// A child that is being talked to.
#[derive(Debug)]
pub(crate) struct Child<P: ChildProcess = ManagedChild> {
    pub(crate) settings: Arc<Settings>,
    pub(crate) runtime: Runtime<P>,
    pub(crate) progress: Progress,
    /// Absent until the run is published.
    pub(crate) run: Option<RunId>,
}

/// What a failure came to, and what it was.
#[derive(Debug)]
pub(crate) struct Broken {
    pub(crate) finding: Finding,
    pub(crate) error: DshSdkError,
}

impl Broken {
    /// An error of the client in `stage`.
    pub(crate) fn client(stage: Stage, error: impl Into<ClientError>) -> Self {
        let error = error.into();
        Self {
            finding: Finding::new(stage, Category::of(&error)),
            error: error.into(),
        }
    }

    /// A deadline that passed in `stage`.
    pub(crate) fn deadline(stage: Stage, deadline: &'static str, after: std::time::Duration) -> Self {
        Self {
            finding: Finding::new(stage, Category::Timeout),
            error: DshSdkError::Deadline { deadline, after },
        }
    }
}

impl<P: ChildProcess> Child<P> {
    /// Reports a raw failure to the host, once, with the text that the parent gets, if it gets one.
    pub(crate) async fn report(&mut self, stage: Stage, shown: Option<&Diagnostic>, error: &DshSdkError) {
        let stderr_tail = self.runtime.agent.stderr_tail().await;
        let mut report = HostReport::new(&self.settings.name, Word::of(stage), error);
        report.run = self.run;
        report.shown = shown;
        report.stderr_tail = &stderr_tail;
        self.settings.host.report(&report);
    }

    /// Ends the child and everything of its group. What `abandoned` makes is ready when nobody cares for patience any
    /// more.
    pub(crate) async fn teardown<A: Future<Output = ()> + Send>(
        &mut self,
        urgency: &TeardownUrgency,
        abandoned: impl Fn() -> A + Send,
    ) -> Result<(), DisposeError> {
        self.progress.enter(Stage::Shutdown);
        let outcome = self.runtime.close(&self.settings.plan, urgency, abandoned).await;
        match outcome {
            Ok(_) => Ok(()),
            Err(error) => {
                let failure = self
                    .failure(Finding::teardown(), DshSdkError::Teardown(error))
                    .await;
                Err(dispose_error(failure))
            }
        }
    }

    /// Reports a raw failure and puts it into words.
    pub(crate) async fn failure(&mut self, finding: Finding, error: DshSdkError) -> SafeFailure {
        let failure = finding.into_safe();
        self.report(finding.stage, Some(failure.diagnostic()), &error)
            .await;
        failure.caused_by(error)
    }
}
