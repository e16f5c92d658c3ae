//! Scenarios about malformed events and messages.

use serde_json::{Value, json};

use crate::dsh_sdk::DshSdkSteps;
use crate::scenario::Scenario;
use crate::script::Script;

pub(super) fn scenarios() -> Vec<Scenario> {
    let mut list = events();
    list.extend(messages());
    list
}

fn events() -> Vec<Scenario> {
    let events = [
        ("event-no-object", "a string as an event", json!("turn/end")),
        ("event-null", "null as an event", Value::Null),
        (
            "event-without-type",
            "an event without a type",
            json!({"seq": 1, "data": {}}),
        ),
        (
            "event-type-number",
            "an event whose type is a number",
            json!({"type": 7, "data": {}}),
        ),
    ];
    let mut list = Vec::new();
    for (name, about, event) in events {
        let (early, foreign) = (event.clone(), event.clone());
        let accepted = || Script::dsh_sdk().accepted().delta("partial");
        list.push(Scenario::new(name, about, move || {
            accepted()
                .raw_event(event.clone())
                .message("hello")
                .completed()
                .shutdown()
        }));
        list.push(Scenario::new(
            format!("{name}-early"),
            format!("{about}, before the mark; then ok"),
            move || {
                let script = Script::dsh_sdk()
                    .initialize()
                    .prompt()
                    .receipt()
                    .raw_event(early.clone());
                script.mark().message("hello").completed().shutdown()
            },
        ));
        list.push(Scenario::new(
            format!("{name}-foreign"),
            format!("{about}, of another session; then ok"),
            move || {
                let params = json!({"sessionId": "session-other", "event": foreign.clone()});
                Script::dsh_sdk()
                    .accepted()
                    .notify("session.event", params)
                    .message("hello")
                    .completed()
                    .shutdown()
            },
        ));
    }
    list
}

fn messages() -> Vec<Scenario> {
    let contents = [
        (
            "message-content-string",
            "a message whose content is a string",
            json!("hello"),
        ),
        (
            "message-content-missing",
            "a message whose content is null",
            Value::Null,
        ),
        (
            "message-block-no-object",
            "a message with a string as a block",
            json!(["hello"]),
        ),
        (
            "message-block-without-type",
            "a message with a block without a type",
            json!([{"text": "hello"}]),
        ),
        (
            "message-block-type-number",
            "a message with a block whose type is a number",
            json!([{"type": 7}]),
        ),
    ];
    let mut list = Vec::new();
    for (name, about, content) in contents {
        list.push(Scenario::new(name, about, move || {
            Script::dsh_sdk()
                .accepted()
                .delta("partial")
                .message_with(content.clone())
                .completed()
                .shutdown()
        }));
    }
    list.push(Scenario::new(
        "message-missing",
        "an assistant/message event without a message",
        || {
            Script::dsh_sdk()
                .accepted()
                .delta("partial")
                .event("assistant/message", json!({}))
                .completed()
                .shutdown()
        },
    ));
    list
}
