//! What a parent model reads of a DSH SDK runtime beyond the rows of `dsh_table`: which of what it says is the answer,
//! bounds by default, and that nothing else of it is shown.

use jsonrpc_fake_runtime::Script;
use jsonrpc_fake_runtime::dsh_sdk::DshSdkSteps as _;
use subagent_seam::StopReason;

use crate::custody::both_ways;
use crate::dsh_support::FakeRuntime;

both_ways! {
    one thread:
        a_request_of_the_runtime_is_turned_down_and_the_turn_goes_on;
    threads:
        past_its_bounds_by_default_a_conversation_is_given_up,
        each_failure_of_a_start_is_reported_once_and_nothing_more_is_asked,
        what_the_child_says_is_selected_as_for_every_provider,
        frames_of_the_bound_are_taken_and_text_is_cut_at_its_own_bound,
        nothing_that_a_runtime_controls_reaches_the_parent_but_its_answer;
}

/// What the parent reads of each scenario, and the stop reason.
async fn read(name: &str) -> (String, Option<StopReason>) {
    let outcome = FakeRuntime::scenario(name).delegate("do it").await;
    let reason = outcome.result.map(|result| result.stop_reason);
    (outcome.text, reason)
}

fn line(stage: &str, category: &str) -> String {
    format!("Subagent failure (provider: DSH SDK; stage: {stage}; category: {category})")
}

fn failed(category: &str, partial: &str) -> String {
    let line = line("session-run", category);
    let partial = match partial {
        "" => String::new(),
        text => format!("\nPartial output before the run ended:\n{text}"),
    };
    format!("Error: subagent run failed\nDiagnostic: {line}{partial}")
}

async fn past_its_bounds_by_default_a_conversation_is_given_up() {
    for (name, partial) in [
        ("endless-line", "partial"),
        ("flood-before-receipt", ""),
        ("frame-16-mib-and-1", ""),
    ] {
        let outcome = FakeRuntime::scenario(name).impatient().delegate("do it").await;
        assert_eq!(outcome.text, failed("transport", partial), "{name}");
        assert!(outcome.is_error && outcome.dispose_error.is_none(), "{name}");
    }
}

async fn each_failure_of_a_start_is_reported_once_and_nothing_more_is_asked() {
    for (name, category) in [
        ("auth-required", "protocol"),
        ("error-at-initialize", "protocol"),
        ("server-info-missing", "protocol"),
        ("server-info-null", "protocol"),
        ("server-info-no-object", "protocol"),
        ("server-info-name-missing", "protocol"),
        ("server-info-name-number", "protocol"),
        ("server-info-version-missing", "protocol"),
        ("server-info-version-number", "protocol"),
        ("canary-server-info", "protocol"),
        ("exit-0-at-start", "transport"),
        ("exit-7-at-initialize", "transport"),
        ("sigkill-at-initialize", "transport"),
        ("closed-stdout-at-initialize", "transport"),
        ("closed-pipes-at-start", "transport"),
    ] {
        let runtime = FakeRuntime::scenario(name).impatient();
        let outcome = runtime.delegate("do it").await;
        let line = line("initialize", category);
        assert_eq!(outcome.text, format!("Error: subagent-dsh-sdk: {line}"), "{name}");
        assert_eq!(
            runtime.host_reports().len(),
            1,
            "{name}: {:?}",
            runtime.host_reports()
        );
        let asked = runtime.methods();
        assert!(
            asked.iter().all(|method| method == "initialize"),
            "{name}: {asked:?}"
        );
    }
    assert_eq!(read("server-info-other-name").await.0, "hello");
}

async fn what_the_child_says_is_selected_as_for_every_provider() {
    for (name, text) in [
        ("ok", "hello"),
        ("streamed-only", "hello"),
        ("message-only", "hello"),
        ("message-over-stream", "hello"),
        ("last-message", "hello"),
        ("usage-only-last", "hello"),
        ("usage-only-and-stream", "hello"),
        ("two-texts", "hello"),
        ("other-chunks", "hello"),
        ("whitespace-only", "(the subagent completed without output)"),
        ("tool-call-last", "(the subagent completed without output)"),
        ("surrogate-chunk", "before \u{fffd} after"),
        ("surrogate-halves", "one \u{fffd}\u{fffd} two"),
        ("byte-by-byte", "é€漢字🦀👩\u{200d}🚀"),
        ("noise", "hello"),
        ("noise-bytes", "hello"),
        ("answer-string-id", "hello"),
        ("answer-twice", "hello"),
        ("stderr-flood", "hello"),
        ("slow-start", "hello"),
    ] {
        let completed = (text.to_owned(), Some(StopReason::Completed));
        assert_eq!(read(name).await, completed, "{name}");
    }
    let outcome = FakeRuntime::scenario("echo").delegate("a b\nc").await;
    assert_eq!(outcome.text, "a b\nc");
}

async fn frames_of_the_bound_are_taken_and_text_is_cut_at_its_own_bound() {
    let suffix = "\n[output truncated]";
    for (name, cut) in [
        ("frame-1-mib", false),
        ("frame-16-mib-less-1", true),
        ("frame-16-mib", true),
    ] {
        let (text, reason) = read(name).await;
        assert_eq!(reason, Some(StopReason::Completed), "{name}");
        assert_eq!(text.ends_with(suffix), cut, "{name}");
        if cut {
            assert_eq!(text.len(), 8 * 1024 * 1024 + suffix.len(), "{name}");
        }
    }
    let (text, _) = read("endless-text").await;
    assert_eq!(text.len(), 8 * 1024 * 1024 + suffix.len());
}

async fn nothing_that_a_runtime_controls_reaches_the_parent_but_its_answer() {
    const CANARY: &str = "canary-4711-do-not-show";
    let names: Vec<String> = jsonrpc_fake_runtime::scenarios(jsonrpc_fake_runtime::Protocol::DshSdk)
        .iter()
        .map(|scenario| scenario.name().to_owned())
        .filter(|name| name.starts_with("canary-"))
        .collect();
    assert!(names.len() >= 15, "{names:?}");
    for name in names {
        let runtime = FakeRuntime::scenario(&name).impatient();
        let outcome = runtime.delegate("do it").await;
        for shown in [&outcome.text, &format!("{:?}", outcome.result)] {
            assert!(!shown.contains(CANARY), "{name}: {shown}");
        }
        if name == "canary-end-error" {
            let reports = runtime.host_reports().join("\n");
            assert!(reports.contains(CANARY), "the host is told: {reports}");
        }
    }
}

async fn a_request_of_the_runtime_is_turned_down_and_the_turn_goes_on() {
    let script = Script::dsh_sdk()
        .accepted()
        .request("ask", "host/invented", serde_json::json!({}))
        .expect_answer("ask")
        .message("it said {answer:ask#/error/code}")
        .completed()
        .shutdown();
    let outcome = FakeRuntime::running(&script).delegate("do it").await;
    assert_eq!(
        (outcome.text.as_str(), outcome.is_error),
        ("it said -32601", false)
    );
}
