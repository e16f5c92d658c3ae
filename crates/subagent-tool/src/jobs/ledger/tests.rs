//! The ledger's rules, after every step of every order of a few operations, and of long random ones. Each method is one
//! step under the table's lock, so these orders are all that threads can make of it.

use super::*;
use crate::jobs::JobStatus;
use crate::jobs::table::stop;

const KIND: JobKind = JobKind::new("step");

#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Start(usize),
    /// Stops the session's nth job, as `job_kill` does.
    Kill(usize, usize),
    Complete(usize, usize),
    Fail(usize, usize),
    End(usize),
    Close,
}

/// A ledger, everything that was ever entered into it, and the last status that each of these was seen in.
struct World {
    ledger: Ledger,
    sessions: Vec<Owner>,
    closed: bool,
}

struct Owner {
    id: SessionId,
    notices: Arc<NoticeQueue>,
    ended: bool,
    started: Vec<(Arc<Record>, JobStatus)>,
}

impl World {
    fn with(sessions: usize, options: JobOptions) -> Self {
        let mut ledger = Ledger::new(options);
        let sessions = (0..sessions)
            .map(|_| {
                let notices = Arc::new(NoticeQueue::bounded(options.max_notices));
                Owner {
                    id: ledger.open(Arc::clone(&notices)),
                    notices,
                    ended: false,
                    started: Vec::new(),
                }
            })
            .collect();
        Self {
            ledger,
            sessions,
            closed: false,
        }
    }

    fn take(&mut self, step: Step) {
        let job = |owner: usize, nth: usize| {
            let started = self.sessions[owner].started.get(nth)?;
            Some(Arc::clone(&started.0))
        };
        match step {
            Step::Start(owner) => self.start(owner),
            Step::Kill(owner, nth) => {
                if let Some(job) = job(owner, nth) {
                    let was_final = job.snapshot().status.is_final();
                    assert_eq!(job.stop(), !was_final);
                }
            }
            Step::Complete(owner, nth) => {
                if let Some(job) = job(owner, nth) {
                    let output = format!("output of {}", job.id);
                    self.ledger.settle(&job, Settlement::Completed { output });
                }
            }
            Step::Fail(owner, nth) => {
                if let Some(job) = job(owner, nth) {
                    let detail = "error".to_owned();
                    self.ledger.settle(&job, Settlement::Failed { detail });
                }
            }
            Step::End(owner) => {
                let stopped = self.ledger.end(self.sessions[owner].id);
                self.sessions[owner].ended = true;
                stop(&stopped);
            }
            Step::Close => {
                let stopped = self.ledger.close();
                self.closed = true;
                self.sessions.iter_mut().for_each(|owner| owner.ended = true);
                stop(&stopped);
            }
        }
        self.check(step);
    }

    fn start(&mut self, owner: usize) {
        let options = self.ledger.options;
        let closed = self.closed;
        let owner = &mut self.sessions[owner];
        let running = owner
            .started
            .iter()
            .filter(|(job, _)| !job.snapshot().status.is_final());
        let expected = if closed {
            Err(JobError::ShutDown)
        } else if owner.ended {
            Err(JobError::SessionEnded)
        } else if running.count() >= options.max_running {
            let limit = options.max_running;
            Err(JobError::AtCapacity { limit })
        } else {
            Ok(())
        };
        assert_eq!(self.ledger.may_start(owner.id), expected);
        let started = self.ledger.start(owner.id, KIND, "label");
        assert_eq!(started.as_ref().map(|_| ()).map_err(Clone::clone), expected);
        if let Ok(job) = started {
            owner.started.push((job, JobStatus::Running));
        }
    }

