//! The three tools over a session's jobs: `job_output`, `job_list` and `job_kill`. Owns the texts that they answer with;
//! how they are offered is `description`'s.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use super::record::Record;
use super::{JobError, JobOptions, JobSnapshot, Session, Settlement};

/// What stands in for output that there is none of, or that an earlier answer has carried.
const NO_NEW_OUTPUT: &str = "(no new output)";

/// What stands in for a list without jobs.
const NO_JOBS: &str = "(no background jobs)";

/// Bytes of a reason that the host's log gets.
const MAX_REASON_BYTES: usize = 1024;

/// How long `job_output` waits for the job to end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wait {
    /// Not at all.
    #[default]
    No,
    /// As long as the deployment says: [`JobOptions::wait_timeout`].
    Default,
    /// At most so long, and never longer than [`JobOptions::max_wait_timeout`].
    AtMost(Duration),
}

impl Wait {
    /// What the arguments `wait` and `timeout_ms` ask for. A time alone does not make a call wait.
    pub const fn from_arguments(wait: bool, timeout_ms: Option<u64>) -> Self {
        match (wait, timeout_ms) {
            (false, _) => Self::No,
            (true, None) => Self::Default,
            (true, Some(milliseconds)) => Self::AtMost(Duration::from_millis(milliseconds)),
        }
    }

    fn limit(self, options: &JobOptions) -> Option<Duration> {
        let asked = match self {
            Self::No => return None,
            Self::Default => options.wait_timeout,
            Self::AtMost(limit) => limit,
        };
        Some(asked.min(options.max_wait_timeout))
    }
}

/// What `job_output` answers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct JobOutput {
    /// What the model reads.
    pub text: String,
    /// The job, as the text shows it.
    pub job: JobSnapshot,
}

/// What `job_list` answers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct JobList {
    /// What the model reads.
    pub text: String,
    /// The jobs, in the order of their starts.
    pub jobs: Vec<JobSnapshot>,
}

/// What `job_kill` answers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct JobKill {
    /// What the model reads.
    pub text: String,
    /// What the call came to.
    pub outcome: KillOutcome,
    /// The job right after the call.
    pub job: JobSnapshot,
}

/// What a call of `job_kill` came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KillOutcome {
    /// The job was asked to stop, now or before. It may still complete, if its work was done by then.
    Requested,
    /// There was nothing to stop.
    AlreadyFinished,
}

impl KillOutcome {
    /// The outcome as one word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Requested => "requested",
            Self::AlreadyFinished => "already-finished",
        }
    }
}

impl Session {
    /// `job_output`: the job's output, if it is new, and its status.
    ///
    /// Output is there once the job has completed, and it is new to a call unless an earlier call had returned it
    /// before this one began. So calls that wait side by side all get it, and a later one reads `(no new output)`.
    ///
    /// Cancel-safe: a call that is dropped has returned nothing, and the output stays new. Bounded by the wait. A wait
    /// that runs out answers with the status as it is and leaves the job running. Must be called within a Tokio runtime
    /// that has its timer enabled, unless it does not wait.
    ///
    /// # Errors
    ///
    /// The job is unknown or another session's.
    pub async fn output(&self, job_id: &str, wait: Wait) -> Result<JobOutput, JobError> {
        let job = self.find(job_id)?;
        let delivered = job.is_delivered();
        if let Some(limit) = wait.limit(&self.shared().options) {
            // Either way the answer is the state that the job is in afterwards.
            let _ = timeout(limit, job.settled()).await;
        }
        let (snapshot, settlement) = job.look();
        let output = settlement.as_deref().and_then(Settlement::output);
        let text = match output.filter(|output| !delivered && !output.is_empty()) {
            Some(output) => {
                job.deliver();
                output
            }
            None => NO_NEW_OUTPUT,
        };
        Ok(JobOutput {
            text: format!("{text}\n{}", snapshot.status),
            job: snapshot,
        })
    }

    /// `job_list`: every job of the session that runs or is still kept. Never waits.
    pub fn list(&self) -> JobList {
        let records = self.shared().ledger().list(self.id());
        let jobs: Vec<_> = records.iter().map(|job| job.snapshot()).collect();
        let lines: Vec<_> = jobs.iter().map(line).collect();
        let text = if lines.is_empty() {
            NO_JOBS.to_owned()
        } else {
            lines.join("\n")
        };
        JobList { text, jobs }
    }

    /// `job_kill`: asks a job to stop and returns at once; the job is `stopping` until its work is gone. `reason` goes to
    /// the host's log, cut to 1 KiB, and nowhere else.
    ///
    /// # Errors
    ///
    /// The job is unknown or another session's.
    pub fn kill(&self, job_id: &str, reason: Option<&str>) -> Result<JobKill, JobError> {
        let record = self.find(job_id)?;
        let reason = reason.map(|reason| &reason[..reason.floor_char_boundary(MAX_REASON_BYTES)]);
        tracing::info!(job = job_id, reason, "cancellation of a background job requested");
        let outcome = if record.stop() {
            KillOutcome::Requested
        } else {
            KillOutcome::AlreadyFinished
        };
        let job = record.snapshot();
        let text = match outcome {
            KillOutcome::Requested => format!("requested cancellation of job {}", job.id),
            KillOutcome::AlreadyFinished => format!("job {} had already finished {}", job.id, job.status),
        };
        Ok(JobKill { text, outcome, job })
    }

    fn find(&self, job_id: &str) -> Result<Arc<Record>, JobError> {
        self.shared().ledger().find(self.id(), job_id)
    }
}

/// A job's line in the list.
fn line(job: &JobSnapshot) -> String {
    let JobSnapshot {
        id,
        kind,
        label,
        status,
        ..
    } = job;
    format!("{id} [{kind}] {} — {label}", status.as_str())
}
