//! The command line. Owns its grammar and help texts; what a command does stands in a file of its own.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{OsStringValueParser, TypedValueParser as _};
use clap::{Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use subagent_config::PermissionPolicy;

use crate::{depth, duration};

/// Delegates a task to an agent process and brings back its answer, or the reason why there is none
#[derive(Debug, Parser)]
#[command(name = "subagent", version, max_term_width = 100)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// What to log to stderr, for example `debug` or `subagent_acp=trace` [default: the variable SUBAGENT_LOG, else
    /// `warn` on a terminal and `off` elsewhere]
    #[arg(long, global = true, value_name = "FILTER", help_heading = LOGGING)]
    pub(crate) log: Option<String>,

    /// How log lines look
    #[arg(long, global = true, value_name = "FORMAT", default_value = "text", help_heading = LOGGING)]
    pub(crate) log_format: LogFormat,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Delegate a task and print the result, or many tasks side by side
    #[command(after_help = RUN_HELP)]
    Run(RunArgs),
    /// Start and end each configured agent without giving it a task, and tell what is wrong
    Check(CheckArgs),
    /// Serve the configured tools over the Model Context Protocol, on stdin and stdout
    #[command(after_help = MCP_HELP)]
    Mcp(McpArgs),
    /// Print the JSON schema of the configuration file
    Schema,
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    /// The task, complete and standalone; `-` reads it from stdin. With --jobs: a file with one task a line; without it,
    /// or if it is `-`, they are read from stdin
    #[arg(required_unless_present = "jobs")]
    pub(crate) prompt: Option<String>,

    #[command(flatten)]
    pub(crate) source: Source,

    /// How permission requests of the agent are answered [default: reject]
    #[arg(long, value_name = "POLICY", requires = "acp", conflicts_with_all = ["config", "dsh_sdk", "demo"])]
    pub(crate) permission: Option<Permission>,

    /// The tool of the configuration to use, if it has several
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,

    /// The directory to work in [default: the one the command is started in]
    // An empty one is no usage error either: all of it is judged by the provider.
    #[arg(long, value_name = "DIR", value_parser = OsStringValueParser::new().map(PathBuf::from))]
    pub(crate) cwd: Option<PathBuf>,

    /// How long the agent may take for the task once it is started: 500ms, 30s, 2m, 1h; a bare number is seconds
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    pub(crate) timeout: Option<Duration>,

    /// Delegate as a background job, and wait until that has settled
    #[arg(long)]
    pub(crate) background: bool,

    /// Delegate every task of a list, at most N at once. Prints one JSON object a line, in the order of the tasks
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), conflicts_with = "background")]
    pub(crate) jobs: Option<u16>,

    #[command(flatten)]
    pub(crate) recursion: Recursion,

    /// What is printed [default: text; json with --jobs]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<Format>,
}

/// How far delegation may go on.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Recursion {
    /// The most delegations in a chain: a command that runs inside of so many others starts nothing
    #[arg(long, value_name = "N", default_value_t = depth::DEFAULT_LIMIT)]
    pub(crate) max_depth: u32,
}

/// Which agent is meant.
#[derive(Debug, clap::Args)]
#[group(multiple = false)]
pub(crate) struct Source {
    /// The configuration file [default: ./subagents.yml, then $XDG_CONFIG_HOME/subagent/subagents.yml]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// No file: the command line of an agent that speaks ACP, for example 'gemini --acp'
    #[arg(long, value_name = "COMMAND")]
    pub(crate) acp: Option<String>,

    /// No file: the command line of a DeepSeek Harness SDK runtime, for example 'my-runtime --stdio'
    #[arg(long, value_name = "COMMAND")]
    pub(crate) dsh_sdk: Option<String>,

    /// No file: the bundled demo agent, which needs no account and no network
    #[arg(long)]
    pub(crate) demo: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// The configuration file [default: ./subagents.yml, then $XDG_CONFIG_HOME/subagent/subagents.yml]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) recursion: Recursion,

    /// What is printed
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
}

#[derive(Debug, clap::Args)]
pub(crate) struct McpArgs {
    /// The configuration file [default: ./subagents.yml, then $XDG_CONFIG_HOME/subagent/subagents.yml]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// The directory to work in, unless the client names one by its roots [default: the one the command is started in]
    #[arg(long, value_name = "DIR", value_parser = OsStringValueParser::new().map(PathBuf::from))]
    pub(crate) cwd: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) recursion: Recursion,
}

/// What is printed to standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Text for people
    Text,
    /// One JSON object
    Json,
}

/// How log lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// A line of text for each event
    Text,
    /// A JSON object for each event
    Json,
}

/// The command line's words for a [`PermissionPolicy`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Permission {
    /// Cancel every request
    Reject,
    /// Reject the one tool call where that is offered, so that the agent can go on
    Decline,
    /// Allow, once where that is offered
    Allow,
}

impl From<Permission> for PermissionPolicy {
    fn from(permission: Permission) -> Self {
        match permission {
            Permission::Reject => Self::Reject,
            Permission::Decline => Self::Decline,
            Permission::Allow => Self::Allow,
        }
    }
}

const LOGGING: &str = "Logging";

const RUN_HELP: &str = "\
The answer goes to stdout; the reason why there is none goes to stderr.

Exit codes:
  0    the agent completed the task; with --jobs, every task
  1    it did not, or it could not be started or ended
  2    wrong command line or configuration, or too many delegations in a chain
  130  stopped by SIGINT (Ctrl-C); a second one kills the agent at once
  143  stopped by SIGTERM

Examples:
  subagent run --demo 'Say hello'
  subagent run --acp 'gemini --acp' 'List the public functions of src/lib.rs'
  git diff | subagent run --timeout 2m --format json -
  subagent run --jobs 8 prompts.txt > results.jsonl
  git ls-files '*.rs' | sed 's/^/Review /' | subagent run --jobs 4 --acp 'gemini --acp'";

const MCP_HELP: &str = "\
The client starts this command and ends it by closing its stdin. Nothing is left behind then.

Exit codes:
  0    the client has closed its side
  1    the session could not begin
  2    wrong command line or configuration
  130  stopped by SIGINT; a second one kills the agents at once
  143  stopped by SIGTERM";

#[cfg(test)]
mod tests;
