//! Frames that were not asked for, that belong to somebody else, or that can no longer be delivered.

use std::time::Duration;

use jsonrpc_fake_runtime::acp::AcpSteps as _;
use jsonrpc_fake_runtime::{Script, Step};
use serde_json::json;

use crate::custody::both_ways;
use crate::support::{FakeAgent, is_alive, note_pid};

both_ways! {
    one thread:
        updates_of_another_session_before_the_prompt_and_after_its_answer_are_not_output,
        text_that_waits_in_the_pipe_when_the_prompt_is_sent_is_from_before_the_prompt,
        requests_that_nobody_invited_are_refused_and_the_turn_goes_on,
        requests_before_the_prompt_are_answered_too,
        a_prompt_for_a_child_that_has_closed_its_input_is_an_ordinary_failure,
        a_child_that_closes_its_input_after_initialize_is_a_failed_start;
}

fn chunk_of(session: &str, script: Script, text: &str) -> Script {
    script.update_of(
        session,
        json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}),
    )
}

async fn updates_of_another_session_before_the_prompt_and_after_its_answer_are_not_output() {
    let script = Script::acp()
        .initialize()
        .expect("session/new")
        .chunk("before the session ")
        .respond(json!({"sessionId": "{sessionId}"}))
        .prompt()
        .then(|s| chunk_of("another-session", s, "foreign "))
        .chunk("mine")
        .then(|s| chunk_of("", s, "nobody's "))
        .end_turn()
        .chunk(" after the answer")
        .touch("all-sent");
    let agent = FakeAgent::running(&script);
    let run = agent.start("do it").await.unwrap();
    let result = run.result().await;
    agent.reached("all-sent").await;
    run.dispose().await.unwrap();
    assert_eq!(result.output, ["mine".into()]);
    assert_eq!(*run.result().await, *result);
}

async fn text_that_waits_in_the_pipe_when_the_prompt_is_sent_is_from_before_the_prompt() {
    // In one write with the answer: it has been written before the prompt can have been read.
    let script = Script::acp()
        .initialize()
        .expect("session/new")
        .together(|s| s.respond(json!({"sessionId": "{sessionId}"})).chunk("too early "))
        .prompt()
        .chunk("mine")
        .end_turn();
    assert_eq!(FakeAgent::running(&script).delegate("do it").await.text, "mine");
}

async fn requests_that_nobody_invited_are_refused_and_the_turn_goes_on() {
    let methods = [
        "fs/read_text_file",
        "fs/write_text_file",
        "terminal/create",
        "craft/invented",
    ];
    let script = methods.iter().fold(Script::acp().prompted(), |script, method| {
        script
            .request(
                *method,
                *method,
                json!({"sessionId": "{sessionId}", "path": "/etc/passwd"}),
            )
            .expect_answer(*method)
    });
    // A number as the id, and no parameters.
    let script = script
        .frame(json!({"jsonrpc": "2.0", "id": 7, "method": "bare"}))
        .expect_answer(7);
    let agent = FakeAgent::running(&script.chunk("went on").end_turn());
    assert_eq!(agent.delegate("do it").await.text, "went on");

    let answers: Vec<_> = agent
        .recording()
        .frames()
        .unwrap()
        .into_iter()
        .filter(|frame| frame.get("method").is_none())
        .collect();
    let refusal = |id: serde_json::Value| json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "method not found"}});
    let expected: Vec<_> = methods
        .iter()
        .map(|method| json!(method))
        .chain([json!(7)])
        .map(refusal)
        .collect();
    assert_eq!(answers, expected);
}

async fn requests_before_the_prompt_are_answered_too() {
    let ask = |script: Script, id: &'static str| {
        script
            .request(id, "fs/read_text_file", json!({"path": "/etc/passwd"}))
            .expect_answer(id)
    };
    let script = Script::acp()
        .expect("initialize")
        .then(|s| ask(s, "first"))
        .respond(json!({"protocolVersion": 1}))
        .expect("session/new")
        .then(|s| ask(s, "second"))
        .respond(json!({"sessionId": "{sessionId}"}))
        .prompt()
        .chunk("hello")
        .end_turn();
    assert_eq!(FakeAgent::running(&script).delegate("do it").await.text, "hello");
}

async fn a_prompt_for_a_child_that_has_closed_its_input_is_an_ordinary_failure() {
    let script = Script::acp()
        .step(note_pid())
        .ready()
        .step(Step::CloseStdin)
        .hang();
    let agent = FakeAgent::running(&script).impatient();
    let outcome = agent.delegate(&"x".repeat(1024 * 1024)).await;
    assert_eq!(
        outcome.text,
        "Error: subagent run failed\n\
         Diagnostic: Subagent failure (provider: ACP; stage: prompt; category: transport)"
    );
    assert!(!is_alive(agent.pid("pid").await));
}

async fn a_child_that_closes_its_input_after_initialize_is_a_failed_start() {
    let script = Script::acp()
        .step(note_pid())
        .expect("initialize")
        // Before the answer, so that the next request finds it closed for certain.
        .step(Step::CloseStdin)
        .respond(json!({"protocolVersion": 1}))
        .hang();
    let agent = FakeAgent::running(&script)
        .impatient()
        .with(|config| config.startup_timeout = Some(Duration::from_secs(20)));
    let outcome = agent.delegate(&"x".repeat(1024 * 1024)).await;
    assert_eq!(
        outcome.text,
        "Error: subagent-acp: Subagent failure (provider: ACP; stage: new-session; category: transport)"
    );
    assert!(!is_alive(agent.pid("pid").await));
}
