//! The `subagent` command as a program of this package, whose tests drive it: Cargo hands the binary of another package to
//! no test. Owns nothing.

fn main() -> std::process::ExitCode {
    subagent_cli::main()
}
