//! The command line. Owns its grammar and help texts; what a command does stands in a file of its own.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{OsStringValueParser, TypedValueParser as _};
use clap::{Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use subagent_config::PermissionPolicy;

use crate::duration;

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
    /// Delegate one task and print the result
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
    /// The task, complete and standalone; `-` reads it from stdin
    pub(crate) prompt: String,

    #[command(flatten)]
    pub(crate) source: Source,

    /// How permission requests of the agent are answered [default: reject]
    #[arg(long, value_name = "POLICY", requires = "acp", conflicts_with_all = ["config", "demo"])]
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

    /// What is printed
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
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

    /// No file: the bundled demo agent, which needs no account and no network
    #[arg(long)]
    pub(crate) demo: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// The configuration file [default: ./subagents.yml, then $XDG_CONFIG_HOME/subagent/subagents.yml]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

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
  0    the agent completed the task
  1    it did not, or it could not be started or ended
  2    wrong command line or configuration
  130  stopped by SIGINT (Ctrl-C); a second one kills the agent at once
  143  stopped by SIGTERM

Examples:
  subagent run --demo 'Say hello'
  subagent run --acp 'gemini --acp' 'List the public functions of src/lib.rs'
  git diff | subagent run --timeout 2m --format json -";

const MCP_HELP: &str = "\
The client starts this command and ends it by closing its stdin. Nothing is left behind then.

Exit codes:
  0    the client has closed its side
  1    the session could not begin
  2    wrong command line or configuration
  130  stopped by SIGINT; a second one kills the agents at once
  143  stopped by SIGTERM";

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;
    use clap::error::ErrorKind;

    use super::*;

    fn run(args: &[&str]) -> Result<RunArgs, ErrorKind> {
        let args =
            Args::try_parse_from(["subagent", "run"].iter().chain(args)).map_err(|error| error.kind())?;
        match args.command {
            Command::Run(run) => Ok(run),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_grammar_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn one_source_excludes_the_others() {
        assert_eq!(
            run(&["--config", "f", "--demo", "p"]).unwrap_err(),
            ErrorKind::ArgumentConflict
        );
        assert_eq!(
            run(&["--config", "f", "--acp", "a", "p"]).unwrap_err(),
            ErrorKind::ArgumentConflict
        );
        assert_eq!(
            run(&["--acp", "a", "--demo", "p"]).unwrap_err(),
            ErrorKind::ArgumentConflict
        );
        assert!(run(&["p"]).is_ok());
    }

    #[test]
    fn a_permission_needs_an_agent_of_the_command_line() {
        let alone = run(&["--permission", "allow", "p"]).unwrap_err();
        assert_eq!(alone, ErrorKind::MissingRequiredArgument);
        let with_demo = run(&["--permission", "allow", "--demo", "p"]).unwrap_err();
        assert_eq!(with_demo, ErrorKind::ArgumentConflict);
        let args = run(&["--acp", "a", "--permission", "decline", "p"]).unwrap();
        assert_eq!(
            args.permission.map(PermissionPolicy::from),
            Some(PermissionPolicy::Decline)
        );
        assert_eq!(
            run(&["--acp", "a", "--permission", "ask", "p"]).unwrap_err(),
            ErrorKind::InvalidValue
        );
    }

    #[test]
    fn a_dash_is_a_prompt_and_no_prompt_is_an_error() {
        assert_eq!(run(&["-"]).unwrap().prompt, "-");
        assert_eq!(run(&["--", "--demo"]).unwrap().prompt, "--demo");
        assert_eq!(run(&["--demo"]).unwrap_err(), ErrorKind::MissingRequiredArgument);
    }

    #[test]
    fn what_is_not_given_has_its_default() {
        let args = run(&["p"]).unwrap();
        assert_eq!(
            (args.format, args.timeout, args.permission),
            (Format::Text, None, None)
        );
        let args = run(&["--timeout", "2m", "--format", "json", "p"]).unwrap();
        assert_eq!(
            (args.format, args.timeout),
            (Format::Json, Some(Duration::from_mins(2)))
        );
        assert_eq!(
            run(&["--timeout", "soon", "p"]).unwrap_err(),
            ErrorKind::ValueValidation
        );
    }

    #[test]
    fn logging_options_stand_anywhere() {
        for args in [["--log", "info", "schema"], ["schema", "--log", "info"]] {
            let args = Args::try_parse_from(std::iter::once("subagent").chain(args)).unwrap();
            assert_eq!(args.log.as_deref(), Some("info"));
        }
    }
}
