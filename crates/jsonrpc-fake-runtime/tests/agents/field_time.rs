//! Silence, and slowness that is none: which deadline ends what.

use std::time::{Duration, Instant};

use jsonrpc_fake_runtime::Script;
use jsonrpc_fake_runtime::acp::{AcpSteps as _, Stage};

use crate::custody::both_ways;
use crate::support::{FakeAgent, is_alive, note_pid};

both_ways! {
    one thread:
        a_child_that_reads_and_writes_nothing_ends_at_the_startup_deadline,
        a_child_that_falls_silent_after_its_first_answer_ends_at_the_startup_deadline,
        a_silent_child_that_only_a_signal_ends_is_gone_when_the_start_fails,
        a_turn_that_streams_for_longer_than_the_startup_deadline_goes_on,
        noise_does_not_keep_an_idle_child_alive;
}

async fn a_silent_child_ends_at_the_startup_deadline(stage: Stage, told: &str) {
    let deadline = Duration::from_millis(700);
    let agent = FakeAgent::running(&Script::acp().step(note_pid()).up_to(stage))
        .with(|config| config.startup_timeout = Some(deadline));
    let begun = Instant::now();
    let outcome = agent.delegate("do it").await;
    assert!(begun.elapsed() >= deadline);
    assert_eq!(outcome.text, told);
    assert!(!is_alive(agent.pid("pid").await));
}

async fn a_child_that_reads_and_writes_nothing_ends_at_the_startup_deadline() {
    a_silent_child_ends_at_the_startup_deadline(
        Stage::Initialize,
        "Error: subagent-acp: Subagent failure (provider: ACP; stage: initialize; category: timeout)",
    )
    .await;
}

async fn a_child_that_falls_silent_after_its_first_answer_ends_at_the_startup_deadline() {
    a_silent_child_ends_at_the_startup_deadline(
        Stage::NewSession,
        "Error: subagent-acp: Subagent failure (provider: ACP; stage: new-session; category: timeout)",
    )
    .await;
}

async fn a_silent_child_that_only_a_signal_ends_is_gone_when_the_start_fails() {
    let script = Script::acp()
        .ignore_eof()
        .ignore_sigterm()
        .step(note_pid())
        .expect("initialize");
    let agent = FakeAgent::running(&script)
        .impatient()
        .with(|config| config.startup_timeout = Some(Duration::from_millis(700)));
    let outcome = agent.delegate("do it").await;
    assert_eq!(
        outcome.text,
        "Error: subagent-acp: Subagent failure (provider: ACP; stage: initialize; category: timeout)"
    );
    assert!(!is_alive(agent.pid("pid").await));
}

async fn a_turn_that_streams_for_longer_than_the_startup_deadline_goes_on() {
    let startup = Duration::from_millis(2500);
    let script = Script::acp()
        .prompted()
        .repeat(4, |s| s.sleep_ms(1000).chunk("{index} "))
        .end_turn();
    let agent = FakeAgent::running(&script).with(|config| {
        config.startup_timeout = Some(startup);
        // Each chunk restarts the idle deadline, so the whole may take longer.
        config.idle_timeout = Some(startup);
    });
    let outcome = agent.delegate("do it").await;
    assert_eq!((outcome.text.as_str(), outcome.is_error), ("0 1 2 3 ", false));
    assert!(outcome.timings.run.unwrap() > startup);
}

async fn noise_does_not_keep_an_idle_child_alive() {
    let script = Script::acp()
        .prompted()
        .chunk("partial")
        .until_frame("session/cancel", 50, |s| s.line("still thinking").line("[]"));
    let agent =
        FakeAgent::running(&script).with(|config| config.idle_timeout = Some(Duration::from_millis(600)));
    let outcome = agent.delegate("do it").await;
    assert_eq!(
        outcome.text,
        "Error: subagent run failed\n\
         Diagnostic: Subagent failure (provider: ACP; stage: prompt; category: timeout)\n\
         Partial output before the run ended:\npartial"
    );
}
