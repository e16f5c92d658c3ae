//! The tool in the background: one call, one job. Owns what is checked before the call is answered, and the work of the
//! job; how a job lives and ends is [`jobs`](crate::jobs)'.

use std::fmt;

use std::pin::pin;
use std::task::{self, Poll, Waker};

use subagent_seam::{Parent, Registry, RunId, StartError, StartRequest};
use tokio::sync::oneshot;

use crate::jobs::{Job, JobError, JobKind, Session};
use crate::{Call, Context, Outcome, SubagentTool, presentation, settlement};

/// Why a call was not taken into the background. Nothing was started.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The deployment does not let this tool run in the background.
    #[error("tool {tool} does not run tasks in the background")]
    Disabled {
        /// The tool.
        tool: String,
    },
    /// The prompt has nothing but white space.
    #[error("prompt must not be empty, expected the complete task")]
    EmptyPrompt,
    /// The call was cancelled before its job began.
    #[error("subagent request was aborted before the background job started")]
    Cancelled,
    /// The run could not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The session may not start the job.
    #[error(transparent)]
    Job(#[from] JobError),
}

impl Refusal {
    /// Exactly what the calling model reads.
    pub fn text(&self) -> String {
        presentation::of_error(self)
    }
}

/// A call that goes on as a background job.
pub struct Started {
    /// Exactly what the calling model reads.
    pub text: String,
    /// The job.
    pub job: Job,
    outcome: oneshot::Receiver<Outcome>,
}

impl Started {
    pub(crate) fn new(text: String, job: Job, outcome: oneshot::Receiver<Outcome>) -> Self {
        Self { text, job, outcome }
    }

    /// Waits for the facts behind the job's settlement, for a host that reports them itself: the outcome of the same
    /// call in the foreground. Its text is that of a foreground call; the job's own are the job tools'. Ready no later
    /// than the job settles. `None` if the job was abandoned, or if an earlier call has returned it.
    ///
    /// Cancel-safe. Bounded as [`SubagentTool::call`]. Dropping this value instead gives the facts up; the job goes on.
    pub async fn outcome(&mut self) -> Option<Outcome> {
        if self.outcome.is_terminated() {
            return None;
        }
        (&mut self.outcome).await.ok()
    }
}

impl fmt::Debug for Started {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Started")
            .field("text", &self.text)
            .field("job", &self.job)
            .finish_non_exhaustive()
    }
}

impl SubagentTool {
    /// Starts one task as a background job of `session` and returns at once, without waiting for anything. Must be
    /// called within a Tokio runtime.
    ///
    /// From here on the job has its own cancellation and its own [urgency](crate::jobs::JobTable::urgency): those of
    /// `context` do not reach it. Its progress is the context's. It ends as a foreground call does, at the latest when
    /// its session or its table ends. Its label is the call's description, else the beginning of the prompt.
    ///
    /// # Errors
    ///
    /// Whatever can be known before a child is started: the tool does not run in the background, the prompt is empty,
    /// the call is cancelled, the provider is gone or lacks a feature, the registry or the table is shut down, the
    /// session has ended or has as many jobs running as it may.
    pub fn start_background(
        &self,
        call: Call,
        context: Context,
        session: &Session,
    ) -> Result<Started, Refusal> {
        if !self.options().background {
            return Err(Refusal::Disabled {
                tool: self.name().to_owned(),
            });
        }
        if call.prompt.trim().is_empty() {
            return Err(Refusal::EmptyPrompt);
        }
        if context.cancel.is_cancelled() {
            return Err(Refusal::Cancelled);
        }
        let label = call.label().to_owned();
        let mut request = self.request(call, context);
        self.check(&request)?;

        let tool = self.clone();
        let (tell, outcome) = oneshot::channel();
        let job = session.start(JobKind::SUBAGENT, label, move |control| async move {
            request.cancel = control.cancel;
            request.urgency = control.urgency;
            let outcome = tool.perform(request).await;
            let settlement = settlement::of_outcome(&outcome);
            // Nobody may be there to hear it.
            let _ = tell.send(outcome);
            settlement
        })?;
        Ok(Started::new(
            presentation::of_background_start(job.id()),
            job,
            outcome,
        ))
    }

    /// Whether the registry would take the request now.
    fn check(&self, request: &StartRequest) -> Result<(), StartError> {
        if is_shut_down(self.registry()) {
            return Err(StartError::ShutDown);
        }
        let name = self.provider();
        let provider = self
            .registry()
            .provider(name)
            .ok_or_else(|| StartError::UnknownProvider {
                provider: name.to_owned(),
            })?;
        match provider.capabilities().missing(&request.features) {
            Some(feature) => Err(StartError::Unsupported {
                provider: name.to_owned(),
                feature,
            }),
            None => Ok(()),
        }
    }
}

/// Whether the registry starts no more runs. It tells only those that ask for one, so one is asked for of a provider
/// that nobody has: a registry that is not shut down answers that it is unknown. Neither answer takes time.
fn is_shut_down(registry: &Registry) -> bool {
    let nobody = RunId::fresh().to_string();
    let request = StartRequest::text("", Parent::default());
    let answer = pin!(registry.start(&nobody, request)).poll(&mut task::Context::from_waker(Waker::noop()));
    matches!(answer, Poll::Ready(Err(StartError::ShutDown)))
}
