//! `subagent run`: what comes before and after a call, and one task, delegated once. Owns the order of things around the
//! call; the call itself is the tool's, and many of them are `fan_out`'s.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use subagent_config::JobsEntry;
use subagent_seam::{HostReporter, Parent, RunId};
use subagent_tool::{Call, Context, SubagentTool};

use crate::args::{Format, RunArgs};
use crate::depth::Depth;
use crate::error::CliError;
use crate::exit::Exit;
use crate::report::json;
use crate::signals::Signals;
use crate::terminal::Terminal;
use crate::{background, deployment, fan_out, output, progress, prompt};

/// Delegates the task, or all of a list, and prints what came of it.
pub(crate) async fn run(args: RunArgs, terminal: &Arc<Terminal>) -> Result<Exit, CliError> {
    let depth = Depth::within(args.recursion.max_depth)?;
    if args.jobs.is_some() && args.format == Some(Format::Text) {
        return Err(CliError::JobsAsText);
    }
    let config = deployment::config(&args.source, args.permission)?;
    let deployment = deployment::deploy(config, args.timeout, &HostReporter::default())?;
    let tool = deployment::tool(&deployment, args.tool.as_deref())?;
    if args.background && !tool.options().background {
        return Err(CliError::BackgroundDisabled {
            tool: tool.name().to_owned(),
        });
    }
    // Not earlier: reading a file may block, in a pipe for ever, and a signal ends the process there and then.
    let signals = Signals::listen()?;
    let context = Context {
        parent: Parent {
            session_id: RunId::fresh().to_string(),
            cwd: session_cwd(args.cwd.as_deref()),
            depth: depth.get(),
        },
        cancel: signals.cancel(),
        urgency: signals.urgency(),
        ..Context::default()
    };
    let done = match args.jobs {
        Some(limit) => fan_out::run(limit, args.prompt, &tool, &context, terminal, &signals).await,
        None => {
            one(
                &args,
                &tool,
                deployment.jobs().unwrap_or_default(),
                context,
                terminal,
                &signals,
            )
            .await
        }
    };
    Ok(done?.unless_stopped(signals.first()))
}

/// Delegates one task.
async fn one(
    args: &RunArgs,
    tool: &SubagentTool,
    jobs: JobsEntry,
    context: Context,
    terminal: &Arc<Terminal>,
    signals: &Signals,
) -> Result<Exit, CliError> {
    // A signal while the prompt is being typed: the call below is cancelled before it begins, and says so.
    let prompt = prompt::read(args.prompt.clone().unwrap_or_default(), &signals.cancel())
        .await?
        .unwrap_or_default();
    let seen = context.progress.clone();
    let call = Call::new("", prompt);
    let as_json = args.format == Some(Format::Json);

    let (text, is_error) = if args.background {
        let work = background::delegate(tool, call, context, jobs, signals);
        let settled = progress::shown(terminal, &seen, work).await;
        let is_error = !settled.is_completed();
        let text = if as_json {
            json::text(&json::Delegation::in_background(
                tool.name(),
                tool.provider(),
                &settled,
            ))
        } else {
            settled.into_answer()
        };
        (text, is_error)
    } else {
        let outcome = progress::shown(terminal, &seen, tool.call(call, context)).await;
        let text = if as_json {
            json::text(&json::Delegation::new(tool.name(), tool.provider(), &outcome))
        } else {
            outcome.text
        };
        (text, outcome.is_error)
    };
    if is_error && !as_json {
        output::tell(text, terminal, signals).await;
    } else {
        output::print(text, terminal, signals).await?;
    }
    Ok(if is_error { Exit::Failure } else { Exit::Success })
}

/// The directory of the session: the given one, made absolute against the one that the command was started in, else
/// that one. Nothing else is judged here; a directory that will not do is the provider's finding, and so is none.
pub(crate) fn session_cwd(given: Option<&Path>) -> Option<PathBuf> {
    let started_in = || env::current_dir().ok();
    match given {
        None => started_in(),
        Some(dir) if dir.is_absolute() || dir.as_os_str().is_empty() => Some(dir.to_owned()),
        Some(dir) => Some(started_in().map_or_else(|| dir.to_owned(), |base| base.join(dir))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_directory_starts_where_the_command_was_started() {
        let here = env::current_dir().unwrap();
        assert_eq!(session_cwd(None), Some(here.clone()));
        assert_eq!(session_cwd(Some(Path::new("a/../b"))), Some(here.join("a/../b")));
        assert_eq!(session_cwd(Some(&here)), Some(here));
    }

    #[test]
    fn an_empty_directory_stays_empty_and_is_left_to_the_provider() {
        assert_eq!(session_cwd(Some(Path::new(""))), Some(PathBuf::new()));
    }
}
