//! A DSH SDK runtime under a supervisor: its whole tree is gone when the run's dispose returns and when the host is killed,
//! its own end is told exactly, and a teardown that proves nothing says so. The same of an ACP agent stands in `supervision`.

use std::process::Stdio;
use std::time::{Duration, Instant};

use jsonrpc_fake_runtime::dsh_sdk::DshSdkSteps as _;
use jsonrpc_fake_runtime::{Script, Signal};
use subagent_seam::{StopReason, text_of};

use crate::command_support::Place;
use crate::dsh_support::FakeRuntime;
use crate::pinned::wedge::{Wedge, Wedged, after_hanging};
use crate::supervision::{left, plant, supervisor, tree_in};
use crate::supervision_deaths::parent_of;
use crate::support::{eventually, file, is_alive, note_pid};
use crate::teardown::AT_ONCE;

/// With windows that a tree of which some are deaf sits out.
fn supervised(script: &Script) -> FakeRuntime {
    FakeRuntime::running(script).with(|config| {
        config.supervision = supervisor();
        config.dispose_grace = Duration::from_millis(500);
    })
}

fn planted() -> Script {
    plant(Script::dsh_sdk().step(note_pid()).accepted())
}

#[tokio::test]
async fn a_tree_of_eight_below_a_runtime_is_gone_when_dispose_returns() {
    let script = planted().touch("planted").wait_for_file("go");
    let runtime = supervised(&script.delta("done").completed().shutdown());
    let run = runtime.start("do it").await.unwrap();
    runtime.reached("planted").await;
    let pids = tree_in(runtime.dir()).await;
    runtime.go("go");
    let result = run.result().await;
    assert_eq!(
        (result.stop_reason, text_of(&result.output)),
        (StopReason::Completed, "done".to_owned())
    );
    let begun = Instant::now();
    run.dispose().await.unwrap();
    assert_eq!(left(pids), [""; 0]);
    assert!(!is_alive(runtime.pid("pid").await));
    assert!(begun.elapsed() < AT_ONCE, "{:?}", begun.elapsed());
    assert!(runtime.host_reports().is_empty());
}

#[tokio::test]
async fn the_runtimes_own_end_is_told_exactly_whatever_is_below_it() {
    type End = fn(Script) -> Script;
    let ends: [(End, &str); 3] = [
        (|s| s.exit(0), "exit code 0"),
        (|s| s.exit(113), "exit code 113"),
        (|s| s.kill_self(Signal::Segv), "signal 11"),
    ];
    for (end, told) in ends {
        let runtime = supervised(&planted().delta("partial").touch("planted").then(end));
        let outcome = runtime.delegate("do it").await;
        assert_eq!(
            outcome.text,
            "Error: subagent run failed\n\
             Diagnostic: Subagent failure (provider: DSH SDK; stage: session-run; category: transport)\n\
             Partial output before the run ended:\npartial"
        );
        let reports = runtime.host_reports();
        assert_eq!(
            reports,
            [format!(
                "session-run: the runtime cannot be talked to: {told}: the connection is closed"
            )]
        );
        for name in crate::supervision::TREE {
            assert!(!is_alive(runtime.pid(name).await), "{name} after {told}");
        }
    }
}

/// The host is the command.
#[tokio::test]
async fn the_tree_of_a_runtime_whose_host_was_killed_is_gone_within_the_windows() {
    let place = Place::new();
    let script = plant(
        Script::dsh_sdk()
            .ignore_eof()
            .ignore_sigterm()
            .step(note_pid())
            .accepted(),
    );
    let words = place.fake("runtime", &script.touch("planted").hang());
    let (eof_grace, grace) = (Duration::from_millis(400), Duration::from_millis(600));
    let entry = format!(
        "- name: subagent-dsh-sdk\n  config:\n    command: {}\n    args: {}\n    disposeEofGraceMs: {}\n    disposeGraceMs: {}\n",
        words[0],
        serde_json::to_string(&words[1..]).unwrap(),
        eof_grace.as_millis(),
        grace.as_millis(),
    );
    place.write("work/subagents.yml", entry);
    let mut host = place
        .command(["run", "do it"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let work = place.work();
    eventually("the tree is planted", || work.join("planted").exists()).await;
    let pids = tree_in(&work).await;
    let runtime: u32 = file(&work.join("pid")).await.trim().parse().unwrap();
    let supervisor = parent_of(runtime);
    assert_eq!(parent_of(supervisor), host.id());
    let begun = Instant::now();
    host.kill().unwrap();
    host.wait().unwrap();
    eventually("everything is gone", || {
        left(pids).is_empty() && !is_alive(runtime) && !is_alive(supervisor)
    })
    .await;
    let (took, windows) = (begun.elapsed(), eof_grace + grace);
    assert!(
        took >= windows && took < windows + Duration::from_secs(2),
        "{took:?}"
    );
}

#[tokio::test]
async fn a_process_below_a_runtime_that_no_signal_ends_is_told_as_a_failed_teardown() {
    for wedged in [Wedged::Leader, Wedged::Rest] {
        let wedge = Wedge::locked();
        let script = after_hanging(Script::dsh_sdk().answered("done"));
        let runtime = supervised(&script).impatient().with(|config| {
            let words = std::iter::once(&config.command).chain(&config.args);
            let mut words: Vec<_> = words.map(|word| word.to_str().unwrap().to_owned()).collect();
            let (name, value) = wedge.launching(wedged, &mut words);
            config.env.push(name, value);
            config.command = words.remove(0).into();
            config.args = words.into_iter().map(Into::into).collect();
        });
        let (pid, outcome) = tokio::join!(wedge.hanging(runtime.dir()), runtime.delegate("do it"));
        assert!(is_alive(parent_of(pid)), "somebody still tries to end it");
        wedge.undo(pid).await;
        assert_eq!(
            outcome.text,
            "Error: subagent-dsh-sdk: Subagent failure (provider: DSH SDK; stage: shutdown; category: unknown)"
        );
        let reports = runtime.host_reports();
        assert!(
            matches!(&*reports, [report] if report.starts_with("shutdown: ")),
            "{reports:?}"
        );
    }
}
