//! A delegated run as a background job: what is refused before it starts, and what its owner reads of it.

use subagent_seam::{
    Capabilities, NO_START_CAPABILITIES, Parent, RunResult, StartError, StopReason, TeardownUrgency, Urgency,
};
use subagent_tool::jobs::{Job, JobOptions, JobTable, Session, Settlement, Wait};
use subagent_tool::{Call, Context, Started, SubagentTool, ToolOptions};

use crate::support::{Plan, Stage, diagnostic, ended, soon, teardown_failure};

const DIAGNOSTIC: &str = "Subagent failure (provider: ACP; stage: prompt; category: transport)";
const TEARDOWN: &str = "subagent-acp: Subagent failure (provider: ACP; stage: teardown; category: unknown)";

fn call() -> Call {
    Call::new("Short label", "Long task")
}

fn start(tool: &SubagentTool, session: &Session) -> Started {
    tool.start_background(call(), Context::default(), session)
        .expect("nothing speaks against it")
}

/// What `job_output` says in the end of a job whose run goes as planned.
async fn read(plan: Plan) -> String {
    let stage = Stage::set(plan, NO_START_CAPABILITIES);
    let table = JobTable::new(JobOptions::default());
    let session = table.session();
    let started = start(
        &stage
            .tool(ToolOptions::new("acp"))
            .expect("the provider is registered"),
        &session,
    );
    assert_eq!(started.text, "started background subagent job subagent-1");
    let answer = soon(
        "the job's end",
        session.output(started.job.id().as_str(), Wait::Default),
    )
    .await
    .expect("the job is the session's");
    // A job that has settled has nothing left that a registry would have to end.
    soon("the registry's end", stage.registry.shutdown())
        .await
        .expect("no run is left");
    answer.text
}

async fn cleanly(result: RunResult) -> String {
    read(Plan::Ends(result, Ok(()))).await
}

#[tokio::test]
async fn a_job_reads_as_its_run_ended() {
    let answer = ended(StopReason::Completed, &["the ", "answer"]);
    assert_eq!(cleanly(answer.clone()).await, "the answer\n[status: completed]");
    let half = |stop_reason| ended(stop_reason, &["half"]);
    assert_eq!(
        cleanly(ended(StopReason::Completed, &[" "])).await,
        "(the subagent completed without output)\n[status: completed]"
    );
    assert_eq!(
        cleanly(half(StopReason::Aborted)).await,
        "(no new output)\n[status: killed]"
    );
    assert_eq!(
        cleanly(half(StopReason::Aborted).with_diagnostic(Some(diagnostic()))).await,
        format!("(no new output)\n[status: failed, aborted; diagnostic: {DIAGNOSTIC}]")
    );
    assert_eq!(
        cleanly(half(StopReason::MaxTokens)).await,
        "(no new output)\n[status: failed, max-tokens]"
    );
    assert_eq!(
        cleanly(half(StopReason::Error).with_diagnostic(Some(diagnostic()))).await,
        format!("(no new output)\n[status: failed, error; diagnostic: {DIAGNOSTIC}]")
    );
    assert_eq!(
        read(Plan::Ends(answer, Err(teardown_failure()))).await,
        format!("(no new output)\n[status: failed, dispose failed: {TEARDOWN}]")
    );
    assert_eq!(
        read(Plan::StartFails(StartError::AbortRollbackFailed(
            teardown_failure()
        )))
        .await,
        format!("(no new output)\n[status: failed, {TEARDOWN}]")
    );
}

/// The refusal's text; nothing may have been started.
fn refused(tool: &SubagentTool, call: Call, context: Context, session: &Session) -> String {
    let before = session.list().jobs.len();
    let refusal = tool
        .start_background(call, context, session)
        .expect_err("something speaks against it");
    assert_eq!(session.list().jobs.len(), before);
    assert_eq!(refusal.text(), format!("Error: {refusal}"));
    refusal.text()
}

#[tokio::test]
async fn whatever_can_be_known_before_a_start_is_refused_before_the_answer() {
    let mut stage = Stage::set(
        Plan::WaitsForCancel,
        Capabilities {
            depth_limit: true,
            ..NO_START_CAPABILITIES
        },
    );
    let mut options = JobOptions::default();
    options.max_running = 1;
    let table = JobTable::new(options);
    let session = table.session();
    let tool = stage.tool(ToolOptions::new("acp")).unwrap();

    let mut foreground = ToolOptions::new("acp");
    foreground.background = false;
    let foreground = stage.tool(foreground).unwrap();
    assert_eq!(
        refused(&foreground, call(), Context::default(), &session),
        "Error: tool subagent does not run tasks in the background"
    );
    assert_eq!(
        refused(&tool, Call::new("label", " \n"), Context::default(), &session),
        "Error: prompt must not be empty, expected the complete task"
    );
    let cancelled = Context::default();
    cancelled.cancel.cancel();
    assert_eq!(
        refused(&tool, call(), cancelled, &session),
        "Error: subagent request was aborted before the background job started"
    );
    start(&tool, &session);
    assert_eq!(
        refused(&tool, call(), Context::default(), &session),
        "Error: background job limit of 1 reached; wait for a running job with job_output or stop one with job_kill"
    );
    soon("the session's end", session.end()).await;
    assert_eq!(
        refused(&tool, call(), Context::default(), &session),
        "Error: the session has ended and starts no more background jobs"
    );

    let session = table.session();
    let mut limited = ToolOptions::new("acp");
    limited.max_depth = Some(2);
    let limited = stage.tool(limited).unwrap();
    // The provider is replaced, under its old name, by one that cannot do what the tool asks for.
    let poorer = Stage::set(Plan::WaitsForCancel, NO_START_CAPABILITIES);
    let replacement = poorer.registry.provider("acp").unwrap();
    drop(stage.registered);
    assert_eq!(
        refused(&tool, call(), Context::default(), &session),
        "Error: no provider is named acp"
    );
    stage.registered = stage.registry.register(replacement).unwrap();
    assert_eq!(
        refused(&limited, call(), Context::default(), &session),
        "Error: provider acp does not support max_depth"
    );
    soon("the registry's end", stage.registry.shutdown())
        .await
        .unwrap();
    assert_eq!(
        refused(&tool, call(), Context::default(), &session),
        "Error: the registry is shut down and starts no more runs"
    );
    assert_eq!(stage.requests.lock().unwrap().len(), 1);
    assert!(poorer.requests.lock().unwrap().is_empty());
}

