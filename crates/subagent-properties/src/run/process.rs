//! A child that is no process: its exit is a value, and how it takes being ended is up to the script.

use std::future::Future;
use std::time::Duration;

use subagent_subprocess::rpc::Buffered;
use subagent_subprocess::{
    ChildProcess, Error, ExitFacts, Haste, Ladder, Rung, Spawned, Teardown, TeardownError,
};
use tokio::sync::watch;

use super::wire::{HostInput, HostOutput, Wire};

/// How a child takes being ended.
#[derive(Clone, Copy, Default)]
pub(crate) struct Manners {
    /// It stays when its input is closed.
    pub(crate) stays: bool,
    /// It stays when it is asked to end, too.
    pub(crate) ignores_term: bool,
    /// Nothing ends it.
    pub(crate) immortal: bool,
}

/// What is known of a child's life, to itself and to the host.
#[derive(Default)]
pub(crate) struct Life {
    pub(crate) exit: Option<ExitFacts>,
    pub(crate) manners: Manners,
}

/// The child as the host sees it.
pub(crate) struct Puppet {
    life: watch::Sender<Life>,
}

impl Puppet {
    /// A child on this wire that says `stderr`, and the string that moves it.
    pub(crate) fn on(wire: &Wire) -> (Spawned<Self>, watch::Sender<Life>) {
        let (life, _) = watch::channel(Life::default());
        let (stdout, stdin) = wire.ends();
        let spawned = Spawned {
            child: Self { life: life.clone() },
            stdin,
            stdout,
            stderr: Buffered::new(&b"what the child complains of"[..]),
        };
        (spawned, life)
    }

    async fn exited_within(&self, window: Duration) -> Option<ExitFacts> {
        tokio::time::timeout(window, self.exited()).await.ok()
    }

    /// A blow ends the child, unless it stands it.
    fn strike(&self, signal: i32, stands: bool) {
        self.life.send_modify(|life| {
            if !stands && life.exit.is_none() {
                life.exit = Some(ExitFacts {
                    code: None,
                    signal: Some(signal),
                });
            }
        });
    }

    async fn walk(&self, ladder: &Ladder) -> Result<Teardown, TeardownError> {
        if let Some(exit) = self.exit_facts() {
            return Ok(Teardown {
                rung: Rung::Exited,
                exit,
            });
        }
        if let Some(exit) = self.exited_within(ladder.eof_grace).await {
            return Ok(Teardown {
                rung: Rung::Eof,
                exit,
            });
        }
        let manners = self.life.borrow().manners;
        self.strike(15, manners.ignores_term || manners.immortal);
        if let Some(exit) = self.exited_within(ladder.grace).await {
            return Ok(Teardown {
                rung: Rung::Term,
                exit,
            });
        }
        self.kill(ladder).await
    }

    async fn kill(&self, ladder: &Ladder) -> Result<Teardown, TeardownError> {
        let immortal = self.life.borrow().manners.immortal;
        self.strike(9, immortal);
        let exit = self.exited_within(ladder.grace).await;
        exit.map_or_else(
            || {
                let source = Error::ExitNotSeen { within: ladder.grace };
                Err(TeardownError { exit: None, source })
            },
            |exit| {
                Ok(Teardown {
                    rung: Rung::Kill,
                    exit,
                })
            },
        )
    }
}

impl ChildProcess for Puppet {
    type Stdin = HostOutput;
    type Stdout = HostInput;
    type Stderr = Buffered<&'static [u8]>;

    fn exit_facts(&self) -> Option<ExitFacts> {
        self.life.borrow().exit
    }

    async fn exited(&self) -> ExitFacts {
        let mut life = self.life.subscribe();
        match life.wait_for(|life| life.exit.is_some()).await {
            Ok(life) => life.exit.unwrap_or_default(),
            Err(_) => ExitFacts::default(),
        }
    }

    async fn teardown(
        &mut self,
        ladder: &Ladder,
        haste: Haste<impl Future<Output = ()> + Send, impl Future<Output = ()> + Send>,
    ) -> Result<Teardown, TeardownError> {
        tokio::select! {
            biased;
            outcome = self.walk(ladder) => outcome,
            () = haste.immediate => self.kill(ladder).await,
        }
    }
}
