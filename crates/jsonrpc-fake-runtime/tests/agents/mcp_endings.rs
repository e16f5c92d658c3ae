//! How calls, jobs and connections of the tools over MCP end: by the client's word, by the end of its messages, by a
//! signal. Whatever happens, nothing is left, and the rest goes on.

use std::path::Path;
use std::time::Duration;

use jsonrpc_fake_runtime::acp::AcpSteps as _;
use jsonrpc_fake_runtime::{Condition, Descendant, Script};
use rmcp::service::ClientLifecycleMode;
use rustix::process::Signal;

use crate::command_support::Place;
use crate::mcp_support::{Client, answer, background, seen, serve, serve_to, task};
use crate::support::eventually;

/// Never answers its prompt and leaves a descendant; only SIGKILL ends it. Each run makes a file of its own.
fn stubborn() -> Script {
    Script::acp()
        .ignore_eof()
        .ignore_sigterm()
        .prompted()
        .spawn(Descendant::new("descendant-{prompt}.pid").ignores_sigterm())
        .chunk("partial")
        .touch("{prompt}")
        .wait_for(Condition::Frame {
            method: "session/cancel".to_owned(),
        })
        .hang()
}

/// Windows of a ladder that a test can sit out.
const WINDOWS: &str = "    disposeEofGraceMs: 300\n    disposeGraceMs: 300\n";

/// The whole ladder of [`WINDOWS`], the open prompt's share included, and room for a busy host.
const LADDER: Duration = Duration::from_millis(300 + 300 + 300 + 300 + 2500);

async fn reached(place: &Place, name: &str) {
    let path = place.work().join(name);
    eventually(&format!("the agent has made {name}"), || path.exists()).await;
}

fn descendant(work: &Path, prompt: &str) -> Option<u32> {
    let text = std::fs::read_to_string(work.join(format!("descendant-{prompt}.pid"))).ok()?;
    text.trim().parse().ok()
}

#[tokio::test]
async fn a_cancelled_call_is_torn_down_and_not_answered_and_later_calls_work() {
    let place = Place::new();
    let config = place.entry("agent", &stubborn(), WINDOWS)
        + &place.entry("echo", &Script::acp().prompted().chunk("{prompt}").end_turn(), "")
        + "- { id: a, name: tool-subagent, config: { provider: agent, toolName: hang } }\n\
           - { id: b, name: tool-subagent, config: { provider: echo, toolName: echo } }\n";
    let served = serve(&place, &config).await;
    let cancelled = served.begin("hang", task("one")).await;
    let other = served.begin("hang", task("two")).await;
    reached(&place, "one").await;
    reached(&place, "two").await;
    let children = place.living().len();
    cancelled.cancel(Some("enough".to_owned())).await.unwrap();
    eventually("the run is torn down", || place.living().len() == children - 2).await;
    assert!(
        descendant(&place.work(), "two").is_some_and(crate::support::is_alive),
        "the other run goes on"
    );
    assert_eq!(
        seen(&served.call("echo", task("later")).await),
        ("later".to_owned(), false)
    );

    other.cancel(None).await.unwrap();
    eventually("only the command is left", || place.living().len() == 1).await;
    assert_eq!(served.close().await.0, 0);
}

#[tokio::test]
async fn the_end_of_the_clients_messages_ends_runs_and_jobs_side_by_side() {
    let place = Place::new();
    let served = serve(&place, &place.entry("agent", &stubborn(), WINDOWS)).await;
    let _call = served.begin("subagent", task("run")).await;
    for job in ["job-1", "job-2"] {
        served.call("subagent", background(job)).await;
    }
    for started in ["run", "job-1", "job-2"] {
        reached(&place, started).await;
    }
    let (code, time) = served.close().await;
    assert_eq!(code, 0);
    assert!(
        time < LADDER,
        "the ladders were not walked side by side: {time:?}"
    );
}

#[tokio::test]
async fn a_signal_ends_runs_and_jobs_and_decides_the_exit_code() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130)] {
        let place = Place::new();
        let served = serve(&place, &place.entry("agent", &stubborn(), WINDOWS)).await;
        let call = served.begin("subagent", task("run")).await;
        served.call("subagent", background("job")).await;
        reached(&place, "run").await;
        reached(&place, "job").await;
        served.signal(signal);
        let answered = tokio::spawn(answer(call));
        let (ended, time) = served.ended().await;
        assert_eq!(ended, code);
        assert!(time < LADDER, "{time:?}");
        // The answer may still have come through; then it is the one of a cancelled run.
        if let Ok(result) = answered.await.unwrap() {
            let text = "Error: subagent run was cancelled\nPartial output before the run ended:\npartial";
            assert_eq!(seen(&result), (text.to_owned(), true));
        }
    }
}

