//! The teardown ladder. Owns the order of its steps and their windows, as data: which step exists on which platform is
//! a policy, not a branch, so that every walk is tested on every platform against a scripted tree.

use std::future::Future;
use std::pin::{Pin, pin};
use std::time::Duration;

use tokio::time::Instant;

use crate::os::Blow;
use crate::{Error, ExitFacts, TeardownError};

/// The windows of a teardown, and whether the platform can ask before it kills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ladder {
    /// How long a child may take to end after its standard input was closed.
    pub eof_grace: Duration,
    /// The most of `eof_grace` once the teardown is [hurried](Haste).
    pub hurried_eof_grace: Duration,
    /// How long it may take after each blow.
    pub grace: Duration,
    /// What there is between closing the input and killing.
    pub style: LadderStyle,
}

/// What a platform offers between closing a child's input and killing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LadderStyle {
    /// The group is sent `SIGTERM`.
    Posix,
    /// Nothing: there is no graceful signal.
    Windows,
}

impl LadderStyle {
    /// The style of the platform that this was compiled for.
    pub const fn native() -> Self {
        if cfg!(unix) { Self::Posix } else { Self::Windows }
    }
}

/// Two wishes that may come true in the middle of a teardown.
#[derive(Debug)]
pub struct Haste<H, I> {
    /// Ready when the first window is to be at most [`Ladder::hurried_eof_grace`].
    pub hurried: H,
    /// Ready when there is to be no more waiting: the tree is killed at once.
    pub immediate: I,
}

impl Haste<std::future::Pending<()>, std::future::Pending<()>> {
    /// No haste, ever.
    pub fn none() -> Self {
        Self {
            hurried: std::future::pending(),
            immediate: std::future::pending(),
        }
    }
}

/// The step of the ladder at which a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Rung {
    /// It had ended before the teardown began.
    Exited,
    /// After its standard input was closed.
    Eof,
    /// After `SIGTERM`.
    Term,
    /// After it was killed.
    Kill,
}

/// A teardown that has proven that the child and its group are gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Teardown {
    /// The step at which the child itself ended.
    pub rung: Rung,
    /// How it ended.
    pub exit: ExitFacts,
}

/// What the ladder is walked for: a leader and the rest of its tree.
pub(crate) trait Tree {
    /// How the leader ended, if it has.
    fn exit_facts(&self) -> Option<ExitFacts>;
    /// Waits for the leader's end.
    fn exited(&self) -> impl Future<Output = ExitFacts> + Send;
    /// Strikes the whole tree.
    fn strike(&mut self, blow: Blow) -> Result<(), Error>;
    /// Reaps the leader, which has ended, and asks the rest of its tree to end.
    fn reap(&mut self) -> Result<(), Error>;
    /// Whether anything but the leader is left, after [`reap`](Self::reap).
    fn rest_is_left(&self) -> bool;
    /// Waits until nothing is left, after [`reap`](Self::reap).
    fn rest_gone(&self) -> impl Future<Output = ()> + Send;
}

