//! Start, publication, result, cancellation. Owns the order of these and what each caller sees; how a child is ended
//! stands in `teardown`.

use std::time::{Duration, Instant};

use jsonrpc_fake_runtime::acp::{AcpSteps as _, Stage};
use jsonrpc_fake_runtime::{Script, Step};
use subagent_seam::{Provider as _, StopReason, text_of};
use tokio::task::JoinSet;

use crate::support::{FakeAgent, SOON, is_alive, note_pid};

/// A child that reacts to nothing; the windows are so long that a wait for any of them would be seen.
fn unmoved(script: Script) -> FakeAgent {
    let script = Script::acp()
        .ignore_eof()
        .ignore_sigterm()
        .step(note_pid())
        .then(|mut start| {
            start.steps.extend(script.steps);
            start
        });
    FakeAgent::running(&script).with(|config| {
        config.dispose_eof_grace = Duration::from_mins(1);
        config.dispose_grace = Duration::from_mins(1);
    })
}

/// "At once" on a busy machine, and far below any window of [`unmoved`].
const AT_ONCE: Duration = Duration::from_secs(5);

#[tokio::test(flavor = "multi_thread")]
async fn the_result_can_be_awaited_many_times_and_by_several_tasks() {
    let script = Script::acp()
        .prompted()
        .chunk("hello")
        .wait_for_file("go")
        .end_turn();
    let agent = FakeAgent::running(&script);
    let run = agent.start("do it").await.unwrap();
    let mut waiters = JoinSet::new();
    for _ in 0..8 {
        let run = run.clone();
        waiters.spawn(async move { run.result().await });
    }
    std::fs::write(agent.dir().join("go"), "").unwrap();
    while let Some(result) = waiters.join_next().await {
        let result = result.unwrap();
        assert_eq!(
            (result.stop_reason, text_of(&result.output)),
            (StopReason::Completed, "hello".into())
        );
    }
    run.dispose().await.unwrap();
    assert_eq!(text_of(&run.result().await.output), "hello");
}

#[tokio::test]
async fn a_run_is_published_only_after_the_handshake() {
    let script = Script::acp()
        .initialize()
        .expect("session/new")
        .touch("asked")
        .wait_for_file("go")
        .respond(serde_json::json!({"sessionId": "{sessionId}"}))
        .prompt()
        .end_turn();
    let agent = FakeAgent::running(&script);
    let provider = agent.provider();
    let mut start = provider.start(agent.request("do it"));
    tokio::select! {
        _ = &mut start => panic!("a run was published in the middle of its handshake"),
        () = agent.reached("asked") => {}
    }
    std::fs::write(agent.dir().join("go"), "").unwrap();
    let run = start.await.unwrap();
    assert_eq!(run.result().await.stop_reason, StopReason::Completed);
    assert!(run.id().to_string() != "session-1" && run.id().to_string().len() == 36);
    run.dispose().await.unwrap();
}

const ABORTED: &str = "subagent request was aborted before the ACP child started";

#[tokio::test]
async fn a_request_that_is_already_cancelled_spawns_nothing() {
    let agent = FakeAgent::running(&Script::acp().step(note_pid()).prompted());
    let request = agent.request("do it");
    request.cancel.cancel();
    let error = agent.provider().start(request).await.unwrap_err();
    assert!(error.is_clean_abort());
    assert_eq!(error.to_string(), ABORTED);
    assert!(!agent.dir().join("pid").exists());
    assert!(agent.recording().frames().unwrap().is_empty());
}

async fn a_start_that_is_cancelled_leaves_nothing_behind(stage: Stage, asked: &[&str]) {
    let script = Script::acp().step(note_pid()).up_to(stage).touch("asked");
    let agent = FakeAgent::running(&script);
    let request = agent.request("do it");
    let cancel = request.cancel.clone();
    let provider = agent.provider();
    let (outcome, ()) = tokio::join!(provider.start(request), async {
        agent.reached("asked").await;
        cancel.cancel();
    });
    let error = outcome.unwrap_err();
    assert!(error.is_clean_abort());
    assert_eq!(error.to_string(), ABORTED);
    assert!(!is_alive(agent.pid("pid").await));
    assert_eq!(agent.recording().methods().unwrap(), asked);
    assert!(agent.host_reports().is_empty());
}

#[tokio::test]
async fn a_start_that_is_cancelled_during_initialize_leaves_nothing_behind() {
    a_start_that_is_cancelled_leaves_nothing_behind(Stage::Initialize, &["initialize"]).await;
}

#[tokio::test]
async fn a_start_that_is_cancelled_during_session_new_leaves_nothing_behind() {
    a_start_that_is_cancelled_leaves_nothing_behind(Stage::NewSession, &["initialize", "session/new"]).await;
}

#[tokio::test]
async fn a_start_that_is_cancelled_walks_the_ladder_to_its_end() {
    let script = Script::acp()
        .ignore_eof()
        .ignore_sigterm()
        .step(note_pid())
        .expect("initialize");
    let agent = FakeAgent::running(&script.touch("asked")).impatient();
    let request = agent.request("do it");
    let cancel = request.cancel.clone();
    let provider = agent.provider();
    let (outcome, ()) = tokio::join!(provider.start(request), async {
        agent.reached("asked").await;
        cancel.cancel();
    });
    assert!(outcome.unwrap_err().is_clean_abort());
    assert!(!is_alive(agent.pid("pid").await));
}

