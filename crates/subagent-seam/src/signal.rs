//! Names of POSIX signals for display. Owns the table of names; sending signals is not this crate's business.

use std::fmt;

/// The number of the signal that ended a process, shown as its POSIX name.
///
/// ```
/// use subagent_seam::Signal;
///
/// assert_eq!(Signal::new(9).to_string(), "SIGKILL");
/// assert_eq!(Signal::new(42).to_string(), "signal 42");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Signal(i32);

impl Signal {
    /// A signal by its number on this platform.
    pub const fn new(number: i32) -> Self {
        Self(number)
    }

    /// The number.
    pub const fn number(self) -> i32 {
        self.0
    }

    /// The POSIX name, where the number has one on this platform.
    pub fn name(self) -> Option<&'static str> {
        COMMON
            .iter()
            .chain(PLATFORM)
            .find(|(number, _)| *number == self.0)
            .map(|(_, name)| *name)
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "signal {}", self.0),
        }
    }
}

/// Numbers that every Unix shares.
const COMMON: &[(i32, &str)] = &[
    (1, "SIGHUP"),
    (2, "SIGINT"),
    (3, "SIGQUIT"),
    (4, "SIGILL"),
    (5, "SIGTRAP"),
    (6, "SIGABRT"),
    (8, "SIGFPE"),
    (9, "SIGKILL"),
    (11, "SIGSEGV"),
    (13, "SIGPIPE"),
    (14, "SIGALRM"),
    (15, "SIGTERM"),
    (21, "SIGTTIN"),
    (22, "SIGTTOU"),
    (24, "SIGXCPU"),
    (25, "SIGXFSZ"),
    (26, "SIGVTALRM"),
    (27, "SIGPROF"),
    (28, "SIGWINCH"),
];

/// Numbers that differ between Linux and the BSD family.
#[cfg(not(any(
    target_vendor = "apple",
    target_os = "freebsd",
    target_os = "netbsd",
    target_os = "openbsd"
)))]
const PLATFORM: &[(i32, &str)] = &[
    (7, "SIGBUS"),
    (10, "SIGUSR1"),
    (12, "SIGUSR2"),
    (16, "SIGSTKFLT"),
    (17, "SIGCHLD"),
    (18, "SIGCONT"),
    (19, "SIGSTOP"),
    (20, "SIGTSTP"),
    (23, "SIGURG"),
    (29, "SIGIO"),
    (30, "SIGPWR"),
    (31, "SIGSYS"),
];

/// Numbers that differ between Linux and the BSD family.
#[cfg(any(
    target_vendor = "apple",
    target_os = "freebsd",
    target_os = "netbsd",
    target_os = "openbsd"
))]
const PLATFORM: &[(i32, &str)] = &[
    (7, "SIGEMT"),
    (10, "SIGBUS"),
    (12, "SIGSYS"),
    (16, "SIGURG"),
    (17, "SIGSTOP"),
    (18, "SIGTSTP"),
    (19, "SIGCONT"),
    (20, "SIGCHLD"),
    (23, "SIGIO"),
    (29, "SIGINFO"),
    (30, "SIGUSR1"),
    (31, "SIGUSR2"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_stands_once() {
        let mut names: Vec<_> = COMMON.iter().chain(PLATFORM).map(|(_, name)| name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn a_number_without_a_name_is_shown_as_a_number() {
        assert_eq!(Signal::new(64).to_string(), "signal 64");
        assert_eq!(Signal::new(0).to_string(), "signal 0");
    }
}
