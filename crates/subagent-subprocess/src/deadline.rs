//! The deadlines of a task that a child was given. Owns when which one passes; what a passed one means is the run's
//! business.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// The deadlines of one task. Both may be absent.
#[derive(Debug)]
pub struct Deadlines {
    begun: Instant,
    run: Option<Duration>,
    idle: Option<Duration>,
}

impl Deadlines {
    /// Deadlines of a task that is being given: `run` bounds it as a whole, `idle` each silence of the child in it.
    pub fn starting_now(run: Option<Duration>, idle: Option<Duration>) -> Self {
        Self {
            begun: Instant::now(),
            run,
            idle,
        }
    }

    /// Waits until one has passed, given when the child's last frame came: its name and its length. Never ready without
    /// deadlines. Cancel-safe.
    pub async fn passed(&self, last_frame: Instant) -> (&'static str, Duration) {
        let run = self.run.map(|after| (self.begun + after, "run", after));
        // A frame from before the task does not count against it.
        let idle = self
            .idle
            .map(|after| (self.begun.max(last_frame) + after, "idle", after));
        match run.into_iter().chain(idle).min_by_key(|(at, ..)| *at) {
            Some((at, name, after)) => {
                sleep_until(at).await;
                (name, after)
            }
            None => std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn first(run: Option<u64>, idle: Option<u64>, frame_after: u64) -> (&'static str, Duration) {
        let begun = Instant::now();
        let deadlines = Deadlines::starting_now(run.map(Duration::from_secs), idle.map(Duration::from_secs));
        let (name, _) = deadlines.passed(begun + Duration::from_secs(frame_after)).await;
        (name, begun.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn the_earlier_one_passes() {
        let near = |passed: (&'static str, Duration)| (passed.0, passed.1.as_secs());
        assert_eq!(near(first(Some(10), Some(4), 0).await), ("idle", 4));
        assert_eq!(near(first(Some(10), Some(4), 3).await), ("idle", 7));
        assert_eq!(near(first(Some(10), Some(4), 8).await), ("run", 10));
        assert_eq!(near(first(Some(10), None, 0).await), ("run", 10));
    }

    #[tokio::test(start_paused = true)]
    async fn without_deadlines_nothing_passes() {
        let day = Duration::from_hours(24);
        let waited = tokio::time::timeout(day, first(None, None, 0)).await;
        assert!(waited.is_err());
    }
}
