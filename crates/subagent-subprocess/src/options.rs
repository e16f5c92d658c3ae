//! Checks of what a host decides about its children, for every provider alike. Owns the bounds and their wording; the
//! options themselves, their defaults and the package name in front of each message are the provider's.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// The longest time that an option may name, in milliseconds: the longest that the timers of every host can measure.
pub const MAX_OPTION_MS: u32 = 2_147_483_647;

/// An option that is out of its bounds. For the operator: it may name paths.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OptionError {
    /// A time is not within its bounds.
    #[error("{key} must be a positive finite number no greater than {MAX_OPTION_MS}")]
    Time {
        /// The option's key.
        key: &'static str,
    },
    /// A number of bytes is zero.
    #[error("{key} must be a positive number of bytes")]
    Bytes {
        /// The option's key.
        key: &'static str,
    },
    /// The command is empty.
    #[error("command must not be empty")]
    EmptyCommand,
    /// The working directory is empty.
    #[error("config cwd must not be empty: omit the key to use the parent session's directory")]
    EmptyCwd,
    /// The working directory cannot be used.
    #[error("config cwd {path:?} must be an existing directory that may be entered")]
    UnusableCwd {
        /// The directory, resolved.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// This executable is to be the supervisor, and cannot.
    #[error(
        "supervision by this executable needs supervisor::enter_if_started_as_one at the start of its main function"
    )]
    NoSupervisor,
    /// There are no supervisors on this platform.
    #[error("supervision is not available on this platform")]
    NoSupervision,
    /// The directory that relative paths start from is unknown.
    #[error("the directory that this process was launched in is unknown")]
    LaunchDir(#[source] io::Error),
    /// The name of an environment variable is empty or holds `=` or NUL.
    #[error("{key} must have names that are not empty and hold neither `=` nor NUL")]
    VariableName {
        /// The option's key.
        key: &'static str,
    },
    /// A variable is set twice.
    #[error("{name:?} must stand in env or in isolatedConfigDirs, not in both")]
    VariableTwice {
        /// The variable.
        name: std::ffi::OsString,
    },
}

impl OptionError {
    /// The key of the option at fault, as configuration files spell it.
    pub fn key(&self) -> &'static str {
        match self {
            Self::Time { key } | Self::Bytes { key } | Self::VariableName { key } => key,
            Self::EmptyCommand => "command",
            Self::EmptyCwd | Self::UnusableCwd { .. } | Self::LaunchDir(_) => "cwd",
            Self::VariableTwice { .. } => "isolatedConfigDirs",
            Self::NoSupervisor | Self::NoSupervision => "supervision",
        }
    }
}

/// Checks a window or deadline: more than nothing and at most [`MAX_OPTION_MS`].
///
/// # Errors
///
/// It is out of these bounds.
pub fn check_time(key: &'static str, time: Duration) -> Result<Duration, OptionError> {
    let longest = Duration::from_millis(u64::from(MAX_OPTION_MS));
    if time > Duration::ZERO && time <= longest {
        Ok(time)
    } else {
        Err(OptionError::Time { key })
    }
}

/// Checks a bound in bytes: at least one.
///
/// # Errors
///
/// It is zero.
pub fn check_bytes(key: &'static str, bytes: usize) -> Result<usize, OptionError> {
    if bytes > 0 {
        Ok(bytes)
    } else {
        Err(OptionError::Bytes { key })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_more_than_nothing_and_at_most_the_longest() {
        let longest = Duration::from_millis(2_147_483_647);
        for good in [Duration::from_nanos(1), Duration::from_micros(1500), longest] {
            assert_eq!(check_time("disposeGraceMs", good).unwrap(), good);
        }
        for bad in [Duration::ZERO, longest + Duration::from_nanos(1), Duration::MAX] {
            assert_eq!(
                check_time("disposeGraceMs", bad).unwrap_err().to_string(),
                "disposeGraceMs must be a positive finite number no greater than 2147483647"
            );
        }
    }

    #[test]
    fn a_bound_is_at_least_one_byte() {
        assert_eq!(check_bytes("maxFrameBytes", 1).unwrap(), 1);
        assert_eq!(
            check_bytes("maxFrameBytes", 0).unwrap_err().key(),
            "maxFrameBytes"
        );
    }
}
