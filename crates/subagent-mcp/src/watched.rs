//! How far the jobs of a connection are. Owns that memory, for as long as a job runs; everything else about a job is its
//! table's.

use std::sync::{Mutex, PoisonError};

use subagent_seam::Progress;
use subagent_tool::jobs::{JobId, Session};

/// The progress of each job that runs. Bounded by the jobs that may run at a time.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    jobs: Mutex<Vec<(JobId, Progress)>>,
}

impl Watched {
    /// Remembers a job of `session`, and forgets those that have ended.
    pub(crate) fn add(&self, job: &JobId, progress: Progress, session: &Session) {
        let running: Vec<_> = session.list().jobs;
        let runs = |id: &JobId| running.iter().any(|job| job.id == *id && !job.status.is_final());
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.retain(|(id, _)| runs(id));
        jobs.push((job.clone(), progress));
    }

    /// How far a job is; nowhere, if it is none of those.
    pub(crate) fn progress_of(&self, job: &str) -> Progress {
        let jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        let found = jobs.iter().find(|(id, _)| id.as_str() == job);
        found.map(|(_, progress)| progress.clone()).unwrap_or_default()
    }
}
