//! An agent under a supervisor, seen from the host. Owns the start of the two and what the host knows afterwards: how the
//! agent ended, whether the supervisor has proven that nothing is left, and what to do when it cannot.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process, kill_process_group, pidfd_send_signal};
use tokio::io::unix::AsyncFd;

use super::order::Order;
use super::process::NOBODY_LEFT;
use super::report::Report;
use super::starting::Starting;
use super::{Supervisor, channel};
use crate::os::group::Remnant;
use crate::os::process::{Process, reap_later, watch_readable};
use crate::os::{Blow, Pipes};
use crate::{Error, ExitFacts};

/// An agent under a supervisor. Dropping it lets the supervisor kill the whole tree at once.
#[derive(Debug)]
pub(crate) struct Supervised {
    agent: Pid,
    /// Becomes readable when the agent ends, whoever reaps it. Absent where the system has no such thing.
    agent_end: Option<AsyncFd<OwnedFd>>,
    supervisor: Process,
    channel: AsyncFd<OwnedFd>,
    heard: Mutex<Heard>,
    /// Whether the tree has been asked to end.
    asked: bool,
}

/// What the supervisor has told so far.
#[derive(Clone, Copy, Debug, Default)]
struct Heard {
    exit: Option<ExitFacts>,
    /// Whether it will tell nothing more.
    is_all: bool,
}

impl Supervised {
    /// Starts a supervisor and lets it start the agent. Blocks until that has told how it went, for milliseconds as a
    /// rule. Must be called within a Tokio runtime.
    pub(crate) fn spawn(supervisor: &Supervisor, order: &Order) -> Result<(Self, Pipes), Error> {
        let no_supervisor = |source| Error::Supervisor {
            program: supervisor.program.clone(),
            source,
        };
        let mut starting = Starting::spawn(&supervisor.program).map_err(no_supervisor)?;
        let (report, pipes, agent_end) = starting.order(order).map_err(no_supervisor)?;
        let agent = match report {
            Report::Started(agent) => Pid::from_raw(agent),
            Report::Failed(errno) => {
                let source = match errno {
                    0 => io::Error::new(
                        io::ErrorKind::InvalidInput,
                        "an argument, a variable or a path holds a NUL",
                    ),
                    errno => io::Error::from_raw_os_error(errno),
                };
                let program = order.located.clone();
                return Err(Error::Spawn { program, source });
            }
            Report::Ended(_) => None,
        };
        let agent = agent.ok_or_else(|| no_supervisor(io::ErrorKind::InvalidData.into()))?;
        let agent_end = agent_end.map(watch_readable).transpose().map_err(no_supervisor)?;
        let (process, channel) = starting.into_parts().map_err(no_supervisor)?;
        let supervised = Self {
            agent,
            agent_end,
            supervisor: Process::new(process),
            channel,
            heard: Mutex::default(),
            asked: false,
        };
        Ok((supervised, pipes))
    }

    pub(crate) fn pid(&self) -> u32 {
        self.agent.as_raw_pid().unsigned_abs()
    }

    /// How the agent ended, if it has.
    pub(crate) fn exit_facts(&self) -> Option<ExitFacts> {
        let heard = self.listen();
        if heard.exit.is_some() || !heard.is_all {
            return heard.exit;
        }
        // The supervisor was ended by somebody else, and what kind of end the agent takes cannot be seen any more.
        self.agent_end
            .as_ref()
            .is_none_or(has_spoken)
            .then(ExitFacts::default)
    }

    /// Waits for the agent's end. Any number of callers may wait at once. Cancel-safe. Unbounded.
    pub(crate) async fn exited(&self) -> ExitFacts {
        loop {
            let heard = *self.heard();
            let awaited = match (heard, &self.agent_end) {
                (
                    Heard {
                        exit: Some(facts), ..
                    },
                    _,
                ) => return facts,
                (Heard { is_all: true, .. }, None) => return ExitFacts::default(),
                (Heard { is_all: true, .. }, Some(agent_end)) => agent_end,
                (Heard { is_all: false, .. }, _) => &self.channel,
            };
            match awaited.readable().await {
                Ok(mut readable) => match self.exit_facts() {
                    Some(facts) => return facts,
                    None => readable.clear_ready(),
                },
                // The async runtime is gone: whoever still waits waits for nothing.
                Err(_) => std::future::pending().await,
            }
        }
    }

