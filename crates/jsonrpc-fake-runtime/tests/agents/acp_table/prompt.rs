//! Rows about prompts: turns that the agent ends, conversations that break, deadlines that pass, runs that are cancelled.

use jsonrpc_fake_runtime::acp::AcpSteps as _;
use jsonrpc_fake_runtime::{Script, Signal, Step};
use serde_json::{Value, json};
use subagent_seam::StopReason;

use super::permission::asked;
use crate::pinned::row::{Ends, Row, sign, sign_when_heard};

/// What an agent has done before its prompt comes to an end.
#[derive(Clone, Copy)]
enum Before {
    Nothing,
    Text,
    Decision,
    Both,
}

impl Before {
    const ALL: [Self; 4] = [Self::Nothing, Self::Text, Self::Decision, Self::Both];

    fn script(self) -> Script {
        let script = Script::acp().prompted();
        match self {
            Self::Nothing => script,
            Self::Text => script.chunk("partial, ").chunk("text"),
            Self::Decision => script.then(asked),
            Self::Both => script.chunk("partial, ").then(asked).chunk("text"),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Nothing => "",
            Self::Text => ", after some text",
            Self::Decision => ", after a decision",
            Self::Both => ", after some text and a decision",
        }
    }
}

/// A row for each thing that may have come before.
fn rows(name: &str, ends: Ends, finish: impl Fn(Script) -> Script) -> impl Iterator<Item = Row> {
    Before::ALL
        .map(|before| Row::new(format!("{name}{}", before.name()), ends, finish(before.script())))
        .into_iter()
}

pub(super) fn turns() -> Vec<Row> {
    let mut all = Vec::new();
    for (answer, stop_reason) in [
        (json!({"stopReason": "end_turn"}), StopReason::Completed),
        (json!({"stopReason": "max_tokens"}), StopReason::MaxTokens),
        (json!({"stopReason": "refusal"}), StopReason::Refusal),
        (json!({"stopReason": "cancelled"}), StopReason::Aborted),
        (json!({"stopReason": "max_turn_requests"}), StopReason::Error),
        (json!({"stopReason": "paused_for_lunch"}), StopReason::Error),
    ] {
        let name = format!("the turn ends with {}", answer["stopReason"].as_str().unwrap());
        all.extend(rows(&name, Ends::With(stop_reason), |script| {
            script.stop_with(answer.clone())
        }));
    }
    for (what, answer) in [
        ("no stop reason", json!({"usage": {}})),
        ("a number as stop reason", json!({"stopReason": 1})),
        ("null as stop reason", json!({"stopReason": null})),
        ("no object", json!("end_turn")),
        ("null", Value::Null),
    ] {
        let script = Script::acp().prompted().stop_with(answer);
        all.push(Row::new(
            format!("the turn ends with {what}"),
            Ends::With(StopReason::Error),
            script,
        ));
    }
    let completed = |name: &str, script| Row::new(name, Ends::With(StopReason::Completed), script);
    let prompted = || Script::acp().prompted();
    all.extend([
        completed(
            "the turn ends with end_turn, after white space",
            prompted().chunk(" \n\t").end_turn(),
        ),
        completed(
            "the turn ends with end_turn, after thoughts",
            prompted().thought("hm").end_turn(),
        ),
        completed(
            "the turn ends with end_turn, and the agent exits with 7",
            prompted().chunk("done").end_turn().exit(7),
        ),
        completed(
            "the turn ends with end_turn, after more text than may be collected",
            prompted().chunk("0123456789").end_turn(),
        )
        .key("maxOutputBytes", 4),
        Row::new(
            "the turn ends with refusal, after white space",
            Ends::With(StopReason::Refusal),
            prompted().chunk(" \n").stop("refusal"),
        ),
    ]);
    all
}

