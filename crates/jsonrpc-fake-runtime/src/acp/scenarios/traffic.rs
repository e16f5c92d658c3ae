//! Scenarios about well-formed frames that nobody asked for, or that come at an odd moment.

use serde_json::{Value, json};

use crate::acp::{AcpSteps, Stage};
use crate::scenario::Scenario;
use crate::script::Script;
use crate::step::AnswerId;

pub(super) fn scenarios() -> Vec<Scenario> {
    let mut list = order();
    list.extend(answers());
    list.extend(uninvited());
    list
}

fn order() -> Vec<Scenario> {
    vec![
        Scenario::new(
            "final-write",
            "the last chunk and the answer in one write",
            || {
                Script::acp()
                    .prompted()
                    .chunk("first ")
                    .together(|s| s.chunk("last").end_turn())
            },
        ),
        Scenario::new("late-chunk", "a chunk 50 ms after the answer", || {
            Script::acp()
                .prompted()
                .chunk("in time")
                .end_turn()
                .sleep_ms(50)
                .chunk(" too late")
        }),
        Scenario::new(
            "late-chunk-at-once",
            "the answer and a chunk after it in one write",
            || {
                Script::acp()
                    .prompted()
                    .chunk("in time")
                    .together(|s| s.end_turn().chunk(" too late"))
            },
        ),
        Scenario::new(
            "early-chunks",
            "chunks of the session before the prompt was sent, then ok",
            || {
                Script::acp()
                    .chunk("too early ")
                    .initialize()
                    .expect("session/new")
                    .chunk("too early ")
                    .together(|s| s.respond(json!({"sessionId": "{sessionId}"})).chunk("too early "))
                    .prompt()
                    .chunk("hello")
                    .end_turn()
            },
        ),
        Scenario::new(
            "foreign-session",
            "chunks of other sessions between the own ones, then ok",
            || {
                let foreign = |s: Script| {
                    let chunk = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "foreign"}});
                    s.update_of("session-2", chunk.clone())
                        .update_of("", chunk.clone())
                        .notify("session/update", json!({"update": chunk.clone()}))
                        .notify("session/update", json!({"sessionId": 1, "update": chunk}))
                };
                Script::acp()
                    .prompted()
                    .then(foreign)
                    .chunk("hello")
                    .then(foreign)
                    .end_turn()
            },
        ),
        Scenario::new("two-turns", "answers two prompts, each with its text", || {
            let turn = |s: Script| s.prompt().chunk("{prompt}").end_turn();
            Script::acp().ready().then(turn).then(turn)
        }),
    ]
}

