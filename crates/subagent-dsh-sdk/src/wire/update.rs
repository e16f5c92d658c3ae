//! What a runtime tells without being asked, decoded as far as its receiver needs it. Owns no rule of what counts: that
//! is `activity`'s.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use subagent_seam::ContentBlock;
use subagent_subprocess::rpc::read_object;

use super::{method, string};

/// A notification about a session.
#[derive(Debug)]
pub(crate) enum Update<'a> {
    /// `session.event`; an event that is missing is null.
    Event {
        session_id: Cow<'a, str>,
        event: &'a RawValue,
    },
    /// `session.status`.
    Status {
        session_id: Cow<'a, str>,
        status: Cow<'a, str>,
    },
    /// `subagent.started`.
    Started {
        parent_session_id: Cow<'a, str>,
        child_session_id: Cow<'a, str>,
    },
    /// `subagent.finished`.
    Finished {
        parent_session_id: Cow<'a, str>,
        child_session_id: Cow<'a, str>,
    },
}

impl<'a> Update<'a> {
    /// Reads a notification; `None` when it is of another kind, or does not say whose it is.
    pub(crate) fn read(method: &str, params: &'a RawValue) -> Option<Self> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct OfSession<'a> {
            #[serde(borrow)]
            session_id: Cow<'a, str>,
            #[serde(borrow)]
            event: Option<&'a RawValue>,
            #[serde(borrow)]
            status: Option<&'a RawValue>,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct OfFamily<'a> {
            #[serde(borrow)]
            parent_session_id: Cow<'a, str>,
            #[serde(borrow)]
            child_session_id: Cow<'a, str>,
        }
        match method {
            method::SESSION_EVENT => {
                let OfSession {
                    session_id, event, ..
                } = read_object(params)?;
                let event = event.unwrap_or(RawValue::NULL);
                Some(Self::Event { session_id, event })
            }
            method::SESSION_STATUS => {
                let OfSession {
                    session_id, status, ..
                } = read_object(params)?;
                let status = string(status?)?;
                Some(Self::Status { session_id, status })
            }
            method::SUBAGENT_STARTED | method::SUBAGENT_FINISHED => {
                let OfFamily {
                    parent_session_id,
                    child_session_id,
                } = read_object(params)?;
                Some(if method == method::SUBAGENT_STARTED {
                    Self::Started {
                        parent_session_id,
                        child_session_id,
                    }
                } else {
                    Self::Finished {
                        parent_session_id,
                        child_session_id,
                    }
                })
            }
            _ => None,
        }
    }
}

/// An event of a session: its type, and its data, null when missing.
#[derive(Debug)]
pub(crate) struct Event<'a> {
    pub(crate) kind: Cow<'a, str>,
    pub(crate) data: &'a RawValue,
}

impl<'a> Event<'a> {
    /// Reads an object with a string `type`; `None` for anything else.
    pub(crate) fn read(event: &'a RawValue) -> Option<Self> {
        #[derive(Deserialize)]
        struct Members<'a> {
            #[serde(borrow)]
            r#type: Cow<'a, str>,
            #[serde(borrow)]
            data: Option<&'a RawValue>,
        }
        let Members { r#type, data } = read_object(event)?;
        Some(Self {
            kind: r#type,
            data: data.unwrap_or(RawValue::NULL),
        })
    }
}

/// Whether the data of `agent/inbox/spliced` insert the message `id`.
pub(crate) fn inserts(data: &RawValue, id: &str) -> bool {
    #[derive(Deserialize)]
    struct Spliced<'a> {
        #[serde(borrow)]
        inserted: Vec<&'a RawValue>,
    }
    #[derive(Deserialize)]
    struct Message<'a> {
        #[serde(borrow)]
        id: Cow<'a, str>,
    }
    read_object::<Spliced<'_>>(data).is_some_and(|spliced| {
        spliced
            .inserted
            .iter()
            .filter_map(|message| read_object::<Message<'_>>(message))
            .any(|message| message.id == id)
    })
}

/// The text that the data of `assistant/chunk` add; `None` for every other chunk.
pub(crate) fn text_delta(data: &RawValue) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct Data<'a> {
        #[serde(borrow)]
        chunk: &'a RawValue,
    }
    let block = Block::read(read_object::<Data<'_>>(data)?.chunk)?;
    if block.r#type == "text-delta" {
        string(block.text?)
    } else {
        None
    }
}

/// The content of a message in the data of `assistant/message`: its text blocks. A message of other blocks alone has a
/// content, too, which is an empty text. `None` when it is not an array of blocks that each have a string `type`.
pub(crate) fn message_content(data: &RawValue) -> Option<Vec<ContentBlock>> {
    #[derive(Deserialize)]
    struct Data<'a> {
        #[serde(borrow)]
        message: &'a RawValue,
    }
    #[derive(Deserialize)]
    struct Message<'a> {
        #[serde(borrow)]
        content: Vec<&'a RawValue>,
    }
    let message: Message<'_> = read_object(read_object::<Data<'_>>(data)?.message)?;
    let blocks: Vec<Block<'_>> = message
        .content
        .into_iter()
        .map(Block::read)
        .collect::<Option<_>>()?;
    let texts: Vec<ContentBlock> = blocks
        .iter()
        .filter(|block| block.r#type == "text")
        .filter_map(|block| string(block.text?))
        .map(|text| ContentBlock::Text(text.into_owned()))
        .collect();
    if texts.is_empty() && !blocks.is_empty() {
        return Some(vec![ContentBlock::Text(String::new())]);
    }
    Some(texts)
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow)]
    r#type: Cow<'a, str>,
    // Kept raw: a block of another type may have a text of any shape.
    #[serde(borrow)]
    text: Option<&'a RawValue>,
}

