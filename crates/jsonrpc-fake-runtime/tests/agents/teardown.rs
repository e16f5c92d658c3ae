//! The end of a child: how long its input stays open, what else ends with it, and what ends it when nobody disposes.

use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use jsonrpc_fake_runtime::acp::AcpSteps as _;
use jsonrpc_fake_runtime::{Condition, Descendant, Holds, Place, Script};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use subagent_seam::{DisposeError, Provider as _, StopReason, text_of};

use crate::lifecycle_host::in_a_host_of_its_own;
use crate::support::{FakeAgent, eventually, is_alive, note_pid};

/// Windows so long that a wait for any of them would be seen.
fn patient(script: &Script) -> FakeAgent {
    FakeAgent::running(script).with(|config| {
        config.dispose_eof_grace = Duration::from_secs(60);
        config.dispose_grace = Duration::from_secs(60);
    })
}

/// "At once" on a busy machine, and far below any window of [`patient`].
const AT_ONCE: Duration = Duration::from_secs(5);

/// Neither the end of its input nor a SIGTERM ends it.
fn stubborn() -> Script {
    Script::acp().ignore_eof().ignore_sigterm().step(note_pid())
}

fn written(path: &Path) -> SystemTime {
    std::fs::metadata(path).unwrap().modified().unwrap()
}

/// The time between two signs of the child, to the tick of the clock that the file system uses.
fn between(agent: &FakeAgent, first: &str, second: &str) -> Duration {
    let (first, second) = (agent.dir().join(first), agent.dir().join(second));
    written(&second).duration_since(written(&first)).unwrap()
}

/// How long the input of a child stays open that was cancelled and then does `reaction`.
async fn input_stays_open(eof_grace: Duration, reaction: impl FnOnce(Script) -> Script) -> Duration {
    let script = Script::acp()
        .prompted()
        .touch("prompted")
        .expect("session/cancel")
        .touch("cancelled")
        .then(reaction)
        .wait_for(Condition::StdinEof)
        .touch("eof")
        .exit(0);
    let agent = FakeAgent::running(&script).with(|config| config.dispose_eof_grace = eof_grace);
    let run = agent.start("do it").await.unwrap();
    agent.reached("prompted").await;
    run.dispose().await.unwrap();
    between(&agent, "cancelled", "eof")
}

#[tokio::test]
async fn the_input_of_a_cancelled_child_is_closed_as_soon_as_it_has_settled_its_turn() {
    let mut shortest = Duration::MAX;
    for _ in 0..5 {
        let open = input_stays_open(Duration::from_secs(6), |s| s.stop("cancelled")).await;
        shortest = shortest.min(open);
    }
    assert!(shortest < Duration::from_millis(250), "{shortest:?}");
}

#[tokio::test]
async fn the_input_of_a_cancelled_child_stays_open_until_it_has_settled_its_turn() {
    // It still asks, and needs an answer, before it ends its turn.
    let open = input_stays_open(Duration::from_secs(6), |s| {
        s.sleep_ms(200)
            .ask_permission("late", "edit", &[("yes", "allow_once")])
            .expect_answer("late")
            .stop("cancelled")
    })
    .await;
    assert!(open >= Duration::from_millis(190), "{open:?}");
}

#[tokio::test]
async fn the_input_of_a_child_that_does_not_settle_is_closed_after_half_a_second() {
    let open = input_stays_open(Duration::from_secs(6), |s| s).await;
    assert!(open >= Duration::from_millis(480), "{open:?}");
    assert!(open < Duration::from_millis(3000), "{open:?}");
}

#[tokio::test]
async fn the_input_of_a_child_that_does_not_settle_is_closed_earlier_where_the_first_window_is_shorter() {
    let mut shortest = Duration::MAX;
    for _ in 0..5 {
        let open = input_stays_open(Duration::from_millis(100), |s| s).await;
        assert!(open >= Duration::from_millis(85), "{open:?}");
        shortest = shortest.min(open);
    }
    assert!(shortest < Duration::from_millis(400), "{shortest:?}");
}

