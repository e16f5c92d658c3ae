//! Rows about teardowns that fail, because some process of the child's group hangs in the kernel and no signal ends it.

use jsonrpc_fake_runtime::acp::{AcpSteps as _, Stage};
use jsonrpc_fake_runtime::{Condition, Script, Signal};
use subagent_seam::StopReason;

use super::permission::asked;
use crate::pinned::row::{Ends, Row, sign, sign_when_heard};

pub(super) fn failures() -> Vec<Row> {
    let mut rows = starts();
    rows.extend(runs());
    rows
}

fn starts() -> Vec<Row> {
    let at = |stage| Script::acp().up_to(stage);
    let row = |name: &str, script| Row::new(name, Ends::Unstarted, script);
    vec![
        row(
            "the start fails, and the child does not end",
            at(Stage::Initialize).respond_error(-1, "no"),
        )
        .hung(),
        row(
            "the startup deadline passes, and the child does not end",
            at(Stage::NewSession),
        )
        .hung()
        .key("startupTimeoutMs", 4000),
        row(
            "the agent exits with 7 during the start, and its group does not end",
            at(Stage::NewSession).exit(7),
        )
        .half_hung(),
        row(
            "cancelled during the start, and the child does not end",
            sign(at(Stage::Initialize)),
        )
        .hung()
        .cancelled_at_the_sign(),
        row(
            "cancelled during the start, and the group of the child does not end",
            sign(at(Stage::NewSession)),
        )
        .half_hung()
        .cancelled_at_the_sign(),
    ]
}

fn runs() -> Vec<Row> {
    let row = |name: &str, stop_reason, script| Row::new(name, Ends::WithFailedTeardown(stop_reason), script);
    let prompted = || Script::acp().prompted();
    let done = || prompted().chunk("done").end_turn();
    vec![
        row(
            "the run completes, and the child does not end",
            StopReason::Completed,
            done(),
        )
        .hung(),
        row(
            "the run completes and the agent exits with 5, and its group does not end",
            StopReason::Completed,
            done().wait_for(Condition::StdinEof).exit(5),
        )
        .half_hung(),
        row(
            "the run completes and only SIGKILL ends the agent, and its group does not end",
            StopReason::Completed,
            Script::acp()
                .ignore_eof()
                .ignore_sigterm()
                .prompted()
                .chunk("done")
                .end_turn(),
        )
        .half_hung()
        .key("disposeEofGraceMs", 200),
        row(
            "the prompt fails, and the child does not end",
            StopReason::Error,
            prompted().chunk("partial").respond_error(-32603, "no"),
        )
        .hung(),
        row(
            "the agent is killed after a decision, and its group does not end",
            StopReason::Error,
            prompted().chunk("partial").then(asked).kill_self(Signal::Kill),
        )
        .half_hung(),
        row(
            "the turn ends with max_tokens after a decision, and the child does not end",
            StopReason::MaxTokens,
            prompted().then(asked).chunk("partial").stop("max_tokens"),
        )
        .hung(),
        row(
            "the turn ends with refusal, and the child does not end",
            StopReason::Refusal,
            prompted().stop("refusal"),
        )
        .hung(),
        row(
            "cancelled after some text, and the child does not end",
            StopReason::Aborted,
            sign_when_heard(prompted().chunk("partial")),
        )
        .hung()
        .cancelled_at_the_sign(),
    ]
}
