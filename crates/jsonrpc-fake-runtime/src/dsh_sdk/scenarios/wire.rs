//! Scenarios about bytes and frames that nobody asked for.

use serde_json::json;

use crate::dsh_sdk::{DshSdkSteps, delta_frame};
use crate::scenario::Scenario;
use crate::script::Script;
use crate::step::{AnswerId, Step};

const MIB: usize = 1024 * 1024;

pub(super) fn scenarios() -> Vec<Scenario> {
    let mut list = frames();
    list.extend(oddities());
    list.extend(sizes());
    list
}

fn frames() -> Vec<Scenario> {
    vec![
        Scenario::new(
            "noise",
            "lines that are no frames around everything, then ok",
            || {
                let noise = |s: Script| {
                    ["Starting…", "", "[]", "42", "null", "{\"unfinished\":", "{}"]
                        .iter()
                        .fold(s, |s, line| s.line(*line))
                };
                let script = Script::dsh_sdk()
                    .then(noise)
                    .initialize()
                    .then(noise)
                    .prompt()
                    .then(noise)
                    .mark()
                    .receipt();
                script
                    .then(noise)
                    .message("hello")
                    .then(noise)
                    .completed()
                    .then(noise)
                    .shutdown()
                    .then(noise)
            },
        ),
        Scenario::new(
            "noise-bytes",
            "lines of invalid UTF-8 and NUL around the answer, then ok",
            || {
                let noise = |s: Script| s.bytes(*b"\xff\xfe\x80\n").bytes(*b"\0\0\n");
                Script::dsh_sdk()
                    .then(noise)
                    .accepted()
                    .then(noise)
                    .message("hello")
                    .then(noise)
                    .completed()
                    .shutdown()
            },
        ),
        Scenario::new(
            "byte-by-byte",
            "streams characters of 2 to 4 bytes one byte at a time",
            || {
                let script = Script::dsh_sdk().accepted();
                script
                    .byte_by_byte(|s| s.delta("é€漢字🦀👩\u{200d}🚀").completed())
                    .shutdown()
            },
        ),
    ]
}

fn oddities() -> Vec<Scenario> {
    vec![
        Scenario::new(
            "surrogate-chunk",
            "streamed text that holds half an emoji, then completes",
            || {
                Script::dsh_sdk()
                    .accepted()
                    .line(escaped(r"before \ud83d after"))
                    .completed()
                    .shutdown()
            },
        ),
        Scenario::new(
            "surrogate-halves",
            "the halves of an emoji in two pieces of streamed text",
            || {
                let script = Script::dsh_sdk().accepted();
                script
                    .line(escaped(r"one \ud83e"))
                    .line(escaped(r"\udd80 two"))
                    .completed()
                    .shutdown()
            },
        ),
        Scenario::new(
            "uninvited-requests",
            "requests an invented method; tells the error code",
            || {
                Script::dsh_sdk()
                    .accepted()
                    .request("ask", "host/invented", json!({}))
                    .expect_answer("ask")
                    .message("{answer:ask#/error/code}")
                    .completed()
                    .shutdown()
            },
        ),
        Scenario::new(
            "answer-string-id",
            "first answers with the id as a string, then with the right one",
            || {
                let wrong = json!({"messageId": "wrong"});
                let script = Script::dsh_sdk()
                    .initialize()
                    .prompt()
                    .respond_as(AnswerId::AsString, wrong);
                script.mark().receipt().message("hello").completed().shutdown()
            },
        ),
        Scenario::new(
            "answer-twice",
            "answers the prompt twice, the second time otherwise",
            || {
                let script = Script::dsh_sdk()
                    .accepted()
                    .respond(json!({"messageId": "message-2"}));
                script.message("hello").completed().shutdown()
            },
        ),
        Scenario::new(
            "unfinished-line",
            "ends its output in the middle of a line and exits 0",
            || {
                Script::dsh_sdk()
                    .accepted()
                    .delta("partial")
                    .raw("{\"jsonrpc\":\"2.0\",\"method\":")
                    .exit(0)
            },
        ),
    ]
}

fn sizes() -> Vec<Scenario> {
    let sizes = [
        ("1-mib", MIB),
        ("16-mib", 16 * MIB),
        ("16-mib-less-1", 16 * MIB - 1),
        ("16-mib-and-1", 16 * MIB + 1),
    ];
    let mut list: Vec<Scenario> = sizes
        .map(|(name, bytes)| {
            let about = format!("streamed text in a line of {bytes} bytes, then completes");
            Scenario::new(format!("frame-{name}"), about, move || {
                Script::dsh_sdk()
                    .accepted()
                    .padded(bytes, delta_frame("{pad}"))
                    .completed()
                    .shutdown()
            })
        })
        .into();
    list.extend([
        Scenario::new("endless-line", "256 MiB without a newline, then stays", || {
            Script::dsh_sdk()
                .accepted()
                .delta("partial")
                .repeat(256 * 1024, |s| s.raw("x".repeat(1024)))
        }),
        Scenario::new(
            "endless-text",
            "50 MiB of streamed text in pieces of 1 KiB, then completes",
            || {
                let script = Script::dsh_sdk()
                    .accepted()
                    .repeat(50 * 1024, |s| s.delta(&"x".repeat(1024)));
                script.completed().shutdown()
            },
        ),
        Scenario::new(
            "million-updates",
            "a million small events without text, then a message",
            || {
                let event = |s: Script| s.event("step/start", json!({"turn": 1, "step": 1}));
                Script::dsh_sdk()
                    .accepted()
                    .repeat(1_000_000, event)
                    .message("hello")
                    .completed()
                    .shutdown()
            },
        ),
        Scenario::new(
            "stderr-flood",
            "65,537 bytes and then 1 MiB to stderr, then ok",
            || {
                Script::dsh_sdk()
                    .step(Step::StderrFlood {
                        bytes: 65_537,
                        final_newline: false,
                    })
                    .step(Step::StderrFlood {
                        bytes: 1024 * 1024,
                        final_newline: true,
                    })
                    .answered("hello")
            },
        ),
    ]);
    list
}

/// Streamed text written in escapes that no JSON writer would choose.
fn escaped(text: &str) -> String {
    delta_frame("@").to_string().replace('@', text)
}
