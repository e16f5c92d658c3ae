//! Who owns which job, what still runs, and what is kept. Owns every rule that spans jobs: ids, ownership, the cap, the
//! end of a session. Plain data without tasks and waits; its table guards it with one lock, so that every method here is
//! one step in the life of all jobs.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::notice::NoticeQueue;
use super::record::{Record, SessionId};
use super::retention::Finished;
use super::{JobError, JobId, JobKind, JobOptions, Notice, Settlement};

/// All jobs of one table.
pub(super) struct Ledger {
    options: JobOptions,
    closed: bool,
    sessions_opened: u64,
    counters: BTreeMap<JobKind, u64>,
    jobs: HashMap<JobId, Arc<Record>>,
    accounts: BTreeMap<SessionId, Account>,
}

/// What one session owns. It exists until the session has been asked to end and none of its jobs runs.
struct Account {
    ending: bool,
    /// How many of `jobs` have not ended.
    running: usize,
    /// In the order of their starts.
    jobs: Vec<Arc<Record>>,
    finished: Finished,
    notices: Arc<NoticeQueue>,
}

impl Ledger {
    pub(super) fn new(options: JobOptions) -> Self {
        Self {
            options,
            closed: false,
            sessions_opened: 0,
            counters: BTreeMap::new(),
            jobs: HashMap::new(),
            accounts: BTreeMap::new(),
        }
    }

    /// Opens a session whose notices go to `notices`.
    pub(super) fn open(&mut self, notices: Arc<NoticeQueue>) -> SessionId {
        self.sessions_opened += 1;
        let session = SessionId(self.sessions_opened);
        let account = Account {
            ending: false,
            running: 0,
            jobs: Vec::new(),
            finished: Finished::default(),
            notices,
        };
        self.accounts.insert(session, account);
        session
    }

    /// Why `session` may not start a job now, if it may not.
    pub(super) fn may_start(&self, session: SessionId) -> Result<(), JobError> {
        if self.closed {
            return Err(JobError::ShutDown);
        }
        match self.accounts.get(&session) {
            None | Some(Account { ending: true, .. }) => Err(JobError::SessionEnded),
            Some(account) if account.running >= self.options.max_running => Err(JobError::AtCapacity {
                limit: self.options.max_running,
            }),
            Some(_) => Ok(()),
        }
    }

    /// Enters a job that starts now.
    pub(super) fn start(
        &mut self,
        session: SessionId,
        kind: JobKind,
        label: &str,
    ) -> Result<Arc<Record>, JobError> {
        self.may_start(session)?;
        let account = self.accounts.get_mut(&session).ok_or(JobError::SessionEnded)?;
        let number = self.counters.entry(kind).or_default();
        *number += 1;
        let id = JobId::numbered(kind, *number);
        let job = Arc::new(Record::started(id.clone(), kind, label, session));
        account.running += 1;
        account.jobs.push(Arc::clone(&job));
        self.jobs.insert(id, Arc::clone(&job));
        Ok(job)
    }

    /// Ends a job, tells its owner, and forgets what is no longer kept. Nothing changes if the job has already ended.
    pub(super) fn settle(&mut self, job: &Arc<Record>, settlement: Settlement) {
        if job.settlement().is_some() {
            return;
        }
        let settlement = settlement.bounded();
        let notice = Notice {
            id: job.id.clone(),
            kind: job.kind,
            label: job.label.clone(),
            status: settlement.status(),
        };
        let Some(account) = self.accounts.get_mut(&job.owner) else {
            job.settle(settlement);
            return;
        };
        // In this order whoever sees the job's end finds its notice, and whoever gets the notice has to pass the lock
        // that is held here to look at the job.
        account.notices.push(notice);
        job.settle(settlement);
        account.running -= 1;
        for gone in account.finished.push(Arc::clone(job), job.bytes(), &self.options) {
            account.jobs.retain(|kept| kept.id != gone.id);
            self.jobs.remove(&gone.id);
        }
        self.forget_if_over(job.owner);
    }

    /// The job of this id, if it is the session's.
    pub(super) fn find(&self, session: SessionId, id: &str) -> Result<Arc<Record>, JobError> {
        match self.jobs.get(id) {
            None => Err(JobError::Unknown { id: id.to_owned() }),
            Some(job) if job.owner != session => Err(JobError::Foreign { id: id.to_owned() }),
            Some(job) => Ok(Arc::clone(job)),
        }
    }

    /// The session's jobs, in the order of their starts.
    pub(super) fn list(&self, session: SessionId) -> Vec<Arc<Record>> {
        let account = self.accounts.get(&session);
        account.map(|account| account.jobs.clone()).unwrap_or_default()
    }

    /// Lets the session start no more jobs. Returns those that it still has: they are to be stopped.
    pub(super) fn end(&mut self, session: SessionId) -> Vec<Arc<Record>> {
        let Some(account) = self.accounts.get_mut(&session) else {
            return Vec::new();
        };
        account.ending = true;
        let jobs = account.jobs.clone();
        self.forget_if_over(session);
        jobs
    }

    /// As [`end`](Self::end) for every session, those to come included.
    pub(super) fn close(&mut self) -> Vec<Arc<Record>> {
        self.closed = true;
        let sessions: Vec<_> = self.accounts.keys().copied().collect();
        sessions
            .into_iter()
            .flat_map(|session| self.end(session))
            .collect()
    }

    fn forget_if_over(&mut self, session: SessionId) {
        let over = |account: &Account| account.ending && account.running == 0;
        if self.accounts.get(&session).is_some_and(over)
            && let Some(account) = self.accounts.remove(&session)
        {
            for job in &account.jobs {
                self.jobs.remove(&job.id);
            }
            account.notices.close();
        }
    }
}

#[cfg(test)]
mod tests;
