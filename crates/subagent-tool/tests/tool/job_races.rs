//! Jobs under contention: many rounds on several threads, each round with its own seeded stagger.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use subagent_tool::jobs::{
    Job, JobControl, JobError, JobKind, JobOptions, JobTable, KillOutcome, Settlement, Wait,
};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::support::{Dice, soon};

const KIND: JobKind = JobKind::new("race");
const ROUNDS: u64 = 400;

fn completed(output: impl Into<String>) -> Settlement {
    Settlement::Completed {
        output: output.into(),
    }
}

/// Completes when it is told to, is killed when it is cancelled: whichever the work sees first.
async fn either(control: JobControl, told: oneshot::Receiver<()>) -> Settlement {
    tokio::select! {
        _ = told => completed("done"),
        () = control.cancel.cancelled() => Settlement::Killed,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_kill_against_a_completion_has_one_winner_and_every_reader_sees_it() {
    let table = JobTable::new(JobOptions::default());
    let mut ends = HashSet::new();
    for round in 0..ROUNDS {
        let session = table.session();
        let (tell, told) = oneshot::channel();
        let job = session.start(KIND, "", |control| either(control, told)).unwrap();
        let id = job.id().to_string();
        let completer = tokio::spawn(async move {
            Dice::seeded(round * 4).stagger().await;
            // Nobody listens to a job that was killed first.
            let _ = tell.send(());
        });
        let killers: Vec<_> = (1..3)
            .map(|salt| {
                let (session, id) = (session.clone(), id.clone());
                tokio::spawn(async move {
                    Dice::seeded(round * 4 + salt).stagger().await;
                    session.kill(&id, None).unwrap()
                })
            })
            .collect();
        let (reader, read) = (session.clone(), id.clone());
        let reader = tokio::spawn(async move {
            Dice::seeded(round * 4 + 3).stagger().await;
            reader.output(&read, Wait::Default).await.unwrap()
        });
        completer.await.unwrap();
        let status = job.settled().await.status();
        for killer in killers {
            let kill = soon("a kill", killer).await.unwrap();
            match kill.outcome {
                KillOutcome::Requested => {
                    assert_eq!(kill.text, format!("requested cancellation of job {id}"));
                }
                KillOutcome::AlreadyFinished => {
                    assert_eq!(kill.job.status, status);
                    assert_eq!(kill.text, format!("job {id} had already finished {status}"));
                }
            }
        }
        let answer = soon("an answer", reader).await.unwrap();
        let output = match status.as_str() {
            "completed" => "done",
            _ => "(no new output)",
        };
        assert_eq!(answer.text, format!("{output}\n{status}"));
        assert_eq!(session.list().jobs, [job.snapshot()]);
        assert_eq!(session.take_notices().len(), 1);
        ends.insert(status.as_str());
    }
    assert_eq!(
        ends,
        HashSet::from(["completed", "killed"]),
        "the stagger lets either win"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_wait_misses_a_settlement() {
    let table = JobTable::new(JobOptions::default());
    let session = table.session();
    for round in 0..ROUNDS {
        let (tell, told) = oneshot::channel();
        let job = session.start(KIND, "", |control| either(control, told)).unwrap();
        let waiters: Vec<_> = (0..4)
            .map(|salt| {
                let (session, id) = (session.clone(), job.id().to_string());
                tokio::spawn(async move {
                    Dice::seeded(round * 8 + salt).stagger().await;
                    session.output(&id, Wait::Default).await.unwrap()
                })
            })
            .collect();
        let mut dice = Dice::seeded(round * 8 + 7);
        dice.stagger().await;
        tell.send(()).unwrap();
        let mut carried = 0;
        for waiter in waiters {
            let answer = soon("a wait's end", waiter).await.unwrap();
            assert_eq!(answer.job.status.as_str(), "completed");
            carried += usize::from(answer.text == "done\n[status: completed]");
        }
        assert!(carried >= 1, "the output is not lost between the readers");
        let notice = soon("a notice", session.next_notice()).await.unwrap();
        assert_eq!(notice.id, *job.id());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_waiter_gets_a_notice_of_its_own() {
    let table = JobTable::new(JobOptions::default());
    for round in 0..ROUNDS {
        let session = table.session();
        let waiters: Vec<_> = (0..3)
            .map(|salt| {
                let session = session.clone();
                tokio::spawn(async move {
                    Dice::seeded(round * 8 + salt).stagger().await;
                    session.next_notice().await
                })
            })
            .collect();
        for salt in 3..6 {
            let work = move |_| async move {
                Dice::seeded(round * 8 + salt).stagger().await;
                Settlement::Killed
            };
            session.start(KIND, "", work).unwrap();
        }
        let mut noticed = HashSet::new();
        for waiter in waiters {
            noticed.insert(soon("a notice", waiter).await.unwrap().unwrap().id);
        }
        assert_eq!(noticed.len(), 3);
        assert!(session.take_notices().is_empty());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_job_slips_past_the_end_of_its_session() {
    let alive = Arc::new(AtomicUsize::new(0));
    let mut refusals = 0;
    for round in 0..ROUNDS {
        let mut options = JobOptions::default();
        options.max_running = 64;
        let table = JobTable::new(options);
        let session = table.session();
        let starters: Vec<_> = (0..3)
            .map(|salt| {
                let (session, alive) = (session.clone(), Arc::clone(&alive));
                tokio::spawn(async move {
                    let mut dice = Dice::seeded(round * 4 + salt);
                    let mut jobs: Vec<Job> = Vec::new();
                    loop {
                        dice.stagger().await;
                        let alive = Arc::clone(&alive);
                        let started = session.start(KIND, "", |control| async move {
                            alive.fetch_add(1, Ordering::SeqCst);
                            control.cancel.cancelled().await;
                            tokio::task::yield_now().await;
                            alive.fetch_sub(1, Ordering::SeqCst);
                            Settlement::Killed
                        });
                        match started {
                            Ok(job) => jobs.push(job),
                            Err(JobError::AtCapacity { .. }) => {}
                            Err(error) => return (jobs, error),
                        }
                    }
                })
            })
            .collect();
        let mut dice = Dice::seeded(round * 4 + 3);
        dice.stagger().await;
        // Every other round the host ends as a whole.
        if round % 2 == 0 {
            soon("the session's end", session.end()).await;
        } else {
            soon("the table's end", table.shutdown()).await;
        }
        assert_eq!(alive.load(Ordering::SeqCst), 0);
        for starter in starters {
            let (jobs, error) = soon("the refusal", starter).await.unwrap();
            assert!(matches!(error, JobError::SessionEnded | JobError::ShutDown));
            refusals += 1;
            for job in jobs {
                assert_eq!(job.snapshot().status.as_str(), "killed");
            }
        }
        assert_eq!(alive.load(Ordering::SeqCst), 0);
        assert!(session.list().jobs.is_empty());
    }
    assert_eq!(refusals, ROUNDS * 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_thousand_jobs_pass_a_cap_of_ten() {
    let mut options = JobOptions::default();
    options.max_finished = 20;
    let table = JobTable::new(options);
    let session = table.session();
    let running = Arc::new(AtomicUsize::new(0));
    let most = Arc::new(AtomicUsize::new(0));
    // Opened by the first refusal, so that there is one.
    let gate = CancellationToken::new();
    let mut outputs = Vec::new();
    for number in 0..1000_u64 {
        let job = loop {
            let (running, most, gate_seen) = (Arc::clone(&running), Arc::clone(&most), gate.clone());
            let started = session.start(KIND, format!("job {number}"), move |_| async move {
                let now = running.fetch_add(1, Ordering::SeqCst) + 1;
                most.fetch_max(now, Ordering::SeqCst);
                gate_seen.cancelled().await;
                Dice::seeded(number).stagger().await;
                running.fetch_sub(1, Ordering::SeqCst);
                completed(format!("answer {number}"))
            });
            match started {
                Ok(job) => break job,
                Err(JobError::AtCapacity { limit: 10 }) => gate.cancel(),
                Err(error) => panic!("{error}"),
            }
            soon("a place", session.next_notice()).await.unwrap();
        };
        let reader = tokio::spawn(async move { job.settled().await.output().map(str::to_owned) });
        outputs.push((number, reader));
        assert!(session.list().jobs.len() <= 30);
    }
    for (number, reader) in outputs {
        let output = soon("an answer", reader).await.unwrap();
        assert_eq!(output, Some(format!("answer {number}")));
    }
    assert!(most.load(Ordering::SeqCst) <= 10);
    assert!(gate.is_cancelled(), "the cap was never reached");
    assert!(session.list().jobs.len() <= 20);
    assert!(session.take_notices().len() <= 100);
    soon("the table's end", table.shutdown()).await;
}
