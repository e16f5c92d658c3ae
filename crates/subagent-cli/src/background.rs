//! `run --background`: one task as a background job, followed to its very end. Owns the table of this one job and what is
//! read from it; how a job lives and ends is `subagent-tool`'s.

use subagent_config::JobsEntry;
use subagent_tool::jobs::{JobOptions, JobSnapshot, JobStatus, JobTable, Settlement, Wait};
use subagent_tool::{Call, Context, Outcome, Refusal, SubagentTool};

use crate::signals::Signals;

/// What the job came to.
#[derive(Debug)]
pub(crate) struct Settled {
    /// What the model reads when the job begins. `None` if it did not.
    pub(crate) started: Option<String>,
    /// The job at its end.
    pub(crate) job: Option<JobSnapshot>,
    /// The facts behind it.
    pub(crate) outcome: Option<Outcome>,
    /// What the model reads from the job at its end, or why there is none.
    pub(crate) text: String,
    /// What the agent answered, if the job completed.
    answer: Option<String>,
}

impl Settled {
    /// Whether the job completed.
    pub(crate) fn is_completed(&self) -> bool {
        self.job
            .as_ref()
            .is_some_and(|job| job.status == JobStatus::Completed)
    }

    /// What a person reads: the answer alone, or the whole text if there is none.
    pub(crate) fn into_answer(self) -> String {
        self.answer.unwrap_or(self.text)
    }

    fn refused(refusal: &Refusal) -> Self {
        Self {
            started: None,
            job: None,
            outcome: None,
            text: refusal.text(),
            answer: None,
        }
    }
}

/// Delegates `call` as a background job and waits until it has settled, however long. The first signal kills the job.
///
/// Cancel-safe in that the job is killed when this is dropped.
pub(crate) async fn delegate(
    tool: &SubagentTool,
    call: Call,
    context: Context,
    jobs: JobsEntry,
    signals: &Signals,
) -> Settled {
    // Before the prompt is judged: a signal while it was being typed leaves none.
    if context.cancel.is_cancelled() {
        return Settled::refused(&Refusal::Cancelled);
    }
    let mut options = JobOptions::default();
    options.wait_timeout = jobs.wait_timeout;
    options.max_wait_timeout = jobs.max_wait_timeout;
    let table = JobTable::under(options, signals.urgency());
    let session = table.session();
    let mut started = match tool.start_background(call, context, &session) {
        Ok(started) => started,
        Err(refusal) => return Settled::refused(&refusal),
    };
    let id = started.job.id().clone();
    let cancel = signals.cancel();
    let settlement = tokio::select! {
        biased;
        settlement = started.job.settled() => settlement,
        () = cancel.cancelled() => {
            // The job is this session's and unsettled, so there is nothing that could be refused.
            let _ = session.kill(id.as_str(), Some("a signal has arrived"));
            started.job.settled().await
        }
    };
    let reading = session.output(id.as_str(), Wait::No).await;
    // The newest job of a session is always kept, so it can be read.
    let text = reading.map_or_else(|error| error.to_string(), |reading| reading.text);
    let settled = Settled {
        outcome: started.outcome().await,
        job: Some(started.job.snapshot()),
        started: Some(started.text),
        text,
        answer: Settlement::output(&settlement).map(str::to_owned),
    };
    table.shutdown().await;
    settled
}
