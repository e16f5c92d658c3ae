//! What the user of a client decides. Owns the options and their defaults, and the plan that they become once they are
//! checked.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use subagent_subprocess::{
    ChildEnv, ConfigDirSource, EnvPolicy, EnvVars, LaunchOptions, Supervision, check_bytes, check_time,
    cwd_text,
};

use crate::DshSdkError;
use crate::plan::{Route, RuntimeOptions, RuntimePlan};

/// The options of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HarnessConfig {
    /// The runtime's executable: a bare name is searched in the child's `PATH`, a relative path is resolved against the
    /// directory that this process was launched in.
    pub command: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// The runtime's working directory, which is also that of its sessions.
    pub cwd: PathBuf,
    /// What the runtime's environment starts from, as it is; for example [`ChildEnv::of_this_process`] with another
    /// policy. When absent: what [`EnvPolicy::Scrubbed`] lets through of this process's environment at each start.
    pub base_env: Option<ChildEnv>,
    /// Environment variables set over that.
    pub env: EnvVars,
    /// Variables that point the runtime at a configuration directory of its own.
    pub isolated_config_dirs: Vec<(OsString, ConfigDirSource)>,
    /// Who ends the runtime's process tree. Default the process group; see [`Supervision`] for what proves more.
    pub supervision: Supervision,
    /// The model provider sent in the handshake. Default `deepseek-official`.
    pub provider: String,
    /// The model sent in the handshake. Default `deepseek-v4-flash`.
    pub model: String,
    /// The cap of output tokens sent in the handshake. Default none.
    pub max_tokens: Option<u64>,
    /// How long the answer to the handshake and to a prompt may take. Default 120 s.
    pub request_timeout: Duration,
    /// How long the answer to `shutdown` may take. Default 1 s.
    pub shutdown_timeout: Duration,
    /// How long a close waits for the runtime to end after its standard input was closed. Default 6 s.
    pub dispose_eof_grace: Duration,
    /// How long a close waits after each signal. Default 3 s.
    pub dispose_grace: Duration,
    /// The longest line that the runtime may send, in bytes, and the most that is kept of a session before the receipt of
    /// its prompt. Default 16 MiB.
    pub max_frame_bytes: usize,
    /// The most bytes that may wait behind the frame being written to a runtime that does not read. Default 1 MiB.
    pub max_queued_bytes: usize,
    /// The most that a subscription keeps unread, in bytes. Default 4 MiB.
    pub subscription_bytes: usize,
    /// The most that the activity of one [`Session::run`](super::Session::run) keeps, in bytes. Default 64 MiB.
    pub max_activity_bytes: usize,
    /// How much of the end of the runtime's standard error is kept, in bytes. Default 64 KiB.
    pub stderr_tail_bytes: usize,
}

impl HarnessConfig {
    /// The defaults with `command` in the directory `cwd`.
    pub fn new(command: impl Into<OsString>, cwd: impl Into<PathBuf>) -> Self {
        const MIB: usize = 1024 * 1024;
        Self {
            command: command.into(),
            args: Vec::new(),
            cwd: cwd.into(),
            base_env: None,
            env: EnvVars::default(),
            isolated_config_dirs: Vec::new(),
            supervision: Supervision::default(),
            provider: crate::config::DEFAULT_PROVIDER.to_owned(),
            model: crate::config::DEFAULT_MODEL.to_owned(),
            max_tokens: None,
            request_timeout: Duration::from_mins(2),
            shutdown_timeout: Duration::from_secs(1),
            dispose_eof_grace: Duration::from_secs(6),
            dispose_grace: Duration::from_secs(3),
            max_frame_bytes: 16 * MIB,
            max_queued_bytes: MIB,
            subscription_bytes: 4 * MIB,
            max_activity_bytes: 64 * MIB,
            stderr_tail_bytes: 64 * 1024,
        }
    }
}

/// The options of a client once they are checked. Any number of runtimes can be spawned from one.
#[derive(Clone, Debug)]
pub struct HarnessPlan {
    pub(crate) runtime: RuntimePlan,
    pub(crate) cwd: PathBuf,
    pub(crate) request_timeout: Duration,
    pub(crate) subscription_bytes: usize,
    pub(crate) max_activity_bytes: usize,
}

impl HarnessPlan {
    /// Checks the options. Blocks for as long as the file system takes to look at the working directory.
    ///
    /// # Errors
    ///
    /// An option is out of its bounds, or the working directory cannot be used.
    pub fn new(config: HarnessConfig) -> Result<Self, DshSdkError> {
        let request_timeout = check_time("requestTimeoutMs", config.request_timeout)?;
        let subscription_bytes = check_bytes("subscriptionBytes", config.subscription_bytes)?;
        let max_activity_bytes = check_bytes("maxActivityBytes", config.max_activity_bytes)?;
        let mut runtime = RuntimePlan::new(RuntimeOptions {
            launch: LaunchOptions {
                command: config.command,
                args: config.args,
                cwd: Some(config.cwd),
                inherit_env: EnvPolicy::default(),
                env: config.env,
                config_dirs: config.isolated_config_dirs,
            },
            supervision: config.supervision,
            route: Route {
                provider: config.provider,
                model: config.model,
                max_tokens: config.max_tokens,
            },
            dispose_eof_grace: config.dispose_eof_grace,
            dispose_grace: config.dispose_grace,
            shutdown_timeout: config.shutdown_timeout,
            max_frame_bytes: config.max_frame_bytes,
            max_queued_bytes: config.max_queued_bytes,
            stderr_tail_bytes: config.stderr_tail_bytes,
        })?;
        if let Some(base) = config.base_env {
            runtime.launch = runtime.launch.with_base_env(base);
        }
        let cwd = runtime.working_dir(None).map_err(DshSdkError::WorkingDir)?;
        cwd_text(&cwd).map_err(DshSdkError::WorkingDir)?;
        Ok(Self {
            runtime,
            cwd,
            request_timeout,
            subscription_bytes,
            max_activity_bytes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(change: impl FnOnce(&mut HarnessConfig)) -> String {
        let mut config = HarnessConfig::new("dsh", "/");
        change(&mut config);
        HarnessPlan::new(config).unwrap_err().to_string()
    }

    #[test]
    fn each_bound_is_checked_by_name() {
        assert_eq!(
            refusal(|config| config.request_timeout = Duration::ZERO),
            "subagent-dsh-sdk: requestTimeoutMs must be a positive finite number no greater than 2147483647"
        );
        assert_eq!(
            refusal(|config| config.shutdown_timeout = Duration::MAX),
            "subagent-dsh-sdk: shutdownTimeoutMs must be a positive finite number no greater than 2147483647"
        );
        assert_eq!(
            refusal(|config| config.max_tokens = Some(0)),
            "subagent-dsh-sdk: maxTokens must be a positive integer no greater than 9007199254740991"
        );
        assert_eq!(
            refusal(|config| config.max_tokens = Some(1 << 53)),
            "subagent-dsh-sdk: maxTokens must be a positive integer no greater than 9007199254740991"
        );
        assert_eq!(
            refusal(|config| config.command = "".into()),
            "subagent-dsh-sdk: command must not be empty"
        );
        assert_eq!(
            refusal(|config| config.subscription_bytes = 0),
            "subagent-dsh-sdk: subscriptionBytes must be a positive number of bytes"
        );
        assert_eq!(
            refusal(|config| config.cwd = "/nonexistent/dir".into()),
            "subagent-dsh-sdk: config cwd \"/nonexistent/dir\" must be an existing directory that may be entered"
        );
    }
}
