//! One child process with the tree below it. Owns its exit and its end; its pipes are owned by whoever talks to it.

use std::future::Future;
use std::time::Duration;

use crate::ladder::{Haste, Ladder, Teardown, Tree, walk};
use crate::os::{Blow, Leader};
#[cfg(target_os = "linux")]
use crate::supervisor::Supervised;
use crate::{Error, ExitFacts, TeardownError};

/// A child process that cannot be forgotten: dropping it kills it with all of its tree that can be reached.
#[derive(Debug)]
pub struct ManagedChild {
    process: Kind,
}

/// Who ends the tree.
#[derive(Debug)]
enum Kind {
    /// The host, through the process group.
    Leader(Leader),
    #[cfg(target_os = "linux")]
    Supervised(Supervised),
}

impl ManagedChild {
    pub(crate) fn new(leader: Leader) -> Self {
        Self {
            process: Kind::Leader(leader),
        }
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn supervised(agent: Supervised) -> Self {
        Self {
            process: Kind::Supervised(agent),
        }
    }

    /// The process id, which on Unix is also the id of its process group.
    pub fn pid(&self) -> u32 {
        match &self.process {
            Kind::Leader(leader) => leader.pid(),
            #[cfg(target_os = "linux")]
            Kind::Supervised(agent) => agent.pid(),
        }
    }

    /// How the child ended, if it has.
    pub fn exit_facts(&self) -> Option<ExitFacts> {
        self.process.exit_facts()
    }

    /// Waits until the child has ended; its descendants may still live. Any number of callers may wait at once.
    /// Cancel-safe. Unbounded.
    pub async fn exited(&self) -> ExitFacts {
        self.process.exited().await
    }

    /// As [`exited`](Self::exited), for at most `within`.
    pub async fn exited_within(&self, within: Duration) -> Option<ExitFacts> {
        tokio::time::timeout(within, self.exited()).await.ok()
    }

    /// Walks the `ladder` until the child and all of its group are gone; under a supervisor, until nothing is left of its
    /// whole tree. Close the child's standard input first, and keep reading its output meanwhile: a child that cannot write
    /// cannot end.
    ///
    /// Idempotent. Cancel-safe: a walk that was dropped can be begun again. Bounded by the windows of the ladder.
    ///
    /// # Errors
    ///
    /// A signal could not be sent, the child or some process of its tree did not end, or its supervisor was ended by
    /// somebody else: then all of the group are gone, and nothing is known about who had left it.
    pub async fn teardown(
        &mut self,
        ladder: &Ladder,
        haste: Haste<impl Future<Output = ()>, impl Future<Output = ()>>,
    ) -> Result<Teardown, TeardownError> {
        let teardown = walk(&mut self.process, ladder, haste).await?;
        match &self.process {
            Kind::Leader(_) => Ok(teardown),
            #[cfg(target_os = "linux")]
            Kind::Supervised(agent) => match agent.conclude() {
                Ok(()) => Ok(teardown),
                Err(source) => Err(TeardownError {
                    // An end of which nothing is known is as good as none.
                    exit: Some(teardown.exit).filter(|exit| *exit != ExitFacts::default()),
                    source,
                }),
            },
        }
    }
}

impl Tree for Kind {
    fn exit_facts(&self) -> Option<ExitFacts> {
        match self {
            Self::Leader(leader) => leader.exit_facts(),
            #[cfg(target_os = "linux")]
            Self::Supervised(agent) => agent.exit_facts(),
        }
    }

    async fn exited(&self) -> ExitFacts {
        match self {
            Self::Leader(leader) => leader.exited().await,
            #[cfg(target_os = "linux")]
            Self::Supervised(agent) => agent.exited().await,
        }
    }

    fn strike(&mut self, blow: Blow) -> Result<(), Error> {
        match self {
            Self::Leader(leader) => leader.strike(blow),
            #[cfg(target_os = "linux")]
            Self::Supervised(agent) => agent.strike(blow),
        }
    }

    fn reap(&mut self) -> Result<(), Error> {
        match self {
            Self::Leader(leader) => leader.reap(),
            #[cfg(target_os = "linux")]
            Self::Supervised(agent) => agent.reap(),
        }
    }

    fn rest_is_left(&self) -> bool {
        match self {
            Self::Leader(leader) => leader.rest_is_left(),
            #[cfg(target_os = "linux")]
            Self::Supervised(agent) => agent.rest_is_left(),
        }
    }

    async fn rest_gone(&self) {
        match self {
            Self::Leader(leader) => leader.rest_gone().await,
            #[cfg(target_os = "linux")]
            Self::Supervised(agent) => agent.rest_gone().await,
        }
    }
}
