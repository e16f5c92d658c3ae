//! `bench`: runs the benchmark that measures a run against its hand-written floor, passes its output through, and
//! repeats the ratio at the end. It measures nothing itself.

use anyhow::{Result, bail};

use crate::console::say;
use crate::tool::Tool;
use crate::workspace::Workspace;

const PACKAGE: &str = "jsonrpc-fake-runtime";
const BENCH: &str = "floor";
/// How the line begins that the benchmark writes last.
const RATIO: &str = "ratio";

pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<()> {
    let exists = workspace
        .members
        .iter()
        .any(|member| member.name == PACKAGE && member.benches.iter().any(|bench| bench == BENCH));
    if !exists {
        bail!("package `{PACKAGE}` has no benchmark `{BENCH}`");
    }
    let tool = Tool::cargo(&workspace.root).args(["bench", "--package", PACKAGE, "--bench", BENCH]);
    let tool = if arguments.is_empty() {
        tool
    } else {
        tool.args(["--"]).args(arguments)
    };
    let mut ratio = None;
    tool.lines(|line| {
        say(line);
        if is_ratio(line) {
            ratio = Some(line.trim().to_owned());
        }
    })?;
    let Some(ratio) = ratio else {
        bail!("benchmark `{BENCH}` wrote no line that begins with `{RATIO}`");
    };
    say(format_args!("\n{ratio}"));
    Ok(())
}

fn is_ratio(line: &str) -> bool {
    line.trim_start()
        .strip_prefix(RATIO)
        .is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_line_begins_with_the_word() {
        assert!(is_ratio("ratio: 1.12"));
        assert!(is_ratio("  ratio 1.12 (run 3.4 ms, floor 3.0 ms)"));
        assert!(!is_ratio("rational: no"), "another word");
        assert!(!is_ratio("the ratio follows"), "not at the beginning");
    }

    #[test]
    fn a_missing_benchmark_is_named() {
        let error = run(&Workspace::default(), &[]).unwrap_err().to_string();
        assert_eq!(error, "package `jsonrpc-fake-runtime` has no benchmark `floor`");
    }
}
