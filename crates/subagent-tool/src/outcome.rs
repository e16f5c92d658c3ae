//! What a call came to. Owns the facts side by side; the text among them is made by
//! [`presentation`](crate::presentation).

use std::sync::Arc;
use std::time::Duration;

use subagent_seam::{DisposeError, RunId, RunResult, StartError};

/// What one call of the tool came to. The run, if there was one, is disposed.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Exactly what the calling model reads.
    pub text: String,
    /// Whether the call counts as failed: true for everything but a completed run with a clean teardown.
    pub is_error: bool,
    /// The run, unless it did not start.
    pub run: Option<RunId>,
    /// The run's result, unless it did not start.
    pub result: Option<Arc<RunResult>>,
    /// Why the run did not start.
    pub start_error: Option<StartError>,
    /// Why the run's teardown failed.
    pub dispose_error: Option<DisposeError>,
    /// How long the phases took.
    pub timings: Timings,
}

/// How long the phases of one call took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// From the call to the published run; to the end of the rollback when the start failed.
    pub start: Duration,
    /// From publication to the result; `None` when the run did not start.
    pub run: Option<Duration>,
    /// From the result to the end of the teardown; `None` when the run did not start.
    pub dispose: Option<Duration>,
}
