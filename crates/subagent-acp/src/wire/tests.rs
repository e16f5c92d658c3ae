//! What the wire types make of well-formed, odd and hostile frames; and that the official schema reads what we send.

use agent_client_protocol_schema as schema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::*;

fn raw(value: &serde_json::Value) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).unwrap()
}

fn chunk(update: &serde_json::Value) -> Option<String> {
    let params = raw(&json!({"_meta": {}, "update": update, "sessionId": "s"}));
    message_chunk(&params, "s").map(Cow::into_owned)
}

#[test]
fn only_text_of_the_agent_in_our_own_session_is_output() {
    let text = json!({"type": "text", "text": "a\u{1f600}\"b", "annotations": null});
    assert_eq!(
        chunk(&json!({"sessionUpdate": "agent_message_chunk", "content": text})),
        Some("a😀\"b".to_owned())
    );
    for other in [
        "agent_thought_chunk",
        "user_message_chunk",
        "plan",
        "tool_call",
        "invented",
    ] {
        assert_eq!(
            chunk(&json!({"sessionUpdate": other, "content": text})),
            None,
            "{other}"
        );
    }
    for content in [
        json!(null),
        json!("text"),
        json!([text]),
        json!({"type": "image", "data": "", "mimeType": "image/png"}),
        json!({"type": "image", "text": "not text"}),
        json!({"type": "text"}),
        json!({"type": "text", "text": 7}),
    ] {
        assert_eq!(
            chunk(&json!({"sessionUpdate": "agent_message_chunk", "content": content})),
            None,
            "{content}"
        );
    }
    let foreign =
        raw(&json!({"sessionId": "t", "update": {"sessionUpdate": "agent_message_chunk", "content": text}}));
    assert_eq!(message_chunk(&foreign, "s"), None);
    for params in [
        json!({}),
        json!([]),
        json!({"sessionId": 7}),
        json!({"sessionId": "s", "update": 1}),
    ] {
        assert_eq!(message_chunk(&raw(&params), "s"), None, "{params}");
    }
}

#[test]
fn a_stop_reason_that_is_not_known_is_unknown() {
    let read = |answer: serde_json::Value| stop_reason(&raw(&answer));
    assert_eq!(
        read(json!({"_meta": {"a": [1]}, "stopReason": "end_turn"})),
        AcpStopReason::EndTurn
    );
    assert_eq!(
        read(json!({"stopReason": "max_tokens"})),
        AcpStopReason::MaxTokens
    );
    assert_eq!(
        read(json!({"stopReason": "max_turn_requests"})),
        AcpStopReason::MaxTurnRequests
    );
    assert_eq!(read(json!({"stopReason": "refusal"})), AcpStopReason::Refusal);
    assert_eq!(read(json!({"stopReason": "cancelled"})), AcpStopReason::Cancelled);
    for odd in [
        json!({"stopReason": "END_TURN"}),
        json!({"stopReason": 1}),
        json!({}),
        json!(null),
        json!("end_turn"),
    ] {
        assert_eq!(read(odd.clone()), AcpStopReason::Unknown, "{odd}");
    }
}

#[test]
fn only_a_string_is_a_session_id() {
    assert_eq!(
        session_id(&raw(&json!({"sessionId": "s-1", "modes": {}}))),
        Some("s-1".to_owned())
    );
    for odd in [
        json!({"sessionId": 1}),
        json!({"sessionId": null}),
        json!({"session_id": "s"}),
        json!({}),
        json!("s"),
    ] {
        assert_eq!(session_id(&raw(&odd)), None, "{odd}");
    }
}

