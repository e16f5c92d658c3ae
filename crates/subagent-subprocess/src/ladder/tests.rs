//! Every walk of the ladder against a scripted tree, on a clock that stands still until somebody waits.

use std::future::pending;
use std::time::Duration;

use tokio::sync::watch;

use super::*;
use crate::ladder::LadderStyle::{Posix, Windows};
use crate::os::Blow::{Kill, Terminate};

const EOF_GRACE: Duration = Duration::from_secs(6);
const HURRIED: Duration = Duration::from_secs(2);
const GRACE: Duration = Duration::from_secs(3);

fn ladder(style: LadderStyle) -> Ladder {
    Ladder {
        eof_grace: EOF_GRACE,
        hurried_eof_grace: HURRIED,
        grace: GRACE,
        style,
    }
}

/// When something of the tree ends.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Ends {
    Before,
    After(Duration),
    OnTerminate,
    OnKill,
    Never,
}

struct Scripted {
    leader: Ends,
    rest: Option<Ends>,
    refuses: Option<Blow>,
    begun: Instant,
    blows: watch::Sender<Vec<(Blow, Duration)>>,
}

impl Scripted {
    fn new(leader: Ends) -> Self {
        Self {
            leader,
            rest: None,
            refuses: None,
            begun: Instant::now(),
            blows: watch::Sender::new(Vec::new()),
        }
    }

    fn with_rest(self, rest: Ends) -> Self {
        Self {
            rest: Some(rest),
            ..self
        }
    }

    fn has_ended(&self, ends: Ends) -> bool {
        let struck = |blow| self.blows.borrow().iter().any(|(dealt, _)| *dealt == blow);
        match ends {
            Ends::Before => true,
            Ends::After(delay) => self.begun.elapsed() >= delay,
            Ends::OnTerminate => struck(Terminate) || struck(Kill),
            Ends::OnKill => struck(Kill),
            Ends::Never => false,
        }
    }

    async fn end_of(&self, ends: Ends) {
        match ends {
            Ends::Before => {}
            Ends::After(delay) => tokio::time::sleep_until(self.begun + delay).await,
            Ends::Never => pending().await,
            Ends::OnTerminate | Ends::OnKill => {
                let mut blows = self.blows.subscribe();
                while !self.has_ended(ends) {
                    blows.changed().await.unwrap();
                }
            }
        }
    }

    /// The blows and when they were dealt, in whole seconds.
    fn log(&self) -> Vec<(Blow, u64)> {
        self.blows
            .borrow()
            .iter()
            .map(|(blow, when)| (*blow, when.as_secs()))
            .collect()
    }
}

impl Tree for Scripted {
    fn exit_facts(&self) -> Option<ExitFacts> {
        self.has_ended(self.leader).then_some(facts())
    }

    async fn exited(&self) -> ExitFacts {
        self.end_of(self.leader).await;
        facts()
    }

    fn strike(&mut self, blow: Blow) -> Result<(), Error> {
        if self.refuses == Some(blow) {
            return Err(Error::Signal {
                signal: "SIGX",
                group: 7,
                source: std::io::ErrorKind::PermissionDenied.into(),
            });
        }
        let when = self.begun.elapsed();
        self.blows.send_modify(|blows| blows.push((blow, when)));
        Ok(())
    }

    fn reap(&mut self) -> Result<(), Error> {
        if self.rest.is_some() {
            self.strike(Terminate)
        } else {
            Ok(())
        }
    }

    fn rest_is_left(&self) -> bool {
        self.rest.is_some_and(|rest| !self.has_ended(rest))
    }

    async fn rest_gone(&self) {
        if let Some(rest) = self.rest {
            self.end_of(rest).await;
        }
    }
}

fn facts() -> ExitFacts {
    ExitFacts {
        code: Some(0),
        signal: None,
    }
}

async fn walk_patiently(tree: &mut Scripted, style: LadderStyle) -> Result<Teardown, TeardownError> {
    walk(tree, &ladder(style), Haste::none()).await
}

async fn rung_and_log(mut tree: Scripted, style: LadderStyle) -> (Rung, Vec<(Blow, u64)>) {
    let teardown = walk_patiently(&mut tree, style).await.unwrap();
    (teardown.rung, tree.log())
}

#[tokio::test(start_paused = true)]
async fn a_child_that_had_ended_gets_no_blow() {
    assert_eq!(
        rung_and_log(Scripted::new(Ends::Before), Posix).await,
        (Rung::Exited, vec![])
    );
    assert_eq!(
        rung_and_log(Scripted::new(Ends::Before), Windows).await,
        (Rung::Exited, vec![])
    );
}

#[tokio::test(start_paused = true)]
async fn a_cooperative_child_is_reported_gone_the_moment_it_ends() {
    let begun = Instant::now();
    let soon = Duration::from_millis(1234);
    assert_eq!(
        rung_and_log(Scripted::new(Ends::After(soon)), Posix).await,
        (Rung::Eof, vec![])
    );
    assert!(begun.elapsed() <= soon + Duration::from_millis(1));
}

#[tokio::test(start_paused = true)]
async fn a_child_that_ignores_the_end_of_its_input_is_asked_then_killed() {
    let asked = (Rung::Term, vec![(Terminate, 6)]);
    assert_eq!(rung_and_log(Scripted::new(Ends::OnTerminate), Posix).await, asked);
    let killed = (Rung::Kill, vec![(Terminate, 6), (Kill, 9)]);
    assert_eq!(rung_and_log(Scripted::new(Ends::OnKill), Posix).await, killed);
}

