//! The end of a child that is disposed of: how long its input stays open, how soon its end is told, and whom no signal may
//! reach. What ends with it stands in `teardown_tree`.

use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use jsonrpc_fake_runtime::acp::AcpSteps as _;
use jsonrpc_fake_runtime::{Condition, Script};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use subagent_seam::StopReason;

use crate::custody::both_ways;
use crate::lifecycle_host::in_a_host_of_its_own;
use crate::support::{FakeAgent, eventually, is_alive, note_pid};

both_ways! {
    one thread:
        the_input_of_a_cancelled_child_is_closed_as_soon_as_it_has_settled_its_turn,
        the_input_of_a_cancelled_child_stays_open_until_it_has_settled_its_turn,
        the_input_of_a_child_that_does_not_settle_is_closed_after_half_a_second,
        the_input_of_a_child_that_does_not_settle_is_closed_earlier_where_the_first_window_is_shorter,
        the_input_of_a_child_without_an_open_prompt_is_closed_at_once,
        a_child_that_has_ended_by_itself_costs_no_wait,
        a_cooperative_child_is_reported_gone_within_ten_milliseconds_of_its_end;
    a process of its own:
        a_child_that_is_gone_or_never_was_is_sent_no_signal_that_could_reach_us;
}

/// Windows so long that a wait for any of them would be seen.
pub(crate) fn patient(script: &Script) -> FakeAgent {
    FakeAgent::running(script).with(|config| {
        config.dispose_eof_grace = Duration::from_mins(1);
        config.dispose_grace = Duration::from_mins(1);
    })
}

/// "At once" on a busy machine, and far below any window of [`patient`].
pub(crate) const AT_ONCE: Duration = Duration::from_secs(5);

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

async fn the_input_of_a_cancelled_child_is_closed_as_soon_as_it_has_settled_its_turn() {
    let mut shortest = Duration::MAX;
    for _ in 0..5 {
        let open = input_stays_open(Duration::from_secs(6), |s| s.stop("cancelled")).await;
        shortest = shortest.min(open);
    }
    assert!(shortest < Duration::from_millis(250), "{shortest:?}");
}

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

async fn the_input_of_a_child_that_does_not_settle_is_closed_after_half_a_second() {
    let open = input_stays_open(Duration::from_secs(6), |s| s).await;
    assert!(open >= Duration::from_millis(480), "{open:?}");
    assert!(open < Duration::from_secs(3), "{open:?}");
}

async fn the_input_of_a_child_that_does_not_settle_is_closed_earlier_where_the_first_window_is_shorter() {
    let mut shortest = Duration::MAX;
    for _ in 0..5 {
        let open = input_stays_open(Duration::from_millis(100), |s| s).await;
        assert!(open >= Duration::from_millis(85), "{open:?}");
        shortest = shortest.min(open);
    }
    assert!(shortest < Duration::from_millis(400), "{shortest:?}");
}

async fn the_input_of_a_child_without_an_open_prompt_is_closed_at_once() {
    let script = Script::acp().step(note_pid()).prompted().chunk("done").end_turn();
    let agent = patient(&script);
    let outcome = agent.delegate("do it").await;
    assert_eq!(outcome.text, "done");
    let dispose = outcome.timings.dispose.unwrap();
    assert!(dispose < AT_ONCE, "{dispose:?}");
    assert!(!is_alive(agent.pid("pid").await));
}

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

/// In a process of its own that leads its own group and dies of SIGTERM like any other: a signal to its group, or to
/// all processes, would end it, and with it the test.
fn a_child_that_is_gone_or_never_was_is_sent_no_signal_that_could_reach_us(test: &str) {
    use std::os::unix::process::CommandExt as _;
    if !in_a_host_of_its_own(test, |command| {
        command.process_group(0);
    }) {
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
