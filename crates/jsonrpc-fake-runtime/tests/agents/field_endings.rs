//! How a child ends, and what it says about that: signals in the middle of a turn, a ladder that stops at the step that
//! worked, answers that are not true.

use std::time::Duration;

use jsonrpc_fake_runtime::acp::AcpSteps as _;
use jsonrpc_fake_runtime::{Condition, Descendant, Script, Signal};
use serde_json::{Value, json};
use subagent_seam::{StopReason, text_of};

use crate::custody::both_ways;
use crate::support::{FakeAgent, eventually, is_alive, note_pid};

both_ways! {
    one thread:
        a_child_that_ignores_eof_ends_at_sigterm_and_its_answer_stands,
        a_child_that_kills_itself_in_mid_turn_is_told_by_its_signal_and_its_text_is_kept,
        a_child_whose_worker_died_and_that_stays_silent_ends_at_the_idle_deadline,
        a_turn_that_ends_normally_after_our_cancellation_is_aborted,
        a_completed_turn_without_text_says_so,
        a_turn_that_ends_at_a_limit_or_with_a_refusal_says_which_with_and_without_text,
        an_agent_of_another_version_is_refused_before_a_session_is_made,
        a_demand_to_log_in_is_told_to_the_host_alone;
}

async fn a_child_that_ignores_eof_ends_at_sigterm_and_its_answer_stands() {
    let script = Script::acp()
        .step(note_pid())
        .ignore_eof()
        .ignore_sigterm()
        .prompted()
        .chunk("done")
        .end_turn()
        .wait_for(Condition::Sigterm)
        // A SIGKILL would leave it no time to write this.
        .touch("terminated")
        .exit(0);
    let (eof, grace) = (Duration::from_millis(400), Duration::from_secs(20));
    let agent = FakeAgent::running(&script).with(|config| {
        config.dispose_eof_grace = eof;
        config.dispose_grace = grace;
    });
    let outcome = agent.delegate("do it").await;
    assert_eq!((outcome.text.as_str(), outcome.is_error), ("done", false));
    let dispose = outcome.timings.dispose.unwrap();
    assert!(dispose >= eof && dispose < grace, "{dispose:?}");
    assert!(agent.dir().join("terminated").exists());
    assert!(!is_alive(agent.pid("pid").await));
}

async fn a_child_that_kills_itself_in_mid_turn_is_told_by_its_signal_and_its_text_is_kept() {
    let agent = FakeAgent::running(&Script::acp().prompted().chunk("partial").kill_self(Signal::Kill));
    let outcome = agent.delegate("do it").await;
    assert_eq!(
        outcome.text,
        "Error: subagent run failed\n\
         Diagnostic: Subagent failure (provider: ACP; stage: process; category: process-exit; signal: SIGKILL)\n\
         Partial output before the run ended:\npartial"
    );
}

async fn a_child_whose_worker_died_and_that_stays_silent_ends_at_the_idle_deadline() {
    let worker = Descendant::new("worker.pid").lifetime_ms(1);
    let script = Script::acp().prompted().chunk("partial").spawn(worker);
    let agent = FakeAgent::running(&script.touch("silent"))
        .with(|config| config.idle_timeout = Some(Duration::from_millis(500)));
    let outcome = agent.delegate("do it").await;
    assert_eq!(
        outcome.text,
        "Error: subagent run failed\n\
         Diagnostic: Subagent failure (provider: ACP; stage: prompt; category: timeout)\n\
         Partial output before the run ended:\npartial"
    );
    assert!(agent.dir().join("silent").exists());
    assert!(!is_alive(agent.pid("worker.pid").await));
    // The child was told that its turn is over.
    let methods = agent.recording().methods().unwrap();
    assert_eq!(methods.last().unwrap(), "session/cancel");
}

