//! SIGINT and SIGTERM. Owns what they ask for: the first one cancels and hurries the teardown, the second one ends
//! patience, and the first one decides the exit code.

use subagent_seam::{TeardownUrgency, Urgency};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::error::CliError;

/// A signal that ends the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopSignal {
    /// SIGINT, or Ctrl-C.
    Interrupt,
    /// SIGTERM.
    #[cfg_attr(not(any(unix, test)), expect(dead_code, reason = "only Unix has this signal"))]
    Terminate,
}

/// The signals that arrived so far, and what they ask for. Clones share one state.
#[derive(Clone, Debug)]
pub(crate) struct Signals {
    seen: watch::Sender<Seen>,
    cancel: CancellationToken,
    urgency: TeardownUrgency,
}

#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    first: Option<StopSignal>,
    count: u32,
}

impl Signals {
    /// Takes both signals over for good. Must be called within a Tokio runtime, whose end ends the listening.
    pub(crate) fn listen() -> Result<Self, CliError> {
        let signals = Self::unheard();
        listener::spawn(signals.clone()).map_err(|source| CliError::System {
            what: "the signals cannot be taken over",
            source,
        })?;
        Ok(signals)
    }

    fn unheard() -> Self {
        Self {
            seen: watch::Sender::default(),
            cancel: CancellationToken::new(),
            urgency: TeardownUrgency::default(),
        }
    }

    /// Cancelled by the first signal.
    pub(crate) fn cancel(&self) -> CancellationToken {
        self.cancel.clone()
    }

    /// Raised by each signal.
    pub(crate) fn urgency(&self) -> TeardownUrgency {
        self.urgency.clone()
    }

    /// The first signal, if any has arrived.
    pub(crate) fn first(&self) -> Option<StopSignal> {
        self.seen.borrow().first
    }

    /// Waits for a signal that arrives from now on. Cancel-safe. Unbounded.
    pub(crate) async fn another(&self) {
        let mut seen = self.seen.subscribe();
        let so_far = seen.borrow_and_update().count;
        // The sender lives as long as `self`, so the wait cannot fail.
        let _ = seen.wait_for(|seen| seen.count > so_far).await;
    }

    fn note(&self, signal: StopSignal) {
        let mut urgency = Urgency::Hurried;
        self.seen.send_modify(|seen| {
            if seen.first.is_some() {
                urgency = Urgency::Immediate;
            }
            seen.first.get_or_insert(signal);
            seen.count = seen.count.saturating_add(1);
        });
        // The urgency first: whoever is woken by the cancellation finds it raised.
        self.urgency.raise(urgency);
        self.cancel.cancel();
    }
}

#[cfg(unix)]
mod listener {
    use std::io;

    use tokio::signal::unix::{SignalKind, signal};

    use super::{Signals, StopSignal};

    pub(super) fn spawn(signals: Signals) -> io::Result<()> {
        let mut interrupts = signal(SignalKind::interrupt())?;
        let mut terminations = signal(SignalKind::terminate())?;
        tokio::spawn(async move {
            loop {
                let arrived = tokio::select! {
                    arrived = interrupts.recv() => arrived.map(|()| StopSignal::Interrupt),
                    arrived = terminations.recv() => arrived.map(|()| StopSignal::Terminate),
                };
                match arrived {
                    Some(signal) => signals.note(signal),
                    None => break,
                }
            }
        });
        Ok(())
    }
}

#[cfg(not(unix))]
mod listener {
    use std::io;

    use super::{Signals, StopSignal};

    #[expect(
        clippy::unnecessary_wraps,
        reason = "the signature is that of the Unix listener"
    )]
    pub(super) fn spawn(signals: Signals) -> io::Result<()> {
        tokio::spawn(async move {
            while tokio::signal::ctrl_c().await.is_ok() {
                signals.note(StopSignal::Interrupt);
            }
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_first_signal_cancels_and_decides_and_the_second_ends_patience() {
        let signals = Signals::unheard();
        assert_eq!(signals.first(), None);
        signals.note(StopSignal::Terminate);
        assert!(signals.cancel().is_cancelled());
        assert_eq!(signals.urgency().current(), Urgency::Hurried);
        signals.note(StopSignal::Interrupt);
        assert_eq!(signals.urgency().current(), Urgency::Immediate);
        assert_eq!(signals.first(), Some(StopSignal::Terminate));
    }

    #[tokio::test]
    async fn another_signal_is_one_that_had_not_arrived_yet() {
        let signals = Signals::unheard();
        signals.note(StopSignal::Interrupt);
        let mut another = Box::pin(signals.another());
        tokio::select! {
            biased;
            () = &mut another => panic!("the signal had arrived before"),
            () = std::future::ready(()) => {}
        }
        signals.note(StopSignal::Interrupt);
        another.await;
    }
}