#[tokio::test]
async fn a_second_signal_kills_at_once() {
    let place = Place::new();
    let served = serve(&place, &place.entry("agent", &stubborn(), "")).await;
    let _call = served.begin("subagent", task("run")).await;
    served.call("subagent", background("job")).await;
    reached(&place, "run").await;
    reached(&place, "job").await;
    served.signal(Signal::TERM);
    eventually("the agent was told", || {
        let methods = place.recording("agent").methods().unwrap();
        methods.contains(&"session/cancel".to_owned())
    })
    .await;
    served.signal(Signal::INT);
    let (code, time) = served.ended().await;
    assert_eq!(code, 143);
    assert!(
        time < Duration::from_secs(2),
        "the second signal did not kill: {time:?}"
    );
}

#[tokio::test]
async fn a_signal_while_nothing_runs_ends_at_once() {
    let place = Place::new();
    let served = serve(&place, &place.entry("agent", &stubborn(), "")).await;
    served.signal(Signal::TERM);
    let (code, time) = served.ended().await;
    assert_eq!(code, 143);
    assert!(time < Duration::from_secs(1), "{time:?}");
}

#[tokio::test]
async fn progress_is_told_within_two_seconds_and_every_two_from_then_on() {
    let place = Place::new();
    let script = Script::acp()
        .prompted()
        .chunk("partial")
        .wait_for_file("go")
        .end_turn();
    let client = Client::default();
    let told = client.progress.clone();
    let config = place.entry("agent", &script, "");
    let served = serve_to(&place, &config, client, ClientLifecycleMode::Initialize, &[]).await;
    let call = served.begin("subagent", task("long")).await;
    let token = call.progress_token.clone();
    eventually("progress is told three times", || told.lock().unwrap().len() >= 3).await;
    place.write("work/go", "");
    assert_eq!(seen(&answer(call).await.unwrap()), ("partial".to_owned(), false));
    served.close().await;

    let told = told.lock().unwrap();
    let seconds: Vec<_> = told.iter().map(|(_, told)| told.progress).collect();
    assert!(seconds[0] < 2.0, "{seconds:?}");
    for pair in seconds.windows(2) {
        assert!((1.9..2.5).contains(&(pair[1] - pair[0])), "{seconds:?}");
    }
    for (at, told) in told.iter() {
        assert_eq!(told.progress_token, token);
        assert!(
            told.progress <= at.as_secs_f64() + 0.1,
            "seconds so far: {told:?} at {at:?}"
        );
        let message = told.message.as_deref().unwrap();
        let bytes = message
            .strip_prefix("prompt, ")
            .and_then(|rest| rest.strip_suffix(" bytes received"));
        assert!(bytes.unwrap().parse::<u64>().unwrap() > 0, "{message}");
    }
}

#[tokio::test]
async fn waiting_for_a_job_tells_how_far_the_job_is() {
    let place = Place::new();
    let script = Script::acp()
        .prompted()
        .chunk("partial")
        .wait_for_file("go")
        .end_turn();
    let client = Client::default();
    let told = client.progress.clone();
    let config = place.entry("agent", &script, "");
    let served = serve_to(&place, &config, client, ClientLifecycleMode::Initialize, &[]).await;
    served.call("subagent", background("long")).await;
    let waiting = serde_json::json!({"job_id": "subagent-1", "wait": true});
    let call = served.begin("job_output", waiting).await;
    eventually("progress is told", || !told.lock().unwrap().is_empty()).await;
    place.write("work/go", "");
    let read = answer(call).await.unwrap();
    assert_eq!(seen(&read).0, "partial\n[status: completed]");
    served.close().await;

    let told = told.lock().unwrap();
    let message = told[0].1.message.as_deref().unwrap();
    let bytes = message
        .strip_prefix("prompt, ")
        .and_then(|rest| rest.strip_suffix(" bytes received"));
    assert!(bytes.unwrap().parse::<u64>().unwrap() > 0, "{message}");
}

mod heavy {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn fifty_calls_at_once_are_answered_each_with_its_own() {
        let place = Place::new();
        let script = Script::acp().prompted().chunk("{prompt}").end_turn();
        let served = serve(&place, &place.entry("agent", &script, "")).await;
        let mut calls = Vec::new();
        for number in 0..50 {
            let prompt = format!("task {number}");
            calls.push((served.begin("subagent", task(&prompt)).await, prompt));
        }
        for (call, prompt) in calls {
            assert_eq!(seen(&answer(call).await.unwrap()), (prompt, false));
        }
        assert_eq!(place.living().len(), 1, "only the command is left");
        assert_eq!(served.close().await.0, 0);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn fifty_runs_end_with_their_client() {
        let place = Place::new();
        let served = serve(&place, &place.entry("agent", &stubborn(), WINDOWS)).await;
        let mut calls = Vec::new();
        for number in 0..50 {
            calls.push(served.begin("subagent", task(&format!("run-{number}"))).await);
        }
        for number in 0..50 {
            reached(&place, &format!("run-{number}")).await;
        }
        assert_eq!(served.close().await.0, 0);
    }
}
