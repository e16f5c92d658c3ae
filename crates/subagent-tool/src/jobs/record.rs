//! One job as its table holds it: what never changes, and the one way from start to end. Owns the rule that the first
//! settlement stands; who may see the job, and how long it is kept, is the ledger's.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use tokio::sync::watch;

use super::{JobControl, JobId, JobKind, JobSnapshot, JobStatus, MAX_LABEL_CHARS, Settlement};

/// Tells sessions apart. Never used twice in one table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct SessionId(pub(super) u64);

/// A job, as its table holds it.
pub(super) struct Record {
    pub(super) id: JobId,
    pub(super) kind: JobKind,
    pub(super) label: String,
    pub(super) owner: SessionId,
    pub(super) control: JobControl,
    started: Instant,
    started_at_ms: u64,
    state: watch::Sender<State>,
    delivered: AtomicBool,
}

/// Where a job is on its one way from start to end.
#[derive(Clone)]
enum State {
    Running,
    Stopping,
    Finished { settlement: Arc<Settlement>, at_ms: u64 },
}

impl Record {
    pub(super) fn started(id: JobId, kind: JobKind, label: &str, owner: SessionId) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            id,
            kind,
            label: one_line(label),
            owner,
            control: JobControl::default(),
            started: Instant::now(),
            started_at_ms: now.as_millis().try_into().unwrap_or(u64::MAX),
            state: watch::Sender::new(State::Running),
            delivered: AtomicBool::new(false),
        }
    }

    /// Marks the job as one that was asked to stop, and asks its work. False, and nothing changes, if it has ended.
    pub(super) fn stop(&self) -> bool {
        let mut live = true;
        self.state.send_if_modified(|state| match state {
            State::Running => {
                *state = State::Stopping;
                true
            }
            State::Stopping => false,
            State::Finished { .. } => {
                live = false;
                false
            }
        });
        if live {
            self.control.cancel.cancel();
        }
        live
    }

    /// Ends the job. False, and nothing changes, if it has already ended.
    pub(super) fn settle(&self, settlement: Settlement) -> bool {
        let elapsed = self.started.elapsed().as_millis().try_into().unwrap_or(u64::MAX);
        let at_ms = self.started_at_ms.saturating_add(elapsed);
        self.state.send_if_modified(|state| {
            let first = !matches!(state, State::Finished { .. });
            if first {
                *state = State::Finished {
                    settlement: Arc::new(settlement.bounded()),
                    at_ms,
                };
            }
            first
        })
    }

    /// What the job came to, if it has ended.
    pub(super) fn settlement(&self) -> Option<Arc<Settlement>> {
        match &*self.state.borrow() {
            State::Finished { settlement, .. } => Some(Arc::clone(settlement)),
            _ => None,
        }
    }

    pub(super) async fn settled(&self) -> Arc<Settlement> {
        let mut changes = self.state.subscribe();
        // The sender lives in `self`, so the wait cannot fail.
        let _ = changes
            .wait_for(|state| matches!(state, State::Finished { .. }))
            .await;
        self.settlement()
            .unwrap_or_else(|| Arc::new(Settlement::abandoned()))
    }

    pub(super) fn snapshot(&self) -> JobSnapshot {
        self.look().0
    }

    /// The job and what it came to, both of one moment.
    pub(super) fn look(&self) -> (JobSnapshot, Option<Arc<Settlement>>) {
        let (status, finished) = match &*self.state.borrow() {
            State::Running => (JobStatus::Running, None),
            State::Stopping => (JobStatus::Stopping, None),
            State::Finished { settlement, at_ms } => {
                (settlement.status(), Some((Arc::clone(settlement), *at_ms)))
            }
        };
        let snapshot = JobSnapshot {
            id: self.id.clone(),
            kind: self.kind,
            label: self.label.clone(),
            status,
            started_at_ms: self.started_at_ms,
            finished_at_ms: finished.as_ref().map(|(_, at_ms)| *at_ms),
        };
        (snapshot, finished.map(|(settlement, _)| settlement))
    }

    /// Whether an answer has carried the job's output.
    pub(super) fn is_delivered(&self) -> bool {
        self.delivered.load(Ordering::SeqCst)
    }

    /// Says that an answer carries the job's output.
    pub(super) fn deliver(&self) {
        self.delivered.store(true, Ordering::SeqCst);
    }

    /// The bytes of text that the job keeps.
    pub(super) fn bytes(&self) -> usize {
        self.label.len() + self.settlement().map_or(0, |settlement| settlement.bytes())
    }
}

/// A label that cannot break out of the one line that it has in a list.
fn one_line(label: &str) -> String {
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    let line = || label.trim().chars().map(|c| if breaks(c) { ' ' } else { c });
    if line().nth(MAX_LABEL_CHARS).is_none() {
        return line().collect();
    }
    line().take(MAX_LABEL_CHARS - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job() -> Record {
        let id = JobId::numbered(JobKind::SUBAGENT, 1);
        Record::started(id, JobKind::SUBAGENT, "label", SessionId(1))
    }

    #[test]
    fn the_first_settlement_stands() {
        let job = job();
        assert!(job.settle(Settlement::Killed));
        let output = "late".to_owned();
        assert!(!job.settle(Settlement::Completed { output }));
        assert_eq!(*job.settlement().unwrap(), Settlement::Killed);
        assert_eq!(job.snapshot().status, JobStatus::Killed);
    }

    #[test]
    fn a_job_stops_once_and_only_while_it_lives() {
        let job = job();
        assert!(job.stop());
        assert!(job.stop());
        assert!(job.control.cancel.is_cancelled());
        assert_eq!(job.snapshot().status, JobStatus::Stopping);
        assert_eq!(job.snapshot().finished_at_ms, None);
        let output = "in time".to_owned();
        assert!(job.settle(Settlement::Completed { output }));
        assert!(!job.stop());
        let snapshot = job.snapshot();
        assert_eq!(snapshot.status, JobStatus::Completed);
        assert!(snapshot.finished_at_ms.unwrap() >= snapshot.started_at_ms);
    }

    #[test]
    fn a_label_stays_on_one_line_and_within_its_bound() {
        assert_eq!(one_line(" a\nb\u{1b}c\u{2028}d "), "a b c d");
        let exact = "é".repeat(MAX_LABEL_CHARS);
        assert_eq!(one_line(&exact), exact);
        let cut = one_line(&format!("{exact}x"));
        assert_eq!(cut.chars().count(), MAX_LABEL_CHARS);
        assert!(cut.ends_with("é…"));
    }
}
