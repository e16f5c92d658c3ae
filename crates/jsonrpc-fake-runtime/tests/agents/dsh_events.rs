//! Whose events count: only those of the run's own session, from the mark to its idle.

use jsonrpc_fake_runtime::Script;
use jsonrpc_fake_runtime::dsh_sdk::DshSdkSteps as _;
use serde_json::json;
use subagent_seam::{StopReason, text_of};

use crate::custody::both_ways;
use crate::dsh_support::FakeRuntime;

both_ways! {
    one thread:
        the_idle_of_a_child_session_does_not_end_the_run,
        a_run_without_its_mark_goes_on_until_its_deadline,
        the_frames_of_a_run_are_those_of_the_protocol,
        the_last_words_of_a_child_that_no_longer_listens_are_folded;
    threads:
        only_the_own_activity_contributes;
}

async fn only_the_own_activity_contributes() {
    for name in [
        "mark-after-receipt",
        "all-before-receipt",
        "receipt-in-one-write",
        "activity-before-mark",
        "activity-before-receipt",
        "other-mark",
        "mark-among-others",
        "activity-after-idle",
        "foreign-session",
        "child-session",
        "unknown-traffic",
        "event-no-object-early",
        "event-null-early",
        "event-without-type-early",
        "event-type-number-early",
        "event-no-object-foreign",
        "event-null-foreign",
        "event-without-type-foreign",
        "event-type-number-foreign",
    ] {
        let outcome = FakeRuntime::scenario(name).delegate("do it").await;
        assert_eq!(
            (outcome.text.as_str(), outcome.is_error),
            ("hello", false),
            "{name}"
        );
    }
}

async fn the_idle_of_a_child_session_does_not_end_the_run() {
    let child = json!({"sessionId": "session-child", "status": "idle"});
    let script = Script::dsh_sdk()
        .accepted()
        .delta("before, ")
        .notify(
            "subagent.started",
            json!({"parentSessionId": "{sessionId}", "childSessionId": "session-child"}),
        )
        .notify("session.status", child)
        .touch("child-idle")
        .wait_for_file("go")
        .delta("after")
        .completed()
        .shutdown();
    let runtime = FakeRuntime::running(&script);
    let run = runtime.start("do it").await.unwrap();
    runtime.reached("child-idle").await;
    runtime.go("go");
    let result = run.result().await;
    assert_eq!(result.stop_reason, StopReason::Completed);
    assert_eq!(text_of(&result.output), "before, after");
    run.dispose().await.unwrap();
}

async fn a_run_without_its_mark_goes_on_until_its_deadline() {
    let runtime = FakeRuntime::scenario("mark-never").with(|config| {
        config.idle_timeout = Some(std::time::Duration::from_millis(200));
    });
    let outcome = runtime.delegate("do it").await;
    assert_eq!(
        outcome.text,
        "Error: subagent run failed\nDiagnostic: Subagent failure (provider: DSH SDK; stage: session-run; category: \
         timeout)"
    );
}

async fn the_frames_of_a_run_are_those_of_the_protocol() {
    let runtime = FakeRuntime::scenario("ok").with(|config| config.max_tokens = Some(4096));
    runtime.delegate("what to do").await;
    let frames = runtime.recording().frames().unwrap();
    let session = frames[1].pointer("/params/sessionId").unwrap().as_str().unwrap();
    assert!(
        session.starts_with("session-") && session.len() == 40,
        "{session}"
    );
    let cwd = runtime.dir().to_str().unwrap();
    let initialize =
        json!({"cwd": cwd, "provider": "deepseek-official", "model": "deepseek-v4-flash", "maxTokens": 4096});
    let prompt = json!({"sessionId": session, "contentBlocks": [{"type": "text", "text": "what to do"}]});
    assert_eq!(
        frames,
        [
            json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": initialize}),
            json!({"jsonrpc": "2.0", "id": 1, "method": "session/prompt", "params": prompt}),
            json!({"jsonrpc": "2.0", "id": 2, "method": "shutdown", "params": {}}),
        ]
    );
}

async fn the_last_words_of_a_child_that_no_longer_listens_are_folded() {
    // The answer to its own question cannot be written, so the conversation is over before the child is.
    let script = Script::dsh_sdk()
        .accepted()
        .step(jsonrpc_fake_runtime::Step::CloseStdin)
        .request("ask", "host/invented", json!({}))
        .sleep_ms(50)
        .delta("last words")
        .completed()
        .exit(0);
    let outcome = FakeRuntime::running(&script).delegate("do it").await;
    assert_eq!((outcome.text.as_str(), outcome.is_error), ("last words", false));
}
