//! Scenarios that put one text, `{canary}`, into everything a child controls except the text of its answer: whoever sees
//! it where it should not be has found a leak.

use serde_json::json;

use crate::acp::{AcpSteps, Stage, chunk_frame};
use crate::scenario::Scenario;
use crate::script::Script;

const DEFAULT: &str = "canary-4711-do-not-show";

pub(super) fn scenarios() -> Vec<Scenario> {
    let mut list = Vec::new();
    for stage in Stage::ALL {
        let name = stage.name();
        list.push(Scenario::new(
            format!("canary-exit-at-{name}"),
            format!("puts {{canary}} everywhere, then exits with code 7, at {name}"),
            move || up_to(stage).then(spray).exit(7),
        ));
        list.push(Scenario::new(
            format!("canary-silent-at-{name}"),
            format!("puts {{canary}} everywhere, then says nothing more, at {name}"),
            move || up_to(stage).then(spray),
        ));
        if matches!(
            stage,
            Stage::Initialize | Stage::NewSession | Stage::Prompt | Stage::MidPrompt
        ) {
            list.push(Scenario::new(
                format!("canary-error-at-{name}"),
                format!("puts {{canary}} everywhere, also into an error answer, at {name}"),
                move || {
                    up_to(stage).then(spray).frame(
                        json!({"jsonrpc": "2.0", "id": format!("{{{}#/id}}", method(stage)),
                    "error": {"code": -32000, "message": "{canary}", "data": {"detail": "{canary}"}}}),
                    )
                },
            ));
        }
    }
    for (reason, result) in [
        (
            "end_turn",
            json!({"stopReason": "end_turn", "_meta": {"note": "{canary}"}}),
        ),
        (
            "max_turn_requests",
            json!({"stopReason": "max_turn_requests", "note": "{canary}"}),
        ),
        ("unknown", json!({"stopReason": "{canary}"})),
    ] {
        list.push(Scenario::new(
            format!("canary-stop-{reason}"),
            format!("puts {{canary}} everywhere at every stage, then stops: {reason}"),
            move || everywhere().stop_with(result.clone()),
        ));
    }
    list.push(Scenario::new(
        "canary-version",
        "answers initialize with {canary} as the version",
        || {
            base()
                .then(spray)
                .initialize_with(json!({"protocolVersion": "{canary}"}))
        },
    ));
    list.push(Scenario::new(
        "canary-session",
        "answers session/new without a session id, with {canary} elsewhere",
        || {
            up_to(Stage::NewSession)
                .then(spray)
                .respond(json!({"sessionId": ["{canary}"], "note": "{canary}"}))
        },
    ));
    list
}

fn base() -> Script {
    Script::acp().var("canary", DEFAULT)
}

/// Like `AcpSteps::up_to`, with the canary as name of the agent and as session id.
fn up_to(stage: Stage) -> Script {
    if stage == Stage::Start {
        return base();
    }
    let script = base().expect("initialize");
    if stage == Stage::Initialize {
        return script;
    }
    let script = script
        .respond(
            json!({"protocolVersion": 1, "agentInfo": {"name": "{canary}", "version": "{canary}"},
            "authMethods": [{"id": "{canary}", "name": "{canary}", "description": "{canary}"}]}),
        )
        .expect("session/new");
    if stage == Stage::NewSession {
        return script;
    }
    let script = script
        .respond(json!({"sessionId": "{canary}", "note": "{canary}"}))
        .prompt();
    match stage {
        Stage::MidPrompt => script.then(|s| text(s, "partial")),
        Stage::AfterTurn => script.then(|s| text(s, "done")).end_turn(),
        _ => script,
    }
}

fn everywhere() -> Script {
    base()
        .then(spray)
        .expect("initialize")
        .then(spray)
        .respond(json!({"protocolVersion": 1, "agentInfo": {"name": "{canary}"}}))
        .expect("session/new")
        .then(spray)
        .respond(json!({"sessionId": "{canary}"}))
        .prompt()
        .then(spray)
        .then(|s| text(s, "partial"))
        .then(spray)
}

fn text(script: Script, text: &str) -> Script {
    let mut frame = chunk_frame(text);
    frame["params"]["sessionId"] = json!("{canary}");
    script.frame(frame)
}

/// Everything that is not an answer and not the text of one.
fn spray(script: Script) -> Script {
    let call = json!({"toolCallId": "{canary}", "title": "{canary}", "kind": "execute", "status": "pending",
        "rawInput": {"command": "{canary}"}, "locations": [{"path": "/{canary}"}], "_meta": {"note": "{canary}"},
        "content": [{"type": "content", "content": {"type": "text", "text": "{canary}"}}]});
    let mut update = call.clone();
    update["sessionUpdate"] = json!("tool_call");
    let thought =
        json!({"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "{canary}"}});
    let foreign =
        json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "{canary}"}});
    let image = json!({"sessionUpdate": "agent_message_chunk",
        "content": {"type": "image", "data": "{canary}", "mimeType": "{canary}"}});
    let options = json!([{"optionId": "{canary}", "name": "{canary}", "kind": "{canary}"},
        {"optionId": "{canary}", "name": "{canary}", "kind": "reject_once"},
        {"optionId": "{canary}", "name": "{canary}", "kind": "allow_once"}]);
    let ask = |kind: &str| {
        let mut call = call.clone();
        call["kind"] = json!(kind);
        json!({"sessionId": "{canary}", "toolCall": call, "options": options})
    };
    script
        .stderr("error: {canary}\n")
        .line("noise {canary}")
        .line("{\"unfinished\": \"{canary}\"")
        .frame(json!({"jsonrpc": "2.0", "id": "{canary}", "result": {"note": "{canary}"}}))
        .frame(json!({"jsonrpc": "2.0", "id": 4711, "error": {"code": -32603, "message": "{canary}"}}))
        .notify("vendor/{canary}", json!({"note": "{canary}"}))
        .update_of("{canary}", update)
        .update_of("{canary}", thought)
        .update_of("{canary}", image)
        .update_of(
            "{canary}",
            json!({"sessionUpdate": "{canary}", "title": "{canary}"}),
        )
        .update_of("someone-else", foreign)
        .request("{canary}", "session/request_permission", ask("execute"))
        .request("ask-2", "session/request_permission", ask("{canary}"))
        .request("ask-3", "vendor/{canary}", json!({"note": "{canary}"}))
}

fn method(stage: Stage) -> &'static str {
    match stage {
        Stage::Start | Stage::Initialize => "initialize",
        Stage::NewSession => "session/new",
        Stage::Prompt | Stage::MidPrompt | Stage::AfterTurn => "session/prompt",
    }
}
