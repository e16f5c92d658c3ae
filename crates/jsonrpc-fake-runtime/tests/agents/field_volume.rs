//! Far too much of everything: standard error, output, frames.

use std::process::Command;

use jsonrpc_fake_runtime::acp::AcpSteps as _;
use jsonrpc_fake_runtime::{Script, Step};

use crate::custody::both_ways;
use crate::lifecycle_host::in_a_host_of_its_own;
use crate::support::FakeAgent;

both_ways! {
    one thread:
        a_child_that_floods_its_standard_error_is_not_held_up_and_none_of_it_is_shown,
        the_host_gets_the_last_64_kib_of_standard_error_when_a_run_fails,
        text_of_exactly_the_bound_is_whole_and_more_is_cut_on_a_character;
    a process of its own:
        endless_text_is_cut_at_the_bound_in_bounded_memory_and_is_no_failure;
}

const MIB: usize = 1024 * 1024;

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

/// The most memory that this process has ever had at once, in bytes.
fn peak_memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    let kib: usize = line.split_ascii_whitespace().nth(1).unwrap().parse().unwrap();
    kib * 1024
}

/// In a process of its own, since the memory of other tests would count too.
fn endless_text_is_cut_at_the_bound_in_bounded_memory_and_is_no_failure(test: &str) {
    if !in_a_host_of_its_own(test, |_: &mut Command| {}) {
        return;
    }
    let kib = "x".repeat(1024);
    let script = Script::acp()
        .prompted()
        .repeat(50 * 1024, |s| s.chunk(&kib))
        .end_turn();
    let agent = FakeAgent::running(&script);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let before = peak_memory();
    let outcome = runtime.block_on(agent.delegate("do it"));
    let grown = peak_memory() - before;
    assert!(!outcome.is_error);
    let said = outcome.text.strip_suffix("\n[output truncated]").unwrap();
    assert_eq!(said.len(), 8 * MIB);
    assert!(said.bytes().all(|byte| byte == b'x'));
    // The text, its growing buffer, and the copy that is shown; the 50 MiB themselves would not fit.
    assert!(grown < 40 * MIB, "{grown}");
}
