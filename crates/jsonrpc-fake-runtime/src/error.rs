//! The one error type of running a script.

use std::io;

/// Why a script could not be carried out. A peer that goes away is not an error but an [`crate::Outcome`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A step failed.
    #[error("step {number} ({name})")]
    Step {
        /// Which, counted from 1 at the top level of the script.
        number: usize,
        /// Its name in a script file.
        name: &'static str,
        /// Why.
        #[source]
        source: StepError,
    },
    /// The record file could not be opened.
    #[error("record file `{path}`")]
    Record {
        /// The file.
        path: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// Reading until the end of stdin after the last step failed.
    #[error("after the last step")]
    Afterwards(#[source] StepError),
}

/// Why a step failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StepError {
    /// An answer to a request that no step has expected.
    #[error("there is no request to answer: expected {} to have been received", .method.as_deref().unwrap_or("any request"))]
    NothingToAnswer {
        /// The method, if the step named one.
        method: Option<String>,
    },
    /// `padded` without room.
    #[error("the frame has {length} bytes without padding, expected {{pad}} in it and at most {wanted}")]
    Padding {
        /// Bytes without padding.
        length: usize,
        /// Bytes asked for.
        wanted: usize,
    },
    /// Something else than a sending step inside `together` or `byte_by_byte`.
    #[error("`{name}` sends nothing: expected only sending steps here")]
    NotSending {
        /// The step.
        name: &'static str,
    },
    /// Output after `close_stdout` or `close_stderr`.
    #[error("the stream was closed by an earlier step")]
    Closed,
    /// This platform or this way of running cannot do it.
    #[error("unsupported here: {what}")]
    Unsupported {
        /// What was missing.
        what: &'static str,
    },
    /// A file, a pipe or a process.
    #[error("{what}")]
    Io {
        /// What was attempted.
        what: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

impl StepError {
    /// For `map_err`: names what was attempted.
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io {
            what: what.into(),
            source,
        }
    }
}
