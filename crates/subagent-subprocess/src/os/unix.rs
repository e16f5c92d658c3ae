//! The leader of a process group on Unix. Owns its exit, which is seen without reaping it, and the order that makes
//! signals safe: as long as the leader is not reaped, its number, and so its group's, cannot be given to anybody else.

use std::io;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::signal::unix::SignalKind;

use super::group::Remnant;
use super::{Blow, Pipes};
use crate::{Error, ExitFacts};

/// A spawned process that leads its own group. Dropping it kills the group and reaps the process.
#[derive(Debug)]
pub(crate) struct Leader {
    pid: Pid,
    exit: ExitWatch,
    /// Absent once reaped.
    process: Mutex<Option<Child>>,
    facts: OnceLock<ExitFacts>,
}

impl Leader {
    /// Spawns `command`, which must put the child into a group of its own and pipe its three standard streams.
    pub(crate) fn spawn(mut command: Command) -> io::Result<(Self, Pipes)> {
        let mut child = command.spawn()?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let pid = Pid::from_child(&child);
        let exit = ExitWatch::new(pid);
        let leader = Self {
            pid,
            exit,
            process: Mutex::new(Some(child)),
            facts: OnceLock::new(),
        };
        match pipes {
            (Some(stdin), Some(stdout), Some(stderr)) => Ok((leader, (stdin, stdout, stderr))),
            _ => Err(io::Error::other("a standard stream of the child is not a pipe")),
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid.as_raw_pid().unsigned_abs()
    }

    /// How the process ended, if it has.
    pub(crate) fn exit_facts(&self) -> Option<ExitFacts> {
        let process = self.process();
        if let Some(facts) = self.facts.get() {
            return Some(*facts);
        }
        // Only a process that is not reaped can be asked about; the lock keeps it so.
        process.as_ref()?;
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let facts = match waitid(WaitId::Pid(self.pid), look) {
            Ok(Some(status)) => ExitFacts {
                code: status.exit_status(),
                signal: status.terminating_signal(),
            },
            // Somebody else in this process has reaped it.
            Err(Errno::CHILD) => ExitFacts::default(),
            Ok(None) | Err(_) => return None,
        };
        Some(*self.facts.get_or_init(|| facts))
    }

    /// Waits for the process to end. Any number of callers may wait at once. Cancel-safe. Unbounded.
    pub(crate) async fn exited(&self) -> ExitFacts {
        if let Some(facts) = self.facts.get() {
            return *facts;
        }
        self.exit.until(|| self.exit_facts()).await
    }

    /// Signals the whole group, or what is left of it once the leader has been reaped.
    pub(crate) fn strike(&self, blow: Blow) -> Result<(), Error> {
        let signal = match blow {
            Blow::Terminate => Signal::TERM,
            Blow::Kill => Signal::KILL,
        };
        let sent = match &*self.process() {
            Some(_) => self.strike_unreaped(signal),
            None => Remnant(self.pid).signal(signal),
        };
        let name = if signal == Signal::TERM {
            "SIGTERM"
        } else {
            "SIGKILL"
        };
        sent.map_err(|source| Error::Signal {
            signal: name,
            group: self.pid(),
            source,
        })
    }

    /// Reaps the process, which must have ended; whatever else is in its group is asked to end first, while the number
    /// of the group is still certain.
    pub(crate) fn reap(&self) -> Result<(), Error> {
        let asked = self.strike(Blow::Terminate);
        let mut process = self.process();
        if let Some(child) = &mut *process {
            // An error means that somebody else in this process has reaped it.
            let _ = child.wait();
            *process = None;
        }
        asked
    }

    /// Whether anything of the group is left. Only after [`reap`](Self::reap): before, the leader itself is.
    pub(crate) fn rest_is_left(&self) -> bool {
        Remnant(self.pid).is_left()
    }

    /// Waits until nothing of the group is left. Cancel-safe. Unbounded.
    pub(crate) async fn rest_gone(&self) {
        Remnant(self.pid).gone().await;
    }

    /// The same without a descriptor for its exit, as where a sandbox forbids one.
    #[cfg(test)]
    pub(crate) fn watching_children(mut self) -> Self {
        self.exit = ExitWatch::Children;
        self
    }

    fn strike_unreaped(&self, signal: Signal) -> io::Result<()> {
        match kill_process_group(self.pid, signal) {
            Ok(()) | Err(Errno::SRCH) => Ok(()),
            // Apple's kernel refuses to signal a group that holds nothing but zombies.
            Err(Errno::PERM) if cfg!(target_vendor = "apple") => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn process(&self) -> MutexGuard<'_, Option<Child>> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        let ended = self.exit_facts().is_some();
        let Some(mut child) = self.process().take() else {
            return;
        };
        let _ = self.strike_unreaped(Signal::KILL);
        // A killed process ends at once as a rule, yet one that hangs in the kernel must not hang the host.
        if ended || matches!(child.try_wait(), Ok(Some(_)) | Err(_)) {
            let _ = child.wait();
        } else {
            let reaper = std::thread::Builder::new().name("subagent-reaper".to_owned());
            if let Err(error) = reaper.spawn(move || child.wait()) {
                tracing::warn!(%error, "a killed child stays a zombie until this process ends");
            }
        }
    }
}

/// How the end of a process announces itself.
#[derive(Debug)]
enum ExitWatch {
    /// A descriptor that becomes readable when the process ends.
    #[cfg(target_os = "linux")]
    Descriptor(tokio::io::unix::AsyncFd<std::os::fd::OwnedFd>),
    /// `SIGCHLD`, which says that some child has changed: everywhere but on Linux, and there where a sandbox forbids the
    /// other way.
    Children,
}

impl ExitWatch {
    #[cfg(target_os = "linux")]
    #[expect(
        deprecated,
        reason = "deprecated for types that may lie about their descriptor, which OwnedFd cannot; its successor is unsafe"
    )]
    fn new(pid: Pid) -> Self {
        use rustix::process::{PidfdFlags, pidfd_open};
        use tokio::io::{Interest, unix::AsyncFd};
        match pidfd_open(pid, PidfdFlags::NONBLOCK).map_err(io::Error::from) {
            Ok(descriptor) => match AsyncFd::with_interest(descriptor, Interest::READABLE) {
                Ok(descriptor) => Self::Descriptor(descriptor),
                Err(_) => Self::Children,
            },
            Err(_) => Self::Children,
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn new(_pid: Pid) -> Self {
        Self::Children
    }

    async fn until(&self, ended: impl Fn() -> Option<ExitFacts>) -> ExitFacts {
        match self {
            #[cfg(target_os = "linux")]
            Self::Descriptor(descriptor) => loop {
                // Asking the kernel only once the descriptor speaks keeps a wait that is begun for every frame cheap.
                if let Ok(mut readable) = descriptor.readable().await {
                    if let Some(facts) = ended() {
                        return facts;
                    }
                    readable.clear_ready();
                }
            },
            Self::Children => {
                // Listened for before the first look, so that no end can fall between the two.
                let mut children = tokio::signal::unix::signal(SignalKind::child()).ok();
                loop {
                    if let Some(facts) = ended() {
                        return facts;
                    }
                    match &mut children {
                        Some(children) => drop(children.recv().await),
                        // Not even that is open to us: look again and again.
                        None => tokio::time::sleep(Duration::from_millis(5)).await,
                    }
                }
            }
        }
    }
}
