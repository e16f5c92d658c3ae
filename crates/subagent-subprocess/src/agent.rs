//! One child together with its conversation. Owns that the two are seen in the right order: whatever the child wrote
//! before it ended is read before its end is told. What the frames mean is the provider's business.

use std::future::Future;

use tokio::sync::oneshot;

use crate::rpc::{Connection, Incoming, Limits, RpcError};
use crate::{
    ChildProcess, ExitFacts, Haste, IsolatedConfigDir, Ladder, ManagedChild, Spawned, StderrTail, Teardown,
    TeardownError,
};

/// The conversation with a child over its pipes.
pub type ChildConnection<P = ManagedChild> =
    Connection<<P as ChildProcess>::Stdout, <P as ChildProcess>::Stdin>;

/// A child process that is being talked to. Dropping it kills the child's process group and removes its private
/// directories.
#[derive(Debug)]
pub struct AgentProcess<P: ChildProcess = ManagedChild> {
    child: P,
    connection: ChildConnection<P>,
    stderr: StderrTail,
    config_dirs: Vec<IsolatedConfigDir>,
}

impl AgentProcess {
    /// The process id of the child.
    pub fn pid(&self) -> u32 {
        self.child.pid()
    }
}

impl<P: ChildProcess> AgentProcess<P> {
    /// Starts to listen to a child. `config_dirs` live as long as it does. Must be called within a Tokio runtime.
    pub fn new(
        spawned: Spawned<P>,
        limits: Limits,
        stderr_tail_bytes: usize,
        config_dirs: Vec<IsolatedConfigDir>,
    ) -> Self {
        let Spawned {
            child,
            stdin,
            stdout,
            stderr,
        } = spawned;
        Self {
            child,
            connection: Connection::new(stdout, stdin, limits),
            stderr: StderrTail::drain(stderr, stderr_tail_bytes),
            config_dirs,
        }
    }

    /// The conversation, to write to it. Read with [`next`](Self::next).
    pub fn connection(&mut self) -> &mut ChildConnection<P> {
        &mut self.connection
    }

    /// Waits for the next frame, and writes what is queued at the same time. Once the child has ended, the frames that its
    /// pipe still holds come first, then [`RpcError::Closed`]: a descendant that holds the pipe open is not waited for.
    ///
    /// Cancel-safe. Unbounded: deadlines are the caller's.
    ///
    /// # Errors
    ///
    /// The conversation has failed, see [`Connection::next`].
    pub async fn next(&mut self) -> Result<Incoming<'_>, RpcError> {
        let child = &self.child;
        self.connection
            .next_or_exit(async {
                let _ = child.exited().await;
            })
            .await
    }

    /// Waits for the child's end. Cancel-safe. Unbounded.
    pub async fn exited(&self) -> ExitFacts {
        self.child.exited().await
    }

    /// What the child last wrote to its standard error; complete once it has ended.
    pub async fn stderr_tail(&mut self) -> Vec<u8> {
        if self.child.exit_facts().is_some() {
            self.stderr.finish().await
        } else {
            self.stderr.snapshot()
        }
    }

    /// Closes the child's input and walks the `ladder` until the child and its group are gone, then removes its private
    /// directories. What it writes meanwhile is read and dropped, so that it is never kept from ending.
    ///
    /// Idempotent. Cancel-safe: a teardown that was dropped can be begun again. Bounded by the windows of the ladder, plus
    /// the time that the file system takes to remove the private directories.
    ///
    /// # Errors
    ///
    /// It is not proven that everything is gone.
    pub async fn teardown(
        &mut self,
        ladder: &Ladder,
        haste: Haste<impl Future<Output = ()> + Send, impl Future<Output = ()> + Send>,
    ) -> Result<Teardown, TeardownError> {
        self.connection.close_input();
        let outcome = tokio::select! {
            outcome = self.child.teardown(ladder, haste) => outcome,
            never = self.connection.discard() => match never {},
        };
        let mut config_dirs = std::mem::take(&mut self.config_dirs);
        if !config_dirs.is_empty() {
            let (done, removal) = oneshot::channel();
            let thread = std::thread::Builder::new().name("subagent-remover".to_owned());
            // A thread that cannot be started drops what it was given, and with that the directories are removed here.
            let started = thread.spawn(move || {
                config_dirs.iter_mut().for_each(IsolatedConfigDir::remove);
                let _ = done.send(());
            });
            if started.is_ok() {
                // Removal is best effort: even a panic in it concerns nobody.
                let _ = removal.await;
            }
        }
        outcome
    }
}
