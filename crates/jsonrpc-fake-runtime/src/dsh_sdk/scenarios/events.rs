//! Scenarios about the order of events, and about whose they are. Malformed ones are in `malformed`.

use serde_json::{Value, json};

use crate::dsh_sdk::{DshSdkSteps, delta_frame};
use crate::scenario::Scenario;
use crate::script::Script;

pub(super) fn scenarios() -> Vec<Scenario> {
    let mut list = order();
    list.extend(others_activity());
    list.extend(owners());
    list
}

fn prompted() -> Script {
    Script::dsh_sdk().initialize().prompt()
}

/// Activity of somebody else in the same session.
fn others(script: Script) -> Script {
    script
        .running()
        .delta("not ours")
        .message("not ours")
        .turn_end("error")
        .idle()
}

fn order() -> Vec<Scenario> {
    vec![
        Scenario::new(
            "mark-after-receipt",
            "the receipt first, then the mark and the answer",
            || {
                prompted()
                    .receipt()
                    .mark()
                    .running()
                    .message("hello")
                    .completed()
                    .shutdown()
            },
        ),
        Scenario::new(
            "all-before-receipt",
            "the whole answer, idle included, before the receipt",
            || {
                prompted()
                    .mark()
                    .running()
                    .message("hello")
                    .completed()
                    .receipt()
                    .shutdown()
            },
        ),
        Scenario::new(
            "receipt-in-one-write",
            "mark, receipt and answer in one write",
            || {
                prompted()
                    .together(|s| s.mark().receipt().message("hello").completed())
                    .shutdown()
            },
        ),
    ]
}

fn others_activity() -> Vec<Scenario> {
    vec![
        Scenario::new(
            "activity-before-mark",
            "the turn of somebody else, ended in error, before the mark",
            || {
                prompted()
                    .receipt()
                    .then(others)
                    .mark()
                    .running()
                    .message("hello")
                    .completed()
                    .shutdown()
            },
        ),
        Scenario::new(
            "activity-before-receipt",
            "the same before the receipt, with the mark after it",
            || {
                prompted()
                    .then(others)
                    .receipt()
                    .mark()
                    .message("hello")
                    .completed()
                    .shutdown()
            },
        ),
        Scenario::new(
            "other-mark",
            "the mark of another message with its answer, then the own one",
            || {
                prompted()
                    .receipt()
                    .mark_of("message-0")
                    .then(others)
                    .mark()
                    .message("hello")
                    .completed()
                    .shutdown()
            },
        ),
        Scenario::new(
            "mark-among-others",
            "one mark that holds three messages, the own one in the middle",
            || {
                let inserted = json!([{"id": "message-0"}, 7, {"id": "{messageId}"}, {"id": "message-2"}]);
                prompted()
                    .receipt()
                    .event("agent/inbox/spliced", json!({"start": 0, "inserted": inserted}))
                    .message("hello")
                    .completed()
                    .shutdown()
            },
        ),
        Scenario::new("mark-never", "a receipt and an answer, but no mark", || {
            prompted()
                .receipt()
                .running()
                .message("hello")
                .completed()
                .shutdown()
        }),
        Scenario::new(
            "flood-before-receipt",
            "20 MiB of events before the receipt, then ok",
            || {
                let mib = |s: Script| s.padded(1024 * 1024, delta_frame("{pad}"));
                prompted()
                    .repeat(20, mib)
                    .mark()
                    .receipt()
                    .message("hello")
                    .completed()
                    .shutdown()
            },
        ),
        Scenario::new(
            "activity-after-idle",
            "more text and another turn after idle",
            || {
                Script::dsh_sdk()
                    .accepted()
                    .message("hello")
                    .completed()
                    .then(others)
                    .shutdown()
            },
        ),
    ]
}

fn owners() -> Vec<Scenario> {
    let chunk =
        |text: &str| json!({"turn": 1, "step": 1, "chunk": {"type": "text-delta", "index": 0, "text": text}});
    let message = json!({"message": {"role": "assistant", "content": [{"type": "text", "text": "foreign"}]}});
    let foreign = move |s: Script, session: &str| {
        s.event_of(session, "assistant/chunk", chunk("foreign"))
            .event_of(session, "assistant/message", message.clone())
            .event_of(session, "turn/end", json!({"reason": {"kind": "error"}}))
            .notify("session.status", json!({"sessionId": session, "status": "idle"}))
    };
    let child = foreign.clone();
    vec![
        Scenario::new(
            "foreign-session",
            "a whole turn of another session in the middle of the own one",
            move || {
                let script = foreign(Script::dsh_sdk().accepted().delta("hel"), "session-other");
                script.delta("lo").completed().shutdown()
            },
        ),
        Scenario::new(
            "child-session",
            "a subagent of the run, from its start to its end",
            move || {
                let ids = json!({"parentSessionId": "{sessionId}", "childSessionId": "session-child"});
                let mut finished = ids.clone();
                finished["provider"] = json!("fake");
                finished["agentId"] = json!("agent-1");
                finished["status"] = json!("completed");
                finished["stopReason"] = json!("completed");
                finished["lastAssistantMessage"] = json!("from the child");
                let script = Script::dsh_sdk().accepted().notify("subagent.started", ids);
                child(script, "session-child")
                    .notify("subagent.finished", finished)
                    .message("hello")
                    .completed()
                    .shutdown()
            },
        ),
        Scenario::new(
            "unknown-traffic",
            "unknown events, statuses and notifications around the answer",
            || {
                Script::dsh_sdk()
                    .accepted()
                    .event("levitation/start", json!({"height": 3}))
                    .event("levitation/data-missing", Value::Null)
                    .status("levitating")
                    .notify("session.levitated", json!({"sessionId": "{sessionId}"}))
                    .message("hello")
                    .completed()
                    .shutdown()
            },
        ),
    ]
}
