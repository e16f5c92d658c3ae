//! Scenarios of an ACP agent: the well-behaved ones here, each kind of misbehaviour in a file of its own.
//!
//! Owns the order of the list.

use serde_json::json;

use crate::acp::AcpSteps;
use crate::scenario::Scenario;
use crate::script::Script;
use crate::step::{Condition, Split, Step};

mod canary;
mod cancels;
mod endings;
mod permissions;
mod processes;
mod stages;
mod traffic;
mod wire;

pub(crate) fn scenarios() -> Vec<Scenario> {
    let mut list = behaved();
    list.extend(cancels::scenarios());
    list.extend(endings::scenarios());
    list.extend(permissions::scenarios());
    list.extend(stages::scenarios());
    list.extend(wire::scenarios());
    list.extend(traffic::scenarios());
    list.extend(processes::scenarios());
    list.extend(canary::scenarios());
    list
}

fn behaved() -> Vec<Scenario> {
    vec![
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
            "facts",
            "writes argv, directory and environment to {dir}/facts.json, then ok",
            || {
                Script::acp()
                    .var("dir", ".")
                    .step(Step::WriteFacts {
                        path: "{dir}/facts.json".into(),
                    })
                    .prompted()
                    .chunk("hello")
                    .end_turn()
            },
        ),
        Scenario::new(
            "ticking",
            "sends 40 chunks, one every 50 ms, then end_turn",
            || {
                Script::acp()
                    .prompted()
                    .repeat(40, |s| s.chunk("{index} ").sleep_ms(50))
                    .end_turn()
            },
        ),
        Scenario::new("slow-start", "takes 500 ms to answer initialize, then ok", || {
            Script::acp()
                .expect("initialize")
                .sleep_ms(500)
                .respond(json!({"protocolVersion": 1}))
                .new_session()
                .prompt()
                .chunk("hello")
                .end_turn()
        }),
        Scenario::new(
            "gated",
            "writes {dir}/prompted, answers once {dir}/go exists",
            || {
                Script::acp()
                    .var("dir", ".")
                    .prompted()
                    .touch("{dir}/prompted")
                    .wait_for(Condition::File {
                        path: "{dir}/go".into(),
                    })
                    .chunk("hello")
                    .end_turn()
            },
        ),
    ]
}
