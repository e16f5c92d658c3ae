//! A soak: random agents, random ends, many at once, for as long as one likes; and then a look at what is left. Owns the
//! order of it all. What is drawn stands in `plan`, how one run is driven and judged in `run`, hosts that are killed in
//! `host`, what is counted in `tally`.
//!
//! `cargo xtask soak --minutes N [--at-once N] [--seed N]`

#[cfg(target_os = "linux")]
mod host;
#[cfg(target_os = "linux")]
mod judge;
#[cfg(target_os = "linux")]
mod leftovers;
#[cfg(target_os = "linux")]
mod plan;
#[cfg(target_os = "linux")]
mod run;
#[cfg(target_os = "linux")]
mod soak;
#[cfg(target_os = "linux")]
mod tally;

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    // This executable is also the supervisor of its agents.
    subagent_acp::supervisor::enter_if_started_as_one();
    soak::main()
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::print_stderr, reason = "a bench reports by printing")]
fn main() -> ExitCode {
    eprintln!("the soak reads the process table of Linux and runs nowhere else");
    ExitCode::FAILURE
}
