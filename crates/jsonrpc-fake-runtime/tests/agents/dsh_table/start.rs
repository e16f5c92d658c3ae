//! Rows about runs that do not start: no handshake, or nobody who waits for it any more.

use jsonrpc_fake_runtime::{Script, Step};
use serde_json::json;

use super::scenario;
use crate::pinned::row::{Ends, Row, Session, sign};

/// A runtime that has been asked for its handshake.
fn asked() -> Script {
    Script::dsh_sdk().expect("initialize")
}

pub(super) fn handshakes() -> Vec<Row> {
    let row = |what: &str, script: Script| Row::new(format!("initialize: {what}"), Ends::Unstarted, script);
    let mut rows: Vec<_> = [
        ("answered with an error", "error-at-initialize"),
        ("answered with an error that tells a credential", "auth-required"),
        ("answered without serverInfo", "server-info-missing"),
        ("answered with null as serverInfo", "server-info-null"),
        ("answered with no object", "server-info-no-object"),
        ("answered without a name", "server-info-name-missing"),
        ("answered with a number as name", "server-info-name-number"),
        ("answered without a version", "server-info-version-missing"),
        ("answered with a number as version", "server-info-version-number"),
        ("the runtime exits with 0 before it reads", "exit-0-at-start"),
        ("the runtime exits with 7", "exit-7-at-initialize"),
        ("the runtime is killed", "sigkill-at-initialize"),
        ("the runtime crashes", "sigsegv-at-initialize"),
        ("the runtime ends on SIGTERM", "sigterm-at-initialize"),
    ]
    .map(|(what, name)| row(what, scenario(name)))
    .into();
    let short = |row: Row| row.impatient().key("startupTimeoutMs", 2000);
    rows.extend([
        row(
            "answered with an error by a runtime that exits then",
            asked().respond_error(-32000, "no").exit(1),
        ),
        row(
            "the runtime closes its output and lives on",
            asked().step(Step::CloseStdout),
        )
        .impatient(),
        row(
            "the runtime closes both pipes and lives on",
            scenario("closed-pipes-at-initialize"),
        )
        .impatient(),
        row(
            "the runtime closes its output and exits later",
            asked().step(Step::CloseStdout).exit(5),
        ),
        row(
            "the runtime sends a frame that is too long",
            asked().padded(
                3000,
                json!({"jsonrpc": "2.0", "method": "padding", "params": {"pad": "{pad}"}}),
            ),
        )
        .key("maxFrameBytes", 2999),
        row(
            "a launcher that finds no runtime exits with 127",
            Script::dsh_sdk(),
        )
        .shell("exec no-such-runtime-4711"),
        short(row("never answered", asked())),
        short(row(
            "never answered by a runtime that does not read",
            asked().hang(),
        )),
        short(row(
            "never answered, and only SIGKILL ends the runtime",
            asked().ignore_eof().ignore_sigterm().hang(),
        )),
    ]);
    rows
}

pub(super) fn cancellations() -> Vec<Row> {
    let abort = |name: &str, script: Script| Row::new(name, Ends::CleanAbort, script);
    vec![
        abort("cancelled before the call", Script::dsh_sdk()).cancelled_before_the_call(),
        abort(
            "cancelled before the call, without a usable directory",
            Script::dsh_sdk(),
        )
        .session(Session::Nowhere)
        .cancelled_before_the_call(),
        abort("cancelled before the runtime reads", sign(Script::dsh_sdk())).cancelled_at_the_sign(),
        abort("cancelled while initialize is open", sign(asked())).cancelled_at_the_sign(),
        abort(
            "cancelled while initialize is open, and the runtime does not read",
            sign(asked()).hang(),
        )
        .impatient()
        .cancelled_at_the_sign(),
    ]
}
