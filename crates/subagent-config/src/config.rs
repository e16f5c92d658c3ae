//! A checked configuration: plain data, which providers and tools there shall be. Owns the entries and what a command
//! line may change in them; reading files is `load`'s, and building providers is `deploy`'s.

use std::ffi::OsString;
use std::time::Duration;

use subagent_acp::{AcpConfig, PermissionPolicy, Supervision};
use subagent_dsh_sdk::DshSdkConfig;

use crate::problem::Problem;
use crate::provider::{Origin, ProviderConfig, ProviderEntry};

/// Providers and tools, checked against each other: every tool names a provider that is there, and names are unique.
#[derive(Clone, Debug)]
pub struct Config {
    pub(crate) providers: Vec<ProviderEntry>,
    pub(crate) tools: Vec<ToolEntry>,
    pub(crate) jobs: Option<JobsEntry>,
}

/// A tool that delegates to one provider.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolEntry {
    /// The entry's id; of a tool that no entry describes, `tool-subagent`.
    pub id: String,
    /// The registered name of the provider that it delegates to.
    pub provider: String,
    /// The name that models know it by, unique.
    pub tool_name: String,
    /// Whether a model may ask for a background job.
    pub enable_run_in_background: bool,
    /// How long a call over the Model Context Protocol may keep its caller waiting before it goes on as a background job.
    /// Nothing else heeds it. Default `None`: for as long as the run lasts.
    pub foreground_limit: Option<Duration>,
    /// Who limits further delegation.
    pub max_depth: MaxDepth,
}

/// Who limits how deep a child may delegate further.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MaxDepth {
    /// Whatever the provider does of its own accord; nothing is asked of it.
    #[default]
    ProviderManaged,
    /// The provider is asked for this limit, at least 1, with each run.
    Limit(u32),
}

/// How long the job tools wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct JobsEntry {
    /// How long `job_output` waits when it is not told. Default 30 s; never more than `max_wait_timeout`.
    pub wait_timeout: Duration,
    /// The longest that it can be told to wait. Default 10 min.
    pub max_wait_timeout: Duration,
}

/// A provider that is described on a command line instead of in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CommandLine {
    /// An agent that speaks the Agent Client Protocol: `--acp 'COMMAND ARG…'`.
    Acp {
        /// The executable.
        command: OsString,
        /// Its arguments.
        args: Vec<OsString>,
        /// How its permission requests are answered.
        permission: PermissionPolicy,
    },
    /// A DeepSeek Harness SDK runtime: `--dsh-sdk 'COMMAND ARG…'`.
    DshSdk {
        /// The executable.
        command: OsString,
        /// Its arguments.
        args: Vec<OsString>,
    },
}

impl Config {
    /// One provider with the defaults of its kind and one default tool. Whether the command will do is judged when the
    /// configuration is [deployed](Self::deploy).
    pub fn from_command(command: CommandLine) -> Self {
        let (option, provider) = match command {
            CommandLine::Acp {
                command,
                args,
                permission,
            } => {
                let mut config = AcpConfig::new(command);
                config.args = args;
                config.permission = permission;
                ("--acp", ProviderConfig::Acp(config))
            }
            CommandLine::DshSdk { command, args } => {
                let mut config = DshSdkConfig::new(command);
                config.args = args;
                ("--dsh-sdk", ProviderConfig::DshSdk(config))
            }
        };
        let provider = ProviderEntry {
            id: provider.kind().to_owned(),
            config: provider,
            origin: Origin::command_line(option),
        };
        Self {
            tools: vec![ToolEntry::default_for(provider.name())],
            providers: vec![provider],
            jobs: None,
        }
    }

    /// The providers, in the order of the file, without the disabled ones.
    pub fn providers(&self) -> &[ProviderEntry] {
        &self.providers
    }

    /// The delegating tools, in the order of the file, without the disabled ones. A file with exactly one provider and
    /// no `tool-subagent` entry has one.
    pub fn tools(&self) -> &[ToolEntry] {
        &self.tools
    }

    /// The `tool-jobs` entry: how long the job tools wait. `None` if the file has none, or a disabled one; then the
    /// defaults hold.
    pub fn jobs(&self) -> Option<JobsEntry> {
        self.jobs
    }

    /// Sets who ends the process trees of every provider's children. Where supervisors are possible, a host that begins
    /// its `main` with [`enter_if_started_as_one`](subagent_acp::supervisor::enter_if_started_as_one) passes
    /// [`Supervision::of_this_executable`].
    pub fn set_supervision(&mut self, supervision: &Supervision) {
        for provider in &mut self.providers {
            provider.config.set_supervision(supervision.clone());
        }
    }

    /// Sets an environment variable of every provider's children, whatever its entry says.
    pub fn set_child_variable(&mut self, name: &str, value: &str) {
        for provider in &mut self.providers {
            provider.config.set_variable(name, value);
        }
    }

    /// Sets the deadline from publication to result of every provider, whatever its entry says.
    pub fn set_run_timeout(&mut self, timeout: Duration) {
        for provider in &mut self.providers {
            provider.config.set_run_timeout(timeout);
        }
    }
}

impl ToolEntry {
    /// The name of a tool whose entry gives none.
    pub(crate) const DEFAULT_NAME: &'static str = "subagent";

    /// The tool of a file that has one provider and describes no tool.
    pub(crate) fn default_for(provider: &str) -> Self {
        Self {
            id: "tool-subagent".to_owned(),
            provider: provider.to_owned(),
            tool_name: Self::DEFAULT_NAME.to_owned(),
            enable_run_in_background: true,
            foreground_limit: None,
            max_depth: MaxDepth::ProviderManaged,
        }
    }
}

impl Default for JobsEntry {
    fn default() -> Self {
        Self {
            wait_timeout: Duration::from_secs(30),
            max_wait_timeout: Duration::from_mins(10),
        }
    }
}

/// Why a text cannot be the name of a tool.
pub(crate) fn tool_name_fault(name: &str) -> Option<Problem> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !(1..=64).contains(&name.len()) || !name.chars().all(fits) {
        return Some(Problem::ToolName);
    }
    let reserved = ["job_output", "job_list", "job_kill"].contains(&name);
    reserved.then(|| Problem::ReservedToolName {
        name: name.to_owned(),
    })
}
