//! What differs between platforms. Every platform offers one `Leader`: the spawned process itself, whose exit can be
//! awaited by many, and whose tree can be told to end.

#[cfg(unix)]
pub(crate) mod group;
#[cfg(any(not(unix), test))]
mod portable;
#[cfg(unix)]
pub(crate) mod process;
#[cfg(target_os = "linux")]
pub(crate) mod process_table;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub(crate) use portable::Leader;
#[cfg(unix)]
pub(crate) use unix::Leader;

/// The pipes of a fresh child: standard input, output and error.
pub(crate) type Pipes = (
    std::process::ChildStdin,
    std::process::ChildStdout,
    std::process::ChildStderr,
);

/// How a tree is told to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blow {
    /// Asks: `SIGTERM`. Only where the platform has such a thing.
    Terminate,
    /// Kills: `SIGKILL`, or `TerminateProcess`.
    Kill,
}

#[cfg(unix)]
impl Blow {
    pub(crate) fn signal(self) -> rustix::process::Signal {
        match self {
            Self::Terminate => rustix::process::Signal::TERM,
            Self::Kill => rustix::process::Signal::KILL,
        }
    }

    pub(crate) fn signal_name(self) -> &'static str {
        match self {
            Self::Terminate => "SIGTERM",
            Self::Kill => "SIGKILL",
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
