//! The command line of the developer commands: parses it, calls the module of the command, and turns the outcome into
//! an exit code. It holds no logic of its own.

mod bench;
mod ci;
mod console;
mod fuzz;
mod interop;
mod runner;
mod snapshots;
mod soak;
mod tidy;
mod tool;
mod workspace;

use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::runner::{Choice, Profile, Runner};
use crate::snapshots::Mode;
use crate::workspace::Workspace;

/// Developer commands of this workspace.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Checks everything that must hold before a merge, and prints each step with its time.
    Ci {
        /// Go on after a failed step, and report all failures at the end.
        #[arg(long)]
        keep_going: bool,
    },
    /// Builds the examples, runs the doc tests and then all tests; exits with the code of the test runner.
    Test {
        /// Which test runner to use.
        #[arg(long, value_enum, default_value_t = Choice::Auto)]
        runner: Choice,
        /// Names (or parts of names) of the tests to run, and other arguments of the test harness.
        #[arg(last = true, value_name = "FILTER")]
        filters: Vec<String>,
    },
    /// Runs the snapshot tests and keeps what differs as proposals (`*.snap.new`).
    ///
    /// Nothing is ever accepted by itself: look at the proposals with `--review`, write them with `--accept`.
    Snapshots(SnapshotArgs),
    /// Checks the rules of this workspace that the compiler does not know, and reports every finding.
    Tidy,
    /// Runs a fuzz target on its seeds and on what earlier runs have found; fails on a finding, and says how to repeat it.
    ///
    /// Needs cargo-fuzz (`cargo install cargo-fuzz`) and a C++ compiler; any toolchain will do.
    Fuzz {
        /// Which target; `--list` shows them.
        #[arg(required_unless_present = "list")]
        target: Option<String>,
        /// For how long, the build not counted.
        #[arg(long, value_name = "N", default_value_t = 60)]
        seconds: u32,
        /// Show the targets, and run none.
        #[arg(long, conflicts_with_all = ["target", "seconds"])]
        list: bool,
    },
    /// Drives `subagent mcp` with the official Python SDK of the protocol; skipped if that is not installed.
    ///
    /// `INTEROP_PYTHON` names the interpreter that has it, `python3` otherwise.
    Interop {
        /// Fail if the SDK is not installed.
        #[arg(long)]
        require: bool,
    },
    /// Runs the benchmark against the hand-written floor, and prints the ratio.
    Bench {
        /// Arguments of the benchmark itself.
        #[arg(last = true, value_name = "ARG")]
        arguments: Vec<String>,
    },
    /// Runs random agents with random ends for some minutes, and looks for what is left of them. (Linux.)
    ///
    /// Ends with a table of what was done, the findings, and what the host had open and in memory before and after. Exits
    /// with 1 if there is a finding.
    Soak(soak::Options),
}

#[derive(Debug, Args)]
#[group(multiple = false)]
struct SnapshotArgs {
    /// Write nothing; fail on a difference, an orphaned snapshot or a proposal that nobody has decided.
    #[arg(long)]
    check: bool,
    /// Show each proposal as a difference, with its place; runs no test.
    #[arg(long)]
    review: bool,
    /// Write the proposals over the snapshots, and the rows of `docs/diagnostics.md` that show them; runs no other test.
    #[arg(long)]
    accept: bool,
}

impl SnapshotArgs {
    fn mode(&self) -> Mode {
        match (self.check, self.review, self.accept) {
            (true, ..) => Mode::Check,
            (_, true, _) => Mode::Review,
            (_, _, true) => Mode::Accept,
            _ => Mode::Propose,
        }
    }
}

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(code) => code,
        Err(error) => {
            console::complain(format_args!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    let workspace = Workspace::load()?;
    match cli.command {
        Command::Ci { keep_going } => ci::run(&workspace, keep_going)?,
        // The runner has already said what failed, and its summary stays the last thing on the screen.
        Command::Test { runner, filters } => {
            let runner = Runner::choose(&workspace, runner, Profile::Default)?;
            return runner.run_everything(&workspace, &filters);
        }
        Command::Snapshots(arguments) => snapshots::run(&workspace, arguments.mode())?,
        Command::Tidy => tidy::run(&workspace)?,
        Command::Fuzz { list: true, .. } => fuzz::list(),
        Command::Fuzz { target, seconds, .. } => fuzz::run(&workspace, &target.unwrap_or_default(), seconds)?,
        Command::Interop { require } => interop::run(&workspace, require)?,
        Command::Bench { arguments } => bench::run(&workspace, &arguments)?,
        Command::Soak(options) => soak::run(&workspace, &options)?,
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn only_one_snapshot_mode_can_be_chosen() {
        let both = Cli::try_parse_from(["cargo xtask", "snapshots", "--check", "--accept"]);
        assert!(both.is_err());
        let none = Cli::try_parse_from(["cargo xtask", "snapshots"]).unwrap();
        let Command::Snapshots(arguments) = none.command else {
            panic!("another command was parsed")
        };
        assert_eq!(arguments.mode(), Mode::Propose);
    }

    #[test]
    fn filters_stand_behind_two_dashes() {
        let cli = Cli::try_parse_from(["cargo xtask", "test", "--", "one", "--skip", "two"]).unwrap();
        let Command::Test { filters, .. } = cli.command else {
            panic!("another command was parsed")
        };
        assert_eq!(filters, ["one", "--skip", "two"]);
    }
}
