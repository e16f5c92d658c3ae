//! What a runtime tells its subscribers, decoded once and shared by all of them. Owns these types; who gets what is
//! `subscription`'s.

use serde_json::value::RawValue;

use crate::wire::update::{Event, Update};

/// What keeping a notification costs beside its text, in bytes.
const OVERHEAD: usize = 128;

/// Something that a runtime told without being asked.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Notification {
    /// `session.event`: something happened in a session.
    Event(SessionEvent),
    /// `session.status`: a session became `running` or `idle`.
    Status {
        /// The session.
        session_id: String,
        /// Its status as the runtime spells it.
        status: String,
    },
    /// `subagent.started`: a session has got a child.
    SubagentStarted {
        /// The session that the child works for.
        parent_session_id: String,
        /// The child's session.
        child_session_id: String,
    },
    /// `subagent.finished`: a child has ended.
    SubagentFinished {
        /// The session that the child worked for.
        parent_session_id: String,
        /// The child's session.
        child_session_id: String,
        /// All that the runtime tells about it.
        params: Box<RawValue>,
    },
    /// Any other notification, or a malformed one of the kinds above.
    Other {
        /// Its method.
        method: String,
        /// Its parameters; null when it has none.
        params: Box<RawValue>,
    },
}

/// An event of a session.
#[derive(Clone, Debug)]
pub struct SessionEvent {
    session_id: String,
    kind: Option<String>,
    raw: Box<RawValue>,
}

impl SessionEvent {
    /// The session that it happened in.
    pub fn session_id(&self) -> &str {
        &self.session_id
    }

    /// Its type, for example `assistant/chunk`; `None` when it is malformed.
    pub fn kind(&self) -> Option<&str> {
        self.kind.as_deref()
    }

    /// The whole event as the runtime wrote it: an object with the members `type`, `seq`, `time` and `data`, unless it is
    /// malformed.
    pub fn raw(&self) -> &RawValue {
        &self.raw
    }
}

impl Notification {
    pub(crate) fn read(method: &str, params: Option<&RawValue>) -> Self {
        let params = params.unwrap_or(RawValue::NULL);
        match Update::read(method, params) {
            Some(Update::Event { session_id, event }) => Self::Event(SessionEvent {
                session_id: session_id.into_owned(),
                kind: Event::read(event).map(|event| event.kind.into_owned()),
                raw: event.to_owned(),
            }),
            Some(Update::Status { session_id, status }) => Self::Status {
                session_id: session_id.into_owned(),
                status: status.into_owned(),
            },
            Some(Update::Started {
                parent_session_id,
                child_session_id,
            }) => Self::SubagentStarted {
                parent_session_id: parent_session_id.into_owned(),
                child_session_id: child_session_id.into_owned(),
            },
            Some(Update::Finished {
                parent_session_id,
                child_session_id,
            }) => Self::SubagentFinished {
                parent_session_id: parent_session_id.into_owned(),
                child_session_id: child_session_id.into_owned(),
                params: params.to_owned(),
            },
            None => Self::Other {
                method: method.to_owned(),
                params: params.to_owned(),
            },
        }
    }

    /// The session that it is about: the parent's, for news of a child. `None` when it is about no session.
    pub fn session_id(&self) -> Option<&str> {
        match self {
            Self::Event(event) => Some(&event.session_id),
            Self::Status { session_id, .. } => Some(session_id),
            Self::SubagentStarted {
                parent_session_id, ..
            }
            | Self::SubagentFinished {
                parent_session_id, ..
            } => Some(parent_session_id),
            Self::Other { .. } => None,
        }
    }

    /// What keeping it costs, in bytes.
    pub(crate) fn size(&self) -> usize {
        let text = match self {
            Self::Event(event) => event.session_id.len() + event.raw.get().len(),
            Self::Status { session_id, status } => session_id.len() + status.len(),
            Self::SubagentStarted {
                parent_session_id,
                child_session_id,
            } => parent_session_id.len() + child_session_id.len(),
            Self::SubagentFinished { params, .. } => 2 * params.get().len(),
            Self::Other { method, params } => method.len() + params.get().len(),
        };
        text + OVERHEAD
    }
}
