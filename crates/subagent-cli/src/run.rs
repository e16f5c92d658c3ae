//! `subagent run`: one task, delegated once. Owns the order of things around the call; the call itself is the tool's.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use subagent_seam::{HostReporter, Parent, RunId};
use subagent_tool::{Call, Context};

use crate::args::{Format, RunArgs};
use crate::error::CliError;
use crate::exit::Exit;
use crate::report::json;
use crate::signals::Signals;
use crate::terminal::Terminal;
use crate::{deployment, output, progress, prompt};

/// Delegates the task and prints what came of it.
pub(crate) async fn run(args: RunArgs, terminal: &Arc<Terminal>) -> Result<Exit, CliError> {
    let config = deployment::config(&args.source, args.permission)?;
    let deployment = deployment::deploy(config, args.timeout, &HostReporter::default())?;
    let tool = deployment::tool(&deployment, args.tool.as_deref())?;
    // Not earlier: reading a file may block, in a pipe for ever, and a signal ends the process there and then.
    let signals = Signals::listen()?;
    // A signal while the prompt is being typed: the call below is cancelled before it begins, and says so.
    let prompt = prompt::read(args.prompt, &signals.cancel())
        .await?
        .unwrap_or_default();

    let context = Context {
        parent: Parent {
            session_id: RunId::fresh().to_string(),
            cwd: session_cwd(args.cwd.as_deref()),
            depth: 0,
        },
        cancel: signals.cancel(),
        urgency: signals.urgency(),
        ..Context::default()
    };
    let seen = context.progress.clone();
    let outcome = progress::shown(terminal, &seen, tool.call(Call::new("", prompt), context)).await;

    let exit = if outcome.is_error {
        Exit::Failure
    } else {
        Exit::Success
    };
    match args.format {
        Format::Json => {
            let object = json::text(&json::Delegation::new(tool.name(), tool.provider(), &outcome));
            output::print(object, terminal, &signals).await?;
        }
        Format::Text if outcome.is_error => output::tell(outcome.text, terminal, &signals).await,
        Format::Text => output::print(outcome.text, terminal, &signals).await?,
    }
    Ok(exit.unless_stopped(signals.first()))
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
