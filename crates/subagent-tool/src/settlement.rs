//! How a delegated run ends the background job that it was started as. Owns that mapping, as pure functions of results
//! and errors; the run is its provider's, the job its table's.

use subagent_seam::{DisposeError, RunResult, StartError, StopReason};

use crate::jobs::Settlement;
use crate::{Outcome, presentation};

/// What the job of a run comes to that was published, and torn down with this outcome.
///
/// A run that did not complete leaves no output: what it had said until then is not kept. One that was stopped here was
/// killed; one that stopped itself and says why has failed. A teardown that failed is always a failure.
pub fn of_run(result: &RunResult, disposed: Result<(), &DisposeError>) -> Settlement {
    let ended = match (result.stop_reason, &result.diagnostic) {
        (StopReason::Completed, _) => Settlement::Completed {
            output: presentation::answer(result),
        },
        (StopReason::Aborted, None) => Settlement::Killed,
        (stop_reason, None) => failed(stop_reason.to_string()),
        (stop_reason, Some(diagnostic)) => failed(format!("{stop_reason}; diagnostic: {diagnostic}")),
    };
    match (ended, disposed) {
        (ended, Ok(())) => ended,
        (Settlement::Failed { detail }, Err(error)) => failed(format!("{detail}; dispose failed: {error}")),
        (_, Err(error)) => failed(format!("dispose failed: {error}")),
    }
}

/// What the job of a run comes to that did not start. It was killed only if the start was cancelled and left nothing
/// behind.
pub fn of_start_error(error: &StartError) -> Settlement {
    if error.is_clean_abort() {
        Settlement::Killed
    } else {
        failed(error.to_string())
    }
}

/// What the job of a call comes to.
pub(crate) fn of_outcome(outcome: &Outcome) -> Settlement {
    match (&outcome.result, &outcome.start_error) {
        (Some(result), _) => of_run(result, outcome.dispose_error.as_ref().map_or(Ok(()), Err)),
        (None, Some(error)) => of_start_error(error),
        // An outcome has one of the two; were there neither, nothing would have been done.
        (None, None) => Settlement::Killed,
    }
}

fn failed(detail: String) -> Settlement {
    Settlement::Failed { detail }
}

#[cfg(test)]
mod tests;
