//! Whether what reached the parent is as promised: diagnostics of closed words, bounded, without a byte of the child's; a
//! teardown that succeeded. How a run ended is not judged, since its end was drawn at random.

use subagent_seam::{DisposeError, MAX_DIAGNOSTIC_BYTES, RunResult, StartError, StopReason};
use subagent_tool::Outcome;
use subagent_tool::jobs::Settlement;

use crate::plan::CANARY;

/// How a run ended, in a word for the table at the end; or what was not as promised.
pub(crate) type Verdict = Result<&'static str, String>;

pub(crate) fn outcome(outcome: &Outcome) -> Verdict {
    if let Some(error) = &outcome.dispose_error {
        return Err(dispose_error(error));
    }
    let ended = match (&outcome.result, &outcome.start_error) {
        (Some(ended), _) => result(ended)?,
        (None, Some(error)) => start_error(error)?,
        (None, None) => return Err(format!("neither started nor not: {outcome:?}")),
    };
    // What the assistant said is its own; all before it is ours.
    let own = outcome
        .text
        .split_once("Partial output before the run ended:")
        .map_or(&*outcome.text, |(own, _)| own);
    if outcome.is_error {
        closed(own)?;
    }
    Ok(ended)
}

pub(crate) fn settlement(settlement: &Settlement, shown: &str) -> Verdict {
    let ended = match settlement {
        Settlement::Completed { .. } => return Ok("completed"),
        Settlement::Killed => "killed",
        Settlement::Failed { .. } => "failed",
    };
    closed(shown)?;
    if shown.contains("dispose failed") {
        return Err(format!("teardown of a job: {shown}"));
    }
    Ok(ended)
}

pub(crate) fn result(result: &RunResult) -> Verdict {
    if let Some(diagnostic) = &result.diagnostic {
        closed(diagnostic.as_str())?;
    }
    Ok(match result.stop_reason {
        StopReason::Completed => "completed",
        StopReason::Aborted => "aborted",
        _ => "ended otherwise",
    })
}

/// A start may fail, but not its rollback.
pub(crate) fn start_error(error: &StartError) -> Verdict {
    closed(&error.to_string())?;
    match error {
        StartError::RollbackFailed { .. } | StartError::AbortRollbackFailed(_) => Err(error.to_string()),
        _ => Ok("not started"),
    }
}

pub(crate) fn dispose_error(error: &DisposeError) -> String {
    format!("teardown: {error}")
}

fn closed(text: &str) -> Result<(), String> {
    // Besides the diagnostic there is at most another of the teardown and the words around both.
    if text.len() > 2 * MAX_DIAGNOSTIC_BYTES + 1024 {
        return Err(format!("a diagnostic of {} bytes", text.len()));
    }
    let folded = text.to_lowercase();
    if CANARY.to_lowercase().split('-').any(|part| folded.contains(part)) {
        return Err(format!("the child's words reached the parent: {text}"));
    }
    Ok(())
}
