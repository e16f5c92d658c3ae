//! `ci`: the steps that must pass before a merge, in the order of how soon they tell something, each with its time.
//! What a step checks is the business of its module or tool.

use std::fmt;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::console::{count, say};
use crate::runner::{self, Choice, Profile, Runner};
use crate::snapshots::{self, Mode};
use crate::tidy;
use crate::tool::Tool;
use crate::workspace::Workspace;

/// A named check.
struct Step {
    name: &'static str,
    check: fn(&Workspace) -> Result<Outcome>,
}

/// How a check ended, if it did not fail.
enum Outcome {
    Passed,
    /// What it needs is not there; the reason is shown.
    Skipped(&'static str),
}

const STEPS: &[Step] = &[
    Step {
        name: "fmt",
        check: |workspace| {
            cargo(workspace, &["fmt", "--all", "--check"])?;
            // A workspace of its own, which the first one does not see.
            cargo(
                workspace,
                &["fmt", "--manifest-path", "fuzz/Cargo.toml", "--check"],
            )
        },
    },
    Step {
        name: "tidy",
        check: |workspace| tidy::run(workspace).map(|()| Outcome::Passed),
    },
    Step {
        name: "clippy",
        check: clippy,
    },
    Step {
        name: "examples",
        check: |workspace| passed(runner::examples(workspace)),
    },
    Step {
        name: "doc tests",
        check: |workspace| passed(runner::doc_tests(workspace, &[])),
    },
    Step {
        name: "tests",
        check: tests,
    },
    Step {
        name: "snapshots",
        check: |workspace| snapshots::run(workspace, Mode::Check).map(|()| Outcome::Passed),
    },
    Step {
        name: "docs",
        check: docs,
    },
    Step {
        name: "deny",
        check: deny,
    },
];

pub(crate) fn run(workspace: &Workspace, keep_going: bool) -> Result<()> {
    run_steps(workspace, STEPS, keep_going)
}

fn run_steps(workspace: &Workspace, steps: &[Step], keep_going: bool) -> Result<()> {
    let mut report = Report::default();
    for step in steps {
        say(format_args!("\n==> {}", step.name));
        let start = Instant::now();
        let verdict = match (step.check)(workspace) {
            Ok(Outcome::Passed) => Verdict::Passed,
            Ok(Outcome::Skipped(reason)) => Verdict::Skipped(reason),
            Err(error) => Verdict::Failed(format!("{error:#}")),
        };
        let line = Line {
            name: step.name,
            time: start.elapsed(),
            verdict,
        };
        say(&line);
        let stop = line.failed() && !keep_going;
        report.lines.push(line);
        if stop {
            break;
        }
    }
    say(&report);
    let failed: Vec<_> = report
        .lines
        .iter()
        .filter(|line| line.failed())
        .map(|line| line.name)
        .collect();
    if failed.is_empty() {
        return Ok(());
    }
    let not_run = steps.len() - report.lines.len();
    let rest = if not_run == 0 {
        String::new()
    } else {
        format!("; {} not run", count(not_run, "step"))
    };
    bail!("ci failed in: {}{rest}", failed.join(", "))
}

/// What happened, one line a step.
#[derive(Default)]
struct Report {
    lines: Vec<Line>,
}

struct Line {
    name: &'static str,
    time: Duration,
    verdict: Verdict,
}

enum Verdict {
    Passed,
    Skipped(&'static str),
    Failed(String),
}

impl Line {
    fn failed(&self) -> bool {
        matches!(self.verdict, Verdict::Failed(_))
    }
}

impl fmt::Display for Line {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{:<10} {:>7.1} s  ",
            self.name,
            self.time.as_secs_f64()
        )?;
        match &self.verdict {
            Verdict::Passed => write!(formatter, "passed"),
            Verdict::Skipped(reason) => write!(formatter, "SKIPPED: {reason}"),
            Verdict::Failed(error) => write!(formatter, "FAILED: {error}"),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "\n==> summary")?;
        for line in &self.lines {
            writeln!(formatter, "{line}")?;
        }
        let total: Duration = self.lines.iter().map(|line| line.time).sum();
        write!(formatter, "{:<10} {:>7.1} s", "total", total.as_secs_f64())
    }
}

fn passed(tool: Tool) -> Result<Outcome> {
    tool.run().map(|()| Outcome::Passed)
}

fn cargo(workspace: &Workspace, arguments: &[&str]) -> Result<Outcome> {
    passed(Tool::cargo(&workspace.root).args(arguments))
}

fn clippy(workspace: &Workspace) -> Result<Outcome> {
    cargo(
        workspace,
        &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"],
    )
}

fn tests(workspace: &Workspace) -> Result<Outcome> {
    passed(Runner::choose(workspace, Choice::Auto, Profile::Ci)?.tests(workspace, &[]))
}

fn docs(workspace: &Workspace) -> Result<Outcome> {
    let tool = Tool::cargo(&workspace.root).args(["doc", "--workspace", "--no-deps"]);
    passed(tool.env("RUSTDOCFLAGS", "-D warnings"))
}

fn deny(workspace: &Workspace) -> Result<Outcome> {
    if !Tool::cargo(&workspace.root)
        .args(["deny", "--version"])
        .succeeds()
    {
        return Ok(Outcome::Skipped(
            "cargo-deny is not installed, so licences and sources were NOT checked",
        ));
    }
    cargo(workspace, &["deny", "check", "bans", "licenses", "sources"])
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSES: Step = Step {
        name: "passes",
        check: |_| Ok(Outcome::Passed),
    };
    const SKIPS: Step = Step {
        name: "skips",
        check: |_| Ok(Outcome::Skipped("nothing to do it with")),
    };
    const FAILS: Step = Step {
        name: "fails",
        check: |_| bail!("no"),
    };

    fn outcome(steps: &[Step], keep_going: bool) -> Result<(), String> {
        run_steps(&Workspace::default(), steps, keep_going).map_err(|error| error.to_string())
    }

    #[test]
    fn the_first_failure_stops_it() {
        let error = outcome(&[PASSES, FAILS, PASSES, FAILS], false).unwrap_err();
        assert_eq!(error, "ci failed in: fails; 2 steps not run");
    }

    #[test]
    fn every_failure_is_reported_when_it_keeps_going() {
        let error = outcome(&[FAILS, PASSES, FAILS], true).unwrap_err();
        assert_eq!(error, "ci failed in: fails, fails");
    }

    #[test]
    fn a_skipped_step_is_no_failure_and_says_why() {
        outcome(&[PASSES, SKIPS], false).unwrap();
        let verdict = Verdict::Skipped("nothing to do it with");
        let line = Line {
            name: "skips",
            time: Duration::from_millis(1250),
            verdict,
        };
        assert_eq!(
            line.to_string(),
            "skips          1.2 s  SKIPPED: nothing to do it with"
        );
    }
}
