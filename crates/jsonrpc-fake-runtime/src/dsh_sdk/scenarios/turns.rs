//! Scenarios about how a turn ends, and about which of what was said is the output.

use serde_json::{Value, json};

use crate::dsh_sdk::DshSdkSteps;
use crate::scenario::Scenario;
use crate::script::Script;

pub(super) fn scenarios() -> Vec<Scenario> {
    let mut list = Vec::new();
    for (name, what, data) in ends() {
        let silent = data.clone();
        list.push(Scenario::new(
            format!("end-{name}"),
            format!("some streamed text, then {what}"),
            move || {
                Script::dsh_sdk()
                    .accepted()
                    .delta("some text")
                    .turn_end_with(data.clone())
                    .idle()
                    .shutdown()
            },
        ));
        list.push(Scenario::new(
            format!("end-{name}-without-text"),
            format!("{what}, without any text before"),
            move || {
                Script::dsh_sdk()
                    .accepted()
                    .turn_end_with(silent.clone())
                    .idle()
                    .shutdown()
            },
        ));
    }
    list.extend([
        Scenario::new(
            "end-none",
            "some streamed text, then idle without the end of a turn",
            || Script::dsh_sdk().accepted().delta("some text").idle().shutdown(),
        ),
        Scenario::new("end-none-without-text", "idle without the end of a turn", || {
            Script::dsh_sdk().accepted().idle().shutdown()
        }),
        Scenario::new(
            "end-twice",
            "a turn that ends in error, then one that completes, then idle",
            || {
                Script::dsh_sdk()
                    .accepted()
                    .turn_end("error")
                    .message("hello")
                    .completed()
                    .shutdown()
            },
        ),
        Scenario::new(
            "end-twice-badly",
            "a turn that completes, then one that ends in error, then idle",
            || {
                Script::dsh_sdk()
                    .accepted()
                    .message("hello")
                    .turn_end("completed")
                    .turn_end("error")
                    .idle()
                    .shutdown()
            },
        ),
        Scenario::new(
            "end-after-idle",
            "idle, and only then the end of the turn",
            || {
                Script::dsh_sdk()
                    .accepted()
                    .message("hello")
                    .idle()
                    .turn_end("completed")
                    .shutdown()
            },
        ),
    ]);
    list.extend(outputs());
    list
}

/// Data of `turn/end`, each with the end of its scenario's name and a description.
fn ends() -> Vec<(&'static str, String, Value)> {
    let kinds = ["completed", "max-tokens", "blocked", "error", "interrupted"];
    let mut ends: Vec<_> = kinds
        .map(|kind| {
            (
                kind,
                format!("the end of the turn: {kind}"),
                json!({"turn": 1, "reason": {"kind": kind}}),
            )
        })
        .into();
    let aborted = |reason: Value| json!({"turn": 1, "reason": {"kind": "aborted", "reason": reason}});
    ends.extend([
        (
            "aborted",
            "an abort by the user".into(),
            aborted(json!({"kind": "user"})),
        ),
        (
            "aborted-disposed",
            "an abort because it was disposed".into(),
            aborted(json!({"kind": "disposed"})),
        ),
        (
            "aborted-without-cause",
            "an abort without a cause".into(),
            json!({"turn": 1, "reason": {"kind": "aborted"}}),
        ),
        (
            "unknown",
            "an unknown reason".into(),
            json!({"turn": 1, "reason": {"kind": "tired"}}),
        ),
        (
            "kind-missing",
            "a reason without a kind".into(),
            json!({"turn": 1, "reason": {}}),
        ),
        (
            "kind-number",
            "a number as the kind of the reason".into(),
            json!({"turn": 1, "reason": {"kind": 7}}),
        ),
        (
            "reason-missing",
            "the end of the turn without a reason".into(),
            json!({"turn": 1}),
        ),
        (
            "reason-no-object",
            "a string as the reason".into(),
            json!({"turn": 1, "reason": "completed"}),
        ),
    ]);
    ends
}

fn outputs() -> Vec<Scenario> {
    let accepted = || Script::dsh_sdk().accepted();
    let tool_call = || json!([{"type": "tool-call", "id": "call-1", "name": "bash", "arguments": "{}"}]);
    vec![
        Scenario::new("streamed-only", "streamed text without a message", move || {
            accepted().delta("hel").delta("lo").completed().shutdown()
        }),
        Scenario::new("message-only", "a message without streamed text", move || {
            accepted().message("hello").completed().shutdown()
        }),
        Scenario::new(
            "message-over-stream",
            "a message that differs from the streamed text",
            move || {
                accepted()
                    .delta("streamed")
                    .message("hello")
                    .completed()
                    .shutdown()
            },
        ),
        Scenario::new("last-message", "three messages, the last one counts", move || {
            accepted()
                .message("first")
                .message("second")
                .message("hello")
                .completed()
                .shutdown()
        }),
        Scenario::new(
            "usage-only-last",
            "a message, then one with empty content",
            move || {
                accepted()
                    .message("hello")
                    .message_with(json!([]))
                    .completed()
                    .shutdown()
            },
        ),
        Scenario::new(
            "usage-only-and-stream",
            "streamed text, then a message with empty content",
            move || {
                accepted()
                    .delta("hello")
                    .message_with(json!([]))
                    .completed()
                    .shutdown()
            },
        ),
        Scenario::new(
            "tool-call-last",
            "a message with text, then one with a tool call and no text",
            move || {
                accepted()
                    .message("before the tool")
                    .message_with(tool_call())
                    .completed()
                    .shutdown()
            },
        ),
        Scenario::new(
            "two-texts",
            "a message of two texts with a block of another type between",
            move || {
                let blocks = json!([{"type": "text", "text": "hel"}, {"type": "reasoning", "text": "hm"},
                {"type": "text", "text": "lo"}]);
                accepted().message_with(blocks).completed().shutdown()
            },
        ),
        Scenario::new("whitespace-only", "a message of white space", move || {
            accepted().message(" \n\t").completed().shutdown()
        }),
        Scenario::new(
            "other-chunks",
            "the chunks of a real answer: blocks, tool calls, usage, finish",
            move || {
                let chunk = |s: Script, chunk: Value| {
                    s.event("assistant/chunk", json!({"turn": 1, "step": 1, "chunk": chunk}))
                };
                [
                json!({"type": "block-start", "index": 0, "blockType": "text"}),
                json!({"type": "text-delta", "index": 0, "text": "hello"}),
                json!({"type": "reasoning-delta", "index": 1, "text": "hm"}),
                json!({"type": "tool-call-delta", "index": 2, "id": "c", "name": "bash", "argumentsDelta": "{}"}),
                json!({"type": "block-end", "index": 0, "block": {"type": "text", "text": "hello"}}),
                json!({"type": "usage", "usage": {"inputTokens": 1, "outputTokens": 1}}),
                json!({"type": "finish", "reason": {"kind": "stop"}}),
            ]
            .into_iter()
            .fold(accepted(), chunk)
            .completed()
            .shutdown()
            },
        ),
    ]
}
