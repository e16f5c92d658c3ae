//! One child process with the tree below it. Owns its exit and its end; its pipes are owned by whoever talks to it.

use std::future::Future;
use std::time::Duration;

use crate::ladder::{Haste, Ladder, Teardown, Tree, walk};
use crate::os::{Blow, Leader};
use crate::{Error, ExitFacts, TeardownError};

/// A child process that cannot be forgotten: dropping it kills its whole process group and reaps it.
#[derive(Debug)]
pub struct ManagedChild {
    leader: Leader,
}

impl ManagedChild {
    pub(crate) fn new(leader: Leader) -> Self {
        Self { leader }
    }

    /// The process id, which on Unix is also the id of its process group.
    pub fn pid(&self) -> u32 {
        self.leader.pid()
    }

    /// How the child ended, if it has.
    pub fn exit_facts(&self) -> Option<ExitFacts> {
        self.leader.exit_facts()
    }

    /// Waits until the child has ended; its descendants may still live. Any number of callers may wait at once.
    /// Cancel-safe. Unbounded.
    pub async fn exited(&self) -> ExitFacts {
        self.leader.exited().await
    }

    /// As [`exited`](Self::exited), for at most `within`.
    pub async fn exited_within(&self, within: Duration) -> Option<ExitFacts> {
        tokio::time::timeout(within, self.exited()).await.ok()
    }

    /// Walks the `ladder` until the child and all of its group are gone. Close the child's standard input first, and keep
    /// reading its output meanwhile: a child that cannot write cannot end.
    ///
    /// Idempotent. Cancel-safe: a walk that was dropped can be begun again. Bounded by the windows of the ladder.
    ///
    /// # Errors
    ///
    /// A signal could not be sent, or the child or some process of its group did not end.
    pub async fn teardown(
        &mut self,
        ladder: &Ladder,
        haste: Haste<impl Future<Output = ()>, impl Future<Output = ()>>,
    ) -> Result<Teardown, TeardownError> {
        walk(&mut self.leader, ladder, haste).await
    }
}

impl Tree for Leader {
    fn exit_facts(&self) -> Option<ExitFacts> {
        Self::exit_facts(self)
    }

    async fn exited(&self) -> ExitFacts {
        Self::exited(self).await
    }

    fn strike(&mut self, blow: Blow) -> Result<(), Error> {
        Self::strike(self, blow)
    }

    fn reap(&mut self) -> Result<(), Error> {
        Self::reap(self)
    }

    fn rest_is_left(&self) -> bool {
        Self::rest_is_left(self)
    }

    async fn rest_gone(&self) {
        Self::rest_gone(self).await;
    }
}
