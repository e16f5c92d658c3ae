//! How far a run is, and how urgent its end is: two small values that the caller and the run share. Neither decides
//! anything; the run's provider writes the first and obeys the second.

use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use crate::{ClosedWord, Word};

/// The first window of a teardown that is [`Urgency::Hurried`] is at most this long.
pub const HURRIED_EOF_GRACE: Duration = Duration::from_secs(2);

/// Where a run is and how much its child has said. Clones share one state; reading and writing never wait.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    stage: Mutex<Option<Word>>,
    received_bytes: AtomicU64,
}

impl Progress {
    /// Says that `stage` has begun.
    pub fn enter(&self, stage: impl ClosedWord) {
        *self.shared.stage.lock().unwrap_or_else(PoisonError::into_inner) = Some(Word::of(stage));
    }

    /// Says that the child has written `total` bytes so far.
    pub fn received(&self, total: u64) {
        self.shared.received_bytes.store(total, Ordering::Relaxed);
    }

    /// The stage that the run is in, `None` before the first.
    pub fn stage(&self) -> Option<Word> {
        *self.shared.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes that the child has written to its standard output so far.
    pub fn received_bytes(&self) -> u64 {
        self.shared.received_bytes.load(Ordering::Relaxed)
    }
}

/// How patiently a teardown waits for a child to end by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// The provider's own windows.
    #[default]
    Normal,
    /// A person waits: the first window is at most [`HURRIED_EOF_GRACE`].
    Hurried,
    /// No window at all: the child's tree is killed at once.
    Immediate,
}

/// The shared [`Urgency`] of a run's teardown. Clones share one state; it only ever rises.
#[derive(Clone, Debug)]
pub struct TeardownUrgency {
    level: Arc<watch::Sender<Urgency>>,
}

impl TeardownUrgency {
    /// Raises the urgency to `level`, also in the middle of a teardown. A lower level changes nothing.
    pub fn raise(&self, level: Urgency) {
        self.level.send_if_modified(|current| {
            let rises = level > *current;
            if rises {
                *current = level;
            }
            rises
        });
    }

    /// The urgency now.
    pub fn current(&self) -> Urgency {
        *self.level.borrow()
    }

    /// Waits until there is to be no patience at all: the urgency is [`Urgency::Immediate`], or nobody holds the run any
    /// more, which is what `abandoned` waits for. Cancel-safe. Unbounded.
    pub async fn immediate_or(&self, abandoned: impl Future<Output = ()>) {
        tokio::select! {
            () = self.reached(Urgency::Immediate) => {}
            () = abandoned => {}
        }
    }

    /// Waits until the urgency is at least `level`. Cancel-safe. Unbounded: it ends only when somebody raises it.
    pub async fn reached(&self, level: Urgency) {
        let mut changes = self.level.subscribe();
        // The sender lives as long as `self`, so the wait cannot fail.
        let _ = changes.wait_for(|current| *current >= level).await;
    }
}

impl Default for TeardownUrgency {
    fn default() -> Self {
        Self {
            level: Arc::new(watch::Sender::new(Urgency::default())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn urgency_rises_and_never_falls() {
        let urgency = TeardownUrgency::default();
        let seen = urgency.clone();
        let waiter = tokio::spawn(async move { seen.reached(Urgency::Hurried).await });
        urgency.raise(Urgency::Immediate);
        waiter.await.unwrap();
        urgency.raise(Urgency::Hurried);
        assert_eq!(urgency.current(), Urgency::Immediate);
    }

    #[tokio::test]
    async fn patience_ends_with_the_urgency_or_with_the_last_holder() {
        let urgency = TeardownUrgency::default();
        urgency.immediate_or(std::future::ready(())).await;
        let seen = urgency.clone();
        let waiter = tokio::spawn(async move { seen.immediate_or(std::future::pending()).await });
        urgency.raise(Urgency::Hurried);
        assert_eq!(urgency.current(), Urgency::Hurried);
        assert!(!waiter.is_finished());
        urgency.raise(Urgency::Immediate);
        waiter.await.unwrap();
    }

    #[test]
    fn clones_of_progress_share_one_state() {
        crate::closed_words! { enum Stage { Prompt = "prompt" } }
        let progress = Progress::default();
        let clone = progress.clone();
        assert_eq!(clone.stage(), None);
        progress.enter(Stage::Prompt);
        progress.received(7);
        assert_eq!(clone.stage().map(Word::as_str), Some("prompt"));
        assert_eq!(clone.received_bytes(), 7);
    }
}
