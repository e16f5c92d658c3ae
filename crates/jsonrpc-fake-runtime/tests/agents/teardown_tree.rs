//! What ends with a child, and what ends a child that nobody disposes of. Owns the tree below the child and the pipes that
//! it may hold open; the windows of the child itself stand in `teardown`.

use std::path::Path;
use std::time::{Duration, Instant};

use jsonrpc_fake_runtime::acp::AcpSteps as _;
use jsonrpc_fake_runtime::{Descendant, Holds, Place, Script};
use rustix::process::Pid;
use subagent_seam::{DisposeError, Provider as _, StopReason, text_of};

use crate::support::{FakeAgent, eventually, is_alive, note_pid};
use crate::teardown::{AT_ONCE, patient};

/// Neither the end of its input nor a SIGTERM ends it.
fn stubborn() -> Script {
    Script::acp().ignore_eof().ignore_sigterm().step(note_pid())
}

#[tokio::test]
async fn an_ordinary_grandchild_ends_with_a_child_that_is_disposed() {
    let script = Script::acp()
        .step(note_pid())
        .prompted()
        .spawn(Descendant::new("grandchild"))
        .chunk("done")
        .end_turn();
    let agent = patient(&script);
    let outcome = agent.delegate("do it").await;
    assert_eq!(outcome.text, "done");
    assert!(outcome.timings.dispose.unwrap() < AT_ONCE);
    assert!(!is_alive(agent.pid("pid").await));
    assert!(!is_alive(agent.pid("grandchild").await));
}

#[tokio::test]
async fn an_ordinary_grandchild_ends_although_the_child_went_first() {
    for orphaned in [false, true] {
        let mut grandchild = Descendant::new("grandchild").holds(Holds::Both);
        grandchild.orphaned = orphaned;
        let script = Script::acp()
            .step(note_pid())
            .prompted()
            .spawn(grandchild)
            .chunk("done")
            .end_turn()
            .exit(0);
        let agent = patient(&script);
        let run = agent.start("do it").await.unwrap();
        run.result().await;
        let (child, grandchild) = (agent.pid("pid").await, agent.pid("grandchild").await);
        eventually("the child has ended", || !is_alive(child)).await;
        assert!(is_alive(grandchild));
        let begun = Instant::now();
        run.dispose().await.unwrap();
        assert!(begun.elapsed() < AT_ONCE);
        assert!(!is_alive(grandchild));
    }
}

#[tokio::test]
async fn a_grandchild_that_ignores_sigterm_is_killed_once_its_window_is_over() {
    let grandchild = Descendant::new("grandchild").ignores_sigterm();
    let script = Script::acp()
        .prompted()
        .spawn(grandchild)
        .chunk("done")
        .end_turn();
    let grace = Duration::from_millis(500);
    let agent = FakeAgent::running(&script).with(|config| config.dispose_grace = grace);
    let outcome = agent.delegate("do it").await;
    assert_eq!(outcome.text, "done");
    let dispose = outcome.timings.dispose.unwrap();
    assert!(dispose >= grace && dispose < grace + AT_ONCE, "{dispose:?}");
    assert!(!is_alive(agent.pid("grandchild").await));
}

/// A descendant that no signal to the group reaches and that holds the child's pipes open. It ends by itself.
fn escaped() -> Descendant {
    Descendant::new("escaped")
        .place(Place::OwnSession)
        .holds(Holds::Both)
        .lifetime_ms(8000)
}

