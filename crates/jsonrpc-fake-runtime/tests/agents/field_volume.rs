//! Far too much of everything: standard error, output. What it costs the host in memory stands in `field_memory`.

use jsonrpc_fake_runtime::acp::AcpSteps as _;
use jsonrpc_fake_runtime::{Script, Step};

use crate::custody::both_ways;
use crate::support::FakeAgent;

both_ways! {
    one thread:
        a_child_that_floods_its_standard_error_is_not_held_up_and_none_of_it_is_shown,
        the_host_gets_the_last_64_kib_of_standard_error_when_a_run_fails,
        text_of_exactly_the_bound_is_whole_and_more_is_cut_on_a_character;
}

fn flood(bytes: u64) -> Step {
    Step::StderrFlood {
        bytes,
        final_newline: false,
    }
}

async fn a_child_that_floods_its_standard_error_is_not_held_up_and_none_of_it_is_shown() {
    let script = Script::acp()
        .step(flood(65_537))
        .prompted()
        .step(flood(1024 * 1024))
        .chunk("hello")
        .end_turn()
        .step(flood(65_537));
    let agent = FakeAgent::running(&script);
    let outcome = agent.delegate("do it").await;
    assert_eq!((outcome.text.as_str(), outcome.is_error), ("hello", false));
    assert_eq!(outcome.result.unwrap().diagnostic, None);
    assert!(agent.host_reports().is_empty());
}

async fn the_host_gets_the_last_64_kib_of_standard_error_when_a_run_fails() {
    let script = Script::acp()
        .prompted()
        .step(flood(1024 * 1024))
        .stderr("the very last words")
        .exit(3);
    let agent = FakeAgent::running(&script);
    let outcome = agent.delegate("do it").await;
    assert_eq!(
        outcome.text,
        "Error: subagent run failed\n\
         Diagnostic: Subagent failure (provider: ACP; stage: process; category: process-exit; exit code: 3)"
    );
    let reports = agent.host_reports();
    assert_eq!(reports.len(), 1);
    let (told, stderr) = reports[0].split_once("\nstderr: ").unwrap();
    assert_eq!(
        told,
        "process: the agent ended before it answered session/prompt: exit code 3"
    );
    assert_eq!(stderr.len(), 64 * 1024);
    assert!(stderr.ends_with("the very last words"));
}

async fn text_of_exactly_the_bound_is_whole_and_more_is_cut_on_a_character() {
    let with_bound = |text: &str| {
        FakeAgent::running(&Script::acp().prompted().chunk(text).chunk("").end_turn())
            .with(|config| config.max_output_bytes = 8)
    };
    assert_eq!(with_bound("12345678").delegate("do it").await.text, "12345678");
    assert_eq!(
        with_bound("1234567ä").delegate("do it").await.text,
        "1234567\n[output truncated]"
    );
}
