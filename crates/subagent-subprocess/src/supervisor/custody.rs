//! What a supervisor does next. Owns the order of its steps as plain data: it obeys its host as long as there is one, and
//! walks the ladder by itself afterwards. Time is told to it, and what it decides is done elsewhere.

use std::time::Instant;

use super::channel::Word;
use super::order::Windows;
use crate::os::Blow;

/// The state of one agent's custody.
#[derive(Debug)]
pub(super) struct Custody {
    windows: Windows,
    agent_has_ended: bool,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The host decides.
    Serving {
        /// Whether the tree has been asked to end.
        asked: bool,
    },
    /// The host is gone, and with it the agent's input: the agent may end by itself.
    Closing { until: Instant },
    /// The tree was asked to end.
    Asked { until: Instant },
    /// All that is found is killed, until nothing is left.
    Killing,
}

impl Custody {
    pub(super) fn new(windows: Windows) -> Self {
        Self {
            windows,
            agent_has_ended: false,
            stage: Stage::Serving { asked: false },
        }
    }

    /// What to do about a word of the host's.
    pub(super) fn heard(&mut self, word: Word, now: Instant) -> Option<Blow> {
        match (word, self.stage) {
            (Word::Strike(Blow::Terminate), Stage::Serving { .. }) => {
                self.stage = Stage::Serving { asked: true };
                Some(Blow::Terminate)
            }
            (Word::Strike(Blow::Kill), _) => Some(self.kill()),
            (Word::Gone, Stage::Serving { asked: true }) => {
                let until = now + self.windows.grace;
                self.stage = Stage::Asked { until };
                None
            }
            (Word::Gone, Stage::Serving { asked: false }) if self.agent_has_ended => Some(self.ask(now)),
            (Word::Gone, Stage::Serving { asked: false }) => {
                let until = now + self.windows.eof_grace;
                self.stage = Stage::Closing { until };
                None
            }
            _ => None,
        }
    }

    /// What to do when the agent itself has ended, and something of its tree may be left.
    pub(super) fn agent_ended(&mut self, now: Instant) -> Option<Blow> {
        self.agent_has_ended = true;
        matches!(self.stage, Stage::Closing { .. }).then(|| self.ask(now))
    }

    /// What to do because of the time.
    pub(super) fn passed(&mut self, now: Instant) -> Option<Blow> {
        match self.stage {
            Stage::Closing { until } if now >= until => Some(self.ask(now)),
            Stage::Asked { until } if now >= until => Some(self.kill()),
            _ => None,
        }
    }

    /// When [`passed`](Self::passed) is to be called.
    pub(super) fn deadline(&self) -> Option<Instant> {
        match self.stage {
            Stage::Closing { until } | Stage::Asked { until } => Some(until),
            Stage::Serving { .. } | Stage::Killing => None,
        }
    }

    /// Whether everything is to be killed, again and again.
    pub(super) fn is_killing(&self) -> bool {
        self.stage == Stage::Killing
    }

    fn ask(&mut self, now: Instant) -> Blow {
        let until = now + self.windows.grace;
        self.stage = Stage::Asked { until };
        Blow::Terminate
    }

    fn kill(&mut self) -> Blow {
        self.stage = Stage::Killing;
        Blow::Kill
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::os::Blow::{Kill, Terminate};

    const EOF: Duration = Duration::from_secs(6);
    const GRACE: Duration = Duration::from_secs(3);
    const TICK: Duration = Duration::from_millis(1);

    fn custody() -> (Custody, Instant) {
        let windows = Windows {
            eof_grace: EOF,
            grace: GRACE,
        };
        (Custody::new(windows), Instant::now())
    }

    #[test]
    fn a_host_is_obeyed_and_nothing_is_done_unasked() {
        let (mut custody, now) = custody();
        assert_eq!(custody.deadline(), None);
        assert_eq!(custody.agent_ended(now), None);
        assert_eq!(custody.heard(Word::Strike(Terminate), now), Some(Terminate));
        assert_eq!(custody.passed(now + 100 * EOF), None);
        assert!(!custody.is_killing());
        assert_eq!(custody.heard(Word::Strike(Kill), now), Some(Kill));
        assert!(custody.is_killing());
        assert_eq!(custody.heard(Word::Gone, now), None);
        assert!(custody.is_killing());
    }

    #[test]
    fn without_a_host_the_whole_ladder_is_walked() {
        let (mut custody, now) = custody();
        assert_eq!(custody.heard(Word::Gone, now), None);
        assert_eq!(custody.deadline(), Some(now + EOF));
        let shortly_before = |window: Duration| now + window.saturating_sub(TICK);
        assert_eq!(custody.passed(shortly_before(EOF)), None);
        assert_eq!(custody.passed(now + EOF), Some(Terminate));
        assert_eq!(custody.deadline(), Some(now + EOF + GRACE));
        assert_eq!(custody.passed(shortly_before(EOF + GRACE)), None);
        assert_eq!(custody.passed(now + EOF + GRACE), Some(Kill));
        assert!(custody.is_killing());
    }

    #[test]
    fn the_rest_is_asked_as_soon_as_the_agent_of_a_dead_host_has_ended() {
        let (mut custody, now) = custody();
        assert_eq!(custody.heard(Word::Gone, now), None);
        assert_eq!(custody.agent_ended(now + TICK), Some(Terminate));
        assert_eq!(custody.deadline(), Some(now + TICK + GRACE));
    }

    #[test]
    fn the_rest_of_an_agent_that_ended_before_its_host_is_asked_at_once() {
        let (mut custody, now) = custody();
        assert_eq!(custody.agent_ended(now), None);
        assert_eq!(custody.heard(Word::Gone, now), Some(Terminate));
    }

    #[test]
    fn a_tree_that_the_host_had_asked_gets_the_rest_of_the_ladder() {
        let (mut custody, now) = custody();
        assert_eq!(custody.heard(Word::Strike(Terminate), now), Some(Terminate));
        assert_eq!(custody.heard(Word::Gone, now), None);
        assert_eq!(custody.agent_ended(now + TICK), None);
        assert_eq!(custody.passed(now + GRACE), Some(Kill));
    }
}