/// Walks the ladder. A blow that could not be dealt does not end the walk, since the next one may do; it fails the
/// teardown all the same.
pub(crate) async fn walk<T: Tree>(
    tree: &mut T,
    ladder: &Ladder,
    haste: Haste<impl Future<Output = ()>, impl Future<Output = ()>>,
) -> Result<Teardown, TeardownError> {
    let hurried = pin!(haste.hurried);
    let mut immediate = Immediate {
        wish: pin!(haste.immediate),
        come_true: false,
    };
    let mut failed_blow = None;

    let end = leader_end(tree, ladder, hurried, &mut immediate, &mut failed_blow).await;
    let Some((rung, exit)) = end else {
        let source = failed_blow.unwrap_or(Error::ExitNotSeen { within: ladder.grace });
        return Err(TeardownError { exit: None, source });
    };
    let fail = |source| {
        Err(TeardownError {
            exit: Some(exit),
            source,
        })
    };

    let asked = tree.reap();
    if tree.rest_is_left() {
        // That the rest could not be asked matters only now that there is one: a leader that had changed its user cannot
        // be signalled even when it is dead.
        if let Err(error) = asked {
            failed_blow.get_or_insert(error);
        }
        let mut gone = false;
        if ladder.style == LadderStyle::Posix && rung != Rung::Kill {
            gone = immediate.within(ladder.grace, tree.rest_gone()).await.is_some();
        }
        if !gone {
            if let Err(error) = tree.strike(Blow::Kill) {
                failed_blow.get_or_insert(error);
            }
            if tokio::time::timeout(ladder.grace, tree.rest_gone())
                .await
                .is_err()
            {
                return fail(failed_blow.unwrap_or(Error::GroupNotGone { within: ladder.grace }));
            }
        }
    }
    match failed_blow {
        None => Ok(Teardown { rung, exit }),
        Some(error) => fail(error),
    }
}

/// The part of the walk that ends the leader; `None` when it would not end.
async fn leader_end<T: Tree>(
    tree: &mut T,
    ladder: &Ladder,
    hurried: Pin<&mut impl Future<Output = ()>>,
    immediate: &mut Immediate<'_, impl Future<Output = ()>>,
    failed_blow: &mut Option<Error>,
) -> Option<(Rung, ExitFacts)> {
    if let Some(exit) = tree.exit_facts() {
        return Some((Rung::Exited, exit));
    }
    let window = eof_window(ladder, hurried);
    if let Some(exit) = immediate.before(window, tree.exited()).await {
        return Some((Rung::Eof, exit));
    }
    let blows: &[(Blow, Rung)] = match ladder.style {
        LadderStyle::Posix => &[(Blow::Terminate, Rung::Term), (Blow::Kill, Rung::Kill)],
        LadderStyle::Windows => &[(Blow::Kill, Rung::Kill)],
    };
    for (blow, rung) in blows.iter().copied() {
        if immediate.come_true && blow != Blow::Kill {
            continue;
        }
        if let Err(error) = tree.strike(blow) {
            failed_blow.get_or_insert(error);
            continue;
        }
        let exit = match blow {
            Blow::Kill => tokio::time::timeout(ladder.grace, tree.exited()).await.ok(),
            Blow::Terminate => immediate.within(ladder.grace, tree.exited()).await,
        };
        if let Some(exit) = exit {
            return Some((rung, exit));
        }
    }
    None
}

/// Over when the first window is: after `eof_grace`, or earlier once the teardown is hurried.
async fn eof_window(ladder: &Ladder, mut hurried: Pin<&mut impl Future<Output = ()>>) {
    let begun = Instant::now();
    tokio::select! {
        biased;
        () = tokio::time::sleep(ladder.eof_grace) => return,
        () = &mut hurried => {}
    }
    tokio::time::sleep_until(begun + ladder.hurried_eof_grace.min(ladder.eof_grace)).await;
}

/// The wish to stop waiting; once it has come true it stays so.
struct Immediate<'a, I> {
    wish: Pin<&'a mut I>,
    come_true: bool,
}

impl<I: Future<Output = ()>> Immediate<'_, I> {
    /// `awaited`, unless `window` passes first or the wish comes true.
    async fn before<T>(
        &mut self,
        window: impl Future<Output = ()>,
        awaited: impl Future<Output = T>,
    ) -> Option<T> {
        if self.come_true {
            return None;
        }
        tokio::select! {
            biased;
            value = awaited => Some(value),
            () = &mut self.wish => {
                self.come_true = true;
                None
            }
            () = window => None,
        }
    }

    async fn within<T>(&mut self, window: Duration, awaited: impl Future<Output = T>) -> Option<T> {
        self.before(tokio::time::sleep(window), awaited).await
    }
}

#[cfg(test)]
mod tests;
