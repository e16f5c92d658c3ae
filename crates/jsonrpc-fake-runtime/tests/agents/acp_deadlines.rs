//! Deadlines against children that take their time: which one runs when, what restarts it, what it leaves of a run.
//!
//! The deadlines are as short as a busy machine allows, and what must outlast one is timed by the test, not by a script.

use std::time::{Duration, Instant};

use jsonrpc_fake_runtime::acp::AcpSteps as _;
use jsonrpc_fake_runtime::{Script, Step};
use serde_json::{Value, json};
use subagent_acp::PermissionPolicy;
use subagent_seam::StopReason;
use tokio::task::JoinSet;

use crate::support::{FakeAgent, SOON, file};

const DEADLINE: Duration = Duration::from_millis(1500);

const TIMED_OUT: &str = "Error: subagent run failed\n\
    Diagnostic: Subagent failure (provider: ACP; stage: prompt; category: timeout)";

/// Waits until the deadline has certainly passed, counted from when `sign` was given, and lets the fake go on.
async fn outlast(agent: &FakeAgent, sign: &str) {
    file(&agent.dir().join(sign)).await;
    tokio::time::sleep(DEADLINE + Duration::from_millis(200)).await;
    std::fs::write(agent.dir().join("go"), "").unwrap();
}

fn sign(script: Script, name: &str) -> Script {
    script.step(Step::WriteFile {
        path: name.into(),
        text: "x".into(),
    })
}

#[tokio::test]
async fn the_startup_deadline_does_not_reach_into_a_prompt() {
    // Streams all the time; the deadline passes in the middle of it.
    let script = sign(Script::acp().prompted(), "prompted")
        .chunk("one, ")
        .wait_for_file("go")
        .chunk("two")
        .end_turn();
    let agent = FakeAgent::running(&script).with(|config| config.startup_timeout = Some(DEADLINE));
    let (outcome, ()) = tokio::join!(agent.delegate("task"), outlast(&agent, "prompted"));
    assert_eq!((&*outcome.text, outcome.is_error), ("one, two", false));
    assert!(outcome.timings.run.unwrap() > DEADLINE);
}

#[tokio::test]
async fn every_frame_restarts_the_idle_deadline() {
    let mut agents = JoinSet::new();
    for (what, frame) in frames() {
        let script = Script::acp()
            .prompted()
            .until_frame("vendor/stop", 100, |s| s.frame(frame.clone()));
        // Nobody sends that frame: the run deadline ends it, long after the idle deadline would have.
        let agent = FakeAgent::running(&script).with(|config| {
            config.idle_timeout = Some(DEADLINE);
            config.run_timeout = Some(DEADLINE * 2);
        });
        agents.spawn(async move {
            agent.delegate("task").await;
            (what, agent.host_reports())
        });
    }
    while let Some(played) = agents.join_next().await {
        let (what, reports) = played.unwrap();
        assert_eq!(reports, ["prompt: the run deadline of 3000 ms passed"], "{what}");
    }
}

/// One of each kind of frame.
fn frames() -> Vec<(&'static str, Value)> {
    let update = |session: &str, kind: &str| {
        json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session,
            "update": {"sessionUpdate": kind, "content": {"type": "text", "text": "x"}}}})
    };
    vec![
        (
            "a chunk of the message",
            update("{sessionId}", "agent_message_chunk"),
        ),
        ("a thought", update("{sessionId}", "agent_thought_chunk")),
        (
            "an update of an unknown kind",
            update("{sessionId}", "vendor_news"),
        ),
        (
            "an update of another session",
            update("session-2", "agent_message_chunk"),
        ),
        (
            "a notification of an unknown method",
            json!({"jsonrpc": "2.0", "method": "vendor/news"}),
        ),
        (
            "a request of an unknown method",
            json!({"jsonrpc": "2.0", "id": 1, "method": "vendor/ask"}),
        ),
        (
            "a permission request",
            json!({"jsonrpc": "2.0", "id": "a", "method": "session/request_permission", "params": {}}),
        ),
        (
            "a response that nobody waits for",
            json!({"jsonrpc": "2.0", "id": 4711, "result": {}}),
        ),
    ]
}