#[tokio::test]
async fn the_calls_cancellation_and_urgency_do_not_reach_the_job() {
    let stage = Stage::set(Plan::WaitsForCancel, NO_START_CAPABILITIES);
    let urgency = TeardownUrgency::default();
    let table = JobTable::under(JobOptions::default(), urgency.clone());
    let session = table.session();
    let tool = stage.tool(ToolOptions::new("acp")).unwrap();
    let context = Context {
        parent: Parent {
            session_id: "s-1".to_owned(),
            cwd: Some("/work".into()),
            depth: 1,
        },
        ..Context::default()
    };
    let (cancel, hurry) = (context.cancel.clone(), context.urgency.clone());
    let mut started = tool.start_background(call(), context, &session).unwrap();
    cancel.cancel();
    hurry.raise(Urgency::Immediate);
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    assert_eq!(started.job.snapshot().status.as_str(), "running");
    assert_eq!(started.job.snapshot().label, "Short label");
    {
        let requests = stage.requests.lock().unwrap();
        assert_eq!(requests[0].label.as_deref(), Some("Short label"));
        assert_eq!(requests[0].parent.cwd.as_deref(), Some("/work".as_ref()));
        assert!(!requests[0].cancel.is_cancelled());
        assert_eq!(requests[0].urgency.current(), Urgency::Normal);
    }
    urgency.raise(Urgency::Hurried);
    session.kill("subagent-1", Some("a reason for the log")).unwrap();
    assert_eq!(*soon("the kill", started.job.settled()).await, Settlement::Killed);
    let outcome = soon("the outcome", started.outcome()).await.unwrap();
    assert_eq!(
        outcome.text,
        "Error: subagent run was cancelled\nPartial output before the run ended:\nso far"
    );
    assert!(outcome.timings.dispose.is_some());
    assert!(started.outcome().await.is_none(), "an outcome is returned once");
    let requests = stage.requests.lock().unwrap();
    assert_eq!(requests[0].urgency.current(), Urgency::Hurried);
    assert!(!format!("{:?}", requests[0]).contains("a reason for the log"));
}

#[tokio::test]
async fn a_kill_during_the_start_is_a_clean_kill() {
    let stage = Stage::set(Plan::StartWaitsForCancel, NO_START_CAPABILITIES);
    let table = JobTable::new(JobOptions::default());
    let session = table.session();
    let mut started = start(&stage.tool(ToolOptions::new("acp")).unwrap(), &session);
    session.kill("subagent-1", None).unwrap();
    let answer = soon("the kill", session.output("subagent-1", Wait::Default)).await;
    assert_eq!(answer.unwrap().text, "(no new output)\n[status: killed]");
    let outcome = soon("the outcome", started.outcome()).await.unwrap();
    assert!(outcome.start_error.is_some_and(|error| error.is_clean_abort()));
}

#[tokio::test]
async fn a_job_without_a_description_is_labelled_by_its_prompt() {
    let stage = Stage::set(Plan::WaitsForCancel, NO_START_CAPABILITIES);
    let table = JobTable::new(JobOptions::default());
    let session = table.session();
    let tool = stage.tool(ToolOptions::new("acp")).unwrap();
    let call = Call::new(" ", "Count the\nwords");
    tool.start_background(call, Context::default(), &session).unwrap();
    assert_eq!(
        session.list().text,
        "subagent-1 [subagent] running — Count the words"
    );
}

#[tokio::test]
async fn no_run_survives_its_session_or_its_table() {
    let stage = Stage::set(Plan::WaitsForCancel, NO_START_CAPABILITIES);
    let table = JobTable::new(JobOptions::default());
    let tool = stage.tool(ToolOptions::new("acp")).unwrap();
    let (first, second) = (table.session(), table.session());
    let of = |session: &Session| -> Vec<Job> { (0..4).map(|_| start(&tool, session).job).collect() };
    let (ended, shut) = (of(&first), of(&second));
    soon("the session's end", first.end()).await;
    assert!(ended.iter().all(|job| job.snapshot().status.as_str() == "killed"));
    assert!(shut.iter().all(|job| job.snapshot().status.as_str() == "running"));
    soon("the table's end", table.shutdown()).await;
    assert!(shut.iter().all(|job| job.snapshot().status.as_str() == "killed"));
}

#[test]
fn only_a_tool_that_runs_in_the_background_says_so() {
    let stage = Stage::set(Plan::WaitsForCancel, NO_START_CAPABILITIES);
    let argument = |background| {
        let mut options = ToolOptions::new("acp");
        options.background = background;
        let tool = stage.tool(options).unwrap();
        tool.description().input_schema()["properties"]["run_in_background"]["default"].clone()
    };
    assert_eq!(argument(true), false);
    assert_eq!(argument(false), serde_json::Value::Null);
}
