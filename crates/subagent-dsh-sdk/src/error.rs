//! The errors of this crate that are for operators and hosts, those of the client apart. None of their texts may reach a
//! parent model.

use std::time::Duration;

use subagent_subprocess::{OptionError, TeardownError};

use crate::client::ClientError;

/// The largest `maxTokens`: the largest integer that every JSON reader takes for what it is.
pub const MAX_SAFE_INTEGER: u64 = 9_007_199_254_740_991;

/// What goes wrong around a runtime, in raw form.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DshSdkError {
    /// An option is out of its bounds.
    #[error("subagent-dsh-sdk: {0}")]
    Option(OptionError),
    /// The cap of output tokens is out of its bounds.
    #[error("subagent-dsh-sdk: maxTokens must be a positive integer no greater than {MAX_SAFE_INTEGER}")]
    MaxTokens,
    /// There is no usable working directory.
    #[error("the run has no usable working directory")]
    WorkingDir(#[source] subagent_subprocess::Error),
    /// The runtime did not do what it was asked.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The turn ended badly.
    #[error("the runtime ended the turn for the reason {reason}")]
    TurnEnd {
        /// The reason as the runtime wrote it, its beginning at least.
        reason: String,
    },
    /// The session became idle although no turn had ended.
    #[error("the session became idle without the end of a turn")]
    MissingTurnEnd,
    /// A deadline passed.
    #[error("the {deadline} deadline of {} ms passed", after.as_millis())]
    Deadline {
        /// Which one.
        deadline: &'static str,
        /// How long it was.
        after: Duration,
    },
    /// The runtime's process tree is not proven to be gone.
    #[error("the runtime could not be ended for certain")]
    Teardown(#[source] TeardownError),
}

impl From<OptionError> for DshSdkError {
    fn from(error: OptionError) -> Self {
        Self::Option(error)
    }
}
