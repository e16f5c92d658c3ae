//! Cancellation, deadlines and the end of a DSH SDK run: settled here first, then asked to shut down, then the ladder.

use std::time::{Duration, Instant};

use jsonrpc_fake_runtime::dsh_sdk::DshSdkSteps as _;
use jsonrpc_fake_runtime::{Script, Step};
use subagent_seam::{Provider as _, StopReason, Urgency, text_of};

use crate::custody::both_ways;
use crate::dsh_support::FakeRuntime;
use crate::support::{SOON, is_alive, note_pid};

both_ways! {
    one thread:
        a_cancelled_run_settles_at_once_keeps_its_output_and_is_shut_down,
        dispose_cancels_a_run_and_is_shared,
        what_waits_in_the_pipe_when_a_run_is_cut_short_is_kept,
        a_result_that_stands_is_not_rewritten,
        an_idle_deadline_keeps_the_partial_output,
        a_run_deadline_ends_a_child_that_never_falls_silent,
        every_frame_restarts_the_idle_deadline,
        a_silent_start_ends_at_its_deadline_and_leaves_nothing_behind,
        a_shutdown_without_an_answer_costs_its_own_bound_alone,
        no_shutdown_is_sent_once_the_transport_is_closed,
        an_impatient_end_waits_for_nothing,
        the_last_handle_takes_the_child_with_it;
    threads:
        whatever_becomes_of_a_shutdown_the_answer_stands_and_the_child_is_gone;
}

/// Far below every window that is meant not to be waited for.
const AT_ONCE: Duration = Duration::from_secs(4);

fn timeout(stage: &str) -> String {
    format!("Subagent failure (provider: DSH SDK; stage: {stage}; category: timeout)")
}

/// A runtime that says `partial`, makes the file `said` and takes no further part, but for a shutdown.
fn halfway() -> Script {
    Script::dsh_sdk()
        .step(note_pid())
        .accepted()
        .delta("partial")
        .touch("said")
        .shutdown()
}

/// Waits until the child has been heard: its stdout has been read as far as it goes.
async fn heard(run: &subagent_seam::Progress) {
    crate::support::eventually("the streamed text was read", || run.received_bytes() > 900).await;
}

async fn a_cancelled_run_settles_at_once_keeps_its_output_and_is_shut_down() {
    let runtime = FakeRuntime::running(&halfway());
    let request = runtime.request("do it");
    let (cancel, progress) = (request.cancel.clone(), request.progress.clone());
    let run = runtime.provider().start(request).await.unwrap();
    runtime.reached("said").await;
    heard(&progress).await;
    let begun = Instant::now();
    cancel.cancel();
    let result = run.result().await;
    assert!(begun.elapsed() < AT_ONCE);
    assert_eq!(result.stop_reason, StopReason::Aborted);
    assert_eq!(result.diagnostic, None);
    assert_eq!(text_of(&result.output), "partial");
    run.dispose().await.unwrap();
    assert_eq!(runtime.methods(), ["initialize", "session/prompt", "shutdown"]);
    assert!(!is_alive(runtime.pid("pid").await));
    assert!(runtime.host_reports().is_empty());
}

async fn dispose_cancels_a_run_and_is_shared() {
    let runtime = FakeRuntime::running(&halfway());
    let run = runtime.start("do it").await.unwrap();
    runtime.reached("said").await;
    let (first, second) = tokio::join!(run.dispose(), run.dispose());
    assert!(first.is_ok() && second.is_ok() && run.dispose().await.is_ok());
    assert_eq!(run.result().await.stop_reason, StopReason::Aborted);
    assert!(!is_alive(runtime.pid("pid").await));
}

