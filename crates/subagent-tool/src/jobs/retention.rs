//! How long finished jobs are kept. Owns the order in which they go and both bounds; what forgetting a job means is the
//! ledger's.

use std::collections::VecDeque;
use std::sync::Arc;

use super::JobOptions;
use super::record::Record;

/// The finished jobs of one session, in the order in which they ended.
#[derive(Default)]
pub(super) struct Finished {
    jobs: VecDeque<(Arc<Record>, usize)>,
    bytes: usize,
}

impl Finished {
    /// Adds a job that holds `bytes`, and returns those that no longer fit. The new one always fits.
    pub(super) fn push(&mut self, job: Arc<Record>, bytes: usize, options: &JobOptions) -> Vec<Arc<Record>> {
        self.jobs.push_back((job, bytes));
        self.bytes += bytes;
        let mut gone = Vec::new();
        while self.jobs.len() > 1
            && (self.jobs.len() > options.max_finished || self.bytes > options.max_finished_bytes)
        {
            if let Some((job, bytes)) = self.jobs.pop_front() {
                self.bytes -= bytes;
                gone.push(job);
            }
        }
        gone
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::SessionId;
    use super::super::{JobId, JobKind};
    use super::*;

    fn kept_after(sizes: &[usize], options: &JobOptions) -> Vec<usize> {
        let mut finished = Finished::default();
        for (number, &bytes) in (1..).zip(sizes) {
            let id = JobId::numbered(JobKind::SUBAGENT, number);
            let job = Record::started(id, JobKind::SUBAGENT, "", SessionId(1));
            finished.push(Arc::new(job), bytes, options);
        }
        assert_eq!(
            finished.bytes,
            finished.jobs.iter().map(|(_, bytes)| bytes).sum::<usize>()
        );
        finished.jobs.iter().map(|(_, bytes)| *bytes).collect()
    }

    #[test]
    fn the_oldest_go_first_at_either_bound() {
        let options = JobOptions {
            max_finished: 3,
            max_finished_bytes: 10,
            ..JobOptions::default()
        };
        assert_eq!(kept_after(&[1, 2, 3, 4], &options), [2, 3, 4]);
        assert_eq!(kept_after(&[4, 3, 3], &options), [4, 3, 3]);
        assert_eq!(kept_after(&[4, 3, 4], &options), [3, 4]);
        assert_eq!(kept_after(&[1, 1, 9], &options), [1, 9]);
    }

    #[test]
    fn the_newest_stays_whatever_the_bounds_are() {
        let options = JobOptions {
            max_finished: 0,
            max_finished_bytes: 0,
            ..JobOptions::default()
        };
        assert_eq!(kept_after(&[5, 7], &options), [7]);
    }
}
