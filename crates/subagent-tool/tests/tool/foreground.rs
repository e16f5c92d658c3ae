//! Every row of the presentation table through a whole call, against a provider that runs nothing.

use subagent_seam::{
    Capabilities, ContentBlock, FailureLine, NO_START_CAPABILITIES, Parent, RunResult, SafeFailure,
    StartError, StopReason,
};
use subagent_tool::{Call, Context, ToolOptions};

use crate::support::{Plan, Stage, Words, diagnostic, ended, teardown_failure};

/// The text and the error flag of a call whose run goes as planned; checks the facts beside them.
async fn presented(plan: Plan) -> (String, bool) {
    let stage = Stage::set(plan, NO_START_CAPABILITIES);
    let tool = stage
        .tool(ToolOptions::new("acp"))
        .expect("the provider is registered");
    let outcome = tool.call(Call::new("", "task"), Context::default()).await;
    let started = outcome.start_error.is_none();
    assert_eq!(
        [
            outcome.run.is_some(),
            outcome.result.is_some(),
            outcome.timings.run.is_some(),
            outcome.timings.dispose.is_some()
        ],
        [started; 4]
    );
    // A registry with a live run would not shut down without disposing of it; here there is nothing left to do.
    stage.registry.shutdown().await.expect("no run is left");
    (outcome.text, outcome.is_error)
}

async fn cleanly(result: RunResult) -> (String, bool) {
    presented(Plan::Ends(result, Ok(()))).await
}

async fn badly(result: RunResult) -> (String, bool) {
    presented(Plan::Ends(result, Err(teardown_failure()))).await
}

fn error(text: &str) -> (String, bool) {
    (text.to_owned(), true)
}

#[tokio::test]
async fn a_completed_run_reads_as_its_text_blocks_and_nothing_else() {
    let link = ContentBlock::ResourceLink {
        uri: "file:///x".to_owned(),
        name: "x".to_owned(),
    };
    let mut result = ended(StopReason::Completed, &["  first\n", "second  "]);
    result.output.insert(1, link);
    assert_eq!(cleanly(result).await, ("  first\nsecond  ".to_owned(), false));
}

#[tokio::test]
async fn a_completed_run_without_text_says_so() {
    for output in [&[][..], &[""], &[" \n\t", "\u{2003}"]] {
        assert_eq!(
            cleanly(ended(StopReason::Completed, output)).await,
            ("(the subagent completed without output)".to_owned(), false)
        );
    }
}

#[tokio::test]
async fn every_other_stop_reason_has_its_headline() {
    for (stop_reason, headline) in [
        (StopReason::Aborted, "Error: subagent run was cancelled"),
        (StopReason::Error, "Error: subagent run failed"),
        (
            StopReason::MaxTokens,
            "Error: subagent run hit its token limit before finishing",
        ),
        (StopReason::Refusal, "Error: subagent declined the task"),
    ] {
        assert_eq!(cleanly(ended(stop_reason, &[])).await, error(headline));
        assert_eq!(cleanly(ended(stop_reason, &[" \n"])).await, error(headline));
    }
}

#[tokio::test]
async fn diagnostic_and_partial_output_follow_the_headline() {
    let partial = ended(StopReason::Error, &["half ", "an answer"]);
    assert_eq!(
        cleanly(partial.clone()).await,
        error("Error: subagent run failed\nPartial output before the run ended:\nhalf an answer")
    );
    assert_eq!(
        cleanly(partial.with_diagnostic(Some(diagnostic()))).await,
        error(
            "Error: subagent run failed\n\
             Diagnostic: Subagent failure (provider: ACP; stage: prompt; category: transport)\n\
             Partial output before the run ended:\nhalf an answer"
        )
    );
}