    /// Lets the supervisor strike the whole tree.
    pub(crate) fn strike(&mut self, blow: Blow) -> Result<(), Error> {
        self.asked = true;
        if !self.heard().is_all && channel::send_blow(self.channel.get_ref(), blow).is_ok() {
            self.wake_supervisor();
            if blow == Blow::Kill && self.exit_facts().is_none() {
                // A supervisor that is kept from its work needs this help, and no other one minds.
                let _ = self.strike_group(blow);
            }
            return Ok(());
        }
        if self.proof() == Some(true) {
            return Ok(());
        }
        self.strike_group(blow).map_err(|source| Error::Signal {
            signal: blow.signal_name(),
            group: self.pid(),
            source,
        })
    }

    /// Asks whatever is left to end, once the agent has; unless all have been asked before.
    pub(crate) fn reap(&mut self) -> Result<(), Error> {
        if self.asked {
            Ok(())
        } else {
            self.strike(Blow::Terminate)
        }
    }

    /// Whether anything but the agent is left; without a supervisor, whether anything of its group is.
    pub(crate) fn rest_is_left(&self) -> bool {
        match self.proof() {
            None => true,
            Some(true) => false,
            Some(false) => Remnant::new(self.agent).is_left(),
        }
    }

    /// Waits until nothing is left. Cancel-safe. Unbounded.
    pub(crate) async fn rest_gone(&self) {
        if self.supervisor.exited().await.code != Some(NOBODY_LEFT) {
            Remnant::new(self.agent).gone().await;
        }
    }

    /// What the end of a teardown comes to.
    ///
    /// # Errors
    ///
    /// The supervisor did not live to see everything gone.
    pub(crate) fn conclude(&self) -> Result<(), Error> {
        match self.supervisor.exit_facts() {
            Some(exit) if exit.code != Some(NOBODY_LEFT) => {
                let _ = self.strike_group(Blow::Kill);
                Err(Error::SupervisorLost { exit })
            }
            Some(_) => {
                self.supervisor.reap();
                Ok(())
            }
            // The walk of the ladder succeeds only once the supervisor has ended.
            None => Ok(()),
        }
    }

    /// Whether the supervisor has proven that nothing is left, once it has ended.
    fn proof(&self) -> Option<bool> {
        self.supervisor
            .exit_facts()
            .map(|exit| exit.code == Some(NOBODY_LEFT))
    }

    /// Takes in what the supervisor has told.
    fn listen(&self) -> Heard {
        let mut heard = self.heard();
        while !heard.is_all {
            match channel::receive_report(self.channel.get_ref()) {
                Ok(Some((Report::Ended(facts), _))) => heard.exit = Some(facts),
                Ok(Some(_)) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Ok(None) | Err(_) => heard.is_all = true,
            }
        }
        *heard
    }

    fn heard(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The agent may have stopped its supervisor.
    fn wake_supervisor(&self) {
        let unreaped = self.supervisor.unreaped();
        if unreaped.is_some() {
            let _ = kill_process(self.supervisor.pid(), Signal::CONT);
        }
    }

    /// Strikes the agent's group without the supervisor. As long as the agent is not reaped, the number means its group.
    fn strike_group(&self, blow: Blow) -> io::Result<()> {
        let agent_is_reaped = self
            .agent_end
            .as_ref()
            .is_none_or(|agent| pidfd_send_signal(agent.get_ref(), Signal::CONT).is_err());
        if agent_is_reaped {
            return Remnant::new(self.agent).signal(blow.signal());
        }
        match kill_process_group(self.agent, blow.signal()) {
            Ok(()) | Err(Errno::SRCH) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        let proof = self.proof();
        if proof.is_none() {
            // In this order: that the host has gone is read only after its last word.
            let _ = channel::send_blow(self.channel.get_ref(), Blow::Kill);
            self.wake_supervisor();
        } else if proof == Some(false) {
            let _ = self.strike_group(Blow::Kill);
        }
        let Some(mut supervisor) = self.supervisor.unreaped().take() else {
            return;
        };
        if proof.is_some() {
            let _ = supervisor.wait();
        } else {
            reap_later(supervisor);
        }
    }
}

/// Whether a descriptor is readable now.
fn has_spoken(descriptor: &AsyncFd<OwnedFd>) -> bool {
    let now = Timespec::default();
    let mut descriptors = [PollFd::new(descriptor.get_ref(), PollFlags::IN)];
    poll(&mut descriptors, Some(&now)).is_ok_and(|ready| ready > 0)
}