/// Adds steps to a script.
type Add = fn(Script) -> Script;

#[tokio::test]
async fn noise_does_not_restart_the_idle_deadline() {
    let mut agents = JoinSet::new();
    let noise: [(&str, Add); 6] = [
        ("a log line", |s| s.line("still thinking")),
        ("an empty line", |s| s.line("")),
        ("an array", |s| s.line("[]")),
        ("a number", |s| s.line("42")),
        ("a line that is not UTF-8", |s| s.bytes(*b"\xff\xfe\n")),
        ("a frame that never ends", |s| s.raw("{\"jsonrpc\": \"2.0\", ")),
    ];
    for (what, add) in noise {
        let script = Script::acp()
            .prompted()
            .chunk("partial")
            .until_frame("session/cancel", 20, add);
        let agent = FakeAgent::running(&script).with(|config| {
            config.idle_timeout = Some(DEADLINE);
            config.run_timeout = Some(SOON);
        });
        agents.spawn(async move { (what, agent.delegate("task").await.text, agent.host_reports()) });
    }
    while let Some(played) = agents.join_next().await {
        let (what, text, reports) = played.unwrap();
        assert_eq!(
            text,
            format!("{TIMED_OUT}\nPartial output before the run ended:\npartial"),
            "{what}"
        );
        assert_eq!(reports, ["prompt: the idle deadline of 1500 ms passed"], "{what}");
    }
}

#[tokio::test]
async fn the_run_deadline_passes_while_an_agent_streams_and_keeps_what_came() {
    let script = Script::acp()
        .prompted()
        .until_frame("session/cancel", 20, |s| s.chunk("more "));
    let agent = FakeAgent::running(&script.expect("session/cancel").stop("cancelled")).with(|config| {
        config.run_timeout = Some(DEADLINE);
        config.idle_timeout = Some(SOON);
    });
    let outcome = agent.delegate("task").await;
    let streamed = outcome.text.strip_prefix(TIMED_OUT).unwrap();
    let streamed = streamed
        .strip_prefix("\nPartial output before the run ended:\n")
        .unwrap();
    assert!(
        streamed.len() > 5 && streamed.replace("more ", "").is_empty(),
        "{streamed}"
    );
    assert_eq!(outcome.result.unwrap().stop_reason, StopReason::Error);
    assert!(outcome.dispose_error.is_none());
    let sent = agent.recording().methods().unwrap();
    assert_eq!(
        sent,
        ["initialize", "session/new", "session/prompt", "session/cancel"]
    );
}

#[tokio::test]
async fn after_a_deadline_a_question_is_answered_with_cancelled_and_not_told() {
    let options = &[("yes", "allow_once"), ("no", "reject_once")];
    let script = Script::acp()
        .prompted()
        .chunk("partial")
        .expect("session/cancel")
        .ask_permission("late", "edit", options)
        .expect_answer("late")
        .stop("cancelled");
    for policy in [PermissionPolicy::Allow, PermissionPolicy::Decline] {
        let agent = FakeAgent::running(&script).with(|config| {
            config.permission = policy;
            config.run_timeout = Some(DEADLINE);
        });
        let outcome = agent.delegate("task").await;
        assert_eq!(
            outcome.text,
            format!("{TIMED_OUT}\nPartial output before the run ended:\npartial")
        );
        let answer = agent
            .recording()
            .wait_for(SOON, |frame| frame["id"] == "late")
            .unwrap();
        assert_eq!(
            answer["result"],
            json!({"outcome": {"outcome": "cancelled"}}),
            "{policy:?}"
        );
    }
}

