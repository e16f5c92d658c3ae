//! The only place that writes to the terminal. It knows nothing of what is written.

use std::fmt::Display;
use std::io::{self, Write};

/// Writes a line of the report to stdout. A reader that has gone away is not an error of the command.
pub(crate) fn say(line: impl Display) {
    drop(writeln!(io::stdout().lock(), "{line}"));
}

/// Writes a line to stderr: what failed.
pub(crate) fn complain(line: impl Display) {
    drop(writeln!(io::stderr().lock(), "{line}"));
}

/// `1 file`, `2 files`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    if number == 1 {
        format!("1 {noun}")
    } else {
        format!("{number} {noun}s")
    }
}