async fn what_waits_in_the_pipe_when_a_run_is_cut_short_is_kept() {
    // One thread: while the test looks at the file and cancels, nobody reads the pipe.
    for dispose in [false, true] {
        let script = Script::dsh_sdk()
            .initialize()
            .prompt()
            .wait_for_file("go")
            .together(|s| s.mark().receipt().delta("partial"))
            .touch("said")
            .shutdown();
        let runtime = FakeRuntime::running(&script);
        let (run, cancel) = runtime.start_cancellable("do it").await;
        let recording = runtime.recording();
        crate::support::eventually("the prompt has arrived", || {
            recording
                .methods()
                .unwrap()
                .contains(&"session/prompt".to_owned())
        })
        .await;
        runtime.go("go");
        let begun = Instant::now();
        while !runtime.dir().join("said").exists() {
            assert!(begun.elapsed() < SOON);
            std::thread::yield_now();
        }
        if dispose {
            run.dispose().await.unwrap();
        } else {
            cancel.cancel();
        }
        let result = run.result().await;
        assert_eq!(
            (result.stop_reason, text_of(&result.output)),
            (StopReason::Aborted, "partial".into())
        );
        run.dispose().await.unwrap();
    }
}

async fn a_result_that_stands_is_not_rewritten() {
    let runtime = FakeRuntime::scenario("end-error");
    let (run, cancel) = runtime.start_cancellable("do it").await;
    let before = run.result().await;
    cancel.cancel();
    run.dispose().await.unwrap();
    assert_eq!(run.result().await, before);
    assert_eq!(before.stop_reason, StopReason::Error);
    assert_eq!(
        runtime.host_reports(),
        ["session-run: the runtime ended the turn for the reason {\"kind\":\"error\"}"]
    );
}

async fn an_idle_deadline_keeps_the_partial_output() {
    let runtime = FakeRuntime::running(&halfway()).with(|config| {
        config.idle_timeout = Some(Duration::from_millis(400));
    });
    let outcome = runtime.delegate("do it").await;
    assert_eq!(
        outcome.text,
        format!(
            "Error: subagent run failed\nDiagnostic: {}\nPartial output before the run ended:\npartial",
            timeout("session-run")
        )
    );
    assert_eq!(
        runtime.host_reports(),
        ["session-run: the idle deadline of 400 ms passed"]
    );
    assert_eq!(runtime.methods(), ["initialize", "session/prompt", "shutdown"]);
}

async fn a_run_deadline_ends_a_child_that_never_falls_silent() {
    let script = Script::dsh_sdk()
        .accepted()
        .until_frame("shutdown", 20, |s| s.delta("x"))
        .shutdown();
    let runtime = FakeRuntime::running(&script).with(|config| {
        config.idle_timeout = Some(Duration::from_mins(1));
        config.run_timeout = Some(Duration::from_millis(500));
    });
    let outcome = runtime.delegate("do it").await;
    let result = outcome.result.unwrap();
    assert_eq!(
        result.diagnostic.as_ref().unwrap().as_str(),
        timeout("session-run")
    );
    assert!(text_of(&result.output).starts_with('x'));
    assert!(outcome.dispose_error.is_none());
}

async fn every_frame_restarts_the_idle_deadline() {
    let runtime = FakeRuntime::scenario("ticking").with(|config| {
        config.idle_timeout = Some(Duration::from_millis(1500));
        config.startup_timeout = Some(Duration::from_secs(10));
    });
    let outcome = runtime.delegate("do it").await;
    assert!(!outcome.is_error, "{}", outcome.text);
    assert!(outcome.timings.run.unwrap() >= Duration::from_millis(1900));
}

async fn a_silent_start_ends_at_its_deadline_and_leaves_nothing_behind() {
    let script = Script::dsh_sdk().step(note_pid()).expect("initialize");
    let runtime = FakeRuntime::running(&script).with(|config| {
        config.startup_timeout = Some(Duration::from_millis(400));
    });
    let error = runtime.start("do it").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("subagent-dsh-sdk: {}", timeout("initialize"))
    );
    assert!(!is_alive(runtime.pid("pid").await));
    assert_eq!(
        runtime.host_reports(),
        ["initialize: the startup deadline of 400 ms passed"]
    );
    assert_eq!(
        runtime.methods(),
        ["initialize"],
        "no shutdown without a handshake"
    );
}