impl<'a> Block<'a> {
    fn read(raw: &'a RawValue) -> Option<Self> {
        read_object(raw)
    }
}

/// The reason in the data of `turn/end`, and its kind and the kind of its cause where they are strings.
#[derive(Debug, Default)]
pub(crate) struct Reason<'a> {
    pub(crate) raw: Option<&'a RawValue>,
    pub(crate) kind: Option<Cow<'a, str>>,
    pub(crate) cause: Option<Cow<'a, str>>,
}

impl<'a> Reason<'a> {
    pub(crate) fn read(data: &'a RawValue) -> Self {
        #[derive(Deserialize)]
        struct Members<'a> {
            #[serde(borrow)]
            kind: Option<&'a RawValue>,
            #[serde(borrow)]
            reason: Option<&'a RawValue>,
        }
        let members = |raw| read_object::<Members<'a>>(raw);
        let raw = members(data).and_then(|data| data.reason);
        let Some(reason) = raw.and_then(members) else {
            return Self {
                raw,
                ..Self::default()
            };
        };
        Self {
            raw,
            kind: reason.kind.and_then(string),
            cause: reason
                .reason
                .and_then(members)
                .and_then(|cause| cause.kind)
                .and_then(string),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    #[test]
    fn an_update_that_does_not_say_whose_it_is_is_none() {
        for (method, params) in [
            ("session.event", r#"{"event":{"type":"t"}}"#),
            ("session.event", r#"{"sessionId":7,"event":{"type":"t"}}"#),
            ("session.event", r#"["s",{"type":"t"}]"#),
            ("session.status", r#"{"sessionId":"s","status":1}"#),
            ("session.status", r#"{"sessionId":"s"}"#),
            ("subagent.started", r#"{"parentSessionId":"s"}"#),
            ("session.levitated", r#"{"sessionId":"s"}"#),
        ] {
            assert!(Update::read(method, &raw(params)).is_none(), "{method} {params}");
        }
        let params = raw(r#"{"sessionId":"s"}"#);
        let Some(Update::Event { event, .. }) = Update::read("session.event", &params) else {
            panic!("expected an event")
        };
        assert_eq!(event.get(), "null");
    }

    #[test]
    fn an_event_is_an_object_with_a_type() {
        let event = raw(r#"{"seq":1,"type":"turn\/end"}"#);
        let event = Event::read(&event).unwrap();
        assert_eq!((&*event.kind, event.data.get()), ("turn/end", "null"));
        for broken in [
            "null",
            "\"turn/end\"",
            "{}",
            r#"{"type":7}"#,
            r#"["turn/end",{}]"#,
        ] {
            assert!(Event::read(&raw(broken)).is_none(), "{broken}");
        }
    }

    #[test]
    fn the_mark_is_found_among_other_messages_and_other_things() {
        let data = raw(r#"{"start":0,"inserted":[{"id":"m-0"},7,null,{"id":8},{"id":"m-1","x":1}]}"#);
        assert!(inserts(&data, "m-1"));
        assert!(!inserts(&data, "m-2"));
        assert!(!inserts(&raw(r#"{"inserted":"m-1"}"#), "m-1"));
        assert!(!inserts(&raw("null"), "m-1"));
    }

    #[test]
    fn only_text_deltas_add_text() {
        let delta = |chunk: &str| text_delta(&raw(&format!(r#"{{"chunk":{chunk}}}"#))).map(Cow::into_owned);
        assert_eq!(
            delta(r#"{"type":"text-delta","index":0,"text":"a\n"}"#).as_deref(),
            Some("a\n")
        );
        for other in [
            r#"{"type":"reasoning-delta","text":"a"}"#,
            r#"{"type":"text-delta","text":7}"#,
            r#"{"type":"text-delta"}"#,
            r#""text""#,
        ] {
            assert_eq!(delta(other), None, "{other}");
        }
    }

    fn content(content: &str) -> Option<Vec<ContentBlock>> {
        message_content(&raw(&format!(
            r#"{{"message":{{"role":"assistant","content":{content}}}}}"#
        )))
    }

    #[test]
    fn a_message_is_its_text_blocks() {
        let blocks =
            r#"[{"type":"text","text":"a"},{"type":"reasoning","text":{"x":1}},{"text":"b","type":"text"}]"#;
        assert_eq!(content(blocks), Some(vec!["a".into(), "b".into()]));
        assert_eq!(content("[]"), Some(vec![]));
        assert_eq!(content(r#"[{"type":"tool-call"}]"#), Some(vec!["".into()]));
    }

    #[test]
    fn a_malformed_message_is_none() {
        for broken in [
            "null",
            "\"a\"",
            "{}",
            "[\"a\"]",
            "[[\"text\",\"a\"]]",
            "[{}]",
            r#"[{"type":7}]"#,
            r#"[{"type":"text","text":"a"},{"text":"b"}]"#,
        ] {
            assert_eq!(content(broken), None, "{broken}");
        }
        assert_eq!(message_content(&raw("{}")), None);
        assert_eq!(message_content(&raw("null")), None);
    }
}
