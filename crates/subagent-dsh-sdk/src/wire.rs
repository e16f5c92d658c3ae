//! The protocol's requests and their answers, as types that survive what newer and broken runtimes send. What a runtime
//! tells without being asked stands in `wire::update`.

pub(crate) mod update;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use subagent_subprocess::rpc::read_object;

/// JSON-RPC's code for a method that does not exist here.
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;

pub(crate) mod method {
    //! Names of methods.

    pub(crate) const INITIALIZE: &str = "initialize";
    pub(crate) const SESSION_PROMPT: &str = "session/prompt";
    pub(crate) const SHUTDOWN: &str = "shutdown";
    pub(crate) const SESSION_EVENT: &str = "session.event";
    pub(crate) const SESSION_STATUS: &str = "session.status";
    pub(crate) const SUBAGENT_STARTED: &str = "subagent.started";
    pub(crate) const SUBAGENT_FINISHED: &str = "subagent.finished";
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InitializeParams<'a> {
    pub(crate) cwd: &'a str,
    pub(crate) provider: &'a str,
    pub(crate) model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_tokens: Option<u64>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PromptParams<'a> {
    pub(crate) session_id: &'a str,
    pub(crate) content_blocks: Vec<TextBlock<'a>>,
}

#[derive(Debug, Serialize)]
pub(crate) struct TextBlock<'a> {
    r#type: &'static str,
    text: &'a str,
}

impl<'a> TextBlock<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { r#type: "text", text }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct ShutdownParams {}

/// Who answered the handshake.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerInfo {
    /// The runtime's name; `deepseek-harness-sdk-runtime` in the original.
    pub name: String,
    /// The runtime's version.
    pub version: String,
}

/// Name and version in an answer to `initialize`, if both are strings.
pub(crate) fn server_info(result: &RawValue) -> Option<ServerInfo> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Answer<'a> {
        #[serde(borrow)]
        server_info: &'a RawValue,
    }
    #[derive(Deserialize)]
    struct Info {
        name: String,
        version: String,
    }
    let Info { name, version } = read_object(read_object::<Answer<'_>>(result)?.server_info)?;
    Some(ServerInfo { name, version })
}

/// The message id in an answer to `session/prompt`, if it is a string.
pub(crate) fn message_id(result: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Answer {
        message_id: String,
    }
    read_object::<Answer>(result).map(|answer| answer.message_id)
}

/// The text of a string; `None` for any other value.
pub(crate) fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
    serde_json::from_str::<Text<'_>>(raw.get())
        .ok()
        .map(|text| text.0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    #[test]
    fn requests_have_exactly_the_members_of_the_protocol() {
        let mut params = InitializeParams {
            cwd: "/w",
            provider: "p",
            model: "m",
            max_tokens: None,
        };
        assert_eq!(json!(params), json!({"cwd": "/w", "provider": "p", "model": "m"}));
        params.max_tokens = Some(9_007_199_254_740_991);
        assert_eq!(json!(params)["maxTokens"], json!(9_007_199_254_740_991_u64));
        let prompt = PromptParams {
            session_id: "session-1",
            content_blocks: vec![TextBlock::new("a"), TextBlock::new("")],
        };
        let blocks = json!([{"type": "text", "text": "a"}, {"type": "text", "text": ""}]);
        assert_eq!(
            json!(prompt),
            json!({"sessionId": "session-1", "contentBlocks": blocks})
        );
        assert_eq!(json!(ShutdownParams {}), json!({}));
    }

    #[test]
    fn a_runtime_is_known_by_name_and_version() {
        let info = server_info(&raw(
            r#"{"x":1,"serverInfo":{"version":"2","name":"n\u00e9","y":[]}}"#,
        ));
        assert_eq!(info.map(|info| info.name + &info.version), Some("né2".to_owned()));
        for broken in [
            "null",
            "{}",
            r#"{"serverInfo":null}"#,
            r#"{"serverInfo":"deepseek"}"#,
            r#"{"serverInfo":["name","1"]}"#,
            r#"[{"name":"n","version":"1"}]"#,
            r#"{"serverInfo":{"name":"n"}}"#,
            r#"{"serverInfo":{"name":"n","version":1}}"#,
            r#"{"serverInfo":{"name":["n"],"version":"1"}}"#,
        ] {
            assert_eq!(server_info(&raw(broken)), None, "{broken}");
        }
    }

    #[test]
    fn a_receipt_is_a_string() {
        assert_eq!(message_id(&raw(r#"{"messageId":"m-1"}"#)).as_deref(), Some("m-1"));
        for broken in ["null", "{}", r#"{"messageId":7}"#, r#""m-1""#, r#"["m-1"]"#] {
            assert_eq!(message_id(&raw(broken)), None, "{broken}");
        }
    }
}