async fn end_escaped(agent: &FakeAgent) {
    let pid = agent.pid("escaped").await;
    // A teardown may have reached it where the platform can.
    if is_alive(pid) {
        let pid = Pid::from_raw(pid.try_into().unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    }
}

#[tokio::test]
async fn a_pipe_that_a_descendant_holds_open_delays_neither_failure_nor_dispose() {
    let script = Script::acp().prompted().spawn(escaped()).chunk("partial").exit(7);
    let agent = patient(&script);
    let outcome = agent.delegate("do it").await;
    assert_eq!(
        outcome.text,
        "Error: subagent run failed\n\
         Diagnostic: Subagent failure (provider: ACP; stage: process; category: process-exit; exit code: 7)\n\
         Partial output before the run ended:\npartial"
    );
    assert!(outcome.timings.run.unwrap() + outcome.timings.dispose.unwrap() < AT_ONCE);
    end_escaped(&agent).await;
}

#[tokio::test]
async fn a_pipe_that_a_descendant_holds_open_delays_neither_answer_nor_dispose() {
    let script = Script::acp().prompted().spawn(escaped()).chunk("done").end_turn();
    let agent = patient(&script);
    let outcome = agent.delegate("do it").await;
    assert_eq!((outcome.text.as_str(), outcome.is_error), ("done", false));
    assert!(outcome.timings.run.unwrap() + outcome.timings.dispose.unwrap() < AT_ONCE);
    end_escaped(&agent).await;
}

#[tokio::test]
async fn a_pipe_that_a_descendant_holds_open_does_not_delay_a_failed_start() {
    let script = Script::acp().expect("initialize").spawn(escaped()).exit(7);
    let agent = patient(&script);
    let outcome = agent.delegate("do it").await;
    assert_eq!(
        outcome.text,
        "Error: subagent-acp: Subagent failure (provider: ACP; stage: initialize; category: process-exit; exit code: 7)"
    );
    assert!(outcome.timings.start < AT_ONCE);
    end_escaped(&agent).await;
}

#[tokio::test]
async fn dropping_the_last_handle_kills_the_whole_group() {
    let grandchild = Descendant::new("grandchild").ignores_sigterm();
    let agent = patient(&stubborn().prompted().spawn(grandchild).touch("prompted"));
    let run = agent.start("do it").await.unwrap();
    agent.reached("prompted").await;
    let (child, grandchild) = (agent.pid("pid").await, agent.pid("grandchild").await);
    let clone = run.clone();
    drop(run);
    assert!(is_alive(child), "one handle is left");
    drop(clone);
    eventually("the child is gone", || {
        !Path::new(&format!("/proc/{child}")).exists()
    })
    .await;
    eventually("the grandchild is gone", || !is_alive(grandchild)).await;
}

#[tokio::test]
async fn dropping_a_start_in_the_middle_of_its_handshake_kills_the_child() {
    let agent = patient(&stubborn().initialize().expect("session/new").touch("asked"));
    let provider = agent.provider();
    let mut start = provider.start(agent.request("do it"));
    tokio::select! {
        _ = &mut start => panic!("the handshake cannot have ended"),
        () = agent.reached("asked") => {}
    }
    let child = agent.pid("pid").await;
    assert!(is_alive(child));
    drop(start);
    eventually("the child is gone", || {
        !Path::new(&format!("/proc/{child}")).exists()
    })
    .await;
}

#[tokio::test]
async fn dropping_a_start_in_the_middle_of_its_rollback_kills_what_the_child_has_left() {
    let grandchild = Descendant::new("grandchild").ignores_sigterm();
    let script = Script::acp()
        .step(note_pid())
        .spawn(grandchild)
        .initialize()
        .expect("session/new")
        .exit(3);
    let agent = patient(&script).with(|config| config.dispose_grace = Duration::from_mins(1));
    let provider = agent.provider();
    let mut start = provider.start(agent.request("do it"));
    tokio::select! {
        _ = &mut start => panic!("the rollback cannot have ended"),
        () = async {
            let child = agent.pid("pid").await;
            eventually("the child is reaped", || !Path::new(&format!("/proc/{child}")).exists()).await;
        } => {}
    }
    let grandchild = agent.pid("grandchild").await;
    assert!(is_alive(grandchild));
    drop(start);
    eventually("the grandchild is gone", || !is_alive(grandchild)).await;
}

#[test]
fn a_runtime_that_is_shut_down_in_the_middle_of_a_run_kills_the_child_and_nobody_waits_for_ever() {
    let agent = patient(&stubborn().prompted().chunk("partial").touch("prompted"));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (run, child) = runtime.block_on(async {
        let run = agent.start("do it").await.unwrap();
        agent.reached("prompted").await;
        (run, agent.pid("pid").await)
    });
    assert!(is_alive(child));
    runtime.shutdown_background();
    let other = tokio::runtime::Runtime::new().unwrap();
    other.block_on(async {
        eventually("the child is gone", || {
            !Path::new(&format!("/proc/{child}")).exists()
        })
        .await;
        let result = run.result().await;
        assert_eq!(
            (result.stop_reason, text_of(&result.output)),
            (StopReason::Error, String::new())
        );
        let error = run.dispose().await.unwrap_err();
        assert!(matches!(error, DisposeError::Abandoned));
        assert_eq!(
            error.to_string(),
            "subagent run was abandoned before its teardown was done"
        );
    });
}
