//! From the options of a command to providers and a tool. Owns the choice between a file, a command line and the demo;
//! what stands in a file is `subagent-config`'s.

use std::path::Path;
use std::time::Duration;

use subagent_config::{CommandLine, Config, Deployment, HostContext, MaxDepth, ToolEntry, find, load_file};
use subagent_seam::HostReporter;
use subagent_tool::{SubagentTool, ToolOptions};

use crate::args::{Permission, Source};
use crate::demo;
use crate::error::CliError;

/// The configuration that the options name.
pub(crate) fn config(source: &Source, permission: Option<Permission>) -> Result<Config, CliError> {
    let command = match (&source.acp, source.demo) {
        (None, false) => return from_file(source.config.as_deref()),
        (Some(acp), _) => acp_command(acp, permission)?,
        (None, true) => demo::command_line()?,
    };
    Ok(Config::from_command(command))
}

/// The configuration in this file, or in the first of the default ones.
pub(crate) fn from_file(path: Option<&Path>) -> Result<Config, CliError> {
    let host = HostContext::from_process().map_err(|source| CliError::System {
        what: "the current directory cannot be used",
        source,
    })?;
    let found = match path {
        Some(path) => path.to_owned(),
        None => find(&host)?,
    };
    Ok(load_file(&found, &host)?)
}

/// The providers and tools of `config`, with `timeout` as the deadline of their runs if it is given. Raw failures go to
/// `reporter`.
pub(crate) fn deploy(
    mut config: Config,
    timeout: Option<Duration>,
    reporter: &HostReporter,
) -> Result<Deployment, CliError> {
    if let Some(timeout) = timeout {
        config.set_run_timeout(timeout);
    }
    Ok(config.deploy(reporter)?)
}

/// The tool called `name`, or the only one.
pub(crate) fn tool(deployment: &Deployment, name: Option<&str>) -> Result<SubagentTool, CliError> {
    let entry = choose(deployment.tools(), name)?;
    let mut options = ToolOptions::new(&entry.provider);
    options.tool_name.clone_from(&entry.tool_name);
    options.background = entry.enable_run_in_background;
    options.max_depth = match entry.max_depth {
        MaxDepth::ProviderManaged => None,
        MaxDepth::Limit(depth) => Some(depth),
    };
    Ok(SubagentTool::new(deployment.registry().clone(), options)?)
}

fn choose<'a>(tools: &'a [ToolEntry], name: Option<&str>) -> Result<&'a ToolEntry, CliError> {
    let names = || tools.iter().map(|tool| tool.tool_name.clone()).collect();
    match (name, tools) {
        (_, []) => Err(CliError::NoTool),
        (None, [only]) => Ok(only),
        (None, _) => Err(CliError::ToolRequired { tools: names() }),
        (Some(name), _) => {
            tools
                .iter()
                .find(|tool| tool.tool_name == name)
                .ok_or_else(|| CliError::UnknownTool {
                    name: name.to_owned(),
                    tools: names(),
                })
        }
    }
}

fn acp_command(line: &str, permission: Option<Permission>) -> Result<CommandLine, CliError> {
    let words = shell_words::split(line).map_err(|_| CliError::UnbalancedCommand(line.to_owned()))?;
    let mut words = words.into_iter().map(Into::into);
    let command = words.next().ok_or(CliError::EmptyCommand)?;
    Ok(CommandLine::Acp {
        command,
        args: words.collect(),
        permission: permission.map(Into::into).unwrap_or_default(),
    })
}
