//! How long a job lives: past its call, within its session and its table, and after its end as long as it is kept.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use subagent_seam::{TeardownUrgency, Urgency};
use subagent_tool::jobs::{JobControl, JobError, JobKind, JobOptions, JobTable, Session, Settlement, Wait};
use tokio::sync::oneshot;

use crate::support::soon;

const SHELL: JobKind = JobKind::new("shell");

/// Counts the pieces of work that exist.
#[derive(Clone, Default)]
struct Alive(Arc<AtomicUsize>);

struct One(Arc<AtomicUsize>);

impl Alive {
    fn one(&self) -> One {
        self.0.fetch_add(1, Ordering::SeqCst);
        One(Arc::clone(&self.0))
    }

    fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl Drop for One {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Work that runs until it is cancelled and then takes its time.
async fn until_cancelled(control: JobControl, one: One) -> Settlement {
    control.cancel.cancelled().await;
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    drop(one);
    Settlement::Killed
}

fn start(session: &Session, alive: &Alive) -> Result<subagent_tool::jobs::Job, JobError> {
    let one = alive.one();
    session.start(SHELL, "", |control| until_cancelled(control, one))
}

async fn complete(session: &Session, output: &str) -> String {
    let output = output.to_owned();
    let job = session
        .start(SHELL, "", |_| async { Settlement::Completed { output } })
        .expect("a job may start");
    soon("the end of a job", job.settled()).await;
    job.id().to_string()
}

#[tokio::test]
async fn a_job_outlives_the_task_that_started_it() {
    let table = JobTable::new(JobOptions::default());
    let session = table.session();
    let (tell, told) = oneshot::channel::<()>();
    let caller = session.clone();
    let call = tokio::spawn(async move {
        let work = |_| async move {
            told.await.expect("the test tells it");
            Settlement::Completed {
                output: "still here".to_owned(),
            }
        };
        caller.start(SHELL, "", work).unwrap().id().to_string()
    });
    let id = call.await.unwrap();
    tell.send(()).unwrap();
    let answer = soon("the job's end", session.output(&id, Wait::Default)).await;
    assert_eq!(answer.unwrap().text, "still here\n[status: completed]");
}

#[tokio::test]
async fn ending_a_session_kills_its_jobs_and_nobody_elses_and_waits() {
    let table = JobTable::new(JobOptions::default());
    let (session, other) = (table.session(), table.session());
    let (mine, others) = (Alive::default(), Alive::default());
    let jobs: Vec<_> = (0..5).map(|_| start(&session, &mine).unwrap()).collect();
    start(&other, &others).unwrap();

    soon("the session's end", session.end()).await;
    assert_eq!((mine.count(), others.count()), (0, 1));
    for job in &jobs {
        assert_eq!(*job.settled().await, Settlement::Killed);
        let unknown = session.output(job.id().as_str(), Wait::No).await.unwrap_err();
        assert_eq!(unknown.to_string(), format!("unknown job {}", job.id()));
    }
    assert_eq!(session.list().text, "(no background jobs)");
    assert_eq!(start(&session, &mine).unwrap_err(), JobError::SessionEnded);
    assert_eq!(
        JobError::SessionEnded.to_string(),
        "the session has ended and starts no more background jobs"
    );
    // What had been noticed by then can still be read, and then there is no more.
    for _ in 0..5 {
        assert!(soon("a notice", session.next_notice()).await.is_some());
    }
    assert_eq!(soon("the end of notices", session.next_notice()).await, None);
    soon("a second end", session.end()).await;

    assert_eq!(other.list().jobs.len(), 1);
    soon("the table's end", table.shutdown()).await;
    assert_eq!(others.count(), 0);
    assert_eq!(start(&other, &others).unwrap_err(), JobError::ShutDown);
    assert_eq!(start(&table.session(), &others).unwrap_err(), JobError::ShutDown);
    assert_eq!(
        JobError::ShutDown.to_string(),
        "the host is shutting down and starts no more background jobs"
    );
    assert_eq!((mine.count(), others.count()), (0, 0));
}

#[tokio::test]
async fn dropping_a_session_or_the_table_kills_too() {
    let table = JobTable::new(JobOptions::default());
    let alive = Alive::default();
    let session = table.session();
    let clone = session.clone();
    let first = start(&session, &alive).unwrap();
    drop(session);
    tokio::task::yield_now().await;
    assert!(!first.snapshot().status.is_final(), "a clone is still held");
    drop(clone);
    assert_eq!(*soon("the kill", first.settled()).await, Settlement::Killed);

    let session = table.session();
    let second = start(&session, &alive).unwrap();
    drop(table);
    assert_eq!(*soon("the kill", second.settled()).await, Settlement::Killed);
    assert_eq!(alive.count(), 0);
    assert_eq!(start(&session, &alive).unwrap_err(), JobError::ShutDown);
}

#[test]
fn a_runtime_that_ends_takes_its_jobs_with_it() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let table = JobTable::new(JobOptions::default());
    let session = table.session();
    let alive = Alive::default();
    let job = {
        let _entered = runtime.enter();
        start(&session, &alive).unwrap()
    };
    drop(runtime);
    assert_eq!(alive.count(), 0);
    assert_eq!(
        job.snapshot().status.to_string(),
        "[status: failed, the job was abandoned before it was done]"
    );
    let after = tokio::runtime::Builder::new_current_thread().build().unwrap();
    after.block_on(table.shutdown());
}

#[tokio::test]
async fn work_that_panics_has_failed_and_frees_its_place() {
    let mut options = JobOptions::default();
    options.max_running = 1;
    let table = JobTable::new(options);
    let session = table.session();
    let panics = |_| async { panic!("work that panics on purpose") };
    let job = session.start(SHELL, "", panics).unwrap();
    soon("the end of a panic", job.settled()).await;
    assert_eq!(
        job.snapshot().status.to_string(),
        "[status: failed, the job was abandoned before it was done]"
    );
    complete(&session, "next").await;
}

#[tokio::test]
async fn the_cap_counts_what_has_not_ended_in_one_session() {
    let mut options = JobOptions::default();
    options.max_running = 2;
    let table = JobTable::new(options);
    let (session, other) = (table.session(), table.session());
    let alive = Alive::default();
    let first = start(&session, &alive).unwrap();
    start(&session, &alive).unwrap();
    let refused = start(&session, &alive).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "background job limit of 2 reached; wait for a running job with job_output or stop one with job_kill"
    );
    assert_eq!(session.may_start(), Err(refused));
    start(&other, &alive).unwrap();
    session.kill(first.id().as_str(), None).unwrap();
    assert!(session.may_start().is_err(), "a job that stops still counts");
    soon("the kill", first.settled()).await;
    assert_eq!(start(&session, &alive).unwrap().id().as_str(), "shell-4");
}

