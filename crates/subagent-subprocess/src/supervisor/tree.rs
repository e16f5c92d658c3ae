//! The tree below a supervisor, seen from inside the supervisor. Owns finding, signalling and reaping it.
//!
//! Killing goes by the supervisor's own children alone. None of their numbers can mean somebody else, since only the
//! supervisor reaps them; and the children of a child that was killed are the supervisor's at that very moment. Nobody
//! outruns that by forking and leaving: a process that has been killed cannot finish a fork, and its whole group is killed
//! in the same moment where the group is known to be of the tree. A tree that multiplies can outrun it, since others take the
//! places of the dead: where killing goes on for too long, everybody is stopped first. The stopped keep their places.

use std::collections::{HashMap, HashSet};

use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, getpid, kill_process, kill_process_group, pidfd_open,
    pidfd_send_signal, wait,
};

use crate::ExitFacts;
use crate::os::process_table::{Entry, entries, entry, own_children, own_session};

/// How many processes are reaped in one go, some ten milliseconds' worth: were the dead to come in faster than they are
/// buried, the living would still be killed in between. Fewer would let the dead pile up, and each look for the living goes
/// past all of them.
const REAPED_AT_ONCE: usize = 4096;

/// How often it is looked for somebody who was not stopped yet. Each time finds the few who were born meanwhile.
const SWEEPS: usize = 16;

/// The agent and everything below it.
#[derive(Debug)]
pub(super) struct Tree {
    agent: Pid,
}

/// What was found when the dead were reaped.
#[derive(Debug, Default)]
pub(super) struct Reaped {
    /// How the agent ended, if it is among them.
    pub(super) agent: Option<ExitFacts>,
    /// Whether nobody is left, dead or alive.
    pub(super) nobody_left: bool,
    /// Whether there may be more to reap.
    pub(super) more: bool,
}

impl Tree {
    pub(super) fn new(agent: Pid) -> Self {
        Self { agent }
    }

    /// Reaps who has ended.
    pub(super) fn reap(&self) -> Reaped {
        let mut reaped = Reaped::default();
        for _ in 0..REAPED_AT_ONCE {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => {
                    if pid == self.agent {
                        reaped.agent = Some(ExitFacts {
                            code: status.exit_status(),
                            signal: status.terminating_signal(),
                        });
                    }
                }
                Ok(None) => return reaped,
                Err(error) => {
                    reaped.nobody_left = error == Errno::CHILD;
                    return reaped;
                }
            }
        }
        reaped.more = true;
        reaped
    }

    /// Asks everybody to end: the agent's group as one, so that nobody in it forks past the signal, and every process
    /// outside of it by itself. Nobody is asked twice.
    pub(super) fn terminate(&self) {
        let group = self.agent.as_raw_pid();
        let all = descendants();
        // A member of the group is below us, so the number still means the agent's group.
        if all.iter().any(|process| process.group == group) {
            let _ = kill_process_group(self.agent, Signal::TERM);
        }
        for process in all.iter().filter(|process| process.group != group) {
            signal(process, Signal::TERM);
        }
    }

    /// Kills all own children that are left. To be repeated whenever one has ended, until nobody is left.
    pub(super) fn kill(&self) {
        let Some(children) = own_children() else {
            return self.kill_all();
        };
        let own_session = own_session();
        let mut groups = Vec::new();
        for child in children {
            // One that may not be killed, because it has become another user, is told at the end: it stays.
            let _ = kill_process(child, Signal::KILL);
            // The child is not reaped, so its group's number means its group.
            if let Some(group) =
                entry(child.as_raw_pid()).and_then(|child| self.own_group(&child, own_session))
                && !groups.contains(&group)
            {
                let _ = kill_process_group(group, Signal::KILL);
                groups.push(group);
            }
        }
    }

    /// The group of a child, if nobody from outside of the tree can be in it: the agent's, and every group of a session
    /// that is not the supervisor's. A session is entered by being born in it only, so such a session was begun below.
    fn own_group(&self, child: &Entry, own_session: i32) -> Option<Pid> {
        let is_own = child.group == self.agent.as_raw_pid() || child.session != own_session;
        // Group 1 could not be told from everybody.
        (is_own && child.group > 1)
            .then(|| Pid::from_raw(child.group))
            .flatten()
    }

    /// Stops everybody who can be found, until nobody new is found or it was tried often enough, and kills them then. Who
    /// has a signal to take, be it one that stops, cannot finish a fork.
    pub(super) fn stop_and_kill_all(&self) {
        let mut told = HashSet::new();
        for _ in 0..SWEEPS {
            let mut anybody_new = false;
            for process in descendants().iter().filter(|process| !process.is_stopped) {
                if told.insert((process.pid, process.started)) {
                    signal(process, Signal::STOP);
                    anybody_new = true;
                }
            }
            if !anybody_new {
                break;
            }
        }
        self.kill_all();
    }

    /// Kills everybody who can be found, also below a child that cannot be killed.
    #[expect(clippy::unused_self, reason = "it is the whole tree that is killed")]
    pub(super) fn kill_all(&self) {
        for process in descendants() {
            signal(&process, Signal::KILL);
        }
    }
}

