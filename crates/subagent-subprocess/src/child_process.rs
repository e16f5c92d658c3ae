//! What a conversation needs of the process at its other end: its exit and its end. Owns the trait and the way in which a
//! spawned process meets it; the tree of a spawned process is `child`'s.

use std::future::Future;

use tokio::io::AsyncWrite;

use crate::rpc::Source;
use crate::{
    ChildInput, ChildStderr, ChildStdout, ExitFacts, Haste, Ladder, ManagedChild, Teardown, TeardownError,
};

/// A process that an [`AgentProcess`](crate::AgentProcess) talks to: a [`ManagedChild`], or whatever else has three
/// streams and an end. A script in memory, for example, under which a whole run can be tested without any process.
pub trait ChildProcess: Send + Sync + 'static {
    /// Writes to its standard input; dropping it closes the stream.
    type Stdin: AsyncWrite + Unpin + Send + Sync + 'static;
    /// Reads its standard output.
    type Stdout: Source + Sync + 'static;
    /// Reads its standard error.
    type Stderr: Source + Sync + 'static;

    /// How it ended, if it has.
    fn exit_facts(&self) -> Option<ExitFacts>;

    /// Waits until it has ended. Any number of callers may wait at once. Cancel-safe. Unbounded.
    fn exited(&self) -> impl Future<Output = ExitFacts> + Send;

    /// Ends it and everything that it has started. Its standard input is closed already, and its output is read meanwhile.
    ///
    /// Idempotent. Cancel-safe: a teardown that was dropped can be begun again. Bounded by the windows of the `ladder`.
    ///
    /// # Errors
    ///
    /// It is not proven that everything is gone.
    fn teardown(
        &mut self,
        ladder: &Ladder,
        haste: Haste<impl Future<Output = ()> + Send, impl Future<Output = ()> + Send>,
    ) -> impl Future<Output = Result<Teardown, TeardownError>> + Send;
}

impl ChildProcess for ManagedChild {
    type Stdin = ChildInput;
    type Stdout = ChildStdout;
    type Stderr = ChildStderr;

    fn exit_facts(&self) -> Option<ExitFacts> {
        Self::exit_facts(self)
    }

    async fn exited(&self) -> ExitFacts {
        Self::exited(self).await
    }

    async fn teardown(
        &mut self,
        ladder: &Ladder,
        haste: Haste<impl Future<Output = ()> + Send, impl Future<Output = ()> + Send>,
    ) -> Result<Teardown, TeardownError> {
        Self::teardown(self, ladder, haste).await
    }
}
