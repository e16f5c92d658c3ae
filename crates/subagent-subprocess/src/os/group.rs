//! A POSIX process group whose leader has been reaped. Owns the question whether anything of it is left, and the proof
//! before each signal that its number still means the same group.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

/// How often a group without a leader is looked at. Its members are not our children: nothing tells us of their end.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// The rest of a group.
#[derive(Debug)]
pub(crate) struct Remnant {
    group: Pid,
    /// Whether it was found gone once: from then on its number may mean somebody else.
    gone: AtomicBool,
}

impl Remnant {
    pub(crate) fn new(group: Pid) -> Self {
        Self {
            group,
            gone: AtomicBool::new(false),
        }
    }

    /// Whether any living process is left. One system call when nothing is, which is the rule, and none ever after.
    pub(crate) fn is_left(&self) -> bool {
        if self.gone.load(Ordering::Relaxed) {
            return false;
        }
        let left = match test_kill_process_group(self.group) {
            Err(Errno::SRCH) => false,
            Ok(()) | Err(_) => has_living_member(self.group),
        };
        self.gone.store(!left, Ordering::Relaxed);
        left
    }

    /// Waits until nothing is left. Cancel-safe. Unbounded.
    pub(crate) async fn gone(&self) {
        while self.is_left() {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// Signals whatever is left, if anything is.
    pub(crate) fn signal(&self, signal: Signal) -> io::Result<()> {
        if !self.is_left() {
            return Ok(());
        }
        match kill_process_group(self.group, signal) {
            Ok(()) | Err(Errno::SRCH) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// Whether the group has a member that is not a zombie: in a container whose first process reaps nobody, zombies stay
/// in their group for ever.
///
/// A process whose number is the group's own proves that the number was given out anew, since the kernel does not do
/// that while the old group has a member: then nothing is left of ours.
#[cfg(target_os = "linux")]
fn has_living_member(group: Pid) -> bool {
    let Ok(processes) = super::process_table::entries() else {
        return true;
    };
    let mut living = false;
    for process in processes.filter(|process| process.group == group.as_raw_pid()) {
        if process.pid == process.group {
            return false;
        }
        living |= process.is_living;
    }
    living
}

#[cfg(not(target_os = "linux"))]
fn has_living_member(_group: Pid) -> bool {
    true
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    #[test]
    fn a_group_whose_leader_lives_is_not_a_remnant_of_ours() {
        // The number of this very process: if it leads its group, the number means a living leader; else no such group
        // exists.
        let own = rustix::process::getpid();
        assert!(!Remnant::new(own).is_left());
    }
}
