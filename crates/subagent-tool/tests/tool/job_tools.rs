//! What the job tools answer, word for word, and which job they answer about.

use std::time::Duration;

use subagent_tool::jobs::{
    JobControl, JobError, JobKind, JobOptions, JobStatus, JobTable, KillOutcome, Session, Settlement, Wait,
};
use tokio::sync::oneshot;

use crate::support::soon;

const SHELL: JobKind = JobKind::new("shell");

fn session() -> (JobTable, Session) {
    let table = JobTable::new(JobOptions::default());
    let session = table.session();
    (table, session)
}

fn completed(output: &str) -> Settlement {
    Settlement::Completed {
        output: output.to_owned(),
    }
}

fn failed(detail: &str) -> Settlement {
    Settlement::Failed {
        detail: detail.to_owned(),
    }
}

/// Starts a job that ends as it is told to, or is killed.
fn start(session: &Session, label: &str) -> oneshot::Sender<Settlement> {
    let (tell, told) = oneshot::channel();
    let work = |control: JobControl| async move {
        tokio::select! {
            biased;
            settlement = told => settlement.expect("the test tells how the job ends"),
            () = control.cancel.cancelled() => Settlement::Killed,
        }
    };
    session.start(SHELL, label, work).expect("a job may start");
    tell
}

async fn text(session: &Session, id: &str, wait: Wait) -> String {
    soon("an answer of job_output", session.output(id, wait))
        .await
        .map_or_else(|error| error.to_string(), |answer| answer.text)
}

#[tokio::test]
async fn output_and_status_stand_on_their_own_lines() {
    let (_table, session) = session();
    let ends = [
        (completed("one\ntwo"), "one\ntwo\n[status: completed]"),
        (completed(""), "(no new output)\n[status: completed]"),
        (Settlement::Killed, "(no new output)\n[status: killed]"),
        (
            failed("error; diagnostic: why"),
            "(no new output)\n[status: failed, error; diagnostic: why]",
        ),
    ];
    for (number, (settlement, expected)) in (1..).zip(ends) {
        let id = format!("shell-{number}");
        let tell = start(&session, "");
        assert_eq!(
            text(&session, &id, Wait::No).await,
            "(no new output)\n[status: running]"
        );
        tell.send(settlement).unwrap();
        assert_eq!(text(&session, &id, Wait::Default).await, expected);
    }
}

#[tokio::test]
async fn output_is_new_once_and_to_every_call_that_waited_for_it() {
    let (_table, session) = session();
    let tell = start(&session, "");
    let waiting: Vec<_> = (0..3)
        .map(|_| {
            let session = session.clone();
            tokio::spawn(async move { text(&session, "shell-1", Wait::Default).await })
        })
        .collect();
    // On one thread the three now stand in their waits.
    tokio::task::yield_now().await;
    tell.send(completed("answer")).unwrap();
    for waiter in waiting {
        assert_eq!(waiter.await.unwrap(), "answer\n[status: completed]");
    }
    assert_eq!(
        text(&session, "shell-1", Wait::No).await,
        "(no new output)\n[status: completed]"
    );
}