#[tokio::test]
async fn a_start_error_reads_as_its_display() {
    let line = FailureLine::new(Words::Acp, Words::Process, Words::ProcessStart);
    let failed = SafeFailure::new(Words::Package, line).caused_by(std::io::Error::other("/secret/path"));
    assert_eq!(
        presented(Plan::StartFails(StartError::Failed(failed))).await,
        error(
            "Error: subagent-acp: Subagent failure (provider: ACP; stage: process; category: process-start)"
        )
    );
    assert_eq!(
        presented(Plan::StartFails(StartError::aborted(Words::Acp))).await,
        error("Error: subagent request was aborted before the ACP child started")
    );
}

#[tokio::test]
async fn a_dispose_error_after_success_hides_the_answer() {
    assert_eq!(
        badly(ended(StopReason::Completed, &["answer"])).await,
        error("Error: subagent-acp: Subagent failure (provider: ACP; stage: teardown; category: unknown)")
    );
}

#[tokio::test]
async fn a_dispose_error_after_a_failure_stands_before_the_partial_output() {
    let teardown =
        "Dispose failed: subagent-acp: Subagent failure (provider: ACP; stage: teardown; category: unknown)";
    assert_eq!(
        badly(ended(StopReason::Error, &["half"]).with_diagnostic(Some(diagnostic()))).await,
        error(&format!(
            "Error: subagent run failed\n\
             Diagnostic: Subagent failure (provider: ACP; stage: prompt; category: transport)\n\
             {teardown}\nPartial output before the run ended:\nhalf"
        ))
    );
    assert_eq!(
        badly(ended(StopReason::Aborted, &[])).await,
        error(&format!("Error: subagent run was cancelled\n{teardown}"))
    );
}

#[tokio::test]
async fn a_cancelled_call_still_waits_for_the_teardown_and_keeps_what_was_said() {
    let stage = Stage::set(Plan::WaitsForCancel, NO_START_CAPABILITIES);
    let tool = stage.tool(ToolOptions::new("acp")).unwrap();
    let context = Context::default();
    let cancel = context.cancel.clone();
    let call = tokio::spawn(async move { tool.call(Call::new("", "task"), context).await });
    cancel.cancel();
    let outcome = call.await.unwrap();
    assert_eq!(
        outcome.text,
        "Error: subagent run was cancelled\nPartial output before the run ended:\nso far"
    );
    assert!(outcome.dispose_error.is_none());
}

#[tokio::test]
async fn the_provider_gets_what_the_model_and_the_host_gave() {
    let plan = Plan::Ends(ended(StopReason::Completed, &["ok"]), Ok(()));
    let depth_limit = Capabilities {
        depth_limit: true,
        ..NO_START_CAPABILITIES
    };
    let stage = Stage::set(plan, depth_limit);
    let mut options = ToolOptions::new("acp");
    options.max_depth = Some(2);
    let tool = stage.tool(options).unwrap();
    let parent = Parent {
        session_id: "s-1".to_owned(),
        cwd: Some("/work".into()),
        depth: 1,
    };
    let context = Context {
        parent: parent.clone(),
        ..Context::default()
    };
    tool.call(Call::new("Short label", "Long task"), context).await;
    let requests = stage.requests.lock().unwrap();
    assert_eq!(requests[0].label.as_deref(), Some("Short label"));
    assert_eq!(requests[0].prompt, [ContentBlock::from("Long task")]);
    assert_eq!(requests[0].parent, parent);
    assert_eq!(requests[0].features.max_depth, Some(2));
}

#[tokio::test]
async fn a_tool_that_cannot_work_is_not_built() {
    let stage = Stage::set(Plan::WaitsForCancel, NO_START_CAPABILITIES);
    let unknown = stage.tool(ToolOptions::new("gemini")).unwrap_err();
    assert_eq!(unknown.to_string(), "tool subagent: no provider is named gemini");
    let mut options = ToolOptions::new("acp");
    options.max_depth = Some(1);
    assert_eq!(
        stage.tool(options).unwrap_err().to_string(),
        "tool subagent: maxDepth is a number, but provider acp does not enforce a depth limit; \
         set maxDepth: provider-managed"
    );
}
