//! Rows about the end of a runtime: a request to shut down that comes to nothing is the host's affair alone; a teardown
//! that fails, because some process of the runtime's group hangs in the kernel and no signal ends it, is told.

use jsonrpc_fake_runtime::dsh_sdk::DshSdkSteps as _;
use jsonrpc_fake_runtime::{Script, Signal};
use subagent_seam::StopReason;

use super::scenario;
use crate::pinned::row::{Ends, Row, sign, sign_when_heard};

pub(super) fn shutdowns() -> Vec<Row> {
    let row = |what: &str, name: &str| {
        let name_and_what = format!("the run completes, and {what}");
        Row::new(name_and_what, Ends::With(StopReason::Completed), scenario(name))
    };
    let short = |row: Row| row.windows(500, 800).key("shutdownTimeoutMs", 400);
    vec![
        row("shutdown is answered with an error", "error-at-shutdown"),
        short(row("shutdown is never answered", "silent-at-shutdown")),
        row(
            "the runtime exits with 7 instead of answering shutdown",
            "exit-7-at-shutdown",
        ),
        row(
            "the runtime closes its output instead of answering shutdown",
            "closed-stdout-at-shutdown",
        ),
        short(row("only SIGKILL ends the runtime", "refuses-eof-and-sigterm")),
    ]
}

pub(super) fn failures() -> Vec<Row> {
    let mut rows = starts();
    rows.extend(runs());
    let short = |row: Row| row.key("shutdownTimeoutMs", 400);
    rows.into_iter().map(short).collect()
}

fn starts() -> Vec<Row> {
    let asked = || Script::dsh_sdk().expect("initialize");
    let row = |name: &str, script| Row::new(name, Ends::Unstarted, script);
    vec![
        row(
            "the start fails, and the child does not end",
            asked().respond_error(-1, "no"),
        )
        .hung(),
        row("the startup deadline passes, and the child does not end", asked())
            .hung()
            .key("startupTimeoutMs", 4000),
        row(
            "the runtime exits with 7 during the start, and its group does not end",
            asked().exit(7),
        )
        .half_hung(),
        row(
            "cancelled during the start, and the child does not end",
            sign(asked()),
        )
        .hung()
        .cancelled_at_the_sign(),
        row(
            "cancelled during the start, and the group of the child does not end",
            sign(asked()),
        )
        .half_hung()
        .cancelled_at_the_sign(),
    ]
}

fn runs() -> Vec<Row> {
    let row = |name: &str, stop_reason, script| Row::new(name, Ends::WithFailedTeardown(stop_reason), script);
    let accepted = || Script::dsh_sdk().accepted();
    let ended = |kind: &str| accepted().delta("partial").turn_end(kind).idle().shutdown();
    vec![
        row(
            "the run completes, and the child does not end",
            StopReason::Completed,
            Script::dsh_sdk().answered("done"),
        )
        .hung(),
        row(
            "the run completes, and the group of the child does not end",
            StopReason::Completed,
            Script::dsh_sdk().answered("done"),
        )
        .half_hung(),
        row(
            "the turn ends with error, and the child does not end",
            StopReason::Error,
            ended("error"),
        )
        .hung(),
        row(
            "the turn ends with interrupted, and the child does not end",
            StopReason::Error,
            ended("interrupted"),
        )
        .hung(),
        row(
            "the runtime is killed after some text, and its group does not end",
            StopReason::Error,
            accepted().delta("partial").kill_self(Signal::Kill),
        )
        .half_hung(),
        row(
            "the turn ends with max-tokens, and the child does not end",
            StopReason::MaxTokens,
            ended("max-tokens"),
        )
        .hung(),
        row(
            "the turn ends with blocked, and the child does not end",
            StopReason::Refusal,
            ended("blocked"),
        )
        .hung(),
        row(
            "the turn is aborted because it was disposed, and the child does not end",
            StopReason::Aborted,
            scenario("end-aborted-disposed"),
        )
        .hung(),
        row(
            "cancelled after some text, and the child does not end",
            StopReason::Aborted,
            sign_when_heard(accepted().delta("partial")),
        )
        .hung()
        .cancelled_at_the_sign(),
    ]
}
