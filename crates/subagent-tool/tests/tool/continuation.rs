//! A call that is waited for only so long: what it answers before and after its limit, and whom its run obeys then.

use std::time::Duration;

use subagent_seam::{NO_START_CAPABILITIES, RunResult, StopReason, TeardownUrgency, Urgency};
use subagent_tool::jobs::{JobOptions, JobTable, Session, Settlement, Wait};
use subagent_tool::{Call, Context, Limited, Started, SubagentTool, ToolOptions};
use tokio::time::Instant;

use crate::support::{Plan, Stage, ended, soon};

const CANCELLED: &str = "Error: subagent run was cancelled\nPartial output before the run ended:\nso far";

fn tool(stage: &Stage) -> SubagentTool {
    let mut options = ToolOptions::new("acp");
    // That the model may not ask for a job is another matter.
    options.background = false;
    stage.tool(options).expect("the provider is registered")
}

fn limit() -> Instant {
    Instant::now() + Duration::from_secs(5)
}

fn call() -> Call {
    Call::new("Short label", "Long task")
}

async fn continued(tool: &SubagentTool, context: Context, session: &Session) -> Started {
    match tool.call_until(call(), context, session, limit()).await {
        Limited::Continues(started) => started,
        Limited::Ended(outcome) => panic!("the run has ended: {outcome:?}"),
    }
}

async fn ended_text(tool: &SubagentTool, context: Context, session: &Session) -> String {
    match tool.call_until(call(), context, session, limit()).await {
        Limited::Ended(outcome) => outcome.text,
        Limited::Continues(started) => panic!("the run goes on: {started:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_ends_before_the_limit_is_answered_as_any_other() {
    let answer = ended(StopReason::Completed, &["the ", "answer"]);
    let stage = Stage::set(Plan::Ends(answer, Ok(())), NO_START_CAPABILITIES);
    let table = JobTable::new(JobOptions::default());
    let session = table.session();
    assert_eq!(
        ended_text(&tool(&stage), Context::default(), &session).await,
        "the answer"
    );
    assert!(session.list().jobs.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_run_that_goes_on_at_the_limit_becomes_a_job_that_its_call_no_longer_reaches() {
    let stage = Stage::set(Plan::WaitsForCancel, NO_START_CAPABILITIES);
    let urgency = TeardownUrgency::default();
    let table = JobTable::under(JobOptions::default(), urgency.clone());
    let session = table.session();
    let context = Context::default();
    let (cancel, hurry) = (context.cancel.clone(), context.urgency.clone());
    let began = Instant::now();
    let mut started = continued(&tool(&stage), context, &session).await;
    assert_eq!(began.elapsed(), Duration::from_secs(5));
    assert_eq!(
        started.text,
        "subagent run reached its foreground limit and goes on as background subagent job subagent-1. Read its output \
         with job_output."
    );
    cancel.cancel();
    hurry.raise(Urgency::Immediate);
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    assert_eq!(session.list().text, "subagent-1 [subagent] running — Short label");
    let request = stage.requests.lock().unwrap()[0].clone();
    assert!(!request.cancel.is_cancelled());
    assert_eq!(request.urgency.current(), Urgency::Normal);

    urgency.raise(Urgency::Hurried);
    session.kill("subagent-1", None).unwrap();
    assert_eq!(*soon("the kill", started.job.settled()).await, Settlement::Killed);
    assert_eq!(request.urgency.current(), Urgency::Hurried);
    let outcome = soon("the outcome", started.outcome()).await.unwrap();
    assert_eq!(outcome.text, CANCELLED);
}

#[tokio::test(start_paused = true)]
async fn the_job_is_read_as_one_that_was_started_as_such() {
    let stage = Stage::set(
        Plan::EndsAfter(
            Duration::from_mins(1),
            ended(StopReason::Completed, &["the answer"]),
        ),
        NO_START_CAPABILITIES,
    );
    let table = JobTable::new(JobOptions::default());
    let session = table.session();
    continued(&tool(&stage), Context::default(), &session).await;
    let read = session
        .output("subagent-1", Wait::AtMost(Duration::from_mins(5)))
        .await;
    assert_eq!(read.unwrap().text, "the answer\n[status: completed]");
    soon("the registry's end", stage.registry.shutdown())
        .await
        .expect("no run is left");
}

#[tokio::test(start_paused = true)]
async fn a_start_that_lasts_too_long_goes_on_as_well() {
    let stage = Stage::set(Plan::StartWaitsForCancel, NO_START_CAPABILITIES);
    let table = JobTable::new(JobOptions::default());
    let session = table.session();
    let started = continued(&tool(&stage), Context::default(), &session).await;
    session.kill("subagent-1", None).unwrap();
    assert_eq!(*soon("the kill", started.job.settled()).await, Settlement::Killed);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_cancelled_by_then_never_becomes_a_job() {
    let stage = Stage::set(Plan::CancelTakes(Duration::from_mins(1)), NO_START_CAPABILITIES);
    let table = JobTable::new(JobOptions::default());
    let session = table.session();
    for cancelled_first in [true, false] {
        let context = Context::default();
        let cancel = context.cancel.clone();
        if cancelled_first {
            cancel.cancel();
        }
        let tool = tool(&stage);
        let calling = ended_text(&tool, context, &session);
        let cancelling = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            cancel.cancel();
        };
        let (text, ()) = tokio::join!(calling, cancelling);
        assert_eq!(text, CANCELLED);
    }
    assert!(session.list().jobs.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_call_without_a_place_for_its_job_is_waited_for_and_can_be_cancelled() {
    let stage = Stage::set(Plan::WaitsForCancel, NO_START_CAPABILITIES);
    let mut options = JobOptions::default();
    options.max_running = 1;
    let table = JobTable::new(options);
    let session = table.session();
    let tool = tool(&stage);
    continued(&tool, Context::default(), &session).await;
    let context = Context::default();
    let cancel = context.cancel.clone();
    let calling = ended_text(&tool, context, &session);
    let cancelling = async {
        tokio::time::sleep(Duration::from_mins(1)).await;
        assert_eq!(session.list().jobs.len(), 1);
        cancel.cancel();
    };
    let (text, ()) = tokio::join!(calling, cancelling);
    assert_eq!(text, CANCELLED);
}

#[tokio::test(start_paused = true)]
async fn the_hosts_urgency_reaches_the_run_before_the_limit() {
    let stage = Stage::set(
        Plan::EndsAfter(
            Duration::from_secs(2),
            RunResult::new(StopReason::Completed, vec![]),
        ),
        NO_START_CAPABILITIES,
    );
    let table = JobTable::new(JobOptions::default());
    let session = table.session();
    let context = Context::default();
    context.urgency.raise(Urgency::Hurried);
    ended_text(&tool(&stage), context, &session).await;
    assert_eq!(
        stage.requests.lock().unwrap()[0].urgency.current(),
        Urgency::Hurried
    );
}

#[test]
fn a_tool_with_a_limit_says_what_becomes_of_a_long_task() {
    let stage = Stage::set(Plan::WaitsForCancel, NO_START_CAPABILITIES);
    let text = |limit| {
        let mut options = ToolOptions::new("acp");
        options.foreground_limit = limit;
        stage.tool(options).unwrap().description().text.to_string()
    };
    let told = " A task that takes long goes on as a background job: you get the job's id instead, job_output returns \
                the answer later, and job_kill stops it.";
    assert_eq!(text(Some(Duration::from_secs(1))), text(None) + told);
}