#[tokio::test]
async fn a_cancelled_run_settles_at_once_although_its_child_never_reacts() {
    let agent = unmoved(Script::acp().prompted().chunk("partial").touch("prompted"));
    let (run, cancel) = agent.start_cancellable("do it").await;
    agent.reached("prompted").await;
    let begun = Instant::now();
    cancel.cancel();
    let result = run.result().await;
    assert!(begun.elapsed() < AT_ONCE, "{:?}", begun.elapsed());
    assert_eq!(
        (result.stop_reason, &result.diagnostic),
        (StopReason::Aborted, &None)
    );
    assert_eq!(text_of(&result.output), "partial");
    let pid = agent.pid("pid").await;
    assert!(is_alive(pid));
    drop(run);
    crate::support::eventually("the child is killed", || !is_alive(pid)).await;
}

/// On one thread: while the test holds it, what the child says waits in its pipe.
#[tokio::test(flavor = "current_thread")]
async fn text_that_waits_in_the_pipe_when_a_run_is_cancelled_is_kept() {
    let script = Script::acp()
        .prompted()
        .touch("prompted")
        .wait_for_file("go")
        .chunk("said in ")
        .chunk("time")
        .touch("said")
        .expect("session/cancel")
        .chunk(", said too late")
        .stop("cancelled");
    let agent = FakeAgent::running(&script);
    let (run, cancel) = agent.start_cancellable("do it").await;
    agent.reached("prompted").await;
    std::fs::write(agent.dir().join("go"), "").unwrap();
    let begun = Instant::now();
    while !agent.dir().join("said").exists() {
        assert!(begun.elapsed() < SOON, "the fake has said nothing");
        std::thread::sleep(Duration::from_millis(1));
    }
    cancel.cancel();
    run.dispose().await.unwrap();
    let result = run.result().await;
    assert_eq!(result.stop_reason, StopReason::Aborted);
    assert_eq!(text_of(&result.output), "said in time");
}

#[tokio::test]
async fn dispose_in_the_middle_of_a_prompt_is_a_cancellation_that_the_child_is_told_of() {
    let script = Script::acp()
        .prompted()
        .chunk("partial")
        .touch("prompted")
        .expect("session/cancel")
        .stop("cancelled");
    let agent = FakeAgent::running(&script.step(note_pid()));
    let run = agent.start("do it").await.unwrap();
    agent.reached("prompted").await;
    let (result, disposed) = tokio::join!(run.result(), run.dispose());
    disposed.unwrap();
    assert_eq!(
        (result.stop_reason, &result.diagnostic),
        (StopReason::Aborted, &None)
    );
    assert_eq!(text_of(&result.output), "partial");
    let frames = agent.recording().frames().unwrap();
    let cancel = frames.last().unwrap();
    assert_eq!(
        *cancel,
        serde_json::json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "session-1"}})
    );
    assert!(!is_alive(agent.pid("pid").await));
}

#[tokio::test]
async fn a_result_that_has_been_decided_is_not_rewritten() {
    let agent = FakeAgent::running(&Script::acp().prompted().chunk("done").end_turn());
    let (run, cancel) = agent.start_cancellable("do it").await;
    let result = run.result().await;
    cancel.cancel();
    run.dispose().await.unwrap();
    assert_eq!(result.stop_reason, StopReason::Completed);
    assert_eq!(*run.result().await, *result);
    // Nor is the child told of a cancellation that came too late.
    assert_eq!(
        agent.recording().methods().unwrap(),
        ["initialize", "session/new", "session/prompt"]
    );
}

#[tokio::test]
async fn a_run_deadline_is_a_failure_that_the_child_is_told_of() {
    let script = Script::acp()
        .prompted()
        .chunk("partial")
        .expect("session/cancel")
        .ask_permission("late", "edit", &[("yes", "allow_once")])
        .expect_answer("late")
        .stop("cancelled")
        .touch("settled");
    let agent = FakeAgent::running(&script).with(|config| {
        config.run_timeout = Some(Duration::from_millis(600));
        config.permission = subagent_acp::PermissionPolicy::Allow;
    });
    let outcome = agent.delegate("do it").await;
    assert_eq!(
        outcome.text,
        "Error: subagent run failed\n\
         Diagnostic: Subagent failure (provider: ACP; stage: prompt; category: timeout)\n\
         Partial output before the run ended:\npartial"
    );
    assert!(agent.dir().join("settled").exists());
    let answers = agent.recording().frames().unwrap();
    let answer = answers.iter().find(|frame| frame["id"] == "late").unwrap();
    assert_eq!(answer["result"]["outcome"]["outcome"], "cancelled");
}

#[tokio::test(flavor = "multi_thread")]
async fn all_who_dispose_await_one_teardown() {
    let script = Script::acp()
        .ignore_eof()
        .step(note_pid())
        .prompted()
        .chunk("done")
        .end_turn()
        .wait_for(jsonrpc_fake_runtime::Condition::Sigterm)
        .step(Step::WriteFile {
            path: "terminated".into(),
            text: "once".into(),
        })
        .exit(0);
    let agent = FakeAgent::running(&script).impatient();
    let run = agent.start("do it").await.unwrap();
    run.result().await;
    let pid = agent.pid("pid").await;
    let mut disposers = JoinSet::new();
    for _ in 0..8 {
        let run = run.clone();
        disposers.spawn(async move {
            run.dispose().await.unwrap();
            assert!(!is_alive(pid), "reported gone");
        });
    }
    while let Some(disposed) = disposers.join_next().await {
        disposed.unwrap();
    }
    let again = Instant::now();
    run.dispose().await.unwrap();
    assert!(
        again.elapsed() < Duration::from_millis(250),
        "{:?}",
        again.elapsed()
    );
}
