//! Scenarios about bytes: noise between frames, encodings, sizes.

use serde_json::json;

use crate::acp::{AcpSteps, chunk_frame};
use crate::scenario::Scenario;
use crate::script::Script;
use crate::step::{Condition, Step};

const MIB: usize = 1024 * 1024;

/// Characters of two, three and four bytes, and combinations of several.
const WIDE: &str = "é€漢字🦀👩\u{200d}🚀";

pub(super) fn scenarios() -> Vec<Scenario> {
    let mut list = noise();
    list.extend(line_ends());
    list.extend(encodings());
    list.extend(sizes());
    list
}

fn noise() -> Vec<Scenario> {
    vec![
        Scenario::new(
            "noise",
            "lines that are no frames before, during and after everything, then ok",
            || {
                let noise = |s: Script| {
                    [
                        "Starting the agent…",
                        "",
                        "[]",
                        "42",
                        "null",
                        "\"text\"",
                        "{\"unfinished\":",
                        "[{}]",
                        "{}",
                    ]
                    .iter()
                    .fold(s, |s, line| s.line(*line))
                };
                Script::acp()
                    .expect("initialize")
                    .then(noise)
                    .respond(json!({"protocolVersion": 1}))
                    .then(noise)
                    .new_session()
                    .then(noise)
                    .prompt()
                    .then(noise)
                    .chunk("hello")
                    .then(noise)
                    .end_turn()
                    .then(noise)
                    .wait_for(Condition::StdinEof)
                    .then(noise)
            },
        ),
        Scenario::new(
            "noise-bytes",
            "lines of invalid UTF-8 and NUL around the frames, then ok",
            || {
                let noise = |s: Script| {
                    s.bytes(*b"\xff\xfe\x80\n")
                        .bytes(*b"\0\0\n")
                        .bytes(*b"{\"jsonrpc\":\"2.0\",\"method\":\"\xc3(\"}\n")
                };
                Script::acp()
                    .then(noise)
                    .initialize()
                    .then(noise)
                    .new_session()
                    .then(noise)
                    .prompt()
                    .then(noise)
                    .chunk("hello")
                    .then(noise)
                    .end_turn()
            },
        ),
        Scenario::new(
            "spoilt-chunk",
            "a chunk with invalid UTF-8 between two good ones, then end_turn",
            || {
                let spoilt = b"{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"session-1\",\
                \"update\":{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"\xff\"}}}}\n";
                Script::acp()
                    .prompted()
                    .chunk("one ")
                    .bytes(*spoilt)
                    .chunk("two")
                    .end_turn()
            },
        ),
    ]
}

