//! Scenarios about a cancelled turn.

use crate::acp::AcpSteps;
use crate::scenario::Scenario;
use crate::script::Script;

pub(super) fn scenarios() -> Vec<Scenario> {
    vec![
        Scenario::new(
            "slow",
            "sends a chunk every 20 ms until cancelled, then answers cancelled",
            || {
                Script::acp()
                    .prompted()
                    .until_frame("session/cancel", 20, |s| s.chunk("tick "))
                    .expect("session/cancel")
                    .stop("cancelled")
            },
        ),
        Scenario::new(
            "slow-cancel",
            "answers cancelled 300 ms after it was cancelled",
            || Script::acp().up_to_cancel().sleep_ms(300).stop("cancelled"),
        ),
        Scenario::new(
            "lies-after-cancel",
            "answers end_turn after it was cancelled",
            || {
                Script::acp()
                    .up_to_cancel()
                    .chunk("as if nothing happened")
                    .end_turn()
            },
        ),
        Scenario::new(
            "ignores-cancel",
            "goes on sending a chunk every 20 ms after it was cancelled",
            || {
                Script::acp()
                    .up_to_cancel()
                    .repeat(5000, |s| s.chunk("tick ").sleep_ms(20))
                    .end_turn()
            },
        ),
        Scenario::new(
            "silent-after-cancel",
            "never answers the prompt once it was cancelled",
            || Script::acp().up_to_cancel(),
        ),
        Scenario::new("dies-of-cancel", "exits with code 9 when it is cancelled", || {
            Script::acp().up_to_cancel().exit(9)
        }),
    ]
}

/// Steps that several scenarios share.
pub(super) trait UntilCancelled: AcpSteps {
    /// Up to the first chunk, `partial`, and the cancellation after it.
    fn up_to_cancel(self) -> Self {
        self.prompted()
            .chunk("partial")
            .with(|script| script.expect("session/cancel"))
    }
}

impl UntilCancelled for Script {}
