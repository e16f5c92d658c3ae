//! The errors of this crate that are for operators and hosts. None of their texts may reach a parent model.

use std::time::Duration;

use subagent_subprocess::rpc::RpcError;
use subagent_subprocess::{OptionError, TeardownError};

/// What goes wrong around an ACP agent, in raw form.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AcpError {
    /// An option of the provider is out of its bounds.
    #[error("subagent-acp: {0}")]
    Option(OptionError),
    /// The child's process could not be prepared or spawned.
    #[error("the agent could not be started")]
    Launch(#[source] subagent_subprocess::Error),
    /// There is no usable working directory.
    #[error("the run has no usable working directory")]
    WorkingDir(#[source] subagent_subprocess::Error),
    /// The conversation broke.
    #[error("{method} failed")]
    Conversation {
        /// The request that was open.
        method: &'static str,
        /// What broke.
        #[source]
        source: RpcError,
    },
    /// The child ended with a request open.
    #[error("the agent ended before it answered {method}: {exit}")]
    Exited {
        /// The request that was open.
        method: &'static str,
        /// How the child ended.
        exit: subagent_subprocess::ExitFacts,
    },
    /// The agent speaks another version of the protocol.
    #[error("the agent answered with protocol version {answered}, expected 1")]
    Version {
        /// The version as the agent wrote it.
        answered: String,
    },
    /// The agent answered `session/new` without a session id that is a string.
    #[error("the agent answered session/new without a sessionId that is a string")]
    SessionId,
    /// The prompt ended with a stop reason that is not among those of the protocol.
    #[error("the agent ended the prompt with the unknown stop reason {answered}")]
    StopReason {
        /// The reason as the agent wrote it.
        answered: String,
    },
    /// The prompt ended because a limit of the agent was reached.
    #[error("the agent reached its limit of turn requests")]
    TurnRequests,
    /// A deadline passed.
    #[error("the {deadline} deadline of {} ms passed", after.as_millis())]
    Deadline {
        /// Which one.
        deadline: &'static str,
        /// How long it was.
        after: Duration,
    },
    /// The child's process tree is not proven to be gone.
    #[error("the agent could not be ended for certain")]
    Teardown(#[source] TeardownError),
}

impl From<OptionError> for AcpError {
    fn from(error: OptionError) -> Self {
        Self::Option(error)
    }
}
