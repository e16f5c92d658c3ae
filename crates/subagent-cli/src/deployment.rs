//! From the options of a command to providers and a tool. Owns the choice between a file, a command line and the demo;
//! what stands in a file is `subagent-config`'s.

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use subagent_config::{
    CommandLine, Config, Deployment, HostContext, Supervision, ToolEntry, find, load_file,
};
use subagent_seam::HostReporter;
use subagent_tool::SubagentTool;

use crate::args::{Permission, Source};
use crate::demo;
use crate::depth::Depth;
use crate::error::CliError;

/// The configuration that the options name.
pub(crate) fn config(source: &Source, permission: Option<Permission>) -> Result<Config, CliError> {
    let command = match (&source.acp, &source.dsh_sdk, source.demo) {
        (None, None, false) => return from_file(source.config.as_deref()),
        (Some(acp), ..) => acp_command(acp, permission)?,
        (None, Some(runtime), _) => dsh_sdk_command(runtime)?,
        (None, None, true) => demo::command_line()?,
    };
    Ok(Config::from_command(command))
}

/// The configuration in this file, or in the first of the default ones.
pub(crate) fn from_file(path: Option<&Path>) -> Result<Config, CliError> {
    // Without a current directory there is still what has an absolute path.
    let host = HostContext::from_process().unwrap_or_else(|_| HostContext::new("", |name| env::var_os(name)));
    let found = match path {
        Some(path) => path.to_owned(),
        None => find(&host)?,
    };
    Ok(load_file(&found, &host)?)
}

/// The providers and tools of `config`: their children's trees supervised where the platform can, told how deep in a
/// chain of delegations they are, and with `timeout` as the deadline of their runs if it is given. Raw failures go to
/// `reporter`.
pub(crate) fn deploy(
    mut config: Config,
    timeout: Option<Duration>,
    reporter: &HostReporter,
) -> Result<Deployment, CliError> {
    if let Some(timeout) = timeout {
        config.set_run_timeout(timeout);
    }
    Depth::of_process()?.hand_down(&mut config);
    config.set_supervision(&Supervision::of_this_executable());
    Ok(config.deploy(reporter)?)
}

/// The tool called `name`, or the only one.
pub(crate) fn tool(deployment: &Deployment, name: Option<&str>) -> Result<SubagentTool, CliError> {
    let entry = choose(deployment.tools(), name)?;
    Ok(deployment.subagent_tool(entry)?)
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
    let (command, args) = words(line, "--acp", "gemini --acp")?;
    Ok(CommandLine::Acp {
        command,
        args,
        permission: permission.map(Into::into).unwrap_or_default(),
    })
}

fn dsh_sdk_command(line: &str) -> Result<CommandLine, CliError> {
    let (command, args) = words(line, "--dsh-sdk", "my-runtime --stdio")?;
    Ok(CommandLine::DshSdk { command, args })
}

/// The executable and its arguments on a command line that was given to `option`.
fn words(
    line: &str,
    option: &'static str,
    example: &'static str,
) -> Result<(OsString, Vec<OsString>), CliError> {
    let words = shell_words::split(line).map_err(|_| CliError::UnbalancedCommand {
        option,
        line: line.to_owned(),
    })?;
    let mut words = words.into_iter().map(OsString::from);
    match words.next() {
        Some(command) if !command.is_empty() => Ok((command, words.collect())),
        _ => Err(CliError::EmptyCommand { option, example }),
    }
}

#[cfg(test)]
mod tests {
    use subagent_config::{PermissionPolicy, load_str};

    use super::*;

    fn tools(text: &str) -> Vec<ToolEntry> {
        let host = HostContext::new("/", |_| None);
        load_str(text, "subagents.yml", &host).unwrap().tools().to_vec()
    }

    fn chosen(tools: &[ToolEntry], name: Option<&str>) -> Result<String, String> {
        let chosen = choose(tools, name).map_err(|error| error.to_string())?;
        Ok(chosen.tool_name.clone())
    }

    #[test]
    fn the_only_tool_needs_no_name() {
        let one = tools("- { name: subagent-acp, config: { command: agent } }");
        assert_eq!(chosen(&one, None).as_deref(), Ok("subagent"));
        assert_eq!(chosen(&one, Some("subagent")).as_deref(), Ok("subagent"));
        assert_eq!(
            chosen(&one, Some("other")).unwrap_err(),
            "no tool is named other, the configuration has: subagent"
        );
    }

    #[test]
    fn several_tools_need_a_name() {
        let two = tools(
            "- { name: subagent-acp, config: { command: agent } }\n\
             - { id: a, name: tool-subagent, config: { provider: acp, toolName: ask } }\n\
             - { id: b, name: tool-subagent, config: { provider: acp, toolName: delegate } }",
        );
        assert_eq!(
            chosen(&two, None).unwrap_err(),
            "--tool is required, the configuration has several tools: ask, delegate"
        );
        assert_eq!(chosen(&two, Some("delegate")).as_deref(), Ok("delegate"));
    }

    #[test]
    fn no_tool_is_an_error_whatever_was_asked_for() {
        let message = "the configuration has no tool, expected a tool-subagent entry";
        assert_eq!(chosen(&[], None).unwrap_err(), message);
        assert_eq!(chosen(&[], Some("subagent")).unwrap_err(), message);
    }

    #[test]
    fn an_agents_command_line_is_split_as_a_shell_does() {
        let command = acp_command("my-agent --flag 'two words' \"\"", Some(Permission::Allow)).unwrap();
        assert_eq!(
            command,
            CommandLine::Acp {
                command: "my-agent".into(),
                args: vec!["--flag".into(), "two words".into(), "".into()],
                permission: PermissionPolicy::Allow,
            }
        );
        assert_eq!(
            dsh_sdk_command("'my runtime' --flag").unwrap(),
            CommandLine::DshSdk {
                command: "my runtime".into(),
                args: vec!["--flag".into()],
            }
        );
    }

    #[test]
    fn a_command_line_that_names_nothing_is_refused() {
        for empty in [" ", "'' --acp"] {
            assert_eq!(
                acp_command(empty, None).unwrap_err().to_string(),
                "--acp: expected a command, for example 'gemini --acp'"
            );
        }
        assert_eq!(
            dsh_sdk_command("").unwrap_err().to_string(),
            "--dsh-sdk: expected a command, for example 'my-runtime --stdio'"
        );
        assert_eq!(
            acp_command("agent 'open", None).unwrap_err().to_string(),
            "--acp \"agent 'open\": missing closing quote"
        );
    }
}