#[tokio::test]
async fn the_input_of_a_child_without_an_open_prompt_is_closed_at_once() {
    let script = Script::acp().step(note_pid()).prompted().chunk("done").end_turn();
    let agent = patient(&script);
    let outcome = agent.delegate("do it").await;
    assert_eq!(outcome.text, "done");
    let dispose = outcome.timings.dispose.unwrap();
    assert!(dispose < AT_ONCE, "{dispose:?}");
    assert!(!is_alive(agent.pid("pid").await));
}

#[tokio::test]
async fn a_child_that_has_ended_by_itself_costs_no_wait() {
    let agent = patient(&Script::acp().prompted().chunk("done").end_turn().exit(3));
    let outcome = agent.delegate("do it").await;
    assert_eq!((outcome.text.as_str(), outcome.is_error), ("done", false));
    assert!(outcome.timings.dispose.unwrap() < AT_ONCE);
}

/// The moment at which a process has ended, seen by a thread that does nothing but wait for it.
fn end_of(pid: u32) -> impl FnOnce() -> Instant {
    let pid = Pid::from_raw(pid.try_into().unwrap()).unwrap();
    let process = pidfd_open(pid, PidfdFlags::empty()).unwrap();
    let watch = std::thread::spawn(move || {
        poll(&mut [PollFd::new(&process, PollFlags::IN)], None).unwrap();
        Instant::now()
    });
    || watch.join().unwrap()
}

#[tokio::test]
async fn a_cooperative_child_is_reported_gone_within_ten_milliseconds_of_its_end() {
    let script = Script::acp().step(note_pid()).prompted().end_turn();
    let mut delays = Vec::new();
    for _ in 0..41 {
        let agent = FakeAgent::running(&script);
        let run = agent.start("do it").await.unwrap();
        run.result().await;
        let end = end_of(agent.pid("pid").await);
        run.dispose().await.unwrap();
        delays.push(Instant::now().saturating_duration_since(end()));
    }
    delays.sort();
    assert!(delays[20] < Duration::from_millis(10), "{delays:?}");
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

/// In a process of its own that leads its own group and dies of SIGTERM like any other: a signal to its group, or to
/// all processes, would end it, and with it the test.
#[test]
fn a_child_that_is_gone_or_never_was_is_sent_no_signal_that_could_reach_us() {
    use std::os::unix::process::CommandExt as _;
    if !in_a_host_of_its_own(
        "teardown::a_child_that_is_gone_or_never_was_is_sent_no_signal_that_could_reach_us",
        |command| {
            command.process_group(0);
        },
    ) {
        return;
    }
    assert_eq!(rustix::process::getpgrp(), rustix::process::getpid());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        // It has ended by itself, and is reaped by the first of several teardowns.
        let agent = patient(
            &Script::acp()
                .step(note_pid())
                .prompted()
                .chunk("done")
                .end_turn()
                .exit(0),
        );
        let run = agent.start("do it").await.unwrap();
        run.result().await;
        let child = agent.pid("pid").await;
        eventually("the child has ended", || !is_alive(child)).await;
        run.dispose().await.unwrap();
        assert!(!Path::new(&format!("/proc/{child}")).exists(), "reaped");
        run.dispose().await.unwrap();
        drop(run);

        // It was killed from outside.
        let agent = patient(&Script::acp().step(note_pid()).prompted().touch("prompted"));
        let run = agent.start("do it").await.unwrap();
        let child = Pid::from_raw(agent.pid("pid").await.try_into().unwrap()).unwrap();
        rustix::process::kill_process(child, rustix::process::Signal::KILL).unwrap();
        assert_eq!(run.result().await.stop_reason, StopReason::Error);
        run.dispose().await.unwrap();
        drop(run);

        // It was never there.
        for command in ["/nonexistent/agent", "a-command-that-is-nowhere"] {
            let agent = FakeAgent::running(&Script::acp()).with(|config| config.command = command.into());
            assert!(agent.start("do it").await.is_err());
        }
    });
}
