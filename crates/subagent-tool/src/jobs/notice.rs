//! What an owner is told when a job of its ends. Owns the text, and the bounded queue in which notices wait; a notice
//! that nobody takes in time is lost, and the job tools still tell what it said.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::{JobId, JobKind, JobStatus};

/// A job has ended. `Display` is the text for the owner.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Notice {
    /// The job.
    pub id: JobId,
    /// What sort of work it was.
    pub kind: JobKind,
    /// What it was about.
    pub label: String,
    /// How it ended.
    pub status: JobStatus,
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            id,
            kind,
            label,
            status,
        } = self;
        write!(
            f,
            "background job {id} ({kind}: {label}) finished {status}. Read its output with job_output."
        )
    }
}

/// The notices of one session, oldest first, until they are taken.
#[derive(Debug)]
pub(super) struct NoticeQueue {
    max: usize,
    inner: Mutex<Inner>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Inner {
    waiting: VecDeque<Notice>,
    closed: bool,
}

impl NoticeQueue {
    /// An empty queue of at most `max` notices.
    pub(super) fn bounded(max: usize) -> Self {
        Self {
            max,
            inner: Mutex::default(),
            changed: Notify::new(),
        }
    }

    /// Appends a notice; the oldest ones make room for it.
    pub(super) fn push(&self, notice: Notice) {
        let mut inner = self.lock();
        inner.waiting.push_back(notice);
        while inner.waiting.len() > self.max {
            inner.waiting.pop_front();
        }
        drop(inner);
        self.changed.notify_one();
    }

    /// Says that no notice will come any more.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_waiters();
    }

    /// All notices that wait.
    pub(super) fn take(&self) -> Vec<Notice> {
        self.lock().waiting.drain(..).collect()
    }

    /// The next notice; `None` when none waits and none will come.
    pub(super) async fn next(&self) -> Option<Notice> {
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            // In line before the look, so that each push after it wakes one wait of its own.
            changed.as_mut().enable();
            {
                let mut inner = self.lock();
                if let Some(notice) = inner.waiting.pop_front() {
                    return Some(notice);
                }
                if inner.closed {
                    return None;
                }
            }
            changed.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn notice(number: u64) -> Notice {
        Notice {
            id: JobId::numbered(JobKind::SUBAGENT, number),
            kind: JobKind::SUBAGENT,
            label: "List questions".to_owned(),
            status: JobStatus::Completed,
        }
    }

    #[test]
    fn a_notice_reads_as_one_sentence_and_a_hint() {
        assert_eq!(
            notice(1).to_string(),
            "background job subagent-1 (subagent: List questions) finished [status: completed]. \
             Read its output with job_output."
        );
        let mut failed = notice(2);
        failed.status = JobStatus::Failed {
            detail: "refusal".to_owned(),
        };
        assert_eq!(
            failed.to_string(),
            "background job subagent-2 (subagent: List questions) finished [status: failed, refusal]. \
             Read its output with job_output."
        );
    }

    #[test]
    fn the_oldest_notices_make_room() {
        let queue = NoticeQueue::bounded(2);
        (1..=5).for_each(|number| queue.push(notice(number)));
        assert_eq!(queue.take(), [notice(4), notice(5)]);
        assert_eq!(queue.take(), []);
    }

    #[tokio::test]
    async fn every_waiter_gets_one_of_the_notices_and_none_after_the_end() {
        let queue = Arc::new(NoticeQueue::bounded(8));
        let waiters: Vec<_> = (0..3)
            .map(|_| {
                let queue = Arc::clone(&queue);
                tokio::spawn(async move { queue.next().await })
            })
            .collect();
        tokio::task::yield_now().await;
        queue.push(notice(1));
        queue.push(notice(2));
        queue.close();
        let mut taken = Vec::new();
        for waiter in waiters {
            taken.push(waiter.await.unwrap().map(|notice| notice.id.to_string()));
        }
        taken.sort();
        assert_eq!(
            taken,
            [None, Some("subagent-1".to_owned()), Some("subagent-2".to_owned())]
        );
    }
}
