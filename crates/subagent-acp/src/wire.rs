//! The part of the protocol that this provider speaks, as types that survive what newer and broken agents send: a
//! member that is missing, unknown or of the wrong type never costs more than itself.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use subagent_seam::ContentBlock;
use subagent_subprocess::rpc::read_object;

/// The only version that this provider speaks.
pub(crate) const PROTOCOL_VERSION: u16 = 1;

/// JSON-RPC's code for a method that does not exist here.
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;

pub(crate) mod method {
    //! Names of methods.

    pub(crate) const INITIALIZE: &str = "initialize";
    pub(crate) const SESSION_NEW: &str = "session/new";
    pub(crate) const SESSION_PROMPT: &str = "session/prompt";
    pub(crate) const SESSION_CANCEL: &str = "session/cancel";
    pub(crate) const SESSION_UPDATE: &str = "session/update";
    pub(crate) const REQUEST_PERMISSION: &str = "session/request_permission";
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InitializeParams {
    protocol_version: u16,
    client_capabilities: Empty,
    client_info: ClientInfo,
}

#[derive(Serialize)]
struct Empty {}

#[derive(Serialize)]
struct ClientInfo {
    name: &'static str,
    version: &'static str,
}

impl InitializeParams {
    /// No optional capability is offered: no file system, no terminal.
    pub(crate) fn new() -> Self {
        Self {
            protocol_version: PROTOCOL_VERSION,
            client_capabilities: Empty {},
            client_info: ClientInfo {
                name: env!("CARGO_PKG_NAME"),
                version: env!("CARGO_PKG_VERSION"),
            },
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NewSessionParams<'a> {
    pub(crate) cwd: &'a str,
    pub(crate) mcp_servers: [(); 0],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PromptParams<'a> {
    pub(crate) session_id: &'a str,
    pub(crate) prompt: Vec<TextBlock<'a>>,
}

#[derive(Serialize)]
pub(crate) struct TextBlock<'a> {
    r#type: &'static str,
    text: &'a str,
}

/// The text blocks of a prompt: no other kind of content crosses this wire.
pub(crate) fn text_blocks(prompt: &[ContentBlock]) -> Vec<TextBlock<'_>> {
    prompt
        .iter()
        .filter_map(ContentBlock::as_text)
        .map(|text| TextBlock { r#type: "text", text })
        .collect()
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CancelParams<'a> {
    pub(crate) session_id: &'a str,
}

/// The version in an answer to `initialize`, as the agent wrote it.
pub(crate) fn protocol_version(result: &RawValue) -> Option<&RawValue> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Answer<'a> {
        #[serde(borrow)]
        protocol_version: &'a RawValue,
    }
    read_object::<Answer<'_>>(result).map(|answer| answer.protocol_version)
}

/// The session id in an answer to `session/new`, if it is a string.
pub(crate) fn session_id(result: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Answer {
        session_id: String,
    }
    read_object::<Answer>(result).map(|answer| answer.session_id)
}

/// Why an agent ended a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AcpStopReason {
    EndTurn,
    MaxTokens,
    MaxTurnRequests,
    Refusal,
    Cancelled,
    /// Missing, not a string, or from another version of the protocol.
    Unknown,
}

/// The stop reason in an answer to `session/prompt`.
pub(crate) fn stop_reason(result: &RawValue) -> AcpStopReason {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Answer<'a> {
        #[serde(borrow)]
        stop_reason: Cow<'a, str>,
    }
    match read_object::<Answer<'_>>(result)
        .as_ref()
        .map(|answer| &*answer.stop_reason)
    {
        Some("end_turn") => AcpStopReason::EndTurn,
        Some("max_tokens") => AcpStopReason::MaxTokens,
        Some("max_turn_requests") => AcpStopReason::MaxTurnRequests,
        Some("refusal") => AcpStopReason::Refusal,
        Some("cancelled") => AcpStopReason::Cancelled,
        Some(_) | None => AcpStopReason::Unknown,
    }
}

/// The text that a `session/update` of the session `session_id` adds to the output; `None` for every other update.
pub(crate) fn message_chunk<'a>(params: &'a RawValue, session_id: &str) -> Option<Cow<'a, str>> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Params<'a> {
        #[serde(borrow)]
        session_id: Cow<'a, str>,
        update: &'a RawValue,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Update<'a> {
        #[serde(borrow)]
        session_update: Cow<'a, str>,
        // Kept raw: an update of another kind may have content of any shape.
        #[serde(borrow)]
        content: Option<&'a RawValue>,
    }
    #[derive(Deserialize)]
    struct Content<'a> {
        #[serde(borrow)]
        r#type: Cow<'a, str>,
        #[serde(borrow)]
        text: Cow<'a, str>,
    }
    let params: Params<'a> = read_object(params)?;
    if params.session_id != session_id {
        return None;
    }
    let update: Update<'a> = read_object(params.update)?;
    if update.session_update != "agent_message_chunk" {
        return None;
    }
    let content: Content<'a> = read_object(update.content?)?;
    (content.r#type == "text").then_some(content.text)
}

/// What matters of a permission request. Titles, inputs and locations are not even read.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PermissionParams {
    pub(crate) tool_kind: Option<String>,
    pub(crate) options: Vec<PermissionOption>,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct PermissionOption {
    pub(crate) kind: String,
    #[serde(rename = "optionId")]
    pub(crate) id: String,
}

impl PermissionParams {
    /// Reads what can be read. Malformed options are skipped.
    pub(crate) fn read(params: Option<&RawValue>) -> Self {
        #[derive(Default, Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Params {
            #[serde(default, deserialize_with = "lenient")]
            tool_call: Option<Box<RawValue>>,
            #[serde(default, deserialize_with = "lenient")]
            options: Option<Vec<Box<RawValue>>>,
        }
        #[derive(Deserialize)]
        struct ToolCall {
            #[serde(default, deserialize_with = "lenient")]
            kind: Option<String>,
        }
        let params: Params = params.and_then(read_object).unwrap_or_default();
        let options = params.options.unwrap_or_default();
        Self {
            tool_kind: params
                .tool_call
                .and_then(|call| read_object::<ToolCall>(&call)?.kind),
            options: options.iter().filter_map(|option| read_object(option)).collect(),
        }
    }
}

/// The answer to a permission request.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(crate) enum PermissionOutcome {
    Cancelled,
    Selected { option_id: String },
}

#[derive(Debug, Serialize)]
pub(crate) struct PermissionAnswer {
    pub(crate) outcome: PermissionOutcome,
}

/// A value of the wanted type, or nothing.
fn lenient<'de, D: Deserializer<'de>, T: serde::de::DeserializeOwned>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    let raw: Box<RawValue> = Deserialize::deserialize(deserializer)?;
    Ok(serde_json::from_str(raw.get()).ok())
}

#[cfg(test)]
mod tests;
