//! What a host decides about a DSH SDK provider. Owns the options and their defaults; checking them is the provider's
//! constructor.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use subagent_subprocess::{ConfigDirSource, EnvPolicy, EnvVars, Supervision};

pub(crate) const DEFAULT_PROVIDER: &str = "deepseek-official";
pub(crate) const DEFAULT_MODEL: &str = "deepseek-v4-flash";

/// The options of a DSH SDK provider.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DshSdkConfig {
    /// The name to register under. Default `dsh-sdk`.
    pub provider_name: String,
    /// The executable spawned for each run: a bare name is searched in the child's `PATH`, a relative path is resolved
    /// against the directory that the host was launched in.
    pub command: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// The child's working directory; the parent session's when absent.
    pub cwd: Option<PathBuf>,
    /// What the child inherits of the host's environment. Default [`EnvPolicy::Scrubbed`].
    pub inherit_env: EnvPolicy,
    /// Environment variables set over that.
    pub env: EnvVars,
    /// Variables that point the child at a configuration directory of its own.
    pub isolated_config_dirs: Vec<(OsString, ConfigDirSource)>,
    /// Who ends the child's process tree. Default the process group; see [`Supervision`] for what proves more.
    pub supervision: Supervision,
    /// The model provider sent in the handshake. Default `deepseek-official`.
    pub provider: String,
    /// The model sent in the handshake. Default `deepseek-v4-flash`.
    pub model: String,
    /// The cap of output tokens sent in the handshake: positive, and at most
    /// [`MAX_SAFE_INTEGER`](crate::MAX_SAFE_INTEGER). Default none.
    pub max_tokens: Option<u64>,
    /// How long the answer to `shutdown` may take. Default 1 s.
    pub shutdown_timeout: Duration,
    /// How long a teardown waits for the child to end after its standard input was closed. Default 6 s.
    pub dispose_eof_grace: Duration,
    /// How long a teardown waits after each signal. Default 3 s.
    pub dispose_grace: Duration,
    /// Deadline from spawn to publication. Default 120 s.
    pub startup_timeout: Option<Duration>,
    /// Deadline from publication to the result. Default none.
    pub run_timeout: Option<Duration>,
    /// Deadline without a frame from the child while the run goes on. Default none.
    pub idle_timeout: Option<Duration>,
    /// The longest line that the child may send, in bytes, and the most that is kept of its session before the receipt of
    /// the prompt. Default 16 MiB.
    pub max_frame_bytes: usize,
    /// The most output text that a run collects, in bytes of UTF-8. Default 8 MiB.
    pub max_output_bytes: usize,
    /// The most bytes that may wait behind the frame being written to a child that does not read. Default 1 MiB.
    pub max_queued_bytes: usize,
    /// How much of the end of the child's standard error is kept for the host, in bytes. Default 64 KiB.
    pub stderr_tail_bytes: usize,
}

impl DshSdkConfig {
    /// The defaults with `command`.
    pub fn new(command: impl Into<OsString>) -> Self {
        Self {
            provider_name: "dsh-sdk".to_owned(),
            command: command.into(),
            args: Vec::new(),
            cwd: None,
            inherit_env: EnvPolicy::default(),
            env: EnvVars::default(),
            isolated_config_dirs: Vec::new(),
            supervision: Supervision::default(),
            provider: DEFAULT_PROVIDER.to_owned(),
            model: DEFAULT_MODEL.to_owned(),
            max_tokens: None,
            shutdown_timeout: Duration::from_secs(1),
            dispose_eof_grace: Duration::from_secs(6),
            dispose_grace: Duration::from_secs(3),
            startup_timeout: Some(Duration::from_mins(2)),
            run_timeout: None,
            idle_timeout: None,
            max_frame_bytes: 16 * 1024 * 1024,
            max_output_bytes: 8 * 1024 * 1024,
            max_queued_bytes: 1024 * 1024,
            stderr_tail_bytes: 64 * 1024,
        }
    }
}
