//! Why a runtime did not do what it was asked. Owns the closed set of errors; their texts may hold what the runtime
//! wrote, so they are for operators and hosts and must not reach a parent model.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use subagent_subprocess::rpc::{RemoteError, RpcError};
use subagent_subprocess::{ExitFacts, TeardownError};

/// How much of what a runtime wrote an error quotes, in bytes.
const EXCERPT: usize = 512;

/// An error of the client. Clones share what they hold.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ClientError {
    /// The runtime cannot be talked to: it never started, it has ended, its pipes are closed, or it passed a bound.
    #[error(transparent)]
    TransportClosed(Arc<TransportClosed>),
    /// A request was not answered in time. The runtime may still act on it.
    #[error("{method} was not answered within {} ms", after.as_millis())]
    RequestTimeout {
        /// The request.
        method: String,
        /// How long its answer was awaited.
        after: Duration,
    },
    /// The runtime does not keep to the protocol.
    #[error(transparent)]
    ProtocolViolation(Violation),
    /// The runtime answered with a JSON-RPC error.
    #[error("{method} was refused")]
    Response {
        /// The request.
        method: String,
        /// The error: its code, its message and its data if there are any.
        #[source]
        error: RemoteError,
    },
    /// The client was closed from this side.
    #[error("the client is closed")]
    ClientClosed,
}

impl ClientError {
    /// The facts about a runtime that cannot be talked to.
    pub fn transport(&self) -> Option<&TransportClosed> {
        match self {
            Self::TransportClosed(closed) => Some(closed),
            _ => None,
        }
    }

    pub(crate) fn never_started(error: subagent_subprocess::Error) -> Self {
        TransportFailure::Launch(error).into()
    }
}

impl From<TransportFailure> for ClientError {
    /// A failure of which no more is known.
    fn from(failure: TransportFailure) -> Self {
        let closed = TransportClosed {
            failure,
            exit: None,
            stderr_tail: Vec::new(),
        };
        closed.into()
    }
}

impl From<TransportClosed> for ClientError {
    fn from(closed: TransportClosed) -> Self {
        Self::TransportClosed(Arc::new(closed))
    }
}

impl From<Violation> for ClientError {
    fn from(violation: Violation) -> Self {
        Self::ProtocolViolation(violation)
    }
}

impl From<Bound> for ClientError {
    fn from(bound: Bound) -> Self {
        TransportFailure::Bound(bound).into()
    }
}

/// What is known about a runtime that cannot be talked to.
#[derive(Debug, thiserror::Error)]
#[error("the runtime cannot be talked to{}", Ended(*exit))]
#[non_exhaustive]
pub struct TransportClosed {
    /// What failed.
    #[source]
    pub failure: TransportFailure,
    /// How the runtime ended, if that was seen.
    pub exit: Option<ExitFacts>,
    /// The end of what the runtime wrote to its standard error.
    pub stderr_tail: Vec<u8>,
}

/// What failed between the client and a runtime.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransportFailure {
    /// There is no process: it has not been started yet.
    #[error("the runtime has not been started")]
    NotStarted,
    /// Its process could not be prepared or spawned.
    #[error("the runtime could not be started")]
    Launch(#[source] subagent_subprocess::Error),
    /// The conversation broke.
    #[error(transparent)]
    Conversation(RpcError),
    /// The runtime tells more than may be kept.
    #[error(transparent)]
    Bound(Bound),
}

/// More would have to be kept of what a session tells than the bound allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the session tells more than {limit} bytes, which is all that is kept of it")]
pub struct Bound {
    /// The bound in bytes.
    pub limit: usize,
}

/// What a runtime sent that the protocol does not allow. Its text quotes the beginning of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {sent}")]
pub struct Violation {
    what: &'static str,
    sent: String,
}

impl Violation {
    fn new(what: &'static str, sent: &RawValue) -> Self {
        Self {
            what,
            sent: excerpt(sent),
        }
    }

    pub(crate) fn server_info(answer: &RawValue) -> Self {
        Self::new(
            "initialize was answered without the name and the version of a server",
            answer,
        )
    }

    pub(crate) fn receipt(answer: &RawValue) -> Self {
        Self::new(
            "session/prompt was answered without a messageId that is a string",
            answer,
        )
    }

    pub(crate) fn event(event: &RawValue) -> Self {
        Self::new(
            "an event of the session is not an object with a type that is a string",
            event,
        )
    }

    pub(crate) fn message(event: &RawValue) -> Self {
        Self::new(
            "an assistant message is not a list of blocks that have a type",
            event,
        )
    }
}

/// The beginning of what a runtime wrote.
pub(crate) fn excerpt(raw: &RawValue) -> String {
    let text = raw.get();
    let end = text.floor_char_boundary(EXCERPT);
    if end < text.len() {
        format!("{}…", &text[..end])
    } else {
        text.to_owned()
    }
}

/// A runtime whose process tree is not proven to be gone.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the runtime could not be ended for certain")]
pub struct CloseError(#[source] pub(crate) Arc<TeardownError>);

struct Ended(Option<ExitFacts>);

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(exit) => write!(f, ": {exit}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn a_closed_transport_tells_the_exit_once_and_its_cause_as_source() {
        let closed = TransportClosed {
            failure: TransportFailure::Conversation(RpcError::Closed),
            exit: Some(ExitFacts {
                code: Some(7),
                signal: None,
            }),
            stderr_tail: b"secret".to_vec(),
        };
        let error = ClientError::from(closed);
        assert_eq!(error.to_string(), "the runtime cannot be talked to: exit code 7");
        assert_eq!(error.source().unwrap().to_string(), "the connection is closed");
        assert_eq!(error.transport().unwrap().stderr_tail, b"secret");
    }

    #[test]
    fn a_violation_quotes_a_bounded_part_of_what_was_sent() {
        let long = RawValue::from_string(format!("\"{}\"", "é".repeat(1000))).unwrap();
        let text = Violation::receipt(&long).to_string();
        assert!(text.len() < 700 && text.ends_with("é…"), "{text}");
    }
}