    fn check(&mut self, after: Step) {
        let options = self.ledger.options;
        for place in 0..self.sessions.len() {
            let stranger = (place + 1 < self.sessions.len()).then(|| self.sessions[place + 1].id);
            let owner = &mut self.sessions[place];
            let mut live = 0;
            let mut known = Vec::new();
            for (job, before) in &mut owner.started {
                let now = job.snapshot().status;
                let allowed = match before {
                    JobStatus::Running => true,
                    JobStatus::Stopping => now != JobStatus::Running,
                    ref last => now == **last,
                };
                assert!(allowed, "{} went from {before} to {now} by {after:?}", job.id);
                live += usize::from(!now.is_final());
                assert!(now.is_final() || !owner.ended || now == JobStatus::Stopping);
                match self.ledger.find(owner.id, job.id.as_str()) {
                    Ok(found) => {
                        assert!(Arc::ptr_eq(&found, job));
                        known.push(job.id.clone());
                        if let Some(stranger) = stranger {
                            let foreign = self.ledger.find(stranger, job.id.as_str()).err();
                            assert_eq!(
                                foreign.unwrap().to_string(),
                                format!("job {} belongs to another session", job.id)
                            );
                        }
                    }
                    Err(error) => {
                        assert_eq!(error.to_string(), format!("unknown job {}", job.id));
                        assert!(now.is_final(), "{} is forgotten while it is {now}", job.id);
                    }
                }
                *before = now;
            }
            assert!(live <= options.max_running, "{live} jobs run after {after:?}");
            let listed: Vec<_> = self
                .ledger
                .list(owner.id)
                .iter()
                .map(|job| job.id.clone())
                .collect();
            assert_eq!(listed, known, "after {after:?}");
            assert!(known.len() - live <= options.max_finished, "after {after:?}");
            if owner.ended && live == 0 {
                assert!(known.is_empty(), "after {after:?}");
                assert!(!self.ledger.accounts.contains_key(&owner.id));
            }
        }
        let listed = self
            .sessions
            .iter()
            .map(|owner| self.ledger.list(owner.id).len())
            .sum::<usize>();
        assert_eq!(self.ledger.jobs.len(), listed);
    }
}

/// Every order in which threads can take their steps, each its own in order.
fn orders(threads: &[&[Step]]) -> Vec<Vec<Step>> {
    if threads.iter().all(|steps| steps.is_empty()) {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (place, steps) in threads.iter().enumerate() {
        if let Some((first, rest)) = steps.split_first() {
            let mut others = threads.to_vec();
            others[place] = rest;
            for mut order in orders(&others) {
                order.insert(0, *first);
                all.push(order);
            }
        }
    }
    all
}

#[test]
fn every_order_of_starts_kills_ends_and_settlements_keeps_the_rules() {
    let threads: [&[Step]; 4] = [
        &[Step::Start(0), Step::Complete(0, 0), Step::Start(0)],
        &[Step::Kill(0, 0), Step::Kill(0, 0), Step::Fail(0, 0)],
        &[Step::Start(1), Step::End(0)],
        &[Step::Close],
    ];
    let orders = orders(&threads);
    assert_eq!(orders.len(), 5040);
    for order in orders {
        let mut world = World::with(
            2,
            JobOptions {
                max_running: 1,
                ..JobOptions::default()
            },
        );
        for step in order {
            world.take(step);
        }
    }
}

#[test]
fn long_random_histories_keep_the_rules_and_stay_within_every_bound() {
    let options = JobOptions {
        max_running: 3,
        max_finished: 4,
        max_finished_bytes: 70,
        max_notices: 5,
        ..JobOptions::default()
    };
    for seed in 1..=300_u64 {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut below = |bound: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state >> 40).unwrap() % bound
        };
        let mut world = World::with(3, options);
        for _ in 0..150 {
            let owner = below(3);
            // Mostly the latest jobs: those that run are among them.
            let started = world.sessions[owner].started.len();
            let nth = started.saturating_sub(1 + below(6));
            world.take(match below(100) {
                0..40 => Step::Start(owner),
                40..55 => Step::Kill(owner, nth),
                55..80 => Step::Complete(owner, nth),
                80..98 => Step::Fail(owner, nth),
                98 => Step::End(owner),
                _ if below(20) == 0 => Step::Close,
                _ => Step::Start(owner),
            });
        }
        for owner in &world.sessions {
            assert!(owner.notices.take().len() <= options.max_notices);
        }
    }
}

#[test]
fn ids_count_up_for_each_kind_across_sessions() {
    let mut world = World::with(2, JobOptions::default());
    let (first, second) = (world.sessions[0].id, world.sessions[1].id);
    let mut id = |session, kind| world.ledger.start(session, kind, "").unwrap().id.to_string();
    assert_eq!(id(first, JobKind::SUBAGENT), "subagent-1");
    assert_eq!(id(second, KIND), "step-1");
    assert_eq!(id(second, JobKind::SUBAGENT), "subagent-2");
    assert_eq!(id(first, KIND), "step-2");
}
