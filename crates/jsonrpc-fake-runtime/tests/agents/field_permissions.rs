//! Permission requests that race with a cancellation, and permission requests where nobody is there to ask.

use std::io::{Seek as _, Write as _};
use std::time::{Duration, Instant};

use jsonrpc_fake_runtime::Script;
use jsonrpc_fake_runtime::acp::AcpSteps as _;
use serde_json::{Value, json};
use subagent_acp::PermissionPolicy;
use subagent_seam::StopReason;

use crate::custody::both_ways;
use crate::lifecycle_host::in_a_host_of_its_own;
use crate::support::{FakeAgent, SOON};

both_ways! {
    one thread:
        a_request_that_is_open_when_the_run_is_cancelled_is_answered_cancelled_and_so_is_a_later_one;
    a process of its own:
        a_request_is_answered_at_once_by_policy_and_nothing_reads_the_standard_input;
}

const OPTIONS: [(&str, &str); 3] = [
    ("for-ever", "allow_always"),
    ("yes", "allow_once"),
    ("no", "reject_once"),
];

/// What the fake got as the answer to its request `id`.
fn answer(agent: &FakeAgent, id: &str) -> Value {
    let frames = agent.recording().frames().unwrap();
    let mut answers = frames
        .into_iter()
        .filter(|frame| frame["id"] == id && frame.get("method").is_none());
    let answer = answers.next().unwrap();
    assert_eq!(answers.next(), None, "answered once");
    answer["result"].clone()
}

/// On one thread: while the test holds it, a request of the child waits in its pipe.
async fn a_request_that_is_open_when_the_run_is_cancelled_is_answered_cancelled_and_so_is_a_later_one() {
    let script = Script::acp()
        .prompted()
        .touch("prompted")
        .wait_for_file("ask")
        .ask_permission("open", "edit", &OPTIONS)
        .touch("asked")
        .expect("session/cancel")
        .ask_permission("late", "execute", &OPTIONS)
        .expect_answer("open")
        .expect_answer("late")
        .stop("cancelled")
        .touch("answered");
    let agent = FakeAgent::running(&script).with(|config| config.permission = PermissionPolicy::Allow);
    let (run, cancel) = agent.start_cancellable("do it").await;
    agent.reached("prompted").await;
    std::fs::write(agent.dir().join("ask"), "").unwrap();
    let begun = Instant::now();
    while !agent.dir().join("asked").exists() {
        assert!(begun.elapsed() < SOON, "the fake has not asked");
        std::thread::sleep(Duration::from_millis(1));
    }
    cancel.cancel();
    let result = run.result().await;
    agent.reached("answered").await;
    run.dispose().await.unwrap();
    // No decision is recorded either: there is no line about one.
    assert_eq!(
        (result.stop_reason, &result.diagnostic),
        (StopReason::Aborted, &None)
    );
    let cancelled = json!({"outcome": {"outcome": "cancelled"}});
    assert_eq!(answer(&agent, "open"), cancelled);
    assert_eq!(answer(&agent, "late"), cancelled);
}

/// In a process of its own, whose standard input holds an answer that nobody may read.
fn a_request_is_answered_at_once_by_policy_and_nothing_reads_the_standard_input(test: &str) {
    let mut input = tempfile::tempfile().unwrap();
    input.write_all(b"y\ny\ny\n").unwrap();
    input.rewind().unwrap();
    let inherited = input.try_clone().unwrap();
    if !in_a_host_of_its_own(test, |command| {
        command.stdin(inherited);
    }) {
        // The two share their place in the file.
        assert_eq!(input.stream_position().unwrap(), 0);
        return;
    }
    let cancelled = json!({"outcome": {"outcome": "cancelled"}});
    let selected = |option: &str| json!({"outcome": {"outcome": "selected", "optionId": option}});
    for (policy, expected) in [
        (PermissionPolicy::Reject, cancelled),
        (PermissionPolicy::Decline, selected("no")),
        (PermissionPolicy::Allow, selected("yes")),
    ] {
        let script = Script::acp()
            .prompted()
            .ask_permission("ask", "edit", &OPTIONS)
            .expect_answer("ask")
            .chunk("went on")
            .end_turn();
        let agent = FakeAgent::running(&script).with(|config| config.permission = policy);
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let outcome = runtime.block_on(agent.delegate("do it"));
        assert_eq!((outcome.text.as_str(), outcome.is_error), ("went on", false));
        assert_eq!(answer(&agent, "ask"), expected);
        assert!(outcome.timings.run.unwrap() < Duration::from_secs(5));
    }
}