fn answers() -> Vec<Scenario> {
    let refused = || json!({"stopReason": "refusal"});
    let answered = || Script::acp().prompted().chunk("hello");
    let chunk_id = "{\"jsonrpc\":\"2.0\",\"id\":{session/prompt#/id},";
    vec![
        Scenario::new(
            "answer-string-id",
            "first answers with the id as a string, then with the right one",
            move || answered().respond_as(AnswerId::AsString, refused()).end_turn(),
        ),
        Scenario::new(
            "answer-unknown-id",
            "first answers with an id that was never used, then with the right one",
            move || {
                answered()
                    .respond_as(AnswerId::Other(json!(4711)), refused())
                    .end_turn()
            },
        ),
        Scenario::new(
            "answer-null-id",
            "first answers with null and without an id, then with the right one",
            move || {
                answered()
                    .respond_as(AnswerId::Other(Value::Null), refused())
                    .respond_as(AnswerId::Missing, refused())
                    .end_turn()
            },
        ),
        Scenario::new(
            "answer-twice",
            "answers every request twice, the second time otherwise",
            move || {
                Script::acp()
                    .initialize()
                    .respond(json!({"protocolVersion": 2}))
                    .new_session()
                    .respond(json!({"sessionId": "session-2"}))
                    .prompt()
                    .chunk("hello")
                    .end_turn()
                    .stop_with(refused())
            },
        ),
        Scenario::new(
            "answer-null-error",
            "an answer with a result and an error of null",
            move || {
                answered().line(format!(
                    "{chunk_id}\"result\":{{\"stopReason\":\"end_turn\"}},\"error\":null}}"
                ))
            },
        ),
        Scenario::new(
            "answer-both",
            "an answer with both a result and an error",
            move || {
                answered().line(format!(
                "{chunk_id}\"result\":{{\"stopReason\":\"end_turn\"}},\"error\":{{\"code\":-32603,\"message\":\"both\"}}}}"
            ))
            },
        ),
        Scenario::new(
            "answer-neither",
            "an answer without result and error, then silence",
            move || answered().line(format!("{}}}", chunk_id.trim_end_matches(','))),
        ),
        Scenario::new(
            "answer-id-last",
            "an answer whose id stands after its result, without jsonrpc",
            move || {
                answered().line(r#"{"result":{"stopReason":"end_turn","_meta":{}},"id":{session/prompt#/id},"extra":[1]}"#)
            },
        ),
    ]
}

fn uninvited() -> Vec<Scenario> {
    vec![
        Scenario::new(
            "uninvited-requests",
            "asks for files, a terminal and an invented method; tells the error codes",
            || {
                let asks = [
                    (
                        "fs/read_text_file",
                        json!({"sessionId": "{sessionId}", "path": "/etc/hostname"}),
                    ),
                    (
                        "fs/write_text_file",
                        json!({"sessionId": "{sessionId}", "path": "/nowhere", "content": "x"}),
                    ),
                    (
                        "terminal/create",
                        json!({"sessionId": "{sessionId}", "command": "true"}),
                    ),
                    ("craft/drainMidTurnQueue", json!({})),
                ];
                let mut script = Script::acp().prompted();
                for (index, (method, params)) in (0..).zip(asks) {
                    let id: i64 = index;
                    script = script
                        .request(id, method, params)
                        .expect_answer(id)
                        .chunk(&format!("{{answer:{id}#/error/code}} "));
                }
                script.end_turn()
            },
        ),
        Scenario::new(
            "uninvited-early",
            "requests an invented method before each answer of the handshake, then ok",
            || {
                let ask = |s: Script, id: &str| s.request(id, "vendor/ready", json!({})).expect_answer(id);
                let script =
                    ask(Script::acp().up_to(Stage::Initialize), "a").respond(json!({"protocolVersion": 1}));
                let script =
                    ask(script.expect("session/new"), "b").respond(json!({"sessionId": "{sessionId}"}));
                script.prompt().chunk("hello").end_turn()
            },
        ),
        Scenario::new(
            "vendor-traffic",
            "the unasked notifications of real agents around a normal turn",
            || {
                Script::acp()
                .initialize()
                .expect("session/new")
                .notify("_auth/status_update", json!({"authenticated": true}))
                .update(json!({"sessionUpdate": "usage_update", "used": 1, "size": 2}))
                .respond(json!({"sessionId": "{sessionId}", "modes": {"availableModes": [], "currentModeId": "default"}}))
                .update(json!({"sessionUpdate": "available_commands_update", "availableCommands": []}))
                .prompt()
                .update(json!({"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "{prompt}"}}))
                .update(json!({"sessionUpdate": "plan", "entries": [{"content": "do it", "priority": "low", "status": "pending"}]}))
                .update(json!({"sessionUpdate": "tool_call", "toolCallId": "call-1", "title": "A tool", "status": "pending"}))
                .update(json!({"sessionUpdate": "tool_call_update", "toolCallId": "call-1", "status": "completed"}))
                .update(json!({"sessionUpdate": "levitation", "height": 3}))
                .update(json!("not an object"))
                .notify("vendor/something", json!([1, 2]))
                .chunk("hello")
                .end_turn()
                .update(json!({"sessionUpdate": "session_info_update", "title": "A title"}))
                .update(json!({"sessionUpdate": "available_commands_update", "availableCommands": []}))
            },
        ),
    ]
}
