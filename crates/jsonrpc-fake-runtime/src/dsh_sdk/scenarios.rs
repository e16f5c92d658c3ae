//! Scenarios of a DSH SDK runtime: the well-behaved ones and the faults of any child here, the rest by kind.
//!
//! Owns the order of the list.

use serde_json::json;

use crate::dsh_sdk::DshSdkSteps;
use crate::misbehave::{self, Spot};
use crate::scenario::Scenario;
use crate::script::Script;
use crate::step::{Split, Step};

mod canary;
mod events;
mod handshake;
mod malformed;
mod turns;
mod wire;

/// The places where something can go wrong. A request is open at those from `initialize` to `prompt`, and at the last.
const SPOTS: [Spot; 7] = [
    Spot {
        name: "start",
        place: "before reading anything",
        script: Script::dsh_sdk,
    },
    Spot {
        name: "initialize",
        place: "instead of answering initialize",
        script: || Script::dsh_sdk().expect("initialize"),
    },
    Spot {
        name: "prompt",
        place: "instead of answering the prompt",
        script: || Script::dsh_sdk().initialize().prompt(),
    },
    Spot {
        name: "accepted",
        place: "after taking the prompt",
        script: || Script::dsh_sdk().accepted(),
    },
    Spot {
        name: "mid-prompt",
        place: "after some streamed text",
        script: || Script::dsh_sdk().accepted().delta("partial"),
    },
    Spot {
        name: "after-turn",
        place: "after the end of the turn",
        script: || Script::dsh_sdk().accepted().message("done").completed(),
    },
    Spot {
        name: "shutdown",
        place: "instead of answering shutdown",
        script: || {
            Script::dsh_sdk()
                .accepted()
                .message("done")
                .completed()
                .expect("shutdown")
        },
    },
];

pub(crate) fn scenarios() -> Vec<Scenario> {
    let mut list = behaved();
    list.extend(turns::scenarios());
    list.extend(events::scenarios());
    list.extend(malformed::scenarios());
    list.extend(handshake::scenarios());
    list.extend(misbehave::faults(&SPOTS));
    list.extend(misbehave::errors(&SPOTS[1..2], |s| s));
    list.extend(misbehave::errors(&SPOTS[2..3], DshSdkSteps::shutdown));
    list.extend(misbehave::errors(&SPOTS[6..], |s| s));
    list.extend(wire::scenarios());
    list.extend(misbehave::exits(
        Script::dsh_sdk,
        |s| s.answered("done"),
        |s| s.accepted().delta("partial"),
    ));
    list.extend(misbehave::descendants(
        || Script::dsh_sdk().accepted(),
        |s| s.message("hello").completed().shutdown(),
    ));
    list.extend(canary::scenarios());
    list
}

fn behaved() -> Vec<Scenario> {
    vec![
        Scenario::new("ok", "answers with a short text and completed", || {
            Script::dsh_sdk().answered("hello")
        }),
        Scenario::new(
            "echo",
            "streams the text of the prompt, word by word, and completes",
            || {
                Script::dsh_sdk()
                    .accepted()
                    .each_part("{prompt}", Split::Words, |s| s.delta("{part}"))
                    .message("{prompt}")
                    .completed()
                    .shutdown()
            },
        ),
        Scenario::new(
            "facts",
            "writes argv, directory and environment to {dir}/facts.json, then ok",
            || {
                Script::dsh_sdk()
                    .var("dir", ".")
                    .step(Step::WriteFacts {
                        path: "{dir}/facts.json".into(),
                    })
                    .answered("hello")
            },
        ),
        Scenario::new(
            "ticking",
            "streams 40 words, one every 50 ms, then completes",
            || {
                Script::dsh_sdk()
                    .accepted()
                    .repeat(40, |s| s.delta("{index} ").sleep_ms(50))
                    .completed()
                    .shutdown()
            },
        ),
        Scenario::new(
            "gated",
            "writes {dir}/prompted, answers once {dir}/go exists",
            || {
                Script::dsh_sdk()
                    .var("dir", ".")
                    .accepted()
                    .touch("{dir}/prompted")
                    .wait_for_file("{dir}/go")
                    .message("hello")
                    .completed()
                    .shutdown()
            },
        ),
        Scenario::new("slow-start", "takes 500 ms to answer initialize, then ok", || {
            let info = json!({"serverInfo": {"name": "deepseek-harness-sdk-runtime", "version": "0"}});
            Script::dsh_sdk()
                .expect("initialize")
                .sleep_ms(500)
                .respond(info)
                .prompt()
                .mark()
                .receipt()
                .message("hello")
                .completed()
                .shutdown()
        }),
    ]
}
