//! The leader of a process group on Unix. Owns the order that makes signals to the group safe: as long as the leader is
//! not reaped, its number, and so its group's, cannot be given to anybody else.

use std::io;
use std::process::Command;

use rustix::io::Errno;
use rustix::process::{Signal, getpgid, kill_process, kill_process_group};

use super::group::Remnant;
use super::process::{Process, reap_later};
use super::{Blow, Pipes};
use crate::{Error, ExitFacts};

/// A spawned process that leads its own group. Dropping it kills the group and reaps the process.
#[derive(Debug)]
pub(crate) struct Leader {
    process: Process,
    /// What is left of the group once the process has been reaped.
    rest: Remnant,
}

impl Leader {
    /// Spawns `command`, which must put the child into a group of its own and pipe its three standard streams.
    pub(crate) fn spawn(mut command: Command) -> io::Result<(Self, Pipes)> {
        let mut child = command.spawn()?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let process = Process::new(child);
        let leader = Self {
            rest: Remnant::new(process.pid()),
            process,
        };
        match pipes {
            (Some(stdin), Some(stdout), Some(stderr)) => Ok((leader, (stdin, stdout, stderr))),
            _ => Err(io::Error::other("a standard stream of the child is not a pipe")),
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.pid().as_raw_pid().unsigned_abs()
    }

    /// How the process ended, if it has.
    pub(crate) fn exit_facts(&self) -> Option<ExitFacts> {
        self.process.exit_facts()
    }

    /// Waits for the process to end. Any number of callers may wait at once. Cancel-safe. Unbounded.
    pub(crate) async fn exited(&self) -> ExitFacts {
        self.process.exited().await
    }

    /// Signals the whole group, or what is left of it once the leader has been reaped.
    pub(crate) fn strike(&self, blow: Blow) -> Result<(), Error> {
        let sent = match &*self.process.unreaped() {
            Some(_) => self.strike_unreaped(blow.signal()),
            None => self.rest.signal(blow.signal()),
        };
        sent.map_err(|source| Error::Signal {
            signal: blow.signal_name(),
            group: self.pid(),
            source,
        })
    }

    /// Reaps the process, which must have ended; whatever else is in its group is asked to end first, while the number
    /// of the group is still certain.
    pub(crate) fn reap(&self) -> Result<(), Error> {
        let asked = self.strike(Blow::Terminate);
        self.process.reap();
        asked
    }

    /// Whether anything of the group is left. Only after [`reap`](Self::reap): before, the leader itself is.
    pub(crate) fn rest_is_left(&self) -> bool {
        self.rest.is_left()
    }

    /// Waits until nothing of the group is left. Cancel-safe. Unbounded.
    pub(crate) async fn rest_gone(&self) {
        self.rest.gone().await;
    }

    /// The same without a descriptor for its exit, as where a sandbox forbids one.
    #[cfg(test)]
    pub(crate) fn watching_children(mut self) -> Self {
        self.process.watch_children();
        self
    }

    fn strike_unreaped(&self, signal: Signal) -> io::Result<()> {
        let pid = self.process.pid();
        // A leader that has moved to another group is not reached through its own.
        if getpgid(Some(pid)).is_ok_and(|group| group != pid) {
            settled(kill_process(pid, signal))?;
        }
        settled(kill_process_group(pid, signal))
    }
}

/// A signal that has been sent, or to nobody who could still hear it.
fn settled(sent: rustix::io::Result<()>) -> io::Result<()> {
    match sent {
        Ok(()) | Err(Errno::SRCH) => Ok(()),
        // Apple's kernel refuses to signal a group that holds nothing but zombies.
        Err(Errno::PERM) if cfg!(target_vendor = "apple") => Ok(()),
        Err(error) => Err(error.into()),
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        let ended = self.exit_facts().is_some();
        let Some(mut child) = self.process.unreaped().take() else {
            // In the middle of a walk that had come to the rest. A failed signal can be told to nobody any more.
            let _ = self.rest.signal(Signal::KILL);
            return;
        };
        let _ = self.strike_unreaped(Signal::KILL);
        // A killed process ends at once as a rule, yet one that hangs in the kernel must not hang the host.
        if ended || matches!(child.try_wait(), Ok(Some(_)) | Err(_)) {
            let _ = child.wait();
        } else {
            reap_later(child);
        }
    }
}
