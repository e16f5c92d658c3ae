//! Rows about decisions that were made in the parent's name: by each policy, about each kind of tool call. A turn that
//! ends with `refusal` tells the decision and nothing else.

use jsonrpc_fake_runtime::Script;
use jsonrpc_fake_runtime::acp::AcpSteps as _;
use serde_json::{Value, json};
use subagent_seam::StopReason;

use crate::pinned::row::{Ends, Row};

/// Asks for permission to edit something and waits for the answer.
pub(super) fn asked(script: Script) -> Script {
    ask(script, "edit", &[("yes", "allow_once"), ("no", "reject_once")])
}

fn ask(script: Script, kind: &str, options: &[(&str, &str)]) -> Script {
    script.ask_permission(kind, kind, options).expect_answer(kind)
}

pub(super) fn decisions() -> Vec<Row> {
    let mut rows = Vec::new();
    for (policy, what, options) in [
        ("reject", "every option", ALL),
        ("decline", "every option", ALL),
        ("decline", "no way to reject", &ALL[..1]),
        ("allow", "every option", ALL),
        ("allow", "a lasting grant only", &ALL[..1]),
        ("allow", "no way to allow", &ALL[2..]),
        ("allow", "no option", &[]),
    ] {
        let name = format!("policy {policy}: the request offers {what}");
        rows.push(told(name, ask(prompted(), "edit", options)).key("permission", policy));
    }
    for kind in [
        "read",
        "edit",
        "delete",
        "move",
        "search",
        "execute",
        "think",
        "fetch",
        "switch_mode",
        "other",
    ] {
        rows.push(told(
            format!("kind of tool call: {kind}"),
            ask(prompted(), kind, ALL),
        ));
    }
    for (what, kind) in [
        ("a new word", json!("teleport")),
        ("no string", json!(7)),
        ("null", Value::Null),
    ] {
        let call = json!({"toolCallId": "call-1", "kind": kind});
        rows.push(told(format!("kind of tool call: {what}"), asked_with(call)));
    }
    rows.push(told(
        "kind of tool call: missing",
        asked_with(json!({"toolCallId": "call-1"})),
    ));
    rows.push(told(
        "two decisions: the latest counts",
        ask(ask(prompted(), "read", ALL), "execute", ALL),
    ));
    rows
}

const ALL: &[(&str, &str)] = &[
    ("always", "allow_always"),
    ("once", "allow_once"),
    ("no", "reject_once"),
];

fn prompted() -> Script {
    Script::acp().prompted()
}

fn asked_with(call: Value) -> Script {
    prompted()
        .ask_permission_with("ask", call, json!([]))
        .expect_answer("ask")
}

fn told(name: impl Into<String>, script: Script) -> Row {
    Row::new(name, Ends::With(StopReason::Refusal), script.stop("refusal"))
}
