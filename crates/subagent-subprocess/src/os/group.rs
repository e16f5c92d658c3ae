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
            Ok(()) | Err(_) => is_living(self.group),
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

/// Whether the group, of which something is left, has a member that is not a zombie: in a container whose first process
/// reaps nobody, zombies stay in their group for ever.
///
/// A process that forks and exits again and again can be between two numbers at every look. So when only zombies were seen,
/// the group is killed: that ends nobody who was seen, it reaches who was not, and afterwards no member can finish a fork,
/// so the next look misses nobody.
#[cfg(target_os = "linux")]
fn is_living(group: Pid) -> bool {
    match look_at(group) {
        Members::Living => true,
        Members::Foreign => false,
        Members::NoneSeen => {
            // Who may not be signalled was seen, or will be.
            let _ = kill_process_group(group, Signal::KILL);
            look_at(group) == Members::Living
        }
    }
}

/// What a look at all processes finds of a group.
#[cfg(target_os = "linux")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Members {
    /// At least one that is not a zombie.
    Living,
    /// Zombies at most.
    NoneSeen,
    /// A process whose number is the group's own. The kernel does not give that number out while the old group has a member:
    /// nothing is left of ours.
    Foreign,
}

#[cfg(target_os = "linux")]
fn look_at(group: Pid) -> Members {
    let Ok(processes) = super::process_table::entries() else {
        return Members::Living;
    };
    let mut seen = Members::NoneSeen;
    for process in processes.filter(|process| process.group == group.as_raw_pid()) {
        if process.pid == process.group {
            return Members::Foreign;
        }
        if process.is_living {
            seen = Members::Living;
        }
    }
    seen
}

#[cfg(not(target_os = "linux"))]
fn is_living(_group: Pid) -> bool {
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