pub(super) fn failures() -> Vec<Row> {
    let failed = Ends::With(StopReason::Error);
    let mut all = Vec::new();
    all.extend(rows("the agent exits with 7", failed, |script| script.exit(7)));
    all.extend(rows("the agent is killed", failed, |script| {
        script.kill_self(Signal::Kill)
    }));
    all.extend(rows("the prompt is answered with an error", failed, |s| {
        s.step(Step::RespondError {
            to: Some("session/prompt".to_owned()),
            code: -32603,
            message: "internal error".to_owned(),
            data: None,
        })
    }));
    all.extend(
        rows("the agent closes its output and lives on", failed, |s| {
            s.step(Step::CloseStdout)
        })
        .map(Row::impatient),
    );
    let row = |name: &str, script: Script| Row::new(name, failed, script);
    let prompted = || Script::acp().prompted();
    for code in [0, 1, 255] {
        all.push(row(
            &format!("the agent exits with {code}"),
            prompted().exit(code),
        ));
    }
    // The others may be ignored in whatever started the tests, and children inherit that.
    for signal in [Signal::Abrt, Signal::Segv, Signal::Term, Signal::Usr1] {
        let name = format!("SIG{}", format!("{signal:?}").to_uppercase());
        all.push(row(
            &format!("the agent ends on {name}"),
            prompted().kill_self(signal),
        ));
    }
    all.extend([
        row(
            "the agent closes its output and exits later",
            prompted().chunk("partial").step(Step::CloseStdout).exit(4),
        ),
        row(
            "the agent closes both pipes and lives on",
            prompted().step(Step::CloseStdout).step(Step::CloseStdin).hang(),
        )
        .impatient(),
        row(
            "the agent closes its input before a long prompt and lives on",
            deaf().hang(),
        )
        .prompt_of(1 << 20)
        .impatient(),
        row(
            "the agent closes its input before a long prompt and exits",
            deaf().exit(6),
        )
        .prompt_of(1 << 20),
        row(
            "the prompt is answered with an error by an agent that exits then",
            prompted().respond_error(-32603, "no").exit(2),
        ),
        row(
            "the agent sends a frame that is too long",
            prompted().chunk("partial").padded(3000, padding()),
        )
        .key("maxFrameBytes", 2999),
        row(
            "the agent sends a frame that is too long and exits",
            prompted().padded(3000, padding()).exit(3),
        )
        .key("maxFrameBytes", 2999),
        row(
            "the agent asks on and on and reads no answer",
            prompted()
                .repeat(30_000, |s| {
                    s.ask_permission("{index}", "read", &[("yes", "allow_once")])
                })
                .hang(),
        )
        .impatient(),
    ]);
    all
}

pub(super) fn interruptions() -> Vec<Row> {
    let mut all = Vec::new();
    let short = 1500;
    all.extend(
        rows("the run deadline passes", Ends::With(StopReason::Error), settled)
            .map(|row| row.key("runTimeoutMs", short)),
    );
    all.extend(
        rows("the idle deadline passes", Ends::With(StopReason::Error), settled)
            .map(|row| row.key("idleTimeoutMs", short)),
    );
    let aborted = Ends::With(StopReason::Aborted);
    all.extend(
        rows("cancelled", aborted, |script| settled(sign_when_heard(script))).map(Row::cancelled_at_the_sign),
    );
    let prompted = || Script::acp().prompted();
    let row = |name: &str, script: Script| Row::new(name, aborted, script).cancelled_at_the_sign();
    all.extend([
        row(
            "cancelled, and the agent answers end_turn",
            sign_when_heard(prompted().chunk("partial"))
                .expect("session/cancel")
                .end_turn(),
        ),
        row(
            "cancelled, and the agent exits with 7",
            sign(prompted()).expect("session/cancel").exit(7),
        ),
        row(
            "cancelled, and the agent neither reads nor writes",
            sign_when_heard(prompted().chunk("partial")).hang(),
        )
        .impatient(),
        // With a window of this length the call would pass its bound if the wait for the exit went on.
        row(
            "cancelled while an exit is awaited",
            sign(prompted().step(Step::CloseStdout)),
        )
        .key("disposeGraceMs", 120_000),
    ]);
    all
}

/// What well-behaved agents do with a turn that is taken from them.
fn settled(script: Script) -> Script {
    script.expect("session/cancel").stop("cancelled")
}

/// Closes stdin before the prompt can have been written.
fn deaf() -> Script {
    Script::acp()
        .initialize()
        .expect("session/new")
        .step(Step::CloseStdin)
        .respond(json!({"sessionId": "{sessionId}"}))
}

fn padding() -> Value {
    json!({"jsonrpc": "2.0", "method": "padding", "params": {"pad": "{pad}"}})
}
