//! Supervision: a small process between host and agent that proves the agent's whole tree gone. Owns what a host decides
//! about it and the door through which an executable becomes it; the two sides stand in `supervised` (the host's) and
//! `process` (the supervisor's).
//!
//! The supervisor is the child subreaper of one agent: whatever loses its parent anywhere below the agent becomes the
//! supervisor's child, whichever group or session it has fled to. So it has no child left exactly when nothing of the tree
//! is left, and only then it ends.

#[cfg(target_os = "linux")]
mod channel;
#[cfg(target_os = "linux")]
mod custody;
#[cfg(target_os = "linux")]
mod order;
#[cfg(target_os = "linux")]
mod process;
#[cfg(target_os = "linux")]
mod report;
#[cfg(target_os = "linux")]
mod starting;
#[cfg(target_os = "linux")]
mod supervised;
#[cfg(target_os = "linux")]
mod tree;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(target_os = "linux")]
pub(crate) use order::Order;
#[cfg(target_os = "linux")]
pub(crate) use supervised::Supervised;

use crate::{Ladder, OptionError};

/// Who ends an agent's tree, and so what the end of a teardown proves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Supervision {
    /// The host, through the agent's process group. A descendant that leaves the group is out of reach.
    #[default]
    ProcessGroup,
    /// A supervisor, which is this executable once more: its `main` must begin with [`enter_if_started_as_one`]. Linux only.
    OwnExecutable,
    /// A supervisor, which is this executable: its `main` must begin with [`enter_if_started_as_one`], of the same version
    /// of this crate. Linux only.
    Program(PathBuf),
}

impl Supervision {
    /// The most that this executable can do: itself as the supervisor where the platform has such a thing and its `main`
    /// began with [`enter_if_started_as_one`]; else the process group.
    pub fn of_this_executable() -> Self {
        if cfg!(target_os = "linux") && DOOR_PASSED.load(Ordering::Relaxed) {
            Self::OwnExecutable
        } else {
            Self::ProcessGroup
        }
    }
}

/// Whether this process has passed the door, so that another one of the same executable will find it.
static DOOR_PASSED: AtomicBool = AtomicBool::new(false);

/// The one argument of a supervisor, with the version of what is spoken over its standard input.
#[cfg(target_os = "linux")]
const MARKER: &str = "--subagent-supervisor=1";

/// Becomes the supervisor of an agent, and never returns, if this process was started as one; else returns at once.
///
/// To be called first thing in `main`, before any thread is started. A process is a supervisor when it has one argument,
/// which no user would type, and its standard input is a socket of packets, which no shell makes.
///
/// ```no_run
/// subagent_subprocess::supervisor::enter_if_started_as_one();
/// // The rest of main as it was.
/// ```
pub fn enter_if_started_as_one() {
    #[cfg(target_os = "linux")]
    if is_started_as_one() {
        std::process::exit(process::run());
    }
    DOOR_PASSED.store(true, Ordering::Relaxed);
}

#[cfg(target_os = "linux")]
fn is_started_as_one() -> bool {
    use rustix::net::{SocketType, sockopt::socket_type};
    let mut args = std::env::args_os().skip(1);
    args.next().is_some_and(|arg| arg == MARKER)
        && args.next().is_none()
        && socket_type(std::io::stdin()) == Ok(SocketType::SEQPACKET)
}

/// How the supervisors of a plan's agents are started.
#[derive(Clone, Debug)]
pub(crate) struct Supervisor {
    #[cfg(target_os = "linux")]
    pub(crate) program: PathBuf,
    #[cfg(target_os = "linux")]
    pub(crate) windows: order::Windows,
}

impl Supervisor {
    /// `None` when there is to be none.
    #[cfg(target_os = "linux")]
    pub(crate) fn new(supervision: Supervision, ladder: &Ladder) -> Result<Option<Self>, OptionError> {
        let program = match supervision {
            Supervision::ProcessGroup => return Ok(None),
            // Another process of an executable without the door would be another host, and start another, for ever.
            Supervision::OwnExecutable if !DOOR_PASSED.load(Ordering::Relaxed) => {
                return Err(OptionError::NoSupervisor);
            }
            // Not its path: the file may have been replaced since.
            Supervision::OwnExecutable => "/proc/self/exe".into(),
            Supervision::Program(path) => std::env::current_dir()
                .map_err(OptionError::LaunchDir)?
                .join(path),
        };
        let windows = order::Windows {
            eof_grace: ladder.eof_grace,
            grace: ladder.grace,
        };
        Ok(Some(Self { program, windows }))
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn new(supervision: Supervision, _ladder: &Ladder) -> Result<Option<Self>, OptionError> {
        match supervision {
            Supervision::ProcessGroup => Ok(None),
            Supervision::OwnExecutable | Supervision::Program(_) => Err(OptionError::NoSupervision),
        }
    }
}
