//! The way to the two output streams. Owns the escaping of control characters, which a child may have chosen, and the
//! peace between log lines and the status line on one terminal.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::{Mutex, MutexGuard, PoisonError};

use terminal_size::terminal_size_of;

use crate::status_line::StatusLine;

/// Standard output and standard error of the process.
#[derive(Debug)]
pub(crate) struct Terminal {
    stdout_is_seen: bool,
    stderr_is_seen: bool,
    status: Mutex<StatusLine>,
}

impl Terminal {
    /// The streams of this process.
    pub(crate) fn of_process() -> Self {
        Self {
            stdout_is_seen: io::stdout().is_terminal(),
            stderr_is_seen: io::stderr().is_terminal(),
            status: Mutex::default(),
        }
    }

    /// Whether a person may be looking at standard error.
    pub(crate) fn stderr_is_terminal(&self) -> bool {
        self.stderr_is_seen
    }

    /// Shows a text in the last line of standard error, in the place of what it showed before. To be used only where that
    /// is a terminal.
    pub(crate) fn show(&self, text: &str) {
        let columns = terminal_size_of(io::stderr()).map(|(width, _)| usize::from(width.0));
        let mut status = self.status();
        // A terminal that cannot be written has no better place to say so.
        drop(io::stderr().write_all(status.draw(text, columns).as_bytes()));
    }

    /// Takes that text off the terminal.
    pub(crate) fn show_nothing(&self) {
        let mut status = self.status();
        drop(io::stderr().write_all(status.clear().as_bytes()));
    }

    /// Writes a text to standard output, with a newline at its end. On a terminal its control characters are escaped;
    /// into a file or a pipe it goes as it is.
    ///
    /// A reader that has gone away is not an error: nobody is left to tell.
    pub(crate) fn print(&self, text: &str) -> io::Result<()> {
        match self.write(text) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            done => done,
        }
    }

    /// The same, but a reader that has gone away is an error: for a command that would only go on for it.
    pub(crate) fn write(&self, text: &str) -> io::Result<()> {
        let mut text = if self.stdout_is_seen {
            printable(text)
        } else {
            Cow::Borrowed(text)
        };
        if !text.ends_with('\n') {
            text.to_mut().push('\n');
        }
        let mut stdout = io::stdout().lock();
        stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush())
    }

    /// Writes a text to standard error, as [`print`](Self::print) does. One that cannot be written is dropped: there is
    /// no further place to say it.
    pub(crate) fn tell(&self, text: &str) {
        let mut text = if self.stderr_is_seen {
            printable(text)
        } else {
            Cow::Borrowed(text)
        };
        if !text.ends_with('\n') {
            text.to_mut().push('\n');
        }
        self.write_stderr(text.as_bytes());
    }

    /// Writes one line of log to standard error, its control characters escaped wherever it goes.
    pub(crate) fn log(&self, line: &str) {
        let line = escaped(line.strip_suffix('\n').unwrap_or(line)).into_owned() + "\n";
        self.write_stderr(line.as_bytes());
    }

    fn write_stderr(&self, bytes: &[u8]) {
        let status = self.status();
        drop(io::stderr().write_all(&status.with_above(bytes)));
    }

    fn status(&self) -> MutexGuard<'_, StatusLine> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The text with every control character but newline and tab escaped.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    escape(text, |c| c.is_control() && c != '\n' && c != '\t')
}

/// The text with every control character escaped: one line, whatever it was. Inside a JSON text, where only strings
/// can hold such characters, the result is the same JSON.
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    escape(text, char::is_control)
}

fn escape(text: &str, must: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&must) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            _ if !must(c) => out.push(c),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // Writing to a string does not fail.
            _ => drop(write!(out, "\\u{:04x}", u32::from(c))),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "a\u{1b}]0;title\u{7}\r\n\tb\u{9b}2J\u{7f}\u{0}é";

    #[test]
    fn a_printable_text_keeps_its_lines_and_loses_its_power() {
        assert_eq!(
            printable(HOSTILE),
            "a\\u001b]0;title\\u0007\\r\n\tb\\u009b2J\\u007f\\u0000é"
        );
        assert!(matches!(printable("plain\n\ttext é"), Cow::Borrowed(_)));
    }

    #[test]
    fn an_escaped_text_is_one_line() {
        assert_eq!(escaped("one\ntwo\r\n"), "one\\ntwo\\r\\n");
    }

    #[test]
    fn escaping_a_json_text_does_not_change_what_it_says() {
        let json = serde_json::to_string(HOSTILE).unwrap();
        let escaped = escaped(&json);
        assert!(!escaped.contains(char::is_control), "{escaped:?}");
        assert_eq!(serde_json::from_str::<String>(&escaped).unwrap(), HOSTILE);
    }
}
