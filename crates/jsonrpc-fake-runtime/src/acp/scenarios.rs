//! Scenarios of an ACP agent: the well-behaved ones here, each kind of misbehaviour in a file of its own.
//!
//! Owns the order of the list.

use crate::acp::AcpSteps;
use crate::scenario::Scenario;
use crate::script::Script;
use crate::step::Split;

pub(crate) fn scenarios() -> Vec<Scenario> {
    let mut list = vec![
        Scenario::new("ok", "answers with a short text and end_turn", || {
            Script::acp().prompted().chunk("hello").end_turn()
        }),
        Scenario::new(
            "echo",
            "answers with the text of the prompt, word by word, and end_turn",
            || {
                Script::acp()
                    .prompted()
                    .each_part("{prompt}", Split::Words, |s| s.chunk("{part}"))
                    .end_turn()
            },
        ),
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
    ];
    list.shrink_to_fit();
    list
}
