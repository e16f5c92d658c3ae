//! The table that a host holds: all background jobs of the process. Owns the lock around the ledger, the task of each
//! job, and the proof at the end that none is left.

use std::convert::Infallible;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use subagent_seam::{TeardownUrgency, Urgency};
use tokio::runtime::Handle as Runtime;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::ledger::Ledger;
use super::record::{Record, SessionId};
use super::{Job, JobControl, JobError, JobKind, JobOptions, Session, Settlement};

/// Background jobs of any kind, by session. Clones share one table.
///
/// Dropping the last clone asks every job to stop and starts no more, and does not wait, since a drop cannot:
/// [`shutdown`](Self::shutdown) waits. Sessions that are still held do not keep the table going.
#[derive(Clone)]
pub struct JobTable {
    handle: Arc<Handle>,
}

struct Handle {
    shared: Arc<Shared>,
}

impl JobTable {
    /// An empty table.
    pub fn new(options: JobOptions) -> Self {
        Self::under(options, TeardownUrgency::default())
    }

    /// An empty table whose jobs end with the urgency of the host, as it rises.
    pub fn under(options: JobOptions, urgency: TeardownUrgency) -> Self {
        let shared = Shared {
            options,
            urgency,
            ledger: Mutex::new(Ledger::new(options)),
            tasks: TaskTracker::new(),
        };
        Self {
            handle: Arc::new(Handle {
                shared: Arc::new(shared),
            }),
        }
    }

    /// Opens a session. It starts no job if the table is shut down.
    pub fn session(&self) -> Session {
        Session::open(Arc::clone(&self.handle.shared))
    }

    /// The table's bounds.
    pub fn options(&self) -> &JobOptions {
        &self.handle.shared.options
    }

    /// How patiently teardowns of all jobs wait. Raising it hurries the jobs that run and those to come.
    pub fn urgency(&self) -> &TeardownUrgency {
        &self.handle.shared.urgency
    }

    /// Ends every session: starts no more jobs, asks all to stop, and waits until each has settled and its work is gone.
    /// The jobs end side by side.
    ///
    /// Idempotent. Cancel-safe in that every job goes on stopping when the caller stops waiting. Bounded by the longest
    /// teardown of a job, and by nothing else.
    pub async fn shutdown(&self) {
        self.handle.shared.close();
        self.handle.shared.tasks.close();
        self.handle.shared.tasks.wait().await;
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.shared.close();
    }
}

impl fmt::Debug for JobTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JobTable")
            .field("options", self.options())
            .finish_non_exhaustive()
    }
}

/// What the table, its sessions and the tasks of its jobs share.
pub(super) struct Shared {
    pub(super) options: JobOptions,
    urgency: TeardownUrgency,
    ledger: Mutex<Ledger>,
    tasks: TaskTracker,
}

impl Shared {
    /// No foreign code runs under the lock, so a poisoned one still guards a consistent value.
    pub(super) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the task of a job.
    pub(super) fn start<W, F>(
        self: &Arc<Self>,
        session: SessionId,
        tasks: &TaskTracker,
        kind: JobKind,
        label: &str,
        work: W,
    ) -> Result<Job, JobError>
    where
        W: FnOnce(JobControl) -> F + Send + 'static,
        F: Future<Output = Settlement> + Send + 'static,
    {
        // Before the job is entered: without a runtime this panics, and nothing is left behind.
        let runtime = Runtime::current();
        let settler = {
            let mut ledger = self.ledger();
            let record = ledger.start(session, kind, label)?;
            // Counted under the lock: whoever ends the session afterwards waits for this task too.
            Settler {
                record,
                shared: Arc::clone(self),
                _counted: [tasks.token(), self.tasks.token()],
            }
        };
        let job = Job(Arc::clone(&settler.record));
        runtime.spawn(async move {
            let control = settler.record.control.clone();
            let hurried = follow(settler.shared.urgency.clone(), control.urgency.clone());
            // The work is dropped before the job settles: a settled job has nothing left.
            let settlement = tokio::select! {
                settlement = async { work(control).await } => settlement,
                never = hurried => match never {},
            };
            settler.settle(settlement);
        });
        Ok(job)
    }

    fn close(&self) {
        let jobs = self.ledger().close();
        stop(&jobs);
    }
}

/// Asks jobs to stop. Not under the ledger's lock, since it wakes foreign work.
pub(super) fn stop(jobs: &[Arc<Record>]) {
    for job in jobs {
        job.stop();
    }
}

/// Ends a job, also when its work panics or its async runtime is shut down.
struct Settler {
    record: Arc<Record>,
    shared: Arc<Shared>,
    _counted: [TaskTrackerToken; 2],
}

impl Settler {
    fn settle(&self, settlement: Settlement) {
        self.shared.ledger().settle(&self.record, settlement);
    }
}

impl Drop for Settler {
    fn drop(&mut self) {
        // The first settlement stands, so this one counts only when there was no other.
        self.settle(Settlement::abandoned());
    }
}

/// Raises an urgency, a job's for one, as another one rises, its table's for one.
pub(crate) async fn follow(table: TeardownUrgency, job: TeardownUrgency) -> Infallible {
    for level in [Urgency::Hurried, Urgency::Immediate] {
        table.reached(level).await;
        job.raise(table.current());
    }
    std::future::pending().await
}
