//! A whole run of the ACP provider. Owns its words and its well-formed frames; what must hold is `run`'s.
//!
//! Input: a script, whose notation [`run`] describes. `%reject`, `%decline` and `%allow` in its first line choose
//! the permission policy.

use serde_json::{Value, json};
use subagent_acp::{AcpConfig, AcpProvider, PermissionPolicy};

use crate::run::peer::{Kind, Said, Speech};
use crate::run::{self, Reports, Seen};

/// All that may stand in a diagnostic of this provider.
const WORDS: &[&str] = &[
    "Subagent failure",
    "provider",
    "ACP",
    "stage",
    "initialize",
    "new-session",
    "prompt",
    "process",
    "teardown",
    "category",
    "configuration",
    "protocol",
    "transport",
    "process-start",
    "process-exit",
    "remote-limit",
    "timeout",
    "unknown",
    "stop reason",
    "max_turn_requests",
    "exit code",
    "signal",
    "ACP unattended decision",
    "policy",
    "reject",
    "decline",
    "allow",
    "request",
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
    "decision",
    "allowed",
    "denied",
];

/// Plays a script to the provider, and checks what comes of it. Wants a runtime whose time is paused.
pub async fn check(input: &[u8]) -> Seen {
    let mut config = AcpConfig::new("agent");
    config.permission = match run::script::option(input) {
        Some("allow") => PermissionPolicy::Allow,
        Some("decline") => PermissionPolicy::Decline,
        _ => PermissionPolicy::Reject,
    };
    config.startup_timeout = Some(run::STARTUP_TIMEOUT);
    config.run_timeout = Some(run::RUN_TIMEOUT);
    config.idle_timeout = Some(run::IDLE_TIMEOUT);
    config.max_frame_bytes = run::MAX_FRAME_BYTES;
    config.max_output_bytes = run::MAX_OUTPUT_BYTES;
    config.max_queued_bytes = run::MAX_QUEUED_BYTES;
    let reports = Reports::default();
    let provider = AcpProvider::new(config, reports.reporter()).expect("the options are within their bounds");
    let start = async |request, child| provider.start_with(request, child).await;
    run::conduct(input, Agent, WORDS, &reports, start).await
}

/// Writes what an agent writes.
struct Agent;

impl Speech for Agent {
    const SESSION: &'static str = "s-1";

    fn frame(&mut self, words: &str, id: &str, session: &str, tag: &str) -> Option<Said> {
        let (word, rest) = words.split_once(' ').unwrap_or((words, ""));
        let id: Value = serde_json::from_str(id).unwrap_or_default();
        let result = |result: Value| json!({"jsonrpc": "2.0", "id": id, "result": result});
        let update = |update: Value| {
            let params = json!({"sessionId": session, "update": update});
            json!({"jsonrpc": "2.0", "method": "session/update", "params": params})
        };
        let (frame, kind) = match word {
            "initialized" => (
                result(json!({"protocolVersion": 1, "agentCapabilities": {}})),
                Kind::End,
            ),
            "session" => (result(json!({"sessionId": Self::SESSION})), Kind::End),
            "end" => (result(json!({"stopReason": rest})), Kind::End),
            "error" => {
                let error = json!({"code": -32603, "message": rest, "data": {"details": rest}});
                (json!({"jsonrpc": "2.0", "id": id, "error": error}), Kind::End)
            }
            "say" => {
                let text = format!("{tag}{rest}");
                let content = json!({"type": "text", "text": text});
                (
                    update(json!({"sessionUpdate": "agent_message_chunk", "content": content})),
                    Kind::Text,
                )
            }
            "think" => {
                let content = json!({"type": "text", "text": rest});
                (
                    update(json!({"sessionUpdate": "agent_thought_chunk", "content": content})),
                    Kind::Other,
                )
            }
            "ask" => {
                let options = json!([
                    {"optionId": "always", "name": rest, "kind": "allow_always"},
                    {"optionId": "once", "name": rest, "kind": "allow_once"},
                    {"optionId": "no", "name": rest, "kind": "reject_once"},
                ]);
                let call = json!({"toolCallId": "c-1", "title": rest, "kind": rest});
                let params = json!({"sessionId": session, "toolCall": call, "options": options});
                (
                    json!({"jsonrpc": "2.0", "id": "q", "method": "session/request_permission", "params": params}),
                    Kind::Other,
                )
            }
            _ => return None,
        };
        Some(Said { frame, kind })
    }
}