#[test]
fn a_protocol_version_is_taken_as_it_was_written() {
    let read = |answer: &str| {
        let answer = RawValue::from_string(answer.to_owned()).unwrap();
        protocol_version(&answer).map(|version| version.get().to_owned())
    };
    assert_eq!(
        read(r#"{"protocolVersion":1,"agentInfo":{}}"#).as_deref(),
        Some("1")
    );
    assert_eq!(read(r#"{"protocolVersion":"1"}"#).as_deref(), Some("\"1\""));
    assert_eq!(read(r#"{"protocolVersion":1.0}"#).as_deref(), Some("1.0"));
    assert_eq!(read("{}"), None);
    assert_eq!(read("null"), None);
}

#[test]
fn permission_requests_are_read_as_far_as_they_go() {
    let whole = json!({
        "sessionId": "s",
        "toolCall": {"toolCallId": "c", "kind": "edit", "title": "t", "rawInput": {"path": "/x"}},
        "options": [
            {"optionId": "a", "name": "A", "kind": "allow_once"},
            {"optionId": 7, "name": "B", "kind": "allow_once"},
            "not an option",
            {"name": "no id", "kind": "reject_once"},
            {"optionId": "r", "name": "R", "kind": "reject_once", "_meta": {}},
        ],
    });
    let option = |kind: &str, id: &str| PermissionOption {
        kind: kind.to_owned(),
        id: id.to_owned(),
    };
    assert_eq!(
        PermissionParams::read(Some(&raw(&whole))),
        PermissionParams {
            tool_kind: Some("edit".to_owned()),
            options: vec![option("allow_once", "a"), option("reject_once", "r")]
        }
    );
    for odd in [
        json!({"toolCall": {"toolCallId": "c"}}),
        json!({"toolCall": "c", "options": {}}),
        json!({"toolCall": {"kind": 7}, "options": null}),
        json!([]),
    ] {
        assert_eq!(
            PermissionParams::read(Some(&raw(&odd))),
            PermissionParams::default(),
            "{odd}"
        );
    }
    assert_eq!(PermissionParams::read(None), PermissionParams::default());
}

/// A derived reader would take the members of an array one by one.
#[test]
fn an_array_is_never_taken_for_an_object() {
    assert_eq!(session_id(&raw(&json!(["s"]))), None);
    assert_eq!(stop_reason(&raw(&json!(["end_turn"]))), AcpStopReason::Unknown);
    assert!(protocol_version(&raw(&json!([1]))).is_none());
    let text = json!({"type": "text", "text": "a"});
    let update = json!({"sessionUpdate": "agent_message_chunk", "content": text});
    for params in [
        json!(["s", update]),
        json!({"sessionId": "s", "update": ["agent_message_chunk", text]}),
        json!({"sessionId": "s", "update": {"sessionUpdate": "agent_message_chunk", "content": ["text", "a"]}}),
    ] {
        assert_eq!(message_chunk(&raw(&params), "s"), None, "{params}");
    }
    let asked = json!({"toolCall": ["edit"], "options": [["allow_once", "a"]]});
    assert_eq!(
        PermissionParams::read(Some(&raw(&asked))),
        PermissionParams::default()
    );
}

fn official<T: DeserializeOwned>(ours: &impl Serialize) -> T {
    serde_json::from_value(serde_json::to_value(ours).unwrap()).unwrap()
}

#[test]
fn the_official_schema_reads_what_we_send() {
    let initialize: schema::v1::InitializeRequest = official(&InitializeParams::new());
    assert_eq!(initialize.protocol_version, schema::ProtocolVersion::V1);
    assert!(!initialize.client_capabilities.terminal);
    assert_eq!(initialize.client_info.unwrap().name, "subagent-acp");

    let session: schema::v1::NewSessionRequest = official(&NewSessionParams {
        cwd: "/srv/x",
        mcp_servers: [],
    });
    assert_eq!(session.cwd, std::path::Path::new("/srv/x"));
    assert!(session.mcp_servers.is_empty());

    let blocks = [
        "one".into(),
        ContentBlock::Image {
            data: String::new(),
            mime_type: String::new(),
        },
        "two".into(),
    ];
    let prompt: schema::v1::PromptRequest = official(&PromptParams {
        session_id: "s",
        prompt: text_blocks(&blocks),
    });
    assert_eq!(prompt.prompt.len(), 2);
    assert!(matches!(&prompt.prompt[1], schema::v1::ContentBlock::Text(text) if text.text == "two"));

    let cancel: schema::v1::CancelNotification = official(&CancelParams { session_id: "s" });
    assert_eq!(&*cancel.session_id.0, "s");

    let answer = PermissionAnswer {
        outcome: PermissionOutcome::Selected {
            option_id: "o".to_owned(),
        },
    };
    let answer: schema::v1::RequestPermissionResponse = official(&answer);
    assert!(matches!(
        answer.outcome,
        schema::v1::RequestPermissionOutcome::Selected(selected) if &*selected.option_id.0 == "o"
    ));
    let answer: schema::v1::RequestPermissionResponse = official(&PermissionAnswer {
        outcome: PermissionOutcome::Cancelled,
    });
    assert!(matches!(
        answer.outcome,
        schema::v1::RequestPermissionOutcome::Cancelled
    ));
}
