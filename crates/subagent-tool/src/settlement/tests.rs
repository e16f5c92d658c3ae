//! The settlement table, row by row.

use subagent_seam::{Diagnostic, FailureLine, SafeFailure, closed_words};

use super::*;

closed_words! {
    enum Words { Package = "subagent-acp", Acp = "ACP", Prompt = "prompt", Transport = "transport",
                 Process = "process", ProcessStart = "process-start", Teardown = "teardown", Unknown = "unknown" }
}

const DIAGNOSTIC: &str = "Subagent failure (provider: ACP; stage: prompt; category: transport)";
const TEARDOWN: &str = "subagent-acp: Subagent failure (provider: ACP; stage: teardown; category: unknown)";
const START: &str = "subagent-acp: Subagent failure (provider: ACP; stage: process; category: process-start)";

const OTHERS: [(StopReason, &str); 3] = [
    (StopReason::Error, "error"),
    (StopReason::MaxTokens, "max-tokens"),
    (StopReason::Refusal, "refusal"),
];

fn run(stop_reason: StopReason) -> RunResult {
    RunResult::new(stop_reason, vec!["half ".into(), "said".into()])
}

fn diagnosed(stop_reason: StopReason) -> RunResult {
    let line = FailureLine::new(Words::Acp, Words::Prompt, Words::Transport);
    run(stop_reason).with_diagnostic(Some(Diagnostic::from(line)))
}

fn failure(stage: Words, category: Words) -> SafeFailure {
    let line = FailureLine::new(Words::Acp, stage, category);
    SafeFailure::new(Words::Package, line).caused_by(std::io::Error::other("raw cause"))
}

fn start_failure() -> SafeFailure {
    failure(Words::Process, Words::ProcessStart)
}

fn teardown_failure() -> DisposeError {
    DisposeError::Failed(failure(Words::Teardown, Words::Unknown))
}

fn cleanly(result: &RunResult) -> Settlement {
    of_run(result, Ok(()))
}

fn badly(result: &RunResult) -> Settlement {
    of_run(result, Err(&teardown_failure()))
}

fn failed_with(detail: impl Into<String>) -> Settlement {
    failed(detail.into())
}

#[test]
fn a_completed_run_completes_its_job_with_the_foreground_text() {
    let output = |output: &str| Settlement::Completed {
        output: output.to_owned(),
    };
    assert_eq!(cleanly(&run(StopReason::Completed)), output("half said"));
    let silent = RunResult::new(StopReason::Completed, vec![" \n".into()]);
    assert_eq!(
        cleanly(&silent),
        output("(the subagent completed without output)")
    );
}

#[test]
fn an_abort_without_a_diagnostic_is_a_kill() {
    assert_eq!(cleanly(&run(StopReason::Aborted)), Settlement::Killed);
}

#[test]
fn an_abort_with_a_diagnostic_is_a_failure() {
    assert_eq!(
        cleanly(&diagnosed(StopReason::Aborted)),
        failed_with(format!("aborted; diagnostic: {DIAGNOSTIC}"))
    );
}

#[test]
fn any_other_stop_reason_is_a_failure_without_the_partial_output() {
    for (stop_reason, word) in OTHERS {
        assert_eq!(cleanly(&run(stop_reason)), failed_with(word));
        assert_eq!(
            cleanly(&diagnosed(stop_reason)),
            failed_with(format!("{word}; diagnostic: {DIAGNOSTIC}"))
        );
    }
}

#[test]
fn a_start_error_is_a_failure_in_its_own_words() {
    assert_eq!(
        of_start_error(&StartError::Failed(start_failure())),
        failed_with(START)
    );
    let rollback = StartError::RollbackFailed {
        start: start_failure(),
        teardown: teardown_failure(),
    };
    assert_eq!(
        of_start_error(&rollback),
        failed_with(format!("{START}; {TEARDOWN}"))
    );
    assert_eq!(
        of_start_error(&StartError::ShutDown),
        failed_with("the registry is shut down and starts no more runs")
    );
}

#[test]
fn a_cancelled_start_is_a_kill_only_if_its_rollback_succeeded() {
    assert_eq!(
        of_start_error(&StartError::aborted(Words::Acp)),
        Settlement::Killed
    );
    assert_eq!(
        of_start_error(&StartError::AbortRollbackFailed(teardown_failure())),
        failed_with(TEARDOWN)
    );
}

#[test]
fn a_dispose_error_is_a_failure_after_whatever_came_before_it() {
    let alone = failed_with(format!("dispose failed: {TEARDOWN}"));
    assert_eq!(badly(&run(StopReason::Completed)), alone);
    assert_eq!(badly(&run(StopReason::Aborted)), alone);
    assert_eq!(
        badly(&diagnosed(StopReason::Aborted)),
        failed_with(format!(
            "aborted; diagnostic: {DIAGNOSTIC}; dispose failed: {TEARDOWN}"
        ))
    );
    for (stop_reason, word) in OTHERS {
        assert_eq!(
            badly(&run(stop_reason)),
            failed_with(format!("{word}; dispose failed: {TEARDOWN}"))
        );
        assert_eq!(
            badly(&diagnosed(stop_reason)),
            failed_with(format!(
                "{word}; diagnostic: {DIAGNOSTIC}; dispose failed: {TEARDOWN}"
            ))
        );
    }
}