#[tokio::test(start_paused = true)]
async fn windows_has_no_graceful_blow() {
    assert_eq!(
        rung_and_log(Scripted::new(Ends::OnTerminate), Windows).await,
        (Rung::Kill, vec![(Kill, 6)])
    );
    assert_eq!(
        rung_and_log(Scripted::new(Ends::After(GRACE)), Windows).await,
        (Rung::Eof, vec![])
    );
}

#[tokio::test(start_paused = true)]
async fn an_exit_that_never_shows_fails_after_the_last_window() {
    for (style, seconds) in [(Posix, 12), (Windows, 9)] {
        let mut tree = Scripted::new(Ends::Never);
        let error = walk_patiently(&mut tree, style).await.unwrap_err();
        assert!(
            matches!(
                error,
                TeardownError {
                    exit: None,
                    source: Error::ExitNotSeen { .. }
                }
            ),
            "{error:?}"
        );
        assert_eq!(tree.begun.elapsed().as_secs(), seconds);
    }
}

#[tokio::test(start_paused = true)]
async fn what_the_leader_leaves_behind_is_asked_at_once_then_killed() {
    let obedient = Scripted::new(Ends::Before).with_rest(Ends::OnTerminate);
    assert_eq!(
        rung_and_log(obedient, Posix).await,
        (Rung::Exited, vec![(Terminate, 0)])
    );
    let stubborn = Scripted::new(Ends::After(Duration::from_secs(1))).with_rest(Ends::OnKill);
    assert_eq!(
        rung_and_log(stubborn, Posix).await,
        (Rung::Eof, vec![(Terminate, 1), (Kill, 4)])
    );
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_killed_fails_the_teardown_with_the_leaders_exit() {
    let mut tree = Scripted::new(Ends::Before).with_rest(Ends::Never);
    let error = walk_patiently(&mut tree, Posix).await.unwrap_err();
    assert!(
        matches!(
            error,
            TeardownError {
                exit: Some(_),
                source: Error::GroupNotGone { .. }
            }
        ),
        "{error:?}"
    );
    assert_eq!(tree.begun.elapsed().as_secs(), 6);
}

#[tokio::test(start_paused = true)]
async fn a_blow_that_cannot_be_dealt_fails_the_teardown_and_the_next_one_is_dealt_all_the_same() {
    let mut tree = Scripted {
        refuses: Some(Terminate),
        ..Scripted::new(Ends::OnKill)
    };
    let error = walk_patiently(&mut tree, Posix).await.unwrap_err();
    assert!(
        matches!(
            error,
            TeardownError {
                exit: Some(_),
                source: Error::Signal { .. }
            }
        ),
        "{error:?}"
    );
    assert_eq!(tree.log(), [(Kill, 6)]);
}

#[tokio::test(start_paused = true)]
async fn that_nobody_could_be_asked_fails_nothing_when_nobody_is_left() {
    let mut alone = Scripted {
        refuses: Some(Terminate),
        ..Scripted::new(Ends::Before).with_rest(Ends::Before)
    };
    assert!(walk_patiently(&mut alone, Posix).await.is_ok());
    let mut left = Scripted {
        refuses: Some(Terminate),
        ..Scripted::new(Ends::Before).with_rest(Ends::OnKill)
    };
    let error = walk_patiently(&mut left, Posix).await.unwrap_err();
    assert!(
        matches!(
            error,
            TeardownError {
                exit: Some(_),
                source: Error::Signal { .. }
            }
        ),
        "{error:?}"
    );
    assert_eq!(left.log(), [(Kill, 3)]);
}

#[tokio::test(start_paused = true)]
async fn hurry_cuts_the_first_window_from_its_beginning() {
    for (raised, blow_at) in [(0, 2), (1, 2), (4, 4)] {
        let mut tree = Scripted::new(Ends::OnTerminate);
        let hurried = tokio::time::sleep(Duration::from_secs(raised));
        let haste = Haste {
            hurried,
            immediate: pending(),
        };
        let teardown = walk(&mut tree, &ladder(Posix), haste).await.unwrap();
        assert_eq!(
            (teardown.rung, tree.log()),
            (Rung::Term, vec![(Terminate, blow_at)])
        );
    }
}

#[tokio::test(start_paused = true)]
async fn hurry_never_lengthens_the_first_window() {
    let short = Ladder {
        eof_grace: Duration::from_millis(500),
        ..ladder(Posix)
    };
    let mut tree = Scripted::new(Ends::OnTerminate);
    let haste = Haste {
        hurried: std::future::ready(()),
        immediate: pending(),
    };
    let _ = walk(&mut tree, &short, haste).await.unwrap();
    assert_eq!(tree.begun.elapsed().as_millis() / 10, 50);
}

#[tokio::test(start_paused = true)]
async fn no_patience_kills_at_once_at_every_step() {
    for (wished, log) in [
        (0, vec![(Kill, 0)]),
        (1, vec![(Kill, 1)]),
        (7, vec![(Terminate, 6), (Kill, 7)]),
    ] {
        let mut tree = Scripted::new(Ends::OnKill);
        let immediate = tokio::time::sleep(Duration::from_secs(wished));
        let teardown = walk(
            &mut tree,
            &ladder(Posix),
            Haste {
                hurried: pending(),
                immediate,
            },
        )
        .await
        .unwrap();
        assert_eq!((teardown.rung, tree.log()), (Rung::Kill, log));
    }
    let mut tree = Scripted::new(Ends::Before).with_rest(Ends::OnKill);
    let immediate = tokio::time::sleep(Duration::from_secs(1));
    let _ = walk(
        &mut tree,
        &ladder(Posix),
        Haste {
            hurried: pending(),
            immediate,
        },
    )
    .await
    .unwrap();
    assert_eq!(tree.log(), [(Terminate, 0), (Kill, 1)]);
}
