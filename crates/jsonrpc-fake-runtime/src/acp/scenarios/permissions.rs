//! Scenarios about permission requests. Where the turn goes on after the answer, the text tells what the answer was.

use serde_json::{Value, json};

use super::cancels::UntilCancelled;
use crate::acp::AcpSteps;
use crate::scenario::Scenario;
use crate::script::Script;
use crate::step::Signal;

const KINDS: [&str; 10] = [
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
];
const OPTIONS: [(&str, &str); 2] = [("yes", "allow_once"), ("no", "reject_once")];

/// Text that tells the outcome of the request `ask`.
const OUTCOME: &str = "answered {answer:ask#/result/outcome}";

pub(super) fn scenarios() -> Vec<Scenario> {
    let mut list = Vec::new();
    for kind in KINDS {
        list.push(asking(
            kind,
            &format!("asks to {kind}, offering once and no"),
            json!({"toolCallId": "call-1", "title": "A tool", "kind": kind}),
            options(&OPTIONS),
        ));
    }
    list.extend(odd());
    list.push(Scenario::new(
        "permission-many",
        "asks three times, for read, edit and execute",
        || {
            ["read", "edit", "execute"]
                .iter()
                .fold(Script::acp().prompted(), |s, kind| {
                    s.ask_permission(format!("ask-{kind}"), kind, &OPTIONS)
                        .expect_answer(format!("ask-{kind}"))
                })
                .chunk("hello")
                .end_turn()
        },
    ));
    list.extend(endings());
    list.extend(cancelled());
    list
}

/// Requests that are unusual or malformed.
fn odd() -> Vec<Scenario> {
    let call = || json!({"toolCallId": "call-1", "title": "A tool", "kind": "execute"});
    let always_first = [
        ("aa", "allow_always"),
        ("ao", "allow_once"),
        ("ro", "reject_once"),
        ("ra", "reject_always"),
    ];
    let doubled = [
        ("ao1", "allow_once"),
        ("ao2", "allow_once"),
        ("ro1", "reject_once"),
        ("ro2", "reject_once"),
    ];
    let cases: [(&str, &str, Value, Value); 12] = [
        (
            "unknown-kind",
            "asks for a tool of an unknown kind",
            json!({"toolCallId": "call-1", "kind": "levitate"}),
            options(&OPTIONS),
        ),
        (
            "kind-not-a-string",
            "asks for a tool whose kind is a number",
            json!({"toolCallId": "call-1", "kind": 7}),
            options(&OPTIONS),
        ),
        (
            "only-tool-call-id",
            "asks with nothing but a tool call id",
            json!({"toolCallId": "call-1"}),
            options(&OPTIONS),
        ),
        (
            "no-tool-call",
            "asks with null as the tool call",
            Value::Null,
            options(&OPTIONS),
        ),
        (
            "allow-always-first",
            "offers the persistent grant first",
            call(),
            options(&always_first),
        ),
        (
            "only-allow-always",
            "offers nothing but the persistent grant",
            call(),
            options(&[("aa", "allow_always")]),
        ),
        (
            "only-reject-always",
            "offers nothing but the persistent refusal",
            call(),
            options(&[("ra", "reject_always")]),
        ),
        ("no-options", "offers an empty list", call(), json!([])),
        (
            "options-not-a-list",
            "offers a string instead of a list",
            call(),
            json!("yes"),
        ),
        (
            "two-of-a-kind",
            "offers two options of each kind",
            call(),
            options(&doubled),
        ),
        (
            "option-named-cancel",
            "offers a refusal whose id is cancel",
            call(),
            options(&[("cancel", "reject_once"), ("yes", "allow_once")]),
        ),
        (
            "malformed-options",
            "offers malformed options before good ones",
            call(),
            malformed(),
        ),
    ];
    cases
        .map(|(name, about, call, options)| asking(name, about, call, options))
        .into()
}

fn asking(name: &str, about: &str, call: Value, options: Value) -> Scenario {
    Scenario::new(format!("permission-{name}"), about, move || {
        Script::acp()
            .prompted()
            .ask_permission_with("ask", call.clone(), options.clone())
            .expect_answer("ask")
            .chunk(OUTCOME)
            .end_turn()
    })
}

/// A permission request, then every other way to end.
fn endings() -> Vec<Scenario> {
    let asked = || {
        Script::acp()
            .prompted()
            .ask_permission("ask", "execute", &OPTIONS)
            .expect_answer("ask")
            .chunk(OUTCOME)
    };
    let mut list = Vec::new();
    for reason in ["max_tokens", "max_turn_requests", "refusal", "cancelled", "tired"] {
        let name = if reason == "tired" { "unknown" } else { reason };
        list.push(Scenario::new(
            format!("permission-then-stop-{name}"),
            format!("asks to execute, then stops with {reason}"),
            move || asked().stop(reason),
        ));
    }
    list.extend([
        Scenario::new(
            "permission-then-error",
            "asks to execute, then answers the prompt with an error",
            move || asked().respond_error(-32603, "internal error"),
        ),
        Scenario::new(
            "permission-then-exit",
            "asks to execute, then exits with code 7",
            move || asked().exit(7),
        ),
        Scenario::new(
            "permission-then-sigkill",
            "asks to execute, then kills itself",
            move || asked().kill_self(Signal::Kill),
        ),
        Scenario::new(
            "permission-then-silence",
            "asks to execute, then says nothing more",
            asked,
        ),
    ]);
    list
}

fn cancelled() -> [Scenario; 3] {
    let ask = |s: Script| s.ask_permission("ask", "execute", &OPTIONS);
    [
        Scenario::new(
            "permission-open-at-cancel",
            "asks, and reads the answer after it was cancelled",
            move || {
                ask(Script::acp().prompted().chunk("partial"))
                    .expect("session/cancel")
                    .expect_answer("ask")
                    .chunk(OUTCOME)
                    .stop("cancelled")
            },
        ),
        Scenario::new(
            "permission-after-cancel",
            "asks after it was cancelled",
            move || {
                ask(Script::acp().up_to_cancel())
                    .expect_answer("ask")
                    .chunk(OUTCOME)
                    .stop("cancelled")
            },
        ),
        Scenario::new(
            "permission-foreign-session",
            "asks for a session that is not the run's",
            || {
                let params = json!({"sessionId": "someone-else", "toolCall": {"toolCallId": "call-1"},
                "options": options(&OPTIONS)});
                Script::acp()
                    .prompted()
                    .request("ask", "session/request_permission", params)
                    .expect_answer("ask")
                    .chunk("hello")
                    .end_turn()
            },
        ),
    ]
}

fn options(pairs: &[(&str, &str)]) -> Value {
    pairs
        .iter()
        .map(|(id, kind)| json!({"optionId": id, "name": format!("Option {id}"), "kind": kind}))
        .collect()
}

fn malformed() -> Value {
    json!([
        42, null, "allow_once", [], {},
        {"kind": "allow_once", "name": "without an id"},
        {"optionId": 7, "kind": "allow_once", "name": "a number as id"},
        {"optionId": "no-kind", "name": "without a kind"},
        {"optionId": "odd-kind", "kind": 3, "name": "a number as kind"},
        {"optionId": "new-kind", "kind": "allow_twice", "name": "an unknown kind"},
        {"optionId": "good-yes", "kind": "allow_once"},
        {"optionId": "good-no", "kind": "reject_once"},
    ])
}