async fn a_shutdown_without_an_answer_costs_its_own_bound_alone() {
    let script = Script::dsh_sdk()
        .step(note_pid())
        .accepted()
        .message("hello")
        .completed();
    let runtime = FakeRuntime::running(&script).with(|config| {
        config.shutdown_timeout = Duration::from_millis(300);
    });
    let outcome = runtime.delegate("do it").await;
    assert_eq!((outcome.text.as_str(), outcome.is_error), ("hello", false));
    let dispose = outcome.timings.dispose.unwrap();
    assert!(
        dispose >= Duration::from_millis(300) && dispose < AT_ONCE,
        "{dispose:?}"
    );
    assert!(runtime.host_reports().is_empty(), "{:?}", runtime.host_reports());
}

async fn whatever_becomes_of_a_shutdown_the_answer_stands_and_the_child_is_gone() {
    for name in [
        "shutdown-slow",
        "shutdown-exits",
        "shutdown-chatty",
        "error-at-shutdown",
        "exit-7-at-shutdown",
        "sigkill-at-shutdown",
        "closed-stdout-at-shutdown",
        "closed-pipes-at-shutdown",
        "deaf-at-shutdown",
        "exit-7-at-after-turn",
        "slow-exit",
        "exit-5-after-eof",
        "refuses-eof",
        "refuses-eof-exits-on-sigterm",
        "refuses-eof-and-sigterm",
        "slow-sigterm",
    ] {
        let runtime = FakeRuntime::scenario(name).with(|config| {
            config.shutdown_timeout = Duration::from_millis(400);
            config.dispose_eof_grace = Duration::from_millis(500);
            config.dispose_grace = Duration::from_millis(800);
        });
        let outcome = runtime.delegate("do it").await;
        assert!(!outcome.is_error, "{name}: {}", outcome.text);
        assert!(
            runtime.host_reports().is_empty(),
            "{name}: {:?}",
            runtime.host_reports()
        );
    }
}

async fn no_shutdown_is_sent_once_the_transport_is_closed() {
    let runtime = FakeRuntime::scenario("closed-stdout-at-mid-prompt");
    let outcome = runtime.delegate("do it").await;
    assert!(outcome.is_error && outcome.dispose_error.is_none());
    assert_eq!(runtime.methods(), ["initialize", "session/prompt"]);
}

async fn an_impatient_end_waits_for_nothing() {
    let script = Script::dsh_sdk()
        .ignore_eof()
        .ignore_sigterm()
        .step(note_pid())
        .accepted()
        .delta("partial")
        .touch("said")
        .step(Step::WaitFor(jsonrpc_fake_runtime::Condition::Never));
    let runtime = FakeRuntime::running(&script).with(|config| {
        config.shutdown_timeout = Duration::from_mins(1);
        config.dispose_eof_grace = Duration::from_mins(1);
        config.dispose_grace = Duration::from_mins(1);
    });
    let request = runtime.request("do it");
    let urgency = request.urgency.clone();
    let run = runtime.provider().start(request).await.unwrap();
    runtime.reached("said").await;
    let begun = Instant::now();
    urgency.raise(Urgency::Immediate);
    run.dispose().await.unwrap();
    assert!(begun.elapsed() < AT_ONCE, "{:?}", begun.elapsed());
    assert!(!is_alive(runtime.pid("pid").await));
}

async fn the_last_handle_takes_the_child_with_it() {
    let runtime = FakeRuntime::running(&halfway().ignore_eof().ignore_sigterm().hang());
    let run = runtime.start("do it").await.unwrap();
    runtime.reached("said").await;
    let pid = runtime.pid("pid").await;
    drop(run);
    crate::support::eventually("the child is gone", || !is_alive(pid)).await;
}
