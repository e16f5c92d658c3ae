//! A spawned process of ours on Unix. Owns its exit, which is seen without reaping it, and the moment at which it is
//! reaped: as long as it is not, its number cannot be given to anybody else.

#[cfg(target_os = "linux")]
use std::io;
use std::process::Child;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use tokio::signal::unix::SignalKind;

use crate::ExitFacts;

/// A spawned process.
#[derive(Debug)]
pub(crate) struct Process {
    pid: Pid,
    exit: ExitWatch,
    /// Absent once reaped.
    child: Mutex<Option<Child>>,
    facts: OnceLock<ExitFacts>,
}

impl Process {
    /// Watches over `child`. Must be called within a Tokio runtime.
    pub(crate) fn new(child: Child) -> Self {
        let pid = Pid::from_child(&child);
        Self {
            pid,
            exit: ExitWatch::new(pid),
            child: Mutex::new(Some(child)),
            facts: OnceLock::new(),
        }
    }

    pub(crate) fn pid(&self) -> Pid {
        self.pid
    }

    /// How the process ended, if it has.
    pub(crate) fn exit_facts(&self) -> Option<ExitFacts> {
        let child = self.unreaped();
        if let Some(facts) = self.facts.get() {
            return Some(*facts);
        }
        // Only a process that is not reaped can be asked about; the lock keeps it so.
        child.as_ref()?;
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

    /// The process as long as it is not reaped, and a guard that keeps it so.
    pub(crate) fn unreaped(&self) -> MutexGuard<'_, Option<Child>> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reaps the process, which must have ended.
    pub(crate) fn reap(&self) {
        let mut child = self.unreaped();
        if let Some(process) = &mut *child {
            // An error means that somebody else in this process has reaped it.
            let _ = process.wait();
            *child = None;
        }
    }

    /// The same without a descriptor for its exit, as where a sandbox forbids one.
    #[cfg(test)]
    pub(crate) fn watch_children(&mut self) {
        self.exit = ExitWatch::Children;
    }
}

/// Reaps a process that has been told to end and may take its time: not on this thread.
pub(crate) fn reap_later(mut child: Child) {
    let reaper = std::thread::Builder::new().name("subagent-reaper".to_owned());
    if let Err(error) = reaper.spawn(move || child.wait()) {
        tracing::warn!(%error, "a process that was told to end stays a zombie until this process ends");
    }
}

/// Waits of the async runtime for a descriptor to become readable.
#[cfg(target_os = "linux")]
#[expect(
    deprecated,
    reason = "deprecated for types that may lie about their descriptor, which OwnedFd cannot; its successor is unsafe"
)]
pub(crate) fn watch_readable(
    descriptor: std::os::fd::OwnedFd,
) -> io::Result<tokio::io::unix::AsyncFd<std::os::fd::OwnedFd>> {
    use tokio::io::{Interest, unix::AsyncFd};
    AsyncFd::with_interest(descriptor, Interest::READABLE)
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
    fn new(pid: Pid) -> Self {
        use rustix::process::{PidfdFlags, pidfd_open};
        match pidfd_open(pid, PidfdFlags::NONBLOCK)
            .map_err(io::Error::from)
            .and_then(watch_readable)
        {
            Ok(descriptor) => Self::Descriptor(descriptor),
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