#[tokio::test]
async fn a_call_that_is_given_up_takes_no_output() {
    let (_table, session) = session();
    let tell = start(&session, "");
    let given_up = session.clone();
    let waiting = tokio::spawn(async move { given_up.output("shell-1", Wait::Default).await });
    tokio::task::yield_now().await;
    waiting.abort();
    assert!(waiting.await.unwrap_err().is_cancelled());
    tell.send(completed("answer")).unwrap();
    assert_eq!(
        text(&session, "shell-1", Wait::Default).await,
        "answer\n[status: completed]"
    );
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_runs_out_leaves_the_job_running() {
    let (_table, session) = session();
    let tell = start(&session, "");
    let running = "(no new output)\n[status: running]";
    for (wait, seconds) in [
        (Wait::No, 0),
        (Wait::from_arguments(false, Some(5000)), 0),
        (Wait::from_arguments(true, Some(0)), 0),
        (Wait::from_arguments(true, Some(5000)), 5),
        (Wait::from_arguments(true, None), 30),
        (Wait::from_arguments(true, Some(u64::MAX)), 600),
    ] {
        let began = tokio::time::Instant::now();
        let answer = session.output("shell-1", wait).await.unwrap();
        assert_eq!(answer.text, running);
        assert_eq!(began.elapsed().as_secs(), seconds, "{wait:?}");
    }
    tell.send(completed("late")).unwrap();
    assert_eq!(
        text(&session, "shell-1", Wait::Default).await,
        "late\n[status: completed]"
    );
}

#[tokio::test(start_paused = true)]
async fn a_default_wait_gives_way_to_a_smaller_cap() {
    let mut options = JobOptions::default();
    options.max_wait_timeout = Duration::from_secs(2);
    let table = JobTable::new(options);
    let session = table.session();
    let _tell = start(&session, "");
    let began = tokio::time::Instant::now();
    session.output("shell-1", Wait::Default).await.unwrap();
    assert_eq!(began.elapsed().as_secs(), 2);
}

#[tokio::test]
async fn a_list_has_one_line_for_each_job_in_the_order_of_their_starts() {
    let (table, session) = session();
    assert_eq!(session.list().text, "(no background jobs)");
    let first = start(&session, "Watch the build");
    let _second = start(&session, "two\nlines");
    let stubborn = session.start(SHELL, "Stay", |_| std::future::pending());
    let other = table.session();
    let _not_mine = start(&other, "Not mine");
    session.kill(stubborn.unwrap().id().as_str(), None).unwrap();
    first.send(failed("detail is not listed")).unwrap();
    text(&session, "shell-1", Wait::Default).await;
    let list = session.list();
    assert_eq!(
        list.text,
        "shell-1 [shell] failed — Watch the build\n\
         shell-2 [shell] running — two lines\n\
         shell-3 [shell] stopping — Stay"
    );
    assert_eq!(list.jobs.len(), 3);
    assert_eq!(list.jobs[0].status.detail(), Some("detail is not listed"));
    assert!(list.jobs[0].finished_at_ms.unwrap() >= list.jobs[0].started_at_ms);
    assert_eq!(list.jobs[1].finished_at_ms, None);
    // After 2020 and within a minute of now: milliseconds, and of this epoch.
    let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_millis();
    let started = u128::from(list.jobs[1].started_at_ms);
    assert!(started > 1_577_836_800_000 && started <= now && now - started < 60_000);
}

#[tokio::test]
async fn a_kill_is_a_request_and_names_what_it_finds() {
    let (_table, session) = session();
    let _tell = start(&session, "");
    let kill = session.kill("shell-1", Some("no longer needed")).unwrap();
    assert_eq!(kill.text, "requested cancellation of job shell-1");
    assert_eq!(kill.outcome, KillOutcome::Requested);
    assert_eq!(kill.job.status, JobStatus::Stopping);
    assert_eq!(
        text(&session, "shell-1", Wait::Default).await,
        "(no new output)\n[status: killed]"
    );
    let again = session.kill("shell-1", None).unwrap();
    assert_eq!(again.text, "job shell-1 had already finished [status: killed]");
    assert_eq!(again.outcome, KillOutcome::AlreadyFinished);

    start(&session, "").send(failed("refusal")).unwrap();
    text(&session, "shell-2", Wait::Default).await;
    assert_eq!(
        session.kill("shell-2", None).unwrap().text,
        "job shell-2 had already finished [status: failed, refusal]"
    );
}

#[tokio::test]
async fn a_job_is_its_own_sessions_and_nobody_elses() {
    let (table, session) = session();
    let other = table.session();
    let tell = start(&session, "");
    for (owner, id, expected) in [
        (&other, "shell-1", "job shell-1 belongs to another session"),
        (&other, "shell-2", "unknown job shell-2"),
        (&session, "nonsense", "unknown job nonsense"),
        (&session, "", "unknown job "),
    ] {
        assert_eq!(text(owner, id, Wait::Default).await, expected);
        let killed = owner.kill(id, None).map(|kill| kill.text);
        assert_eq!(
            killed.map_err(|error| error.to_string()),
            Err(expected.to_owned())
        );
    }
    assert_eq!(other.list().text, "(no background jobs)");
    tell.send(completed("untouched")).unwrap();
    assert_eq!(
        text(&session, "shell-1", Wait::Default).await,
        "untouched\n[status: completed]"
    );
    assert_eq!(
        text(&other, "shell-1", Wait::No).await,
        "job shell-1 belongs to another session"
    );
    assert!(other.take_notices().is_empty());
    assert_eq!(
        session.output("shell-9", Wait::No).await,
        Err(JobError::Unknown {
            id: "shell-9".to_owned()
        })
    );
}

#[tokio::test]
async fn the_owner_is_noticed_once_for_each_end() {
    let (_table, session) = session();
    start(&session, "First").send(completed("x")).unwrap();
    let notice = soon("a notice", session.next_notice()).await.unwrap();
    assert_eq!(
        notice.to_string(),
        "background job shell-1 (shell: First) finished [status: completed]. Read its output with job_output."
    );
    // A notice takes nothing from the tool.
    assert_eq!(
        text(&session, "shell-1", Wait::No).await,
        "x\n[status: completed]"
    );
    let _tell = start(&session, "Second");
    session.kill("shell-2", None).unwrap();
    text(&session, "shell-2", Wait::Default).await;
    let notices: Vec<_> = session.take_notices().iter().map(ToString::to_string).collect();
    assert_eq!(
        notices,
        [
            "background job shell-2 (shell: Second) finished [status: killed]. Read its output with job_output."
        ]
    );
    assert!(session.take_notices().is_empty());
}