#[tokio::test]
async fn finished_jobs_are_kept_within_their_bounds_the_oldest_going_first() {
    let mut options = JobOptions::default();
    options.max_finished = 3;
    options.max_finished_bytes = 1000;
    let table = JobTable::new(options);
    let (session, other) = (table.session(), table.session());
    let alive = Alive::default();
    start(&session, &alive).unwrap();
    complete(&other, "of another session").await;
    for number in 3..=6 {
        assert_eq!(complete(&session, "small").await, format!("shell-{number}"));
    }
    let kept = |session: &Session| {
        let jobs = session.list().jobs;
        jobs.iter().map(|job| job.id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(kept(&session), ["shell-1", "shell-4", "shell-5", "shell-6"]);
    let gone = session.output("shell-3", Wait::No).await.unwrap_err();
    assert_eq!(gone.to_string(), "unknown job shell-3");

    complete(&session, &"x".repeat(994)).await;
    assert_eq!(kept(&session), ["shell-1", "shell-6", "shell-7"]);
    complete(&session, &"x".repeat(5000)).await;
    assert_eq!(kept(&session), ["shell-1", "shell-8"]);
    assert_eq!(kept(&other), ["shell-2"]);
    let large = session.output("shell-8", Wait::No).await.unwrap();
    assert_eq!(large.text.len(), 5000 + "\n[status: completed]".len());
}

#[tokio::test]
async fn a_wait_gets_its_answer_also_when_the_job_is_forgotten_meanwhile() {
    let mut options = JobOptions::default();
    options.max_finished = 1;
    let table = JobTable::new(options);
    let session = table.session();
    let (tell, told) = oneshot::channel::<()>();
    let work = |_| async move {
        told.await.expect("the test tells it");
        Settlement::Completed {
            output: "kept for me".to_owned(),
        }
    };
    session.start(SHELL, "", work).unwrap();
    let waiter = session.clone();
    let waiting = tokio::spawn(async move { waiter.output("shell-1", Wait::Default).await });
    tokio::task::yield_now().await;
    tell.send(()).unwrap();
    complete(&session, "pushes it out").await;
    assert!(session.output("shell-1", Wait::No).await.is_err());
    let answer = soon("the answer", waiting).await.unwrap().unwrap();
    assert_eq!(answer.text, "kept for me\n[status: completed]");
}

#[tokio::test]
async fn the_urgency_of_the_host_reaches_every_job() {
    let urgency = TeardownUrgency::default();
    let table = JobTable::under(JobOptions::default(), urgency.clone());
    let session = table.session();
    let work = |control: JobControl| async move {
        control.urgency.reached(Urgency::Hurried).await;
        let hurried = control.urgency.current();
        control.urgency.reached(Urgency::Immediate).await;
        Settlement::Completed {
            output: format!("{hurried:?}"),
        }
    };
    let job = session.start(SHELL, "", work).unwrap();
    urgency.raise(Urgency::Hurried);
    for _ in 0..5 {
        tokio::task::yield_now().await;
    }
    assert!(!job.snapshot().status.is_final());
    table.urgency().raise(Urgency::Immediate);
    let settlement = soon("both rises", job.settled()).await;
    assert_eq!(settlement.output(), Some("Hurried"));
}
