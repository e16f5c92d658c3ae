//! The spawned process on platforms without process groups and signals. Owns its exit and its hard end; its descendants
//! are out of reach. Compiled into the unit tests everywhere, so that it is never code that nobody has run.

use std::io;
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{Blow, Pipes};
use crate::{Error, ExitFacts};

/// A spawned process. Dropping it kills the process.
#[derive(Debug)]
pub(crate) struct Leader {
    pid: u32,
    exit: watch::Receiver<Option<ExitFacts>>,
    kill: CancellationToken,
}

impl Leader {
    /// Spawns `command`, which must pipe the child's three standard streams.
    pub(crate) fn spawn(command: Command) -> io::Result<(Self, Pipes)> {
        let mut command = tokio::process::Command::from(command);
        let mut child = command.kill_on_drop(true).spawn()?;
        let pid = child.id().unwrap_or_default();
        let pipes = std_pipes(&mut child)?;
        let (ended, exit) = watch::channel(None);
        let kill = CancellationToken::new();
        let killed = kill.clone();
        tokio::spawn(async move {
            let status = tokio::select! {
                status = child.wait() => status,
                () = killed.cancelled() => {
                    // A process that has ended meanwhile cannot be killed, and need not be.
                    let _ = child.start_kill();
                    child.wait().await
                }
            };
            ended.send_replace(Some(status.map(ExitFacts::from).unwrap_or_default()));
        });
        Ok((Self { pid, exit, kill }, pipes))
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// How the process ended, if it has.
    pub(crate) fn exit_facts(&self) -> Option<ExitFacts> {
        *self.exit.borrow()
    }

    /// Waits for the process to end. Any number of callers may wait at once. Cancel-safe. Unbounded.
    pub(crate) async fn exited(&self) -> ExitFacts {
        let mut exit = self.exit.clone();
        match exit.wait_for(Option::is_some).await {
            Ok(facts) => (*facts).unwrap_or_default(),
            // The runtime that watched the process is gone.
            Err(_) => ExitFacts::default(),
        }
    }

    /// Kills the process; it cannot be asked.
    #[expect(
        clippy::unnecessary_wraps,
        reason = "the signature is the one of the other platforms"
    )]
    pub(crate) fn strike(&self, blow: Blow) -> Result<(), Error> {
        if blow == Blow::Kill {
            self.kill.cancel();
        }
        Ok(())
    }

    /// Nothing to do: the watching task reaps.
    #[expect(
        clippy::unnecessary_wraps,
        clippy::unused_self,
        reason = "the signature is the one of the other platforms"
    )]
    pub(crate) fn reap(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Never: what the process started cannot be seen.
    #[expect(
        clippy::unused_self,
        reason = "the signature is the one of the other platforms"
    )]
    pub(crate) fn rest_is_left(&self) -> bool {
        false
    }

    /// At once, for the same reason.
    #[expect(
        clippy::unused_async,
        reason = "the signature is the one of the other platforms"
    )]
    pub(crate) async fn rest_gone(&self) {}
}

impl Drop for Leader {
    fn drop(&mut self) {
        self.kill.cancel();
    }
}

/// The child's pipes as the standard library's, which is what the rest of this crate takes on every platform.
fn std_pipes(child: &mut tokio::process::Child) -> io::Result<Pipes> {
    let missing = || io::Error::other("a standard stream of the child is not a pipe");
    #[cfg(windows)]
    {
        let stdin = child.stdin.take().ok_or_else(missing)?.into_owned_handle()?;
        let stdout = child.stdout.take().ok_or_else(missing)?.into_owned_handle()?;
        let stderr = child.stderr.take().ok_or_else(missing)?.into_owned_handle()?;
        Ok((
            ChildStdin::from(stdin),
            ChildStdout::from(stdout),
            ChildStderr::from(stderr),
        ))
    }
    #[cfg(unix)]
    {
        let stdin = child.stdin.take().ok_or_else(missing)?.into_owned_fd()?;
        let stdout = child.stdout.take().ok_or_else(missing)?.into_owned_fd()?;
        let stderr = child.stderr.take().ok_or_else(missing)?.into_owned_fd()?;
        Ok((
            ChildStdin::from(stdin),
            ChildStdout::from(stdout),
            ChildStderr::from(stderr),
        ))
    }
}
