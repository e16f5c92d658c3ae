//! The `subagent` binary. Owns nothing: the command is the library's.

use std::process::ExitCode;

fn main() -> ExitCode {
    subagent_cli::main()
}
