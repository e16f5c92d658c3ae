//! What the host's memory grows by while a DSH SDK runtime does far too much of something, each in a process of its own.
//! Owns nothing but the inputs; the measuring and the bounds are those of `field_memory`.

use std::time::{Duration, Instant};

use jsonrpc_fake_runtime::dsh_sdk::{DshSdkSteps as _, delta_frame};
use jsonrpc_fake_runtime::{Condition, Protocol, Script};
use serde_json::json;
use subagent_dsh_sdk::client::{Delivery, HarnessClient, HarnessPlan};
use subagent_tool::Outcome;

use crate::custody::both_ways;
use crate::dsh_support::FakeRuntime;
use crate::field_memory::{
    ANY_RUN, FRAME, MIB, OUTPUT, QUEUE, asking_without_end, assert_within, endless_line, failed, grown_by,
    scenario,
};
use crate::lifecycle_host::in_a_host_of_its_own;
use crate::support::SOON;

fn dsh(script: &Script) -> FakeRuntime {
    FakeRuntime::running(script).impatient()
}

fn delegated(script: &Script, prompt: &str) -> (Outcome, usize) {
    grown_by(|runtime| runtime.block_on(dsh(script).delegate(prompt)))
}

mod heavy {
    use super::*;

    both_ways! {
        a process of its own:
            a_line_of_a_gibibyte_from_a_runtime_costs_no_more_than_the_frame_limit,
            fifty_mebibytes_of_text_from_a_runtime_cost_no_more_than_the_output_limit,
            a_frame_of_the_limit_from_a_runtime_costs_frame_and_output,
            a_million_notifications_of_a_runtime_cost_nothing,
            a_subscriber_that_does_not_read_costs_no_more_than_its_bound,
            a_runtime_that_never_reads_its_prompt_costs_no_more_than_that_prompt,
            answers_that_a_runtime_does_not_read_end_the_run_at_the_bound_of_the_queue;
    }

    fn a_line_of_a_gibibyte_from_a_runtime_costs_no_more_than_the_frame_limit(test: &str) {
        if !in_a_host_of_its_own(test, |_| {}) {
            return;
        }
        let script = Script::dsh_sdk().accepted().delta("partial").then(endless_line);
        let begun = Instant::now();
        let (outcome, grown) = delegated(&script, "do it");
        assert_eq!(outcome.text, failed("DSH SDK", "session-run"));
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
        assert_within(grown, FRAME + ANY_RUN);
    }

    fn fifty_mebibytes_of_text_from_a_runtime_cost_no_more_than_the_output_limit(test: &str) {
        if !in_a_host_of_its_own(test, |_| {}) {
            return;
        }
        let script = scenario(Protocol::DshSdk, "endless-text");
        let (outcome, grown) = delegated(&script, "do it");
        assert!(!outcome.is_error && outcome.text.ends_with("\n[output truncated]"));
        assert_within(grown, 2 * OUTPUT + ANY_RUN);
    }

    fn a_frame_of_the_limit_from_a_runtime_costs_frame_and_output(test: &str) {
        if !in_a_host_of_its_own(test, |_| {}) {
            return;
        }
        let script = Script::dsh_sdk()
            .accepted()
            .padded(FRAME, delta_frame("{pad}"))
            .completed()
            .shutdown();
        let (outcome, grown) = delegated(&script, "do it");
        assert!(!outcome.is_error && outcome.text.ends_with("\n[output truncated]"));
        assert_within(grown, FRAME + 2 * OUTPUT + ANY_RUN);
    }

    fn a_million_notifications_of_a_runtime_cost_nothing(test: &str) {
        if !in_a_host_of_its_own(test, |_| {}) {
            return;
        }
        let script = scenario(Protocol::DshSdk, "million-updates");
        let (outcome, grown) = delegated(&script, "do it");
        assert!(!outcome.is_error, "{}", outcome.text);
        assert_within(grown, ANY_RUN);
    }

    fn a_subscriber_that_does_not_read_costs_no_more_than_its_bound(test: &str) {
        if !in_a_host_of_its_own(test, |_| {}) {
            return;
        }
        let kib = "x".repeat(1024);
        let script = Script::dsh_sdk()
            .initialize()
            .expect("vendor/flood")
            .repeat(100_000, |s| {
                s.event_of("session-1", "step/start", json!({ "pad": kib }))
            })
            .repeat(100_000, |s| s.event_of("session-1", "step/start", json!({})))
            .respond(json!("done"))
            .shutdown();
        let fake = FakeRuntime::running(&script);
        let config = fake.harness_config();
        let bound = config.subscription_bytes;
        let (lost, grown) = grown_by(|runtime| {
            runtime.block_on(async {
                let client = HarnessClient::spawn(&HarnessPlan::new(config).unwrap()).unwrap();
                client.initialize().await.unwrap();
                let mut slow = client.subscribe(|_| true);
                client.request("vendor/flood", json!({}), SOON).await.unwrap();
                client.close().await.unwrap();
                let mut lost = 0;
                while let Some(delivery) = slow.next().await {
                    if let Delivery::Lost(count) = delivery {
                        lost += count;
                    }
                }
                lost
            })
        });
        assert!(lost > 150_000, "{lost}");
        assert_within(grown, bound + ANY_RUN);
    }

    fn answers_that_a_runtime_does_not_read_end_the_run_at_the_bound_of_the_queue(test: &str) {
        if !in_a_host_of_its_own(test, |_| {}) {
            return;
        }
        let script = Script::dsh_sdk()
            .accepted()
            .delta("partial")
            .then(asking_without_end);
        let (outcome, grown) = delegated(&script, "do it");
        assert_eq!(outcome.text, failed("DSH SDK", "session-run"));
        assert_within(grown, QUEUE + ANY_RUN);
    }

    /// A prompt of eight mebibytes, of which nothing is read, and a request to shut down behind it.
    fn a_runtime_that_never_reads_its_prompt_costs_no_more_than_that_prompt(test: &str) {
        if !in_a_host_of_its_own(test, |_| {}) {
            return;
        }
        let prompt = "p".repeat(8 * MIB);
        let script = Script::dsh_sdk().initialize().wait_for(Condition::Never);
        let runtime = dsh(&script).with(|config| config.run_timeout = Some(Duration::from_secs(1)));
        let (outcome, grown) = grown_by(|host| host.block_on(runtime.delegate(&prompt)));
        assert_eq!(
            outcome.text,
            "Error: subagent run failed\n\
             Diagnostic: Subagent failure (provider: DSH SDK; stage: session-run; category: timeout)"
        );
        assert_within(grown, 2 * prompt.len() + QUEUE + ANY_RUN);
    }
}
