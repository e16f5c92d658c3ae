//! One line to one frame: a flat, tolerant decode that looks no deeper than the envelope, and what an owner gets of
//! it. Whether an answer is awaited is not known here.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{PeerId, RemoteError, RequestId};

/// A frame of the peer.
#[derive(Debug)]
pub enum Incoming<'a> {
    /// The peer tells something. A request with an id of null is one, too.
    Notification {
        /// What it is about.
        method: Cow<'a, str>,
        /// Its parameters; `None` when absent or null.
        params: Option<&'a RawValue>,
        /// Where in the peer's output the frame ended: how many bytes the peer had written by then, newline included.
        /// See [`arrived_bytes`](super::Connection::arrived_bytes).
        end: u64,
    },
    /// The peer asks something, and waits for [`reply`](super::Connection::reply) or
    /// [`reject`](super::Connection::reject).
    Request {
        /// What the answer must be sent to.
        id: PeerId,
        /// What is asked.
        method: Cow<'a, str>,
        /// Its parameters; `None` when absent or null.
        params: Option<&'a RawValue>,
    },
    /// The first answer to an open request of ours.
    Response {
        /// The request.
        id: RequestId,
        /// The result, null when the peer sent none, or the error.
        outcome: Result<&'a RawValue, RemoteError>,
    },
}

/// Where the parts of a well-formed frame stand in the read buffer. It borrows nothing, so that a connection can go on
/// reading when the frame turns out to be an answer that nobody waits for. `I` is what identifies an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Frame<I> {
    /// A request, or a notification when it has no id.
    Call {
        id: Option<Place>,
        method: Place,
        params: Option<Place>,
    },
    /// An answer: a result, if there is one, or an error.
    Answer {
        id: I,
        outcome: Result<Option<Place>, Place>,
    },
}

/// A place in the read buffer.
pub(super) type Place = Range<usize>;

impl Frame<Option<Place>> {
    /// Finds the frame in the line at `line` of `buffer`; `None` when it is no JSON-RPC frame.
    pub(super) fn find(buffer: &[u8], line: Place) -> Option<Self> {
        let text = std::str::from_utf8(&buffer[line.clone()]).ok()?;
        let envelope: Envelope<'_> = serde_json::from_str(text).ok()?;
        let place = |raw: &RawValue| {
            let start = line.start + (raw.get().as_ptr().addr() - text.as_ptr().addr());
            start..start + raw.get().len()
        };
        let id = envelope.id.filter(not_null).map(place);
        if let Some(method) = envelope.method.filter(not_null) {
            let method = method.get().starts_with('"').then(|| place(method))?;
            let params = envelope.params.filter(not_null).map(place);
            return Some(Self::Call { id, method, params });
        }
        let error = envelope.error.filter(not_null).map(place);
        if id.is_none() && error.is_none() && envelope.result.is_none() {
            return None;
        }
        let outcome = error.map_or_else(|| Ok(envelope.result.map(place)), Err);
        Some(Self::Answer { id, outcome })
    }
}

impl Frame<RequestId> {
    /// The frame itself, out of the buffer in which it was found; `end` is where it ended in the peer's output.
    pub(super) fn read(self, buffer: &[u8], end: u64) -> Incoming<'_> {
        match self {
            Self::Call { id, method, params } => {
                let method = unquoted(text(buffer, method)).unwrap_or_default();
                let params = params.map(|params| raw(buffer, params));
                match id {
                    None => Incoming::Notification { method, params, end },
                    Some(id) => Incoming::Request {
                        id: PeerId::new(raw(buffer, id)),
                        method,
                        params,
                    },
                }
            }
            Self::Answer { id, outcome } => Incoming::Response {
                id,
                outcome: match outcome {
                    Ok(result) => Ok(result.map_or(RawValue::NULL, |result| raw(buffer, result))),
                    Err(error) => Err(remote_error(raw(buffer, error))),
                },
            },
        }
    }
}

/// The JSON text at `place`.
pub(super) fn text(buffer: &[u8], place: Place) -> &str {
    std::str::from_utf8(&buffer[place]).expect("the line was checked when the frame was found")
}

fn raw(buffer: &[u8], place: Place) -> &RawValue {
    serde_json::from_str(text(buffer, place)).expect("the value was checked when the frame was found")
}

/// What the peer meant by an error; as much of it as can be understood.
fn remote_error(error: &RawValue) -> RemoteError {
    if let Some(message) = unquoted(error.get()) {
        let message = message.into_owned();
        return RemoteError {
            code: 0,
            message,
            data: None,
        };
    }
    let Ok(members) = serde_json::from_str::<ErrorMembers<'_>>(error.get()) else {
        return RemoteError {
            code: 0,
            message: String::new(),
            data: Some(error.to_owned()),
        };
    };
    let message = members.message.filter(not_null);
    let message = message.map_or(Cow::Borrowed(""), |message| {
        unquoted(message.get()).unwrap_or(Cow::Borrowed(message.get()))
    });
    RemoteError {
        code: members.code.map_or(0, integer),
        message: message.into_owned(),
        data: members.data.map(RawValue::to_owned),
    }
}

fn not_null(raw: &&RawValue) -> bool {
    raw.get() != "null"
}

/// The text of a JSON string; `None` for any other value.
fn unquoted(json: &str) -> Option<Cow<'_, str>> {
    let inner = json.strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') {
        serde_json::from_str(json).ok().map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(inner))
    }
}

/// The integer that a code was meant to be: also one that came as a string or with a fraction.
fn integer(code: &RawValue) -> i64 {
    let digits = code.get().trim_matches('"');
    let whole = digits.split_once('.').map_or(digits, |(whole, _)| whole);
    whole.parse().unwrap_or(0)
}

/// Declares a reader of the named members of an object. Other members are skipped, however deep they are; of a member
/// that stands twice the last one counts, as it does for `JSON.parse`.
macro_rules! members {
    ($name:ident, $member:ident { $($field:ident: $variant:ident),+ }) => {
        #[derive(Default)]
        struct $name<'a> { $($field: Option<&'a RawValue>),+ }

        #[derive(serde::Deserialize)]
        #[serde(field_identifier, rename_all = "lowercase")]
        enum $member { $($variant,)+ #[serde(other)] Other }

        impl<'de> Deserialize<'de> for $name<'de> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Members;

                impl<'de> Visitor<'de> for Members {
                    type Value = $name<'de>;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str("an object")
                    }

                    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                        let mut members = $name::default();
                        while let Some(member) = map.next_key()? {
                            match member {
                                $($member::$variant => members.$field = Some(map.next_value()?),)+
                                $member::Other => { map.next_value::<IgnoredAny>()?; }
                            }
                        }
                        Ok(members)
                    }
                }

                deserializer.deserialize_map(Members)
            }
        }
    };
}

members!(
    Envelope,
    Member {
        id: Id,
        method: Method,
        params: Params,
        result: Result,
        error: Error
    }
);
members!(
    ErrorMembers,
    ErrorMember {
        code: Code,
        message: Message,
        data: Data
    }
);
