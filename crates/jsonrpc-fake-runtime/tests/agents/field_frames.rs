//! Lines that are odd, long, cut or not frames at all. Owns what arrives of each; the bounds themselves are tested to
//! the byte.

use std::time::Duration;

use jsonrpc_fake_runtime::acp::{AcpSteps as _, chunk_frame};
use jsonrpc_fake_runtime::{Condition, Script};
use serde_json::json;

use crate::custody::both_ways;
use crate::support::FakeAgent;

both_ways! {
    one thread:
        noise_before_the_first_answer_and_during_the_shutdown_is_ignored,
        a_chunk_of_a_mebibyte_in_one_line_is_accepted,
        a_line_of_exactly_the_limit_is_accepted_and_one_byte_more_is_refused,
        an_endless_line_is_refused_as_soon_as_it_passes_the_limit,
        the_limit_is_sixteen_mebibytes_by_default,
        characters_that_arrive_a_byte_at_a_time_are_whole,
        half_an_emoji_becomes_a_replacement_character_and_costs_nothing_else;
}

const LIMIT: usize = 64 * 1024;
const DEFAULT_LIMIT: usize = 16 * 1024 * 1024;

async fn answer_to(script: &Script) -> String {
    let outcome = FakeAgent::running(script).delegate("do it").await;
    assert!(!outcome.is_error, "{}", outcome.text);
    outcome.text
}

async fn noise_before_the_first_answer_and_during_the_shutdown_is_ignored() {
    let script = Script::acp()
        .line("Welcome to the agent!")
        .line("")
        .line("[]")
        .line("42")
        .expect("initialize")
        .line("\"loading\"")
        .line("null")
        .bytes(b"\xff\xfe not UTF-8\n".to_vec())
        .respond(json!({"protocolVersion": 1}))
        .new_session()
        .prompt()
        .chunk("hello")
        .end_turn()
        .wait_for(Condition::StdinEof)
        .line("running hooks")
        .line("{\"hook\": \"done\"}")
        .exit(0);
    assert_eq!(answer_to(&script).await, "hello");
}

async fn a_chunk_of_a_mebibyte_in_one_line_is_accepted() {
    let text = "0123456789abcdef".repeat(64 * 1024);
    let script = Script::acp().prompted().chunk(&text).end_turn();
    assert!(answer_to(&script).await == text);
}

/// A chunk in a line of exactly `bytes` bytes, then one more text.
fn line_of(bytes: usize) -> Script {
    Script::acp()
        .prompted()
        .padded(bytes, chunk_frame("{pad}"))
        .chunk("!")
        .end_turn()
}

async fn accepts(agent: FakeAgent, bytes: usize) {
    let outcome = agent.delegate("do it").await;
    assert!(!outcome.is_error, "{}", outcome.text);
    let overhead = serde_json::to_string(&chunk_frame(""))
        .unwrap()
        .replace("{sessionId}", "session-1")
        .len();
    let text = outcome.text.strip_suffix('!').unwrap();
    assert_eq!(text.len(), bytes - overhead);
    assert!(text.bytes().all(|byte| byte == b'x'));
}

/// Refuses the line although the child lives on, and without waiting whether it does.
async fn refuses(agent: FakeAgent) {
    let agent = agent.with(|config| config.dispose_grace = Duration::from_secs(30));
    let outcome = agent.delegate("do it").await;
    assert_eq!(
        outcome.text,
        "Error: subagent run failed\n\
         Diagnostic: Subagent failure (provider: ACP; stage: prompt; category: transport)"
    );
    assert!(outcome.timings.run.unwrap() < Duration::from_secs(20));
}

async fn a_line_of_exactly_the_limit_is_accepted_and_one_byte_more_is_refused() {
    for bytes in [LIMIT - 1, LIMIT] {
        let agent = FakeAgent::running(&line_of(bytes)).with(|config| config.max_frame_bytes = LIMIT);
        accepts(agent, bytes).await;
    }
    let agent = FakeAgent::running(&line_of(LIMIT + 1)).with(|config| config.max_frame_bytes = LIMIT);
    refuses(agent).await;
}

async fn an_endless_line_is_refused_as_soon_as_it_passes_the_limit() {
    let script = Script::acp()
        .prompted()
        .raw("x".repeat(LIMIT + 1))
        .expect("never");
    refuses(FakeAgent::running(&script).with(|config| config.max_frame_bytes = LIMIT)).await;
}

async fn the_limit_is_sixteen_mebibytes_by_default() {
    for bytes in [DEFAULT_LIMIT - 1, DEFAULT_LIMIT] {
        let agent =
            FakeAgent::running(&line_of(bytes)).with(|config| config.max_output_bytes = DEFAULT_LIMIT);
        accepts(agent, bytes).await;
    }
    refuses(FakeAgent::running(&line_of(DEFAULT_LIMIT + 1))).await;
}

async fn characters_that_arrive_a_byte_at_a_time_are_whole() {
    let text = "ä€漢字😀🦀‍ end";
    let script = Script::acp()
        .prompted()
        .byte_by_byte(|s| s.chunk(text).chunk(text))
        .end_turn();
    assert_eq!(answer_to(&script).await, format!("{text}{text}"));
}

/// A chunk whose text is written as the JSON escape `text`.
fn escaped_chunk(text: &str) -> String {
    serde_json::to_string(&chunk_frame("TEXT"))
        .unwrap()
        .replace("TEXT", text)
}

async fn half_an_emoji_becomes_a_replacement_character_and_costs_nothing_else() {
    let script = Script::acp()
        .prompted()
        .line(escaped_chunk(r"a\ud83d b"))
        .line(escaped_chunk(r"\ud83d\ude00"))
        .line(escaped_chunk(r"c\ud83d"))
        .line(escaped_chunk(r"\ude00d"))
        .line(r#"{"jsonrpc":"2.0","id":2,"result":{"note":"cut \ud83d","stopReason":"end_turn"}}"#);
    assert_eq!(answer_to(&script).await, "a\u{fffd} b\u{1f600}c\u{fffd}\u{fffd}d");
}
