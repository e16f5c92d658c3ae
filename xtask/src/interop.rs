//! `interop`: drives `subagent mcp` with a client that is not ours, the official Python SDK of the protocol. Owns finding a
//! Python that has it and building what is driven; what is checked stands in the script.

use std::env::consts::EXE_SUFFIX;
use std::ffi::OsString;

use anyhow::{Result, bail};

use crate::console::say;
use crate::tool::Tool;
use crate::workspace::Workspace;

/// Names the interpreter; `python3` otherwise.
const INTERPRETER: &str = "INTEROP_PYTHON";

const SCRIPT: &str = "crates/subagent-mcp/tests/interop.py";

/// Runs the script. Where the SDK is not installed, says how to install it; that is a failure only if it is `required`.
pub(crate) fn run(workspace: &Workspace, required: bool) -> Result<()> {
    let interpreter = std::env::var_os(INTERPRETER).unwrap_or_else(|| "python3".into());
    let python = || Tool::python(interpreter.clone(), &workspace.root);
    if !python().args(["-c", "import mcp"]).succeeds() {
        let missing = missing(&interpreter);
        if required {
            bail!("{missing}");
        }
        say(format_args!("skipped: {missing}"));
        return Ok(());
    }
    let built = workspace.target.join("debug");
    for (package, bin) in [
        ("subagent-cli", "subagent"),
        ("jsonrpc-fake-runtime", "jsonrpc-fake-runtime"),
    ] {
        Tool::cargo(&workspace.root)
            .args(["build", "--package", package, "--bin", bin])
            .run()?;
    }
    let program = |name: &str| built.join(format!("{name}{EXE_SUFFIX}"));
    python()
        .args([SCRIPT])
        .env("SUBAGENT", program("subagent"))
        .env("FAKE_AGENT", program("jsonrpc-fake-runtime"))
        .run()
}

fn missing(interpreter: &OsString) -> String {
    let interpreter = interpreter.to_string_lossy();
    format!(
        "{interpreter} has no package `mcp`, the official Python SDK of the Model Context Protocol; install it into an \
         environment of its own (`python3 -m venv DIR`, then `DIR/bin/pip install mcp`) and name its interpreter: \
         {INTERPRETER}=DIR/bin/python cargo xtask interop"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_told_with_the_way_to_get_it() {
        let told = missing(&"python3.14".into());
        assert!(told.starts_with("python3.14 has no package `mcp`"), "{told}");
        assert!(
            told.contains("pip install mcp") && told.contains(INTERPRETER),
            "{told}"
        );
    }
}
