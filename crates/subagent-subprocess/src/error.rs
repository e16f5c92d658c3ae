//! The errors of this crate. They are for hosts and operators: they name paths, and no parent model may read them.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::ExitFacts;

/// What can go wrong around a child process, its conversation (see [`RpcError`](crate::rpc::RpcError)) apart.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The command is empty.
    #[error("command must not be empty")]
    EmptyCommand,
    /// A bare command stands in no directory of the child's `PATH`.
    #[error("command {command:?} is not an executable file in any directory of the child's PATH")]
    CommandNotFound {
        /// The command.
        command: OsString,
    },
    /// The process could not be spawned.
    #[error("cannot start {program:?}")]
    Spawn {
        /// What was to be executed.
        program: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The supervisor could not be started, or did not do its work.
    #[error("cannot start the supervisor {program:?}")]
    Supervisor {
        /// What was to be executed.
        program: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The supervisor did not live to see the end of everything that it watched over.
    #[error("the child's supervisor was ended ({exit}): processes that left the child's group may be left")]
    SupervisorLost {
        /// How it ended.
        exit: ExitFacts,
    },
    /// A working directory is empty.
    #[error("cwd must not be empty: omit it to use the session's directory")]
    EmptyCwd,
    /// There is no working directory at all.
    #[error("no working directory: neither the provider nor the parent session has one")]
    NoCwd,
    /// A session's working directory is relative.
    #[error("working directory {path:?} must be absolute")]
    RelativeCwd {
        /// The directory.
        path: PathBuf,
    },
    /// A working directory is missing, not a directory, or may not be entered.
    #[error("working directory {path:?} must be an existing directory that may be entered")]
    UnusableCwd {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A working directory cannot be written into a frame of the child's protocol.
    #[error("working directory {path:?} is not UTF-8 and cannot be told to the child")]
    CwdNotUtf8 {
        /// The directory.
        path: PathBuf,
    },
    /// A private configuration directory could not be made.
    #[error("cannot create a private configuration directory")]
    ConfigDir(#[source] io::Error),
    /// A signal could not be sent to the child's process group.
    #[error("cannot send {signal} to process group {group}")]
    Signal {
        /// The signal's name.
        signal: &'static str,
        /// The group's number.
        group: u32,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The child did not end although it was killed.
    #[error("the child's exit was not seen within {} ms after it was killed", within.as_millis())]
    ExitNotSeen {
        /// How long the exit was awaited.
        within: Duration,
    },
    /// Something of the child's process group is left although it was killed.
    #[error("processes of the child's group were still there {} ms after they were killed", within.as_millis())]
    GroupNotGone {
        /// How long their end was awaited.
        within: Duration,
    },
}

/// A teardown that cannot prove that the child's process tree is gone.
#[derive(Debug, thiserror::Error)]
#[error("teardown failed")]
pub struct TeardownError {
    /// How the child itself ended, if its exit was seen.
    pub exit: Option<ExitFacts>,
    /// What failed.
    #[source]
    pub source: Error,
}
