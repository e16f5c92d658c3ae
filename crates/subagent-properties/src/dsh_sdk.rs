//! A whole run of the DSH SDK provider. Owns its words and its well-formed frames; what must hold is `run`'s.
//!
//! Input: a script, whose notation [`run`] describes.

use serde_json::{Value, json};
use subagent_dsh_sdk::{DshSdkConfig, DshSdkProvider};

use crate::run::peer::{Kind, Said, Speech};
use crate::run::{self, Reports, Seen};

/// All that may stand in a diagnostic of this provider.
const WORDS: &[&str] = &[
    "Subagent failure",
    "provider",
    "DSH SDK",
    "stage",
    "initialize",
    "session-run",
    "shutdown",
    "category",
    "configuration",
    "protocol",
    "transport",
    "child-error",
    "child-disposed",
    "child-unknown",
    "missing-terminal",
    "timeout",
    "unknown",
];

/// Plays a script to the provider, and checks what comes of it. Wants a runtime whose time is paused.
pub async fn check(input: &[u8]) -> Seen {
    let mut config = DshSdkConfig::new("runtime");
    config.startup_timeout = Some(run::STARTUP_TIMEOUT);
    config.run_timeout = Some(run::RUN_TIMEOUT);
    config.idle_timeout = Some(run::IDLE_TIMEOUT);
    config.max_frame_bytes = run::MAX_FRAME_BYTES;
    config.max_output_bytes = run::MAX_OUTPUT_BYTES;
    config.max_queued_bytes = run::MAX_QUEUED_BYTES;
    let reports = Reports::default();
    let provider =
        DshSdkProvider::new(config, reports.reporter()).expect("the options are within their bounds");
    let start = async |request, child| provider.start_with(request, child).await;
    run::conduct(input, Harness, WORDS, &reports, start).await
}

/// Writes what a runtime writes. The id of the prompt's message is always the same.
struct Harness;

impl Speech for Harness {
    const SESSION: &'static str = "none";

    fn frame(&mut self, words: &str, id: &str, session: &str, tag: &str) -> Option<Said> {
        let (word, rest) = words.split_once(' ').unwrap_or((words, ""));
        let id: Value = serde_json::from_str(id).unwrap_or_default();
        let result = |result: Value| json!({"jsonrpc": "2.0", "id": id, "result": result});
        let told = |kind: &str, data: Value| {
            let event = json!({"type": kind, "seq": 7, "data": data});
            let params = json!({"sessionId": session, "event": event});
            json!({"jsonrpc": "2.0", "method": "session.event", "params": params})
        };
        let status = |status: &str| {
            let params = json!({"sessionId": session, "status": status});
            json!({"jsonrpc": "2.0", "method": "session.status", "params": params})
        };
        let said = |text: &str| json!([{"type": "reasoning", "text": rest}, {"type": "text", "text": text}]);
        let (frame, kind) = match word {
            "initialized" => {
                let info = json!({"name": "a-runtime", "version": "1"});
                (result(json!({"serverInfo": info})), Kind::Other)
            }
            "receipt" => (result(json!({"messageId": "m-1"})), Kind::Other),
            "closing" => (result(json!({})), Kind::Other),
            "error" => {
                let error = json!({"code": -32000, "message": rest});
                (json!({"jsonrpc": "2.0", "id": id, "error": error}), Kind::End)
            }
            "begin" => {
                let inserted = json!([{"id": "m-1", "role": "user", "content": []}]);
                (
                    told(
                        "agent/inbox/spliced",
                        json!({"target": "next-turn", "inserted": inserted}),
                    ),
                    Kind::Begin,
                )
            }
            "say" => {
                let chunk = json!({"type": "text-delta", "index": 0, "text": format!("{tag}{rest}")});
                (told("assistant/chunk", json!({"chunk": chunk})), Kind::Text)
            }
            "message" => {
                let message = json!({"role": "assistant", "content": said(rest)});
                (
                    told("assistant/message", json!({"message": message})),
                    Kind::Replace,
                )
            }
            "turn" => {
                let (kind, cause) = rest.split_once(' ').unwrap_or((rest, ""));
                let reason = json!({"kind": kind, "reason": {"kind": cause}, "message": rest});
                (
                    told("turn/end", json!({"turn": 1, "reason": reason})),
                    Kind::Other,
                )
            }
            "event" => (told(rest, Value::Null), Kind::Other),
            "running" => (status("running"), Kind::Other),
            "idle" => (status("idle"), Kind::End),
            _ => return None,
        };
        Some(Said { frame, kind })
    }
}