/// All living processes below this one.
fn descendants() -> Vec<Entry> {
    let Ok(all) = entries() else {
        return Vec::new();
    };
    below(getpid().as_raw_pid(), all)
}

fn below(root: i32, all: impl Iterator<Item = Entry>) -> Vec<Entry> {
    let mut by_parent: HashMap<i32, Vec<Entry>> = HashMap::new();
    for process in all {
        by_parent.entry(process.parent).or_default().push(process);
    }
    let mut found = by_parent.remove(&root).unwrap_or_default();
    let mut next = 0;
    while let Some(process) = found.get(next) {
        if let Some(children) = by_parent.remove(&process.pid) {
            found.extend(children);
        }
        next += 1;
    }
    found.retain(|process| process.is_living);
    found
}

/// Signals the process that was seen, and no other one that has its number by now.
fn signal(process: &Entry, signal: Signal) {
    let Some(pid) = Pid::from_raw(process.pid) else {
        return;
    };
    let is_the_same = || entry(process.pid).is_some_and(|now| now.started == process.started);
    match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(descriptor) if is_the_same() => {
            let _ = pidfd_send_signal(descriptor, signal);
        }
        Ok(_) | Err(Errno::SRCH) => {}
        Err(_) if is_the_same() => {
            let _ = kill_process(pid, signal);
        }
        Err(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: i32, parent: i32, is_living: bool) -> Entry {
        Entry {
            pid,
            parent,
            group: pid,
            session: 1,
            started: 1,
            is_living,
            is_stopped: false,
        }
    }

    #[test]
    fn everybody_below_is_found_in_whatever_order_and_nobody_beside() {
        let table = [
            process(9, 7, true),
            process(1, 0, true),
            process(5, 1, true),
            process(7, 5, false),
            process(6, 5, true),
            process(8, 1, true),
        ];
        let found: Vec<_> = below(5, table.into_iter())
            .iter()
            .map(|process| process.pid)
            .collect();
        assert_eq!(found, [6, 9], "the dead are passed over, their children are not");
    }

    #[test]
    fn a_group_is_killed_as_one_only_where_nobody_else_can_be_in_it() {
        let tree = Tree::new(Pid::from_raw(20).unwrap());
        let group = |group, session| {
            let child = Entry {
                group,
                session,
                ..process(25, 5, true)
            };
            tree.own_group(&child, 7).map(Pid::as_raw_pid)
        };
        assert_eq!(group(20, 7), Some(20), "the agent's");
        assert_eq!(group(25, 7), None, "a neighbour may have joined it");
        assert_eq!(group(7, 7), None, "the host's, which the child has joined");
        assert_eq!(group(25, 25), Some(25), "in a session of the tree");
        assert_eq!((group(1, 1), group(0, 0)), (None, None));
    }

    #[test]
    fn a_table_in_which_somebody_is_his_own_ancestor_has_an_end() {
        let table = [process(5, 6, true), process(6, 5, true)];
        let found = below(5, table.into_iter());
        assert_eq!(found, [process(6, 5, true), process(5, 6, true)]);
    }
}