fn line_ends() -> Vec<Scenario> {
    vec![
        Scenario::new("crlf", "every line ends with CR LF", || {
            let session = |s: Script, method: &str, result: &str| {
                s.expect(method).raw(format!(
                    "{{\"jsonrpc\":\"2.0\",\"id\":{{{method}#/id}},\"result\":{result}}}\r\n"
                ))
            };
            let script = session(Script::acp(), "initialize", r#"{"protocolVersion":1}"#);
            let script = session(script, "session/new", r#"{"sessionId":"session-1"}"#).prompt();
            script
                .raw(chunk_frame("hello").to_string() + "\r\n")
                .raw("{\"jsonrpc\":\"2.0\",\"id\":{session/prompt#/id},\"result\":{\"stopReason\":\"end_turn\"}}\r\n")
        }),
        Scenario::new(
            "unfinished-line",
            "ends its output in the middle of the prompt's answer and exits 0",
            || {
                Script::acp()
                    .prompted()
                    .chunk("hello")
                    .raw("{\"jsonrpc\":\"2.0\",\"id\":")
                    .exit(0)
            },
        ),
        Scenario::new(
            "answer-without-newline",
            "answers the prompt without a newline and exits 0",
            || {
                Script::acp()
                .prompted()
                .chunk("hello")
                .raw("{\"jsonrpc\":\"2.0\",\"id\":{session/prompt#/id},\"result\":{\"stopReason\":\"end_turn\"}}")
                .exit(0)
            },
        ),
    ]
}

fn encodings() -> Vec<Scenario> {
    vec![
        Scenario::new(
            "byte-by-byte",
            "writes everything one byte at a time, with characters of 2 to 4 bytes",
            || {
                Script::acp()
                    .expect("initialize")
                    .byte_by_byte(|s| s.respond(json!({"protocolVersion": 1})))
                    .expect("session/new")
                    .byte_by_byte(|s| s.respond(json!({"sessionId": "{sessionId}"})))
                    .prompt()
                    .byte_by_byte(|s| s.chunk(WIDE).end_turn())
            },
        ),
        Scenario::new(
            "wide-characters",
            "answers with characters of 2 to 4 bytes and escapes",
            || {
                Script::acp()
                    .prompted()
                    .chunk(WIDE)
                    .line(escaped(r"\u00e9\ud83e\udd80\n\t\/\u0000"))
                    .end_turn()
            },
        ),
        Scenario::new(
            "surrogate-chunk",
            "a chunk that holds half an emoji, then end_turn",
            || {
                Script::acp()
                    .prompted()
                    .line(escaped(r"before \ud83d after"))
                    .end_turn()
            },
        ),
        Scenario::new(
            "surrogate-halves",
            "the halves of an emoji in two chunks, then end_turn",
            || {
                Script::acp()
                    .prompted()
                    .line(escaped(r"one \ud83e"))
                    .line(escaped(r"\udd80 two"))
                    .end_turn()
            },
        ),
        Scenario::new(
            "surrogate-answer",
            "a prompt answer with an extra member that holds half an emoji",
            || {
                Script::acp().prompted().chunk("hello").line(
                r#"{"jsonrpc":"2.0","id":{session/prompt#/id},"result":{"stopReason":"end_turn","note":"\ud83d"}}"#,
            )
            },
        ),
        Scenario::new(
            "surrogate-session-id",
            "a session id that holds half an emoji",
            || {
                Script::acp()
                    .initialize()
                    .expect("session/new")
                    .line(r#"{"jsonrpc":"2.0","id":{session/new#/id},"result":{"sessionId":"s-\ud83d"}}"#)
                    .prompt()
                    .end_turn()
            },
        ),
    ]
}

/// A chunk whose text is written in escapes that no JSON writer would choose.
fn escaped(text: &str) -> String {
    chunk_frame("@").to_string().replace('@', text)
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
            let about = format!("one chunk in a line of {bytes} bytes, then end_turn");
            Scenario::new(format!("frame-{name}"), about, move || {
                Script::acp()
                    .prompted()
                    .padded(bytes, chunk_frame("{pad}"))
                    .end_turn()
            })
        })
        .into();
    list.extend([
        Scenario::new("endless-line", "256 MiB without a newline, then stays", || {
            Script::acp()
                .prompted()
                .chunk("partial")
                .repeat(256 * 1024, |s| s.raw("x".repeat(1024)))
        }),
        Scenario::new(
            "endless-text",
            "50 MiB of text in chunks of 1 KiB, then end_turn",
            || {
                Script::acp()
                    .prompted()
                    .repeat(50 * 1024, |s| s.chunk(&"x".repeat(1024)))
                    .end_turn()
            },
        ),
        Scenario::new(
            "million-updates",
            "a million small updates without text, then a text and end_turn",
            || {
                let usage = json!({"sessionUpdate": "usage_update", "used": 1, "size": 200_000});
                Script::acp()
                    .prompted()
                    .repeat(1_000_000, |s| s.update(usage))
                    .chunk("hello")
                    .end_turn()
            },
        ),
        Scenario::new(
            "stderr-flood",
            "65,537 bytes and then 1 MiB to stderr before each answer, then ok",
            || {
                let flood = |s: Script| {
                    s.step(Step::StderrFlood {
                        bytes: 65_537,
                        final_newline: false,
                    })
                    .step(Step::StderrFlood {
                        bytes: 1024 * 1024,
                        final_newline: true,
                    })
                };
                Script::acp()
                    .then(flood)
                    .initialize()
                    .then(flood)
                    .new_session()
                    .prompt()
                    .then(flood)
                    .chunk("hello")
                    .end_turn()
            },
        ),
        Scenario::new(
            "stderr-unfinished",
            "a line without its newline on stderr, then ok",
            || {
                Script::acp()
                    .stderr("warning: no newline follows")
                    .prompted()
                    .chunk("hello")
                    .end_turn()
            },
        ),
    ]);
    list
}
