//! One owner of jobs. Owns starting and ending them on its behalf; the tools over them are `tools`'.

use std::fmt;
use std::sync::Arc;

use tokio_util::task::TaskTracker;

use super::notice::NoticeQueue;
use super::record::SessionId;
use super::table::{Shared, stop};
use super::{Job, JobControl, JobError, JobKind, Notice, Settlement};

/// An owner of background jobs: a conversation, a connection. Clones are handles of the same session.
///
/// Dropping the last clone ends the session without waiting: its jobs are asked to stop, as by [`end`](Self::end).
#[derive(Clone)]
pub struct Session {
    handle: Arc<Handle>,
}

struct Handle {
    id: SessionId,
    shared: Arc<Shared>,
    tasks: TaskTracker,
    notices: Arc<NoticeQueue>,
}

impl Session {
    pub(super) fn open(shared: Arc<Shared>) -> Self {
        let notices = Arc::new(NoticeQueue::bounded(shared.options.max_notices));
        let id = shared.ledger().open(Arc::clone(&notices));
        Self {
            handle: Arc::new(Handle {
                id,
                shared,
                tasks: TaskTracker::new(),
                notices,
            }),
        }
    }

    /// Starts a job and returns at once. `work` is called in a task of its own, with the means by which the job is told
    /// to end; what its future returns is what the job came to. Work that panics has failed.
    ///
    /// The future has to end by itself after [`JobControl::cancel`], once all that it started is gone: it is never
    /// dropped before it has, and the session and the table wait for it. It should not own a clone of this session: such
    /// a job keeps alive what would end it.
    ///
    /// # Errors
    ///
    /// The session has ended, the table is shut down, or as many jobs of this session run as may.
    ///
    /// # Panics
    ///
    /// When it is not called within a Tokio runtime.
    pub fn start<W, F>(&self, kind: JobKind, label: impl AsRef<str>, work: W) -> Result<Job, JobError>
    where
        W: FnOnce(JobControl) -> F + Send + 'static,
        F: Future<Output = Settlement> + Send + 'static,
    {
        let Handle {
            id, shared, tasks, ..
        } = &*self.handle;
        shared.start(*id, tasks, kind, label.as_ref(), work)
    }

    /// Whether [`start`](Self::start) would be refused now. Another start may come in between.
    ///
    /// # Errors
    ///
    /// As those of [`start`](Self::start).
    pub fn may_start(&self) -> Result<(), JobError> {
        self.handle.shared.ledger().may_start(self.handle.id)
    }

    /// Waits for the next job of this session to end. `None` once the session has ended, its last notices taken. Each
    /// notice goes to one caller. Cancel-safe: a notice is taken only by a call that returns it. Unbounded.
    pub async fn next_notice(&self) -> Option<Notice> {
        self.handle.notices.next().await
    }

    /// Takes the notices that wait, oldest first, at most [`max_notices`](super::JobOptions::max_notices). Never waits.
    pub fn take_notices(&self) -> Vec<Notice> {
        self.handle.notices.take()
    }

    /// Ends the session: it starts no more jobs, its jobs are asked to stop, and the call returns when each has settled
    /// and its work is gone. Then the session's jobs are unknown.
    ///
    /// Idempotent. Cancel-safe in that every job goes on stopping when the caller stops waiting. Bounded by the longest
    /// teardown of a job, and by nothing else.
    pub async fn end(&self) {
        self.handle.stop();
        self.handle.tasks.close();
        self.handle.tasks.wait().await;
    }

    pub(super) fn id(&self) -> SessionId {
        self.handle.id
    }

    pub(super) fn shared(&self) -> &Shared {
        &self.handle.shared
    }
}

impl Handle {
    fn stop(&self) {
        let jobs = self.shared.ledger().end(self.id);
        stop(&jobs);
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.stop();
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Session").field(&self.handle.id.0).finish()
    }
}
