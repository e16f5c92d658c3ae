//! The handle of a published run and its counterpart on the provider's side. Owns the rules that hold for every
//! provider: one result, one teardown, both shared by all who wait. How a child is driven and ended is the provider's.

use std::fmt;
use std::future::Future;
use std::sync::{Arc, Weak};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::{DisposeError, RunResult, StopReason};

/// Names a run among all runs. A fresh random UUID, unrelated to any id of the child's protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunId(Uuid);

impl RunId {
    /// A fresh id.
    pub fn fresh() -> Self {
        Self(Uuid::new_v4())
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A published run. Clones are handles of the same run.
///
/// Dispose every run. Dropping the last handle of a run that was not disposed kills its child's process group at once,
/// without the patience of [`dispose`](Self::dispose).
#[derive(Clone)]
pub struct Run(Arc<Handle>);

struct Handle {
    id: RunId,
    ends: Ends,
    dispose: CancellationToken,
    dropped: CancellationToken,
}

/// The two things that can be waited for. Holding them does not keep a run alive.
#[derive(Clone)]
struct Ends {
    result: watch::Receiver<Option<Arc<RunResult>>>,
    teardown: watch::Receiver<Option<Result<(), DisposeError>>>,
}

impl Run {
    /// A run and the driver that its provider moves into the task which owns the child.
    pub fn publish(id: RunId) -> (Self, RunDriver) {
        let (result, result_seen) = watch::channel(None);
        let (teardown, teardown_seen) = watch::channel(None);
        let handle = Handle {
            id,
            ends: Ends {
                result: result_seen,
                teardown: teardown_seen,
            },
            dispose: CancellationToken::new(),
            dropped: CancellationToken::new(),
        };
        let driver = RunDriver {
            id,
            result,
            teardown,
            dispose: handle.dispose.clone(),
            dropped: handle.dropped.clone(),
        };
        (Self(Arc::new(handle)), driver)
    }

    /// The run's id.
    pub fn id(&self) -> RunId {
        self.0.id
    }

    /// Waits for the result. It never fails: whatever happens to the child is a stop reason. May be awaited any number
    /// of times, by several tasks at once. Cancel-safe. Bounded by the run's deadlines, if it has any.
    pub async fn result(&self) -> Arc<RunResult> {
        self.0.ends.result().await
    }

    /// Cancels the run if it still goes on, ends its child and waits until the child is really gone. Idempotent: all
    /// callers await one teardown and see the same outcome.
    ///
    /// Cancel-safe: a caller that stops waiting does not stop the teardown. Bounded by the provider's teardown windows.
    ///
    /// # Errors
    ///
    /// The child's process tree is not proven to be gone.
    pub async fn dispose(&self) -> Result<(), DisposeError> {
        self.0.dispose.cancel();
        self.0.ends.teardown().await
    }

    /// A handle that does not keep the run alive.
    pub fn downgrade(&self) -> WeakRun {
        WeakRun {
            id: self.0.id,
            ends: self.0.ends.clone(),
            handle: Arc::downgrade(&self.0),
        }
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run")
            .field("id", &self.id())
            .finish_non_exhaustive()
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.dropped.cancel();
        self.dispose.cancel();
    }
}

impl Ends {
    async fn result(&self) -> Arc<RunResult> {
        let mut seen = self.result.clone();
        match seen.wait_for(Option::is_some).await {
            Ok(result) => result.clone(),
            Err(_) => None,
        }
        // The driver leaves a result behind even when it is dropped, so this default is never seen.
        .unwrap_or_else(|| Arc::new(RunResult::new(StopReason::Error, Vec::new())))
    }

    async fn teardown(&self) -> Result<(), DisposeError> {
        let mut seen = self.teardown.clone();
        match seen.wait_for(Option::is_some).await {
            Ok(outcome) => outcome.clone().unwrap_or(Err(DisposeError::Abandoned)),
            Err(_) => Err(DisposeError::Abandoned),
        }
    }
}

/// A handle that watches a run without keeping it alive.
#[derive(Clone)]
pub struct WeakRun {
    id: RunId,
    ends: Ends,
    handle: Weak<Handle>,
}

impl WeakRun {
    /// The run's id.
    pub fn id(&self) -> RunId {
        self.id
    }

    /// As [`Run::result`].
    pub async fn result(&self) -> Arc<RunResult> {
        self.ends.result().await
    }

    /// Waits for a teardown that somebody else asked for. Cancel-safe. Unbounded.
    pub async fn disposed(&self) -> Result<(), DisposeError> {
        self.ends.teardown().await
    }

    /// Disposes the run, or waits for the end of one whose handles are all gone. As [`Run::dispose`].
    pub async fn dispose(&self) -> Result<(), DisposeError> {
        match self.handle.upgrade() {
            Some(handle) => Run(handle).dispose().await,
            None => self.disposed().await,
        }
    }
}

impl fmt::Debug for WeakRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakRun")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// The provider's side of a [`Run`].
///
/// A driver that is dropped, because its task panicked or its async runtime ended, still leaves a result (`error`) and
/// an outcome ([`DisposeError::Abandoned`]) behind: nobody waits for ever.
#[derive(Debug)]
pub struct RunDriver {
    id: RunId,
    result: watch::Sender<Option<Arc<RunResult>>>,
    teardown: watch::Sender<Option<Result<(), DisposeError>>>,
    dispose: CancellationToken,
    dropped: CancellationToken,
}

impl RunDriver {
    /// The run's id.
    pub fn id(&self) -> RunId {
        self.id
    }

    /// Gives the run its result. The first one stands; a later one changes nothing.
    pub fn settle(&self, result: RunResult) {
        self.result.send_if_modified(|current| {
            let first = current.is_none();
            if first {
                *current = Some(Arc::new(result));
            }
            first
        });
    }

    /// Whether the run has its result.
    pub fn is_settled(&self) -> bool {
        self.result.borrow().is_some()
    }

    /// Waits until somebody asks for the teardown, or nobody holds the run any more. Cancel-safe. Unbounded.
    pub fn dispose_requested(&self) -> impl Future<Output = ()> + Send + use<> {
        self.dispose.clone().cancelled_owned()
    }

    /// Waits until nobody holds the run any more. Cancel-safe. Unbounded.
    pub fn abandoned(&self) -> impl Future<Output = ()> + Send + use<> {
        self.dropped.clone().cancelled_owned()
    }

    /// Ends the run with the outcome of its teardown.
    pub fn finish(self, outcome: Result<(), DisposeError>) {
        self.teardown.send_replace(Some(outcome));
    }
}

impl Drop for RunDriver {
    fn drop(&mut self) {
        self.settle(RunResult::new(StopReason::Error, Vec::new()));
        self.teardown.send_if_modified(|outcome| {
            let missing = outcome.is_none();
            if missing {
                *outcome = Some(Err(DisposeError::Abandoned));
            }
            missing
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(text: &str) -> RunResult {
        RunResult::new(StopReason::Completed, vec![text.into()])
    }

    #[tokio::test]
    async fn the_result_can_be_awaited_many_times_and_is_the_first_one() {
        let (run, driver) = Run::publish(RunId::fresh());
        let waiters: Vec<_> = (0..3)
            .map(|_| {
                let run = run.clone();
                tokio::spawn(async move { run.result().await })
            })
            .collect();
        driver.settle(completed("first"));
        driver.settle(completed("second"));
        for waiter in waiters {
            assert_eq!(*waiter.await.unwrap(), completed("first"));
        }
        assert_eq!(*run.result().await, completed("first"));
    }

    #[tokio::test]
    async fn all_disposers_see_one_outcome() {
        let (run, driver) = Run::publish(RunId::fresh());
        let task = tokio::spawn(async move {
            driver.dispose_requested().await;
            driver.finish(Err(DisposeError::Abandoned));
        });
        let (first, second) = tokio::join!(run.dispose(), run.dispose());
        assert!(first.is_err() && second.is_err() && run.dispose().await.is_err());
        task.await.unwrap();
    }

    #[tokio::test]
    async fn a_dropped_driver_leaves_a_result_and_an_outcome() {
        let (run, driver) = Run::publish(RunId::fresh());
        drop(driver);
        assert_eq!(run.result().await.stop_reason, StopReason::Error);
        assert!(matches!(run.dispose().await, Err(DisposeError::Abandoned)));
    }

    #[tokio::test]
    async fn dropping_the_last_handle_tells_the_driver() {
        let (run, driver) = Run::publish(RunId::fresh());
        let (clone, weak) = (run.clone(), run.downgrade());
        drop(run);
        assert!(!driver.dropped.is_cancelled());
        drop(clone);
        driver.abandoned().await;
        driver.dispose_requested().await;
        driver.settle(completed("late"));
        driver.finish(Ok(()));
        assert_eq!(*weak.result().await, completed("late"));
        weak.dispose().await.unwrap();
    }
}
