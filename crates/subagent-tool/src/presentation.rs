//! The text that a calling model reads about a run. Owns its words, as pure functions of results and errors; nothing
//! else in this workspace composes such a text. What it reads about a background job is [`jobs`](crate::jobs)'.

use std::fmt::Write as _;

use subagent_seam::{DisposeError, RunResult, StartError, StopReason, text_of};

use crate::jobs::JobId;

/// What stands in for an answer without text, so that a model can tell "finished, said nothing" from a failure.
pub const NO_OUTPUT: &str = "(the subagent completed without output)";

/// The text of a run that was published, and of its teardown.
///
/// `Ok` holds the answer of a run that completed and was torn down cleanly; `Err` the text of any other.
pub fn of_run(result: &RunResult, disposed: Result<(), &DisposeError>) -> Result<String, String> {
    match (result.stop_reason, disposed) {
        (StopReason::Completed, Ok(())) => Ok(answer(result)),
        (StopReason::Completed, Err(error)) => Err(of_error(error)),
        (_, disposed) => Err(failure(result, disposed.err())),
    }
}

/// The text of a run that did not start.
pub fn of_start_error(error: &StartError) -> String {
    of_error(error)
}

/// The text of a call that goes on as this background job.
pub fn of_background_start(job: &JobId) -> String {
    format!("started background subagent job {job}")
}

/// The text of a call that has lasted too long to be waited for and goes on as this background job.
pub fn of_continuation(job: &JobId) -> String {
    format!(
        "subagent run reached its foreground limit and goes on as background subagent job {job}. Read its output with \
         job_output."
    )
}

/// What a stop reason other than `completed` means, in a few words.
pub fn headline(stop_reason: StopReason) -> &'static str {
    match stop_reason {
        StopReason::Aborted => "subagent run was cancelled",
        StopReason::Error => "subagent run failed",
        StopReason::MaxTokens => "subagent run hit its token limit before finishing",
        StopReason::Refusal => "subagent declined the task",
        _ => "subagent run ended abnormally",
    }
}

/// The text of a run that completed.
pub(crate) fn answer(result: &RunResult) -> String {
    let text = text_of(&result.output);
    if is_blank(&text) {
        NO_OUTPUT.to_owned()
    } else {
        text
    }
}

fn failure(result: &RunResult, dispose_error: Option<&DisposeError>) -> String {
    let mut text = format!("Error: {}", headline(result.stop_reason));
    // Writing to a string does not fail.
    if let Some(diagnostic) = &result.diagnostic {
        let _ = write!(text, "\nDiagnostic: {diagnostic}");
    }
    if let Some(error) = dispose_error {
        let _ = write!(text, "\nDispose failed: {error}");
    }
    let partial = text_of(&result.output);
    if !is_blank(&partial) {
        let _ = write!(text, "\nPartial output before the run ended:\n{partial}");
    }
    text
}

/// The text of a call that came to nothing.
pub(crate) fn of_error(error: &dyn std::error::Error) -> String {
    format!("Error: {error}")
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}