async fn a_turn_that_ends_normally_after_our_cancellation_is_aborted() {
    let script = Script::acp()
        .prompted()
        .chunk("partial")
        .touch("prompted")
        .expect("session/cancel")
        .chunk("as if nothing had happened")
        .end_turn()
        .touch("answered");
    let agent = FakeAgent::running(&script);
    let (run, cancel) = agent.start_cancellable("do it").await;
    agent.reached("prompted").await;
    cancel.cancel();
    let result = run.result().await;
    agent.reached("answered").await;
    run.dispose().await.unwrap();
    assert_eq!(*run.result().await, *result);
    assert_eq!(
        (result.stop_reason, &result.diagnostic),
        (StopReason::Aborted, &None)
    );
    assert_eq!(text_of(&result.output), "partial");
}

async fn a_completed_turn_without_text_says_so() {
    let silent = || Script::acp().prompted();
    for (what, script) in [
        ("nothing", silent()),
        ("thoughts", silent().thought("hm").thought("hm, hm")),
        ("white space", silent().chunk(" \n").chunk("\t\u{a0}")),
        ("empty chunks", silent().chunk("").chunk("")),
    ] {
        let outcome = FakeAgent::running(&script.end_turn()).delegate("do it").await;
        assert_eq!(
            (outcome.text.as_str(), outcome.is_error),
            ("(the subagent completed without output)", false),
            "{what}"
        );
    }
}

async fn a_turn_that_ends_at_a_limit_or_with_a_refusal_says_which_with_and_without_text() {
    let endings = [
        (
            "max_turn_requests",
            StopReason::Error,
            "Error: subagent run failed\n\
             Diagnostic: Subagent failure (provider: ACP; stage: prompt; category: remote-limit; stop reason: max_turn_requests)",
        ),
        (
            "max_tokens",
            StopReason::MaxTokens,
            "Error: subagent run hit its token limit before finishing",
        ),
        (
            "refusal",
            StopReason::Refusal,
            "Error: subagent declined the task",
        ),
    ];
    for (reason, told_reason, told) in endings {
        for (said, partial) in [
            ("", ""),
            ("partial", "\nPartial output before the run ended:\npartial"),
        ] {
            let agent = FakeAgent::running(&Script::acp().prompted().chunk(said).stop(reason));
            let outcome = agent.delegate("do it").await;
            assert_eq!(outcome.text, format!("{told}{partial}"));
            assert_eq!(outcome.result.unwrap().stop_reason, told_reason, "{reason}");
        }
    }
}

async fn an_agent_of_another_version_is_refused_before_a_session_is_made() {
    let versions = [
        json!(2),
        json!(0),
        json!("1"),
        json!(65536),
        json!(null),
        json!([1]),
    ];
    let answers = versions.map(|version| json!({"protocolVersion": version}));
    for answer in answers
        .into_iter()
        .chain([json!({}), json!({"agentCapabilities": {}})])
    {
        let agent = FakeAgent::running(&Script::acp().step(note_pid()).initialize_with(answer.clone()));
        let outcome = agent.delegate("do it").await;
        assert_eq!(
            outcome.text,
            "Error: subagent-acp: Subagent failure (provider: ACP; stage: initialize; category: transport)",
            "{answer}"
        );
        assert!(!is_alive(agent.pid("pid").await));
        assert_eq!(agent.recording().methods().unwrap(), ["initialize"], "{answer}");
        let version = answer
            .get("protocolVersion")
            .map_or_else(|| "none".to_owned(), Value::to_string);
        let told = format!("initialize: the agent answered with protocol version {version}, expected 1");
        assert_eq!(agent.host_reports(), [told]);
    }
}

async fn a_demand_to_log_in_is_told_to_the_host_alone() {
    let script = Script::acp().step(note_pid()).initialize().expect("session/new");
    let agent = FakeAgent::running(&script.respond_error(-32000, "log in again: token abc-4711 expired"));
    let outcome = agent.delegate("do it").await;
    assert_eq!(
        outcome.text,
        "Error: subagent-acp: Subagent failure (provider: ACP; stage: new-session; category: transport)"
    );
    let told = "new-session: session/new failed: the peer answered with error -32000: log in again: token abc-4711 expired";
    assert_eq!(agent.host_reports(), [told]);
    let pid = agent.pid("pid").await;
    eventually("the child is gone", || !is_alive(pid)).await;
}
