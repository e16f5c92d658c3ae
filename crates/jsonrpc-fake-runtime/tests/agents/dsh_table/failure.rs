//! Rows about runs that do not come to an end of their own: conversations that break, deadlines that pass, runs that are
//! cancelled. An exit is never told by this provider, only that the transport is closed.

use jsonrpc_fake_runtime::dsh_sdk::{DshSdkSteps as _, delta_frame};
use jsonrpc_fake_runtime::{Script, Signal, Step};
use subagent_seam::StopReason;

use super::scenario;
use crate::pinned::row::{Ends, Row, sign, sign_when_heard};

/// A row for each thing that a runtime may have done before its run breaks.
fn rows(name: &str, ends: Ends, finish: impl Fn(Script) -> Script) -> impl Iterator<Item = Row> {
    let accepted = Script::dsh_sdk().accepted();
    let before = [
        ("", accepted.clone()),
        (", after some text", accepted.delta("partial")),
    ];
    before
        .map(|(after, script)| Row::new(format!("{name}{after}"), ends, finish(script)))
        .into_iter()
}

pub(super) fn failures() -> Vec<Row> {
    let failed = Ends::With(StopReason::Error);
    let row = |name: &str, script: Script| Row::new(name, failed, script);
    let mut all: Vec<_> = [
        ("the prompt is answered with an error", "error-at-prompt"),
        ("the prompt is answered without a message id", "receipt-missing"),
        ("the prompt is answered with null", "receipt-null"),
        (
            "the prompt is answered with a number as message id",
            "receipt-number",
        ),
        ("the prompt is answered with no object", "receipt-no-object"),
        (
            "the runtime exits with 0 instead of answering the prompt",
            "exit-0-at-prompt",
        ),
        ("an event is no object", "event-no-object"),
        ("an event is null", "event-null"),
        ("an event has no type", "event-without-type"),
        ("an event has a number as type", "event-type-number"),
        ("a message has no content", "message-content-missing"),
        ("a message has a string as content", "message-content-string"),
        ("a block of a message is no object", "message-block-no-object"),
        ("a block of a message has no type", "message-block-without-type"),
        (
            "a block of a message has a number as type",
            "message-block-type-number",
        ),
        ("a message event has no message", "message-missing"),
        ("the runtime exits in the middle of a line", "unfinished-line"),
    ]
    .map(|(name, of)| row(name, scenario(of)))
    .into();
    all.extend(rows("the runtime exits with 7", failed, |script| script.exit(7)));
    for signal in [Signal::Kill, Signal::Segv, Signal::Abrt, Signal::Term] {
        let name = format!("the runtime ends on SIG{}", format!("{signal:?}").to_uppercase());
        all.extend(rows(&name, failed, |script| script.kill_self(signal)));
    }
    all.extend(
        rows("the runtime closes its output and lives on", failed, |s| {
            s.step(Step::CloseStdout)
        })
        .map(Row::impatient),
    );
    all.extend(
        rows("the runtime closes both pipes and lives on", failed, |s| {
            s.step(Step::CloseStdout).step(Step::CloseStdin).hang()
        })
        .map(Row::impatient),
    );
    all.extend(
        rows("the runtime sends a frame that is too long", failed, |s| {
            s.padded(3000, delta_frame("{pad}"))
        })
        .map(|row| row.key("maxFrameBytes", 2999)),
    );
    let deaf = || Script::dsh_sdk().initialize().step(Step::CloseStdin);
    all.extend([
        row(
            "the runtime sends more before the receipt than may be kept",
            Script::dsh_sdk()
                .initialize()
                .prompt()
                .repeat(4, |s| s.padded(1000, delta_frame("{pad}"))),
        )
        .key("maxFrameBytes", 2999),
        row(
            "the runtime closes its input before a long prompt and lives on",
            deaf().hang(),
        )
        .prompt_of(1 << 20)
        .impatient(),
        row(
            "the runtime asks on and on and reads no answer",
            Script::dsh_sdk()
                .accepted()
                .repeat(30_000, |s| {
                    s.request("{index}", "host/invented", serde_json::json!({}))
                })
                .hang(),
        )
        .impatient(),
    ]);
    all
}

pub(super) fn interruptions() -> Vec<Row> {
    let mut all = Vec::new();
    let passed = Ends::With(StopReason::Error);
    for (name, key) in [
        ("the run deadline passes", "runTimeoutMs"),
        ("the idle deadline passes", "idleTimeoutMs"),
    ] {
        all.extend(rows(name, passed, Script::shutdown).map(|row| row.key(key, 1500)));
    }
    let aborted = Ends::With(StopReason::Aborted);
    all.extend(
        rows("cancelled", aborted, |script| sign_when_heard(script).shutdown())
            .map(Row::cancelled_at_the_sign),
    );
    let row = |name: &str, script: Script| Row::new(name, aborted, script).cancelled_at_the_sign();
    let accepted = || Script::dsh_sdk().accepted();
    let short = |row: Row| row.impatient().key("shutdownTimeoutMs", 300);
    all.extend([
        row(
            "cancelled before the prompt is answered",
            sign(Script::dsh_sdk().initialize().prompt()).shutdown(),
        ),
        row(
            "cancelled, and the runtime ends the turn with completed",
            sign_when_heard(accepted().delta("partial"))
                .expect("shutdown")
                .completed()
                .respond(serde_json::json!({})),
        ),
        row(
            "cancelled, and the runtime exits with 7",
            sign(accepted()).expect("shutdown").exit(7),
        ),
        short(row(
            "cancelled, and the runtime neither reads nor writes",
            sign_when_heard(accepted().delta("partial")).hang(),
        )),
    ]);
    all
}
