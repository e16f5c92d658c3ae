//! What is known about a process that has ended. Owns the facts alone; who observes them stands in `child`.

use std::fmt;

/// How a process ended. Both members are absent when the platform could not tell, for example because the host reaps
/// all of its children itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct ExitFacts {
    /// The exit status, if the process ended by itself.
    pub code: Option<i32>,
    /// The number of the signal that ended the process, if one did.
    pub signal: Option<i32>,
}

impl fmt::Display for ExitFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.code, self.signal) {
            (Some(code), _) => write!(f, "exit code {code}"),
            (None, Some(signal)) => write!(f, "signal {signal}"),
            (None, None) => f.write_str("exit of unknown kind"),
        }
    }
}

impl From<std::process::ExitStatus> for ExitFacts {
    fn from(status: std::process::ExitStatus) -> Self {
        #[cfg(unix)]
        let signal = std::os::unix::process::ExitStatusExt::signal(&status);
        #[cfg(not(unix))]
        let signal = None;
        Self {
            code: status.code(),
            signal,
        }
    }
}
