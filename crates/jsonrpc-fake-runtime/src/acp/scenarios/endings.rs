//! Scenarios about how a turn ends, and with what output.

use serde_json::{Value, json};

use crate::acp::AcpSteps;
use crate::scenario::Scenario;
use crate::script::Script;

pub(super) fn scenarios() -> Vec<Scenario> {
    let mut list = Vec::new();
    for (name, what, result) in results() {
        let silent = result.clone();
        list.push(Scenario::new(
            format!("stop-{name}"),
            format!("a text, then {what}"),
            move || {
                Script::acp()
                    .prompted()
                    .chunk("some text")
                    .stop_with(result.clone())
            },
        ));
        list.push(Scenario::new(
            format!("stop-{name}-without-text"),
            format!("{what}, without any text before"),
            move || Script::acp().prompted().stop_with(silent.clone()),
        ));
    }
    list.extend([
        Scenario::new("thoughts-only", "thoughts, no text, end_turn", || {
            Script::acp()
                .prompted()
                .thought("hm")
                .thought("hm, hm")
                .end_turn()
        }),
        Scenario::new("whitespace-only", "white space, end_turn", || {
            Script::acp().prompted().chunk(" \n").chunk("\t\u{a0}").end_turn()
        }),
        Scenario::new("empty-chunks", "empty chunks around a text, end_turn", || {
            Script::acp()
                .prompted()
                .chunk("")
                .chunk("hello")
                .chunk("")
                .end_turn()
        }),
        Scenario::new(
            "blocks-only",
            "images, links and resources, no text, end_turn",
            || {
                Script::acp()
                    .prompted()
                    .then(|s| blocks().into_iter().fold(s, AcpSteps::update))
                    .end_turn()
            },
        ),
    ]);
    list
}

/// Results of the prompt, each with the end of its scenario's name and a description.
fn results() -> Vec<(&'static str, String, Value)> {
    let known = [
        "end_turn",
        "max_tokens",
        "max_turn_requests",
        "refusal",
        "cancelled",
    ];
    let mut results: Vec<_> = known
        .map(|reason| {
            (
                reason,
                format!("the stop reason {reason}"),
                json!({"stopReason": reason}),
            )
        })
        .into();
    results.extend([
        (
            "unknown",
            "an unknown stop reason".into(),
            json!({"stopReason": "tired"}),
        ),
        (
            "missing",
            "an answer without a stop reason".into(),
            json!({"other": true}),
        ),
        (
            "number",
            "a number as the stop reason".into(),
            json!({"stopReason": 42}),
        ),
        (
            "null",
            "null as the stop reason".into(),
            json!({"stopReason": null}),
        ),
        (
            "no-object",
            "an answer that is not an object".into(),
            json!("end_turn"),
        ),
    ]);
    results
}

fn blocks() -> Vec<Value> {
    let chunk = |content: Value| json!({"sessionUpdate": "agent_message_chunk", "content": content});
    vec![
        chunk(json!({"type": "image", "data": "AAAA", "mimeType": "image/png"})),
        chunk(json!({"type": "resource_link", "uri": "file:///nowhere", "name": "nowhere"})),
        chunk(json!({"type": "resource", "resource": {"uri": "file:///nowhere", "text": "not output"}})),
        chunk(json!({"type": "levitation", "text": "not output either"})),
        chunk(json!({"type": "text", "text": 42})),
        chunk(json!(["text"])),
    ]
}
