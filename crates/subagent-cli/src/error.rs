//! Why the command did nothing. Owns the texts and which exit code each means; what a child did is never an error here.

use std::ffi::OsString;
use std::io;
use std::string::FromUtf8Error;

use subagent_config::ConfigErrors;
use subagent_mcp::ServeError;
use subagent_tool::ToolError;

use crate::depth::TooDeep;
use crate::exit::Exit;
use crate::fan_out::PromptsError;
use crate::logging::FilterError;

/// Why the command did nothing, or could not tell what it did.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// The log filter is wrong.
    #[error(transparent)]
    Log(#[from] FilterError),
    /// The configuration is wrong. Each error of it is a line of its own.
    #[error("{0}")]
    Config(ConfigErrors),
    /// A tool cannot work as it is configured.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// The command line of an agent does not split into words.
    #[error("{option} {line:?}: missing closing quote")]
    UnbalancedCommand {
        /// The option.
        option: &'static str,
        /// What it was given.
        line: String,
    },
    /// The command line of an agent is empty.
    #[error("{option}: expected a command, for example '{example}'")]
    EmptyCommand {
        /// The option.
        option: &'static str,
        /// What it could be given.
        example: &'static str,
    },
    /// There are several tools and none was chosen.
    #[error("--tool is required, the configuration has several tools: {}", .tools.join(", "))]
    ToolRequired {
        /// Their names.
        tools: Vec<String>,
    },
    /// The chosen tool does not exist.
    #[error("no tool is named {name}, the configuration has: {}", .tools.join(", "))]
    UnknownTool {
        /// The chosen name.
        name: String,
        /// The names there are.
        tools: Vec<String>,
    },
    /// There is no tool at all.
    #[error("the configuration has no tool, expected a tool-subagent entry")]
    NoTool,
    /// The tool must not run in the background.
    #[error("--background: tool {tool} has enableRunInBackground: false")]
    BackgroundDisabled {
        /// The tool.
        tool: String,
    },
    /// Many results are not text.
    #[error("--jobs prints JSON objects, expected no --format text")]
    JobsAsText,
    /// What should say how deep in a chain of delegations this process is does not.
    #[error("{variable}: {value:?} is no delegation depth, expected a whole number such as 0")]
    Depth {
        /// The variable.
        variable: &'static str,
        /// Its value.
        value: OsString,
    },
    /// The chain of delegations is as long as it may be.
    #[error(transparent)]
    TooDeep(#[from] TooDeep),
    /// There is no task.
    #[error("the prompt is empty")]
    EmptyPrompt,
    /// The list of tasks cannot be read, or has something that is none.
    #[error(transparent)]
    Prompts(#[from] PromptsError),
    /// Standard input goes on and on.
    #[error("the prompt on stdin is longer than {limit} bytes")]
    PromptTooLong {
        /// The most it may have.
        limit: usize,
    },
    /// Standard input is not text.
    #[error("the prompt on stdin is not valid UTF-8")]
    PromptNotUtf8(#[source] FromUtf8Error),
    /// Standard input cannot be read.
    #[error("the prompt could not be read from stdin")]
    Stdin(#[source] io::Error),
    /// A client could not be served.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// Something that every process has is missing.
    #[error("{what}")]
    System {
        /// What.
        what: &'static str,
        /// What the operating system says.
        #[source]
        source: io::Error,
    },
    /// The result could not be written.
    #[error("stdout could not be written")]
    Output(#[source] io::Error),
}

impl CliError {
    /// How the command ends with this error.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Log(_)
            | Self::Config(_)
            | Self::Tool(_)
            | Self::UnbalancedCommand { .. }
            | Self::EmptyCommand { .. }
            | Self::BackgroundDisabled { .. }
            | Self::JobsAsText
            | Self::Depth { .. }
            | Self::TooDeep(_)
            | Self::ToolRequired { .. }
            | Self::UnknownTool { .. }
            | Self::NoTool
            | Self::EmptyPrompt
            | Self::PromptTooLong { .. }
            | Self::PromptNotUtf8(_) => Exit::Usage,
            Self::Prompts(error) if error.is_usage() => Exit::Usage,
            Self::Prompts(_) | Self::Stdin(_) | Self::Serve(_) | Self::System { .. } | Self::Output(_) => {
                Exit::Failure
            }
        }
    }
}

impl From<ConfigErrors> for CliError {
    fn from(errors: ConfigErrors) -> Self {
        Self::Config(errors)
    }
}
