//! The test runner: which one is there, and how it is asked for doc tests, for all tests, or for the tests of some
//! packages. It does not interpret what the tests say.

use std::process::{ExitCode, ExitStatus};

use anyhow::{Result, bail};
use clap::ValueEnum;

use crate::console::say;
use crate::tool::Tool;
use crate::workspace::Workspace;

/// What the person asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Choice {
    /// cargo-nextest if it is installed, else `cargo test`.
    Auto,
    /// cargo-nextest; a failure if it is not installed.
    Nextest,
    /// `cargo test`.
    Cargo,
}

/// Which bounds of `.config/nextest.toml` apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profile {
    Default,
    Ci,
}

/// A test runner that is installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Runner {
    Nextest(Profile),
    Cargo,
}

impl Runner {
    pub(crate) fn choose(workspace: &Workspace, choice: Choice, profile: Profile) -> Result<Self> {
        let installed = || {
            Tool::cargo(&workspace.root)
                .args(["nextest", "--version"])
                .succeeds()
        };
        match choice {
            Choice::Auto | Choice::Nextest if installed() => Ok(Self::Nextest(profile)),
            Choice::Auto | Choice::Cargo => Ok(Self::Cargo),
            Choice::Nextest => {
                bail!("cargo-nextest is not installed; leave out `--runner`, or choose `cargo`")
            }
        }
    }

    /// Examples, doc tests, tests. The first part that fails ends it with its exit code, so that the summary on the
    /// screen is always that of what decided.
    pub(crate) fn run_everything(self, workspace: &Workspace, filters: &[String]) -> Result<ExitCode> {
        for tool in [
            examples(workspace),
            doc_tests(workspace, filters),
            self.tests(workspace, filters),
        ] {
            let status = tool.status()?;
            if !status.success() {
                return Ok(exit_code(status));
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    /// The unit and integration tests of the whole workspace.
    pub(crate) fn tests(self, workspace: &Workspace, filters: &[String]) -> Tool {
        let tool = Tool::cargo(&workspace.root)
            .args(self.arguments())
            .args(["--workspace"]);
        pass_on(tool, filters)
    }

    /// The unit and integration tests of some packages. A package without any test is not a failure.
    pub(crate) fn tests_of(self, workspace: &Workspace, packages: &[&str]) -> Tool {
        let tool = Tool::cargo(&workspace.root).args(self.arguments());
        if self == Self::Cargo {
            return packages
                .iter()
                .fold(tool, |tool, package| tool.args(["--package", package]));
        }
        // Chosen among what is built for the whole workspace: another choice of packages means other features of their
        // dependencies, and so another build of everything.
        let chosen: Vec<_> = packages
            .iter()
            .map(|package| format!("package(={package})"))
            .collect();
        tool.args([
            "--workspace",
            "--no-tests=pass",
            "--filterset",
            &chosen.join(" | "),
        ])
    }

    fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Nextest(Profile::Default) => &["nextest", "run", "--no-fail-fast"],
            Self::Nextest(Profile::Ci) => &["nextest", "run", "--no-fail-fast", "--profile", "ci"],
            // Not the doc tests and not the benchmarks: the targets that are tests by themselves.
            Self::Cargo => &["test", "--tests", "--no-fail-fast"],
        }
    }
}

/// The examples of the workspace. Integration tests start some of them, so a missing or a stale one would test
/// something else than the sources: they are built before any test.
pub(crate) fn examples(workspace: &Workspace) -> Tool {
    Tool::cargo(&workspace.root).args(["build", "--workspace", "--examples"])
}

/// The examples in the documentation; no runner but cargo's own knows them.
pub(crate) fn doc_tests(workspace: &Workspace, filters: &[String]) -> Tool {
    let tool = Tool::cargo(&workspace.root).args(["test", "--workspace", "--doc", "--no-fail-fast"]);
    pass_on(tool, filters)
}

fn pass_on(tool: Tool, filters: &[String]) -> Tool {
    if filters.is_empty() {
        tool
    } else {
        tool.args(["--"]).args(filters)
    }
}

fn exit_code(status: ExitStatus) -> ExitCode {
    if let Some(code) = status.code() {
        return u8::try_from(code).map_or(ExitCode::FAILURE, ExitCode::from);
    }
    say(format_args!("the test runner was ended: {status}"));
    ExitCode::FAILURE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bounds_of_ci_are_asked_for_by_name() {
        assert!(
            Runner::Nextest(Profile::Ci)
                .arguments()
                .ends_with(&["--profile", "ci"])
        );
        assert!(!Runner::Nextest(Profile::Default).arguments().contains(&"ci"));
    }

    #[test]
    #[cfg(unix)]
    fn the_code_of_the_runner_is_the_code_of_the_command() {
        use std::os::unix::process::ExitStatusExt;

        assert_eq!(exit_code(ExitStatus::from_raw(100 << 8)), ExitCode::from(100));
        assert_eq!(exit_code(ExitStatus::from_raw(0)), ExitCode::SUCCESS);
        assert_eq!(exit_code(ExitStatus::from_raw(9)), ExitCode::FAILURE);
    }
}
