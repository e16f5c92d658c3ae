//! Rows about runs that do not start: no handshake, or nobody who waits for it any more.

use jsonrpc_fake_runtime::acp::{AcpSteps as _, Stage};
use jsonrpc_fake_runtime::{Script, Signal, Step};
use serde_json::{Value, json};

use crate::pinned::row::{Ends, Row, Session, sign};

const STARTS: [(Stage, &str); 2] = [
    (Stage::Initialize, "initialize"),
    (Stage::NewSession, "session/new"),
];

pub(super) fn handshakes() -> Vec<Row> {
    let mut rows = Vec::new();
    for (stage, method) in STARTS {
        let row = |what: &str, script: Script| Row::new(format!("{method}: {what}"), Ends::Unstarted, script);
        let at = || Script::acp().up_to(stage);
        rows.extend([
            row(
                "answered with an error",
                at().respond_error(-32603, "internal error"),
            ),
            row(
                "answered with an error by an agent that exits then",
                at().respond_error(-32000, "no").exit(1),
            ),
            row("the agent exits with 0", at().exit(0)),
            row("the agent exits with 7", at().exit(7)),
            row("the agent is killed", at().kill_self(Signal::Kill)),
            row("the agent crashes", at().kill_self(Signal::Segv)),
            row("the agent ends on SIGTERM", at().kill_self(Signal::Term)),
            row(
                "the agent closes its output and lives on",
                at().step(Step::CloseStdout),
            )
            .impatient(),
            row("the agent closes both pipes and lives on", both_closed(at())).impatient(),
            row(
                "the agent closes its output and exits later",
                at().step(Step::CloseStdout).exit(5),
            ),
            row(
                "the agent sends a frame that is too long and exits",
                at().padded(3000, padding()).exit(3),
            )
            .key("maxFrameBytes", 2999),
            row("never answered", at()).key("startupTimeoutMs", 2000),
            row("never answered by an agent that does not read", at().hang())
                .key("startupTimeoutMs", 2000)
                .impatient(),
            row(
                "permission is asked for, then an error is answered",
                asked(at(), method),
            ),
        ]);
    }
    let deaf = Script::acp().up_to(Stage::Initialize).step(Step::CloseStdin);
    let deaf = deaf.respond(json!({"protocolVersion": 1})).hang();
    let name = "session/new: the agent has closed its input and lives on";
    rows.push(Row::new(name, Ends::Unstarted, deaf).impatient());
    for version in [
        json!(0),
        json!(2),
        json!(65536),
        json!(1.5),
        json!("1"),
        Value::Null,
    ] {
        let answer = json!({"protocolVersion": version});
        rows.push(version_row(&format!("protocol version {version}"), answer));
    }
    rows.push(version_row(
        "no protocol version",
        json!({"agentCapabilities": {}}),
    ));
    rows.push(version_row("no object", json!(1)));
    for (what, answer) in [
        ("no session id", json!({"modes": null})),
        ("a number as session id", json!({"sessionId": 42})),
        ("null as session id", json!({"sessionId": null})),
        ("no object", json!("session-1")),
    ] {
        let script = Script::acp()
            .initialize()
            .new_session_with(answer)
            .prompt()
            .end_turn();
        rows.push(Row::new(
            format!("session/new: answered with {what}"),
            Ends::Unstarted,
            script,
        ));
    }
    let shell = |what: &str, script: &str| {
        Row::new(format!("initialize: {what}"), Ends::Unstarted, Script::acp()).shell(script)
    };
    rows.extend([
        shell(
            "a launcher that finds no agent exits with 127",
            "exec no-such-agent-4711",
        ),
        shell("the agent ends on a signal without a name", "kill -42 $$"),
    ]);
    rows
}

pub(super) fn cancellations() -> Vec<Row> {
    let abort = |name: &str, script: Script| Row::new(name, Ends::CleanAbort, script);
    let at = |stage| sign(Script::acp().up_to(stage));
    vec![
        abort("cancelled before the call", Script::acp()).cancelled_before_the_call(),
        abort(
            "cancelled before the call, without a usable directory",
            Script::acp(),
        )
        .session(Session::Nowhere)
        .cancelled_before_the_call(),
        abort("cancelled before the agent reads", sign(Script::acp())).cancelled_at_the_sign(),
        abort("cancelled while initialize is open", at(Stage::Initialize)).cancelled_at_the_sign(),
        abort("cancelled while session/new is open", at(Stage::NewSession)).cancelled_at_the_sign(),
        // With a window of this length the call would pass its bound if the wait for the exit went on.
        abort(
            "cancelled while an exit is awaited during the handshake",
            sign(Script::acp().up_to(Stage::Initialize).step(Step::CloseStdout)),
        )
        .key("disposeGraceMs", 120_000)
        .cancelled_at_the_sign(),
    ]
}

fn version_row(what: &str, answer: Value) -> Row {
    let script = Script::acp()
        .initialize_with(answer)
        .new_session()
        .prompt()
        .end_turn();
    Row::new(
        format!("initialize: answered with {what}"),
        Ends::Unstarted,
        script,
    )
}

fn both_closed(script: Script) -> Script {
    script.step(Step::CloseStdout).step(Step::CloseStdin).hang()
}

fn padding() -> Value {
    json!({"jsonrpc": "2.0", "method": "padding", "params": {"pad": "{pad}"}})
}

/// A decision is made, and must not be told.
fn asked(script: Script, method: &str) -> Script {
    script
        .ask_permission("ask", "edit", &[("yes", "allow_once")])
        .expect_answer("ask")
        .step(Step::RespondError {
            to: Some(method.to_owned()),
            code: -32603,
            message: "internal error".to_owned(),
            data: None,
        })
}
