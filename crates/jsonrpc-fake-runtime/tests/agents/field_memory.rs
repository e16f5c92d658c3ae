//! What the host's memory grows by while an ACP agent does far too much of something, each in a process of its own. Owns
//! the measuring, and the bounds as `docs/process-lifecycle.md` states them; what a parent reads of such a run stands with
//! the other inputs. The same of a DSH SDK runtime stands in `field_memory_dsh`.

use std::time::{Duration, Instant};

use jsonrpc_fake_runtime::acp::{AcpSteps as _, chunk_frame};
use jsonrpc_fake_runtime::{Condition, Protocol, Script, Step, scenarios};
use serde_json::json;
use subagent_tool::Outcome;
use tokio::runtime::Runtime;

use crate::custody::both_ways;
use crate::dsh_support::FakeRuntime;
use crate::lifecycle_host::in_a_host_of_its_own;
use crate::support::FakeAgent;

pub(crate) const MIB: usize = 1024 * 1024;

/// The defaults of both providers.
pub(crate) const FRAME: usize = 16 * MIB;
pub(crate) const OUTPUT: usize = 8 * MIB;
pub(crate) const QUEUE: usize = MIB;

/// What any run may cost: buffers of its pipes, the end of the standard error, pages of code that is run the first time.
pub(crate) const ANY_RUN: usize = 4 * MIB;

/// A line of `/proc/self/status` about memory, in bytes.
fn memory(line: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|other| other.starts_with(line)).unwrap();
    let kib: usize = line.split_ascii_whitespace().nth(1).unwrap().parse().unwrap();
    kib * 1024
}

/// How much more memory than before this process has had at any moment of `work`, which is its first large one.
pub(crate) fn grown_by<T>(work: impl FnOnce(&Runtime) -> T) -> (T, usize) {
    let runtime = Runtime::new().unwrap();
    // Threads, timers and the code that every run needs are there from now on.
    let small = Script::acp().prompted().chunk("done").end_turn();
    runtime.block_on(FakeAgent::running(&small).delegate("do it"));
    runtime.block_on(FakeRuntime::scenario("ok").delegate("do it"));
    let before = memory("VmRSS:");
    let done = work(&runtime);
    (done, memory("VmHWM:").saturating_sub(before))
}

#[track_caller]
pub(crate) fn assert_within(grown: usize, bound: usize) {
    assert!(grown <= bound, "grown by {grown} bytes, the bound is {bound}");
}

pub(crate) fn scenario(protocol: Protocol, name: &str) -> Script {
    let all = scenarios(protocol);
    let found = all.iter().find(|scenario| scenario.name() == name);
    found.unwrap_or_else(|| panic!("no scenario {name}")).script()
}

/// A line that goes on for a gibibyte, unless nobody reads on.
pub(crate) fn endless_line(script: Script) -> Script {
    script.repeat(1024, |s| s.raw("x".repeat(MIB)))
}

/// A child that asks ten million times and never reads an answer, unless nobody reads on.
pub(crate) fn asking_without_end(script: Script) -> Script {
    script.repeat(10_000_000, |s| s.request("q", "host/invented", json!({})))
}

fn acp(script: &Script) -> FakeAgent {
    FakeAgent::running(script).impatient()
}

/// What a parent reads of a run that said `partial`, and then more than was bearable.
pub(crate) fn failed(provider: &str, stage: &str) -> String {
    format!(
        "Error: subagent run failed\n\
         Diagnostic: Subagent failure (provider: {provider}; stage: {stage}; category: transport)\n\
         Partial output before the run ended:\npartial"
    )
}

fn delegated(script: &Script, prompt: &str) -> (Outcome, usize) {
    grown_by(|runtime| runtime.block_on(acp(script).delegate(prompt)))
}

mod heavy {
    use super::*;

    both_ways! {
        a process of its own:
            a_line_of_a_gibibyte_from_an_agent_costs_no_more_than_the_frame_limit,
            fifty_mebibytes_of_text_are_cut_and_cost_no_more_than_the_output_limit,
            a_frame_of_the_limit_costs_frame_and_output,
            a_million_notifications_cost_nothing,
            a_run_whose_result_nobody_looks_at_costs_what_any_other_does,
            a_child_that_never_reads_its_prompt_costs_no_more_than_that_prompt,
            answers_that_a_child_does_not_read_end_the_run_at_the_bound_of_the_queue,
            a_gibibyte_of_standard_error_costs_no_more_than_the_part_that_is_kept;
    }

