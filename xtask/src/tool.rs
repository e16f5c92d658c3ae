//! Another program that a developer command runs: cargo, git, python. The only place of this crate that starts a process.
//! It decides nothing about which program is needed when.

use std::ffi::OsString;
use std::fmt;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, Result, anyhow};

/// A program and its arguments, not yet started.
pub(crate) struct Tool {
    command: Command,
    shown: String,
}

/// A program that ran and did not succeed.
#[derive(Debug)]
pub(crate) struct Failed {
    /// The command line, as a person would type it.
    pub(crate) command: String,
    /// How it ended.
    pub(crate) status: ExitStatus,
}

impl Tool {
    /// The cargo that runs this command, in the root of the workspace.
    pub(crate) fn cargo(root: &Path) -> Self {
        let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        Self::new(program, "cargo", root)
    }

    /// git, in the root of the workspace.
    pub(crate) fn git(root: &Path) -> Self {
        Self::new("git".into(), "git", root)
    }

    /// A Python interpreter, in the root of the workspace.
    pub(crate) fn python(interpreter: OsString, root: &Path) -> Self {
        let shown = interpreter.to_string_lossy().into_owned();
        Self::new(interpreter, &shown, root)
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "developer commands run cargo, git and python; the product's one spawn function is for agents"
    )]
    fn new(program: OsString, shown: &str, directory: &Path) -> Self {
        let mut command = Command::new(program);
        command.current_dir(directory);
        Self {
            command,
            shown: shown.to_owned(),
        }
    }

    pub(crate) fn args<S: AsRef<str>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        for argument in arguments {
            self.command.arg(argument.as_ref());
            self.shown.push(' ');
            self.shown.push_str(argument.as_ref());
        }
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn env_remove(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    /// Runs it with the terminal of this process. An exit code other than 0 is [`Failed`].
    pub(crate) fn run(self) -> Result<()> {
        let command = self.shown.clone();
        let status = self.status()?;
        if status.success() {
            Ok(())
        } else {
            Err(Failed { command, status }.into())
        }
    }

    /// Runs it with the terminal of this process, and reports how it ended.
    pub(crate) fn status(mut self) -> Result<ExitStatus> {
        self.command
            .status()
            .with_context(|| format!("cannot start `{}`", self.shown))
    }

    /// Runs it and returns its stdout. A failure holds what it wrote to stderr.
    pub(crate) fn capture(mut self) -> Result<String> {
        let output = self
            .command
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("cannot start `{}`", self.shown))?;
        if output.status.success() {
            return String::from_utf8(output.stdout)
                .with_context(|| format!("`{}` did not write UTF-8", self.shown));
        }
        let failed = Failed {
            command: self.shown,
            status: output.status,
        };
        Err(anyhow!(
            "{failed}: {}",
            String::from_utf8_lossy(&output.stderr).trim_end()
        ))
    }

    /// Runs it and hands over each line of its stdout as it comes.
    pub(crate) fn lines(mut self, mut each: impl FnMut(&str)) -> Result<()> {
        let cannot_start = || format!("cannot start `{}`", self.shown);
        let mut child = self
            .command
            .stdout(Stdio::piped())
            .spawn()
            .with_context(cannot_start)?;
        let stdout = child
            .stdout
            .take()
            .ok_or_else(|| anyhow!("`{}` has no stdout", self.shown))?;
        for line in BufReader::new(stdout).lines() {
            each(&line.with_context(|| format!("cannot read the output of `{}`", self.shown))?);
        }
        let status = child
            .wait()
            .with_context(|| format!("cannot wait for `{}`", self.shown))?;
        if status.success() {
            Ok(())
        } else {
            Err(Failed {
                command: self.shown,
                status,
            }
            .into())
        }
    }

    /// Whether it can be started and succeeds; nothing is shown. For asking whether a program is installed.
    pub(crate) fn succeeds(mut self) -> bool {
        let quiet = self
            .command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        quiet.status().is_ok_and(|status| status.success())
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}` failed ({})", self.command, self.status)
    }
}

impl std::error::Error for Failed {}

#[cfg(test)]
mod tests {
    use super::*;

    fn here() -> &'static Path {
        Path::new(env!("CARGO_MANIFEST_DIR"))
    }

    #[test]
    fn a_failure_names_the_command_and_what_it_said() {
        let error = Tool::cargo(here())
            .args(["no-such-command-of-cargo"])
            .capture()
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("`cargo no-such-command-of-cargo` failed ("),
            "{error}"
        );
        assert!(error.contains("no such command"), "{error}");
    }

    #[test]
    fn each_line_is_handed_over_in_order() {
        let mut seen = Vec::new();
        Tool::cargo(here())
            .args(["--version", "--verbose"])
            .lines(|line| seen.push(line.to_owned()))
            .unwrap();
        assert!(seen[0].starts_with("cargo "), "{seen:?}");
        assert!(seen.len() > 1, "{seen:?}");
    }

    #[test]
    fn a_program_that_is_missing_does_not_succeed() {
        assert!(Tool::cargo(here()).args(["--version"]).succeeds());
        assert!(!Tool::new("no-such-program-anywhere".into(), "it", here()).succeeds());
    }
}
