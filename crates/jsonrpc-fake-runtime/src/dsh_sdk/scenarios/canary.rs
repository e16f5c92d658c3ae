//! Scenarios that put one text, `{canary}`, into everything a runtime controls except the text of its answer.

use serde_json::json;

use super::SPOTS;
use crate::dsh_sdk::DshSdkSteps;
use crate::scenario::Scenario;
use crate::script::Script;

const DEFAULT: &str = "canary-4711-do-not-show";

pub(super) fn scenarios() -> Vec<Scenario> {
    let mut list = Vec::new();
    for spot in SPOTS {
        let base = move || (spot.script)().var("canary", DEFAULT).then(spray);
        list.push(Scenario::new(
            format!("canary-exit-at-{}", spot.name),
            format!(
                "puts {{canary}} everywhere, then exits with code 7, {}",
                spot.place
            ),
            move || base().exit(7),
        ));
        if matches!(spot.name, "initialize" | "prompt" | "shutdown") {
            list.push(Scenario::new(
                format!("canary-error-at-{}", spot.name),
                format!(
                    "puts {{canary}} everywhere, also into an error answer, {}",
                    spot.place
                ),
                move || {
                    let script = base().respond_error(-32000, "{canary}");
                    if spot.name == "prompt" {
                        script.shutdown()
                    } else {
                        script
                    }
                },
            ));
        }
    }
    for (name, reason) in [
        ("completed", json!({"kind": "completed", "note": "{canary}"})),
        (
            "error",
            json!({"kind": "error", "message": "{canary}", "error": {"message": "{canary}"}}),
        ),
        (
            "aborted",
            json!({"kind": "aborted", "reason": {"kind": "{canary}", "message": "{canary}"}}),
        ),
        ("unknown", json!({"kind": "{canary}"})),
    ] {
        list.push(Scenario::new(
            format!("canary-end-{name}"),
            format!("puts {{canary}} everywhere, then ends the turn: {name}"),
            move || {
                let script = Script::dsh_sdk()
                    .var("canary", DEFAULT)
                    .accepted()
                    .delta("partial")
                    .then(spray);
                script
                    .turn_end_with(json!({"turn": 1, "reason": reason.clone()}))
                    .idle()
                    .shutdown()
            },
        ));
    }
    list.extend([
        Scenario::new(
            "canary-server-info",
            "answers initialize with {canary} in the wrong places",
            || {
                let result = json!({"serverInfo": {"name": ["{canary}"], "version": "{canary}"}});
                Script::dsh_sdk()
                    .var("canary", DEFAULT)
                    .then(spray)
                    .initialize_with(result)
            },
        ),
        Scenario::new(
            "canary-malformed",
            "a malformed message that holds {canary}",
            || {
                let script = Script::dsh_sdk().var("canary", DEFAULT).accepted().then(spray);
                script
                    .message_with(json!([{"kind": "{canary}"}]))
                    .completed()
                    .shutdown()
            },
        ),
    ]);
    list
}

/// Everything that is neither an answer nor text of the run's own session.
fn spray(script: Script) -> Script {
    let text = json!([{"type": "text", "text": "{canary}"}]);
    script
        .stderr("error: {canary}\n")
        .line("noise {canary}")
        .line("{\"unfinished\": \"{canary}\"")
        .frame(json!({"jsonrpc": "2.0", "id": "{canary}", "result": {"note": "{canary}"}}))
        .frame(json!({"jsonrpc": "2.0", "id": 4711, "error": {"code": -32603, "message": "{canary}"}}))
        .notify("vendor/{canary}", json!({"note": "{canary}"}))
        .event("session/title", json!({"title": "{canary}"}))
        .event("tool/call", json!({"name": "{canary}", "arguments": "{canary}"}))
        .event(
            "assistant/chunk",
            json!({"chunk": {"type": "{canary}", "text": "{canary}"}}),
        )
        .event(
            "assistant/chunk",
            json!({"chunk": {"type": "reasoning-delta", "text": "{canary}"}}),
        )
        .event_of(
            "{canary}",
            "assistant/message",
            json!({"message": {"role": "assistant", "content": text}}),
        )
        .notify(
            "session.status",
            json!({"sessionId": "{canary}", "status": "{canary}"}),
        )
        .notify(
            "subagent.started",
            json!({"parentSessionId": "{canary}", "childSessionId": "{canary}"}),
        )
        .request("{canary}", "vendor/{canary}", json!({"note": "{canary}"}))
}