    fn a_line_of_a_gibibyte_from_an_agent_costs_no_more_than_the_frame_limit(test: &str) {
        if !in_a_host_of_its_own(test, |_| {}) {
            return;
        }
        let script = Script::acp().prompted().chunk("partial").then(endless_line);
        let begun = Instant::now();
        let (outcome, grown) = delegated(&script, "do it");
        assert_eq!(outcome.text, failed("ACP", "prompt"));
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
        assert_within(grown, FRAME + ANY_RUN);
    }

    fn fifty_mebibytes_of_text_are_cut_and_cost_no_more_than_the_output_limit(test: &str) {
        if !in_a_host_of_its_own(test, |_| {}) {
            return;
        }
        let kib = "x".repeat(1024);
        let script = Script::acp()
            .prompted()
            .repeat(50 * 1024, |s| s.chunk(&kib))
            .end_turn();
        let (outcome, grown) = delegated(&script, "do it");
        assert!(!outcome.is_error);
        let said = outcome.text.strip_suffix("\n[output truncated]").unwrap();
        assert_eq!(said.len(), OUTPUT);
        assert!(said.bytes().all(|byte| byte == b'x'));
        assert_within(grown, 2 * OUTPUT + ANY_RUN);
    }

    fn a_frame_of_the_limit_costs_frame_and_output(test: &str) {
        if !in_a_host_of_its_own(test, |_| {}) {
            return;
        }
        let frame = chunk_frame("{pad}");
        let script = Script::acp().prompted().padded(FRAME, frame).end_turn();
        let (outcome, grown) = delegated(&script, "do it");
        assert!(!outcome.is_error && outcome.text.ends_with("\n[output truncated]"));
        assert_within(grown, FRAME + 2 * OUTPUT + ANY_RUN);
    }

    fn a_million_notifications_cost_nothing(test: &str) {
        if !in_a_host_of_its_own(test, |_| {}) {
            return;
        }
        let script = scenario(Protocol::Acp, "million-updates");
        let (outcome, grown) = delegated(&script, "do it");
        assert!(!outcome.is_error, "{}", outcome.text);
        assert_within(grown, ANY_RUN);
    }

    fn a_run_whose_result_nobody_looks_at_costs_what_any_other_does(test: &str) {
        if !in_a_host_of_its_own(test, |_| {}) {
            return;
        }
        // Ten times as much as may be kept.
        let kib = "x".repeat(1024);
        let script = Script::acp()
            .prompted()
            .repeat(80 * 1024, |s| s.thought(&kib).chunk(&kib))
            .touch("all-sent");
        let agent = acp(&script);
        let ((), grown) = grown_by(|runtime| {
            let run = runtime.block_on(async {
                let run = agent.start("do it").await.unwrap();
                agent.reached("all-sent").await;
                run
            });
            runtime.block_on(run.dispose()).unwrap();
        });
        assert_within(grown, OUTPUT + ANY_RUN);
    }

    /// A prompt of eight mebibytes, of which nothing is read, and a cancellation behind it.
    fn a_child_that_never_reads_its_prompt_costs_no_more_than_that_prompt(test: &str) {
        if !in_a_host_of_its_own(test, |_| {}) {
            return;
        }
        let prompt = "p".repeat(8 * MIB);
        let script = Script::acp().ready().wait_for(Condition::Never);
        let agent = acp(&script).with(|config| config.run_timeout = Some(Duration::from_secs(1)));
        let (outcome, grown) = grown_by(|runtime| runtime.block_on(agent.delegate(&prompt)));
        assert_eq!(
            outcome.text,
            "Error: subagent run failed\n\
             Diagnostic: Subagent failure (provider: ACP; stage: prompt; category: timeout)"
        );
        assert_within(grown, 2 * prompt.len() + QUEUE + ANY_RUN);
    }

    fn answers_that_a_child_does_not_read_end_the_run_at_the_bound_of_the_queue(test: &str) {
        if !in_a_host_of_its_own(test, |_| {}) {
            return;
        }
        let script = Script::acp().prompted().chunk("partial").then(asking_without_end);
        let (outcome, grown) = delegated(&script, "do it");
        assert_eq!(outcome.text, failed("ACP", "prompt"));
        assert_within(grown, QUEUE + ANY_RUN);
    }

    fn a_gibibyte_of_standard_error_costs_no_more_than_the_part_that_is_kept(test: &str) {
        if !in_a_host_of_its_own(test, |_| {}) {
            return;
        }
        let flood = Step::StderrFlood {
            bytes: 1 << 30,
            final_newline: true,
        };
        let script = Script::acp().prompted().step(flood).chunk("done").end_turn();
        let (outcome, grown) = delegated(&script, "do it");
        assert_eq!(outcome.text, "done");
        assert_within(grown, ANY_RUN);
    }
}
