//! What a deployment decides about background jobs. Owns the defaults; the bounds are applied where they bite.

use std::time::Duration;

/// The bounds of a [`JobTable`](super::JobTable). Each holds for every session by itself, so that no session can push
/// out or hold up the jobs of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct JobOptions {
    /// How long `job_output` waits when it is told to wait and not how long. Default 30 s. Never longer than
    /// [`max_wait_timeout`](Self::max_wait_timeout).
    pub wait_timeout: Duration,
    /// The longest that `job_output` waits, whatever it is told. Default 10 min.
    pub max_wait_timeout: Duration,
    /// How many jobs may be unfinished at a time, those that are stopping included. Default 10.
    pub max_running: usize,
    /// How many finished jobs are kept, the oldest going first. Default 100; the newest one always stays.
    pub max_finished: usize,
    /// How many bytes of labels, outputs and details the finished jobs that are kept may hold together, the oldest
    /// going first. Default 32 MiB; the newest one always stays, however large it is.
    pub max_finished_bytes: usize,
    /// How many completion notices wait for their owner, the oldest going first. Default 100.
    pub max_notices: usize,
}

impl Default for JobOptions {
    fn default() -> Self {
        Self {
            wait_timeout: Duration::from_secs(30),
            max_wait_timeout: Duration::from_mins(10),
            max_running: 10,
            max_finished: 100,
            max_finished_bytes: 32 << 20,
            max_notices: 100,
        }
    }
}
