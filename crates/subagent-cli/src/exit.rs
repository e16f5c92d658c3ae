//! How the command ends. Owns the exit codes; what leads to which is decided where it happens.

use std::process::ExitCode;

use crate::signals::StopSignal;

/// How the command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Everything that was asked for was done.
    Success,
    /// A child did something else than complete, or could not be started or ended.
    Failure,
    /// The command line or the configuration is wrong, and nothing was done.
    Usage,
    /// A signal arrived, whatever else happened.
    Stopped(StopSignal),
}

impl Exit {
    /// The number that the shell sees.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Failure => 1,
            Self::Usage => 2,
            Self::Stopped(StopSignal::Interrupt) => 130,
            Self::Stopped(StopSignal::Terminate) => 143,
        }
    }

    /// The same, unless a signal arrived: then the signal decides.
    pub(crate) fn unless_stopped(self, signal: Option<StopSignal>) -> Self {
        signal.map_or(self, Self::Stopped)
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_decides_whatever_else_happened() {
        for exit in [Exit::Success, Exit::Failure] {
            assert_eq!(exit.unless_stopped(None), exit);
            assert_eq!(exit.unless_stopped(Some(StopSignal::Interrupt)).code(), 130);
            assert_eq!(exit.unless_stopped(Some(StopSignal::Terminate)).code(), 143);
        }
        assert_eq!(
            [Exit::Success, Exit::Failure, Exit::Usage].map(Exit::code),
            [0, 1, 2]
        );
    }
}