#[tokio::test]
async fn a_decision_before_the_deadline_is_told() {
    let script = Script::acp()
        .prompted()
        .ask_permission("ask", "execute", &[("yes", "allow_once")])
        .expect_answer("ask")
        .expect("session/cancel")
        .stop("cancelled");
    let agent = FakeAgent::running(&script).with(|config| {
        config.permission = PermissionPolicy::Allow;
        config.run_timeout = Some(DEADLINE);
    });
    assert_eq!(
        agent.delegate("task").await.text,
        format!("{TIMED_OUT}\nACP unattended decision (policy: allow; request: execute; decision: allowed)")
    );
    let answer = agent
        .recording()
        .wait_for(SOON, |frame| frame["id"] == "ask")
        .unwrap();
    assert_eq!(
        answer["result"],
        json!({"outcome": {"outcome": "selected", "optionId": "yes"}})
    );
}

#[tokio::test]
async fn an_answer_to_the_cancellation_ends_the_wait_for_it() {
    let script = Script::acp().prompted().expect("session/cancel").stop("end_turn");
    let agent = FakeAgent::running(&script).with(|config| config.run_timeout = Some(DEADLINE));
    let outcome = agent.delegate("task").await;
    assert_eq!(outcome.text, TIMED_OUT);
    assert_eq!(
        agent.host_reports(),
        ["prompt: the run deadline of 1500 ms passed"]
    );
}

#[tokio::test]
async fn the_startup_deadline_does_not_run_on_while_an_exit_is_awaited() {
    for (method, stage) in [("initialize", "initialize"), ("session/new", "new-session")] {
        let script = Script::acp();
        let script = if method == "initialize" {
            script
        } else {
            script.initialize()
        };
        let script = sign(script.expect(method).step(Step::CloseStdout), "closed")
            .wait_for_file("go")
            .exit(7);
        let agent = FakeAgent::running(&script).with(|config| {
            config.startup_timeout = Some(DEADLINE);
            config.dispose_grace = SOON;
        });
        let begun = Instant::now();
        let (outcome, ()) = tokio::join!(agent.delegate("task"), outlast(&agent, "closed"));
        assert!(begun.elapsed() > DEADLINE);
        assert_eq!(
            outcome.text,
            format!(
                "Error: subagent-acp: Subagent failure (provider: ACP; stage: {stage}; category: process-exit; exit \
                 code: 7)"
            )
        );
    }
}

#[tokio::test]
async fn a_pipe_that_closes_before_the_run_deadline_is_explained_by_the_exit_after_it() {
    let script = Script::acp().prompted().chunk("partial").step(Step::CloseStdout);
    let script = sign(script, "closed").wait_for_file("go").exit(7);
    let agent = FakeAgent::running(&script).with(|config| {
        (config.run_timeout, config.idle_timeout) = (Some(DEADLINE), Some(DEADLINE));
        config.dispose_grace = SOON;
    });
    let (outcome, ()) = tokio::join!(agent.delegate("task"), outlast(&agent, "closed"));
    assert_eq!(
        outcome.text,
        "Error: subagent run failed\n\
         Diagnostic: Subagent failure (provider: ACP; stage: process; category: process-exit; exit code: 7)\n\
         Partial output before the run ended:\npartial"
    );
}

#[tokio::test]
async fn a_deadline_that_is_not_passed_leaves_no_trace() {
    let agent = FakeAgent::running(&Script::acp().prompted().chunk("done").end_turn()).with(|config| {
        config.startup_timeout = Some(SOON);
        config.run_timeout = Some(SOON);
        config.idle_timeout = Some(SOON);
    });
    let outcome = agent.delegate("task").await;
    assert_eq!(outcome.text, "done");
    assert_eq!(
        agent.recording().methods().unwrap(),
        ["initialize", "session/new", "session/prompt"]
    );
    assert!(agent.host_reports().is_empty());
}
