//! What is decided once about all runtimes of one owner: the options that provider and client share, checked. Owns the
//! way from them to a runtime that has been spawned; talking to it is `runtime`'s.

use std::path::{Path, PathBuf};
use std::time::Duration;

use subagent_seam::{HURRIED_EOF_GRACE, Progress};
use subagent_subprocess::rpc::Limits;
use subagent_subprocess::{
    AgentProcess, ChildProcess, Ladder, LadderStyle, LaunchOptions, LaunchPlan, OptionError, Spawned,
    Supervision, check_bytes, check_time,
};

use crate::DshSdkError;
use crate::client::ClientError;
use crate::error::MAX_SAFE_INTEGER;
use crate::runtime::Runtime;
use crate::wire::InitializeParams;

/// The model that a runtime is told to use.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    pub(crate) provider: String,
    pub(crate) model: String,
    pub(crate) max_tokens: Option<u64>,
}

impl Route {
    pub(crate) fn params<'a>(&'a self, cwd: &'a str) -> InitializeParams<'a> {
        InitializeParams {
            cwd,
            provider: &self.provider,
            model: &self.model,
            max_tokens: self.max_tokens,
        }
    }
}

/// The options as they come.
#[derive(Debug)]
pub(crate) struct RuntimeOptions {
    pub(crate) launch: LaunchOptions,
    pub(crate) supervision: Supervision,
    pub(crate) route: Route,
    pub(crate) dispose_eof_grace: Duration,
    pub(crate) dispose_grace: Duration,
    pub(crate) shutdown_timeout: Duration,
    pub(crate) max_frame_bytes: usize,
    pub(crate) max_queued_bytes: usize,
    pub(crate) stderr_tail_bytes: usize,
}

/// The options once they are checked.
#[derive(Clone, Debug)]
pub(crate) struct RuntimePlan {
    pub(crate) launch: LaunchPlan,
    pub(crate) route: Route,
    pub(crate) ladder: Ladder,
    pub(crate) shutdown_timeout: Duration,
    pub(crate) limits: Limits,
    stderr_tail_bytes: usize,
}

impl RuntimePlan {
    /// Checks the options. Blocks for as long as the file system takes to look at the working directory.
    pub(crate) fn new(options: RuntimeOptions) -> Result<Self, DshSdkError> {
        if options
            .route
            .max_tokens
            .is_some_and(|tokens| tokens == 0 || tokens > MAX_SAFE_INTEGER)
        {
            return Err(DshSdkError::MaxTokens);
        }
        let ladder = Ladder {
            eof_grace: check_time("disposeEofGraceMs", options.dispose_eof_grace)?,
            hurried_eof_grace: HURRIED_EOF_GRACE,
            grace: check_time("disposeGraceMs", options.dispose_grace)?,
            style: LadderStyle::native(),
        };
        Ok(Self {
            ladder,
            shutdown_timeout: check_time("shutdownTimeoutMs", options.shutdown_timeout)?,
            limits: Limits {
                max_frame_bytes: check_bytes("maxFrameBytes", options.max_frame_bytes)?,
                max_queued_bytes: check_bytes("maxQueuedBytes", options.max_queued_bytes)?,
            },
            stderr_tail_bytes: options.stderr_tail_bytes,
            launch: LaunchPlan::new(options.launch)?.supervised(options.supervision, &ladder)?,
            route: options.route,
        })
    }

    /// The working directory of a run: the configured one, else the session's; one that can be told to a runtime.
    pub(crate) fn working_dir(&self, session: Option<&Path>) -> Result<PathBuf, subagent_subprocess::Error> {
        let cwd = self.launch.working_dir(session)?;
        subagent_subprocess::cwd_text(&cwd)?;
        Ok(cwd)
    }

    /// Spawns a runtime in `cwd`. Must be called within a Tokio runtime.
    pub(crate) fn launch(&self, cwd: PathBuf, progress: Progress) -> Result<Runtime, ClientError> {
        let agent = self
            .launch
            .launch(cwd, self.limits, self.stderr_tail_bytes)
            .map_err(ClientError::never_started)?;
        Ok(Runtime::new(agent, progress))
    }

    /// Begins to talk to a runtime that is there already. Must be called within a Tokio runtime.
    pub(crate) fn take<P: ChildProcess>(&self, agent: Spawned<P>, progress: Progress) -> Runtime<P> {
        let agent = AgentProcess::new(agent, self.limits, self.stderr_tail_bytes, Vec::new());
        Runtime::new(agent, progress)
    }
}

/// Checks a deadline that may be absent.
pub(crate) fn check_deadline(
    key: &'static str,
    time: Option<Duration>,
) -> Result<Option<Duration>, OptionError> {
    time.map(|time| check_time(key, time)).transpose()
}
