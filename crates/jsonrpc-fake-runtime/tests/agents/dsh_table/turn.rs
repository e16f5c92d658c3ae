//! Rows about runs that come to an end of their own: the last end of a turn decides.

use jsonrpc_fake_runtime::Script;
use jsonrpc_fake_runtime::dsh_sdk::DshSdkSteps as _;
use subagent_seam::StopReason;

use super::scenario;
use crate::pinned::row::{Ends, Row};

/// What was observed, the end of the scenario's name, and the stop reason.
const ENDS: [(&str, &str, StopReason); 14] = [
    ("completed", "completed", StopReason::Completed),
    ("max-tokens", "max-tokens", StopReason::MaxTokens),
    (
        "aborted, because it was disposed",
        "aborted-disposed",
        StopReason::Aborted,
    ),
    ("aborted, for another cause", "aborted", StopReason::Aborted),
    (
        "aborted, without a cause",
        "aborted-without-cause",
        StopReason::Aborted,
    ),
    ("blocked", "blocked", StopReason::Refusal),
    ("error", "error", StopReason::Error),
    ("interrupted", "interrupted", StopReason::Error),
    ("a new word", "unknown", StopReason::Error),
    ("no kind of reason", "kind-missing", StopReason::Error),
    ("a number as kind of reason", "kind-number", StopReason::Error),
    ("no reason", "reason-missing", StopReason::Error),
    (
        "a reason that is no object",
        "reason-no-object",
        StopReason::Error,
    ),
    // The session falls idle without it.
    ("", "none", StopReason::Error),
];

pub(super) fn ends() -> Vec<Row> {
    let mut rows = Vec::new();
    for (what, name, stop_reason) in ENDS {
        let observed = match what {
            "" => "the session falls idle without the end of a turn".to_owned(),
            what => format!("the turn ends with {what}"),
        };
        let row =
            |after: &str, script| Row::new(format!("{observed}{after}"), Ends::With(stop_reason), script);
        rows.extend([
            row("", scenario(&format!("end-{name}-without-text"))),
            row(", after some text", scenario(&format!("end-{name}"))),
        ]);
    }
    let row = |name: &str, stop_reason, script| Row::new(name, Ends::With(stop_reason), script);
    let accepted = || Script::dsh_sdk().accepted();
    rows.extend([
        row(
            "a turn ends with error, and the next one with completed",
            StopReason::Completed,
            scenario("end-twice"),
        ),
        row(
            "a turn ends with completed, and the next one with error",
            StopReason::Error,
            scenario("end-twice-badly"),
        ),
        row(
            "the turn ends only after the session has fallen idle",
            StopReason::Error,
            scenario("end-after-idle"),
        ),
        row(
            "the turn ends with completed, after white space",
            StopReason::Completed,
            scenario("whitespace-only"),
        ),
        row(
            "the turn ends with completed, and the runtime exits with 7",
            StopReason::Completed,
            scenario("exit-7-at-after-turn"),
        ),
        row(
            "the turn ends with completed, after more text than may be collected",
            StopReason::Completed,
            accepted().message("0123456789").completed().shutdown(),
        )
        .key("maxOutputBytes", 4),
        row(
            "the turn ends with blocked, after white space",
            StopReason::Refusal,
            accepted().delta(" \n").turn_end("blocked").idle().shutdown(),
        ),
    ]);
    rows
}
