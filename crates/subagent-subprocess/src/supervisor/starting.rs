//! The start of a supervisor, seen from the host: from its spawn to its answer. Owns the bound of that, and that nothing is
//! left of a start that failed.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use std::time::{Duration, Instant};

use tokio::io::unix::AsyncFd;

use super::order::Order;
use super::report::Report;
use super::{MARKER, channel};
use crate::os::process::watch_readable;
use crate::os::{Blow, Pipes};
use crate::spawn::{supervisor_command, turn};

/// How long a supervisor may be silent before it has answered. It answers within milliseconds; this is for machines that
/// are out of breath, and for programs that are no supervisor.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a supervisor that has answered that there is no agent takes to end, on the thread that waits for a start.
const LAST_STEPS: Duration = Duration::from_millis(20);

/// A supervisor that has not said yet that the agent runs. Dropped as such, it is told to end everything, and ended if it
/// does not end.
pub(super) struct Starting {
    channel: OwnedFd,
    supervisor: Option<Child>,
}

impl Starting {
    /// Starts the process.
    pub(super) fn spawn(program: &Path) -> io::Result<Self> {
        let (channel, theirs) = channel::open(PATIENCE)?;
        let mut command = supervisor_command(program);
        command.arg(MARKER).stdin(theirs);
        // With the command goes the supervisor's end of the channel, so that the supervisor's death is its end.
        let _turn = turn();
        let supervisor = Some(command.spawn()?);
        Ok(Self { channel, supervisor })
    }

    /// Sends the order and waits for the answer.
    pub(super) fn order(&mut self, order: &Order) -> io::Result<(Report, Pipes, Option<OwnedFd>)> {
        let order = channel::Sealed::new(order)?;
        let pipes = {
            let _turn = turn();
            let (their_stdin, stdin) = io::pipe()?;
            let (stdout, their_stdout) = io::pipe()?;
            let (stderr, their_stderr) = io::pipe()?;
            let theirs = [their_stdin.as_fd(), their_stdout.as_fd(), their_stderr.as_fd()];
            order.send_head(&self.channel, theirs).map_err(unanswered)?;
            (
                ChildStdin::from(OwnedFd::from(stdin)),
                ChildStdout::from(OwnedFd::from(stdout)),
                ChildStderr::from(OwnedFd::from(stderr)),
            )
        };
        order.send_rest(&self.channel).map_err(unanswered)?;
        let answer = channel::receive_report(&self.channel).map_err(unanswered)?;
        let (report, agent_end) = answer.ok_or_else(|| unanswered(io::ErrorKind::BrokenPipe.into()))?;
        Ok((report, pipes, agent_end))
    }

    /// The supervisor and its channel, which does not block any more, once the agent runs. Must be called within a Tokio
    /// runtime.
    pub(super) fn into_parts(mut self) -> io::Result<(Child, AsyncFd<OwnedFd>)> {
        let channel = self.channel.try_clone()?;
        rustix::io::ioctl_fionbio(&channel, true)?;
        let channel = watch_readable(channel)?;
        match self.supervisor.take() {
            Some(supervisor) => Ok((supervisor, channel)),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

impl Drop for Starting {
    fn drop(&mut self) {
        let Some(mut supervisor) = self.supervisor.take() else {
            return;
        };
        let _ = channel::send_blow(&self.channel, Blow::Kill);
        // One that could not start its agent ends by itself, and mostly has: it needs no thread to wait for it.
        if await_end(&mut supervisor, LAST_STEPS) {
            return;
        }
        let end = move || {
            if !await_end(&mut supervisor, PATIENCE) {
                let _ = supervisor.kill();
                let _ = supervisor.wait();
            }
        };
        let reaper = std::thread::Builder::new().name("subagent-reaper".to_owned());
        if let Err(error) = reaper.spawn(end) {
            tracing::warn!(%error, "a supervisor stays a zombie until this process ends");
        }
    }
}

/// Waits for the end of a process, which reaps it; says whether it has come.
fn await_end(process: &mut Child, patience: Duration) -> bool {
    let begun = Instant::now();
    while matches!(process.try_wait(), Ok(None)) {
        if begun.elapsed() > patience {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    true
}

/// Says what it means that a supervisor is gone, or silent for too long, before it has answered.
fn unanswered(error: io::Error) -> io::Error {
    let what = match error.kind() {
        io::ErrorKind::BrokenPipe => "it ended before it told whether the agent was started",
        io::ErrorKind::WouldBlock => "it did not tell in time whether the agent was started",
        _ => return error,
    };
    io::Error::new(error.kind(), what)
}
