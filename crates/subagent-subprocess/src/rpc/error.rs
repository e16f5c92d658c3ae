//! Why a connection failed, and what a peer answered instead of a result. Owns no classification of a run: whether a
//! failure means a dead child or a broken protocol is the owner's business.

use std::fmt;
use std::io;

use serde_json::value::RawValue;

/// A failure of a [`Connection`](super::Connection).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RpcError {
    /// The peer's output has ended, or this side has closed the peer's input.
    #[error("the connection is closed")]
    Closed,
    /// Reading the peer's output failed.
    #[error("the output of the peer could not be read")]
    Read(#[source] io::Error),
    /// Writing to the peer failed, most often because it closed its input.
    #[error("the input of the peer could not be written")]
    Write(#[source] io::Error),
    /// The peer wrote a line that is longer than a frame may be.
    #[error("the peer wrote a frame of more than {limit} bytes")]
    FrameTooLong {
        /// The most bytes that a frame may have, its newline not counted.
        limit: usize,
    },
    /// The peer does not read, and too much waits for it.
    #[error("more than {limit} bytes wait for a peer that does not read")]
    QueueFull {
        /// The most bytes that may wait behind the frame being written.
        limit: usize,
    },
    /// The parameters or the result of an outgoing frame have no JSON form. The connection is unharmed.
    #[error("the frame could not be encoded as one line of JSON")]
    Encode(#[source] serde_json::Error),
    /// The peer answered with an error. A connection never fails with it: it is here for owners that turn an answer
    /// into a failure of their own.
    #[error(transparent)]
    Remote(#[from] RemoteError),
}

impl RpcError {
    /// Whether a pipe was closed, which says nothing yet about the peer's process: it may be about to exit.
    ///
    /// False for a bound that was passed, for a frame that has no JSON form and for an error answer.
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Closed | Self::Read(_) | Self::Write(_))
    }

    /// The same failure once more, for a failure that every later call reports again.
    pub(super) fn again(&self) -> Self {
        match self {
            Self::Read(error) => Self::Read(same(error)),
            Self::Write(error) => Self::Write(same(error)),
            Self::FrameTooLong { limit } => Self::FrameTooLong { limit: *limit },
            Self::QueueFull { limit } => Self::QueueFull { limit: *limit },
            // The other two are never a state of the connection.
            Self::Closed | Self::Encode(_) | Self::Remote(_) => Self::Closed,
        }
    }
}

/// An error that the peer answered a request with. Its text is the peer's: for the host's eyes only.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the peer answered with error {code}: {message}{}", DataExcerpt(data.as_deref()))]
pub struct RemoteError {
    /// The error code; 0 when the peer sent none that is an integer.
    pub code: i64,
    /// The peer's message; empty when it sent none.
    pub message: String,
    /// Further data, as the peer wrote it. An error that is neither an object nor a string is here whole.
    pub data: Option<Box<RawValue>>,
}

/// The beginning of an error's data: agents put there what their message does not say.
struct DataExcerpt<'a>(Option<&'a RawValue>);

impl fmt::Display for DataExcerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST: usize = 1024;
        let Some(data) = self.0 else { return Ok(()) };
        let data = data.get();
        if data.len() <= MOST {
            write!(f, " ({data})")
        } else {
            write!(f, " ({}…)", &data[..data.floor_char_boundary(MOST)])
        }
    }
}

fn same(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_pipe_is_told_from_a_bound_that_was_passed() {
        let broken = || io::Error::from(io::ErrorKind::BrokenPipe);
        for closed in [
            RpcError::Closed,
            RpcError::Read(broken()),
            RpcError::Write(broken()),
        ] {
            assert!(closed.is_closed_pipe(), "{closed:?}");
        }
        let limit = 1;
        for passed in [RpcError::FrameTooLong { limit }, RpcError::QueueFull { limit }] {
            assert!(!passed.is_closed_pipe(), "{passed:?}");
        }
    }

    #[test]
    fn the_data_of_a_remote_error_is_shown_within_a_bound() {
        let with = |data: Option<String>| RemoteError {
            code: -32603,
            message: "Internal error".to_owned(),
            data: data.map(|data| RawValue::from_string(data).unwrap()),
        };
        let text = "the peer answered with error -32603: Internal error";
        assert_eq!(with(None).to_string(), text);
        assert_eq!(
            with(Some("{\"a\":1}".to_owned())).to_string(),
            format!("{text} ({{\"a\":1}})")
        );
        let long = with(Some(format!("\"{}\"", "é".repeat(2000)))).to_string();
        assert!(long.len() < 1200 && long.ends_with("é…)"), "{long}");
    }

    #[test]
    fn an_operating_system_error_is_repeated_with_its_code() {
        let error = RpcError::Write(io::Error::from_raw_os_error(32));
        let RpcError::Write(again) = error.again() else {
            panic!("expected a write error")
        };
        assert_eq!(again.raw_os_error(), Some(32));
        assert_eq!(again.kind(), io::ErrorKind::BrokenPipe);
    }
}
