//! The `subagent` command: delegates a task to an agent process from a shell.
//!
//! The whole command is [`main`], so that another package can carry it inside, for its tests or under another name:
//!
//! ```no_run
//! fn main() -> std::process::ExitCode {
//!     subagent_cli::main()
//! }
//! ```
//!
//! It decides nothing about runs: the configuration is `subagent-config`'s, the call is `subagent-tool`'s, and every
//! run is its provider's. Here are the command line, the signals, the exit codes, the logs and the printing.

mod args;
mod background;
mod check;
mod demo;
mod deployment;
mod depth;
mod duration;
mod error;
mod exit;
mod fan_out;
mod logging;
mod mcp;
mod output;
mod progress;
mod prompt;
mod reader;
mod report;
mod run;
mod signals;
mod status_line;
mod terminal;
mod thread;

use std::env;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{CommandFactory as _, Parser as _};
use subagent_seam::Chain;

use crate::args::{Args, Command};
use crate::error::CliError;
use crate::exit::Exit;
use crate::logging::Defaults;
use crate::terminal::Terminal;

/// The whole command: reads the process's arguments, does what they ask for and returns the exit code. To be called
/// once, at the start of the process, outside of any async runtime: it takes over the signals SIGINT and SIGTERM and
/// sets the process's logging.
pub fn main() -> ExitCode {
    // Every agent has a supervisor, which is this program once more.
    subagent_config::supervisor::enter_if_started_as_one();
    // The demo agent starts for every `--demo` run: straight away, without the machinery of the command line.
    if env::args_os()
        .nth(1)
        .is_some_and(|first| first == demo::SUBCOMMAND)
    {
        return demo::serve().into();
    }
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            // Help goes to stdout, errors to stderr. Neither stream being there is no reason to panic.
            drop(error.print());
            let exit = if error.use_stderr() {
                Exit::Usage
            } else {
                Exit::Success
            };
            return exit.into();
        }
    };
    let terminal = Arc::new(Terminal::of_process());
    let exit = match dispatch(args, &terminal) {
        Ok(exit) => exit,
        Err(error) => {
            terminal.tell(&format!("error: {}", Chain(&error)));
            error.exit()
        }
    };
    exit.into()
}

fn dispatch(args: Args, terminal: &Arc<Terminal>) -> Result<Exit, CliError> {
    let defaults = match args.command {
        Command::Check(_) => Defaults::WithoutFailures,
        _ => Defaults::Usual,
    };
    logging::start(args.log.as_deref(), args.log_format, defaults, terminal)?;
    match args.command {
        Command::Run(args) => block_on(run::run(args, terminal)),
        Command::Check(args) => block_on(check::check(args, terminal)),
        Command::Mcp(args) => block_on(mcp::mcp(args)),
        Command::Schema => print(terminal, &schema()),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Args::command(), "subagent", &mut script);
            print(terminal, &String::from_utf8_lossy(&script))
        }
    }
}

/// For ever.
const POOL_KEEP_ALIVE: Duration = Duration::from_hours(24 * 365 * 100);

/// Runs a command to its end on this thread. One thread is the fastest start, and all that a run asks for.
fn block_on(command: impl Future<Output = Result<Exit, CliError>>) -> Result<Exit, CliError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        // Threads that were there once need not be had again.
        .thread_keep_alive(POOL_KEEP_ALIVE)
        .build()
        .map_err(|source| CliError::System {
            what: "the async runtime could not be started",
            source,
        })?;
    let done = runtime.block_on(command);
    // A thread may still wait for stdin, or for a reader of stdout. The end of the process ends it.
    runtime.shutdown_background();
    done
}

fn schema() -> String {
    format!("{:#}", subagent_config::schema())
}

fn print(terminal: &Terminal, text: &str) -> Result<Exit, CliError> {
    terminal.print(text).map_err(CliError::Output)?;
    Ok(Exit::Success)
}

/// The examples of the README, compiled with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
