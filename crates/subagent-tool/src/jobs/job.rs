//! One job from outside: how it is named, how it is told to end, what is known of it, and the handle that its starter
//! gets. Owns no state; that is the record's.

use std::fmt;
use std::sync::Arc;

use subagent_seam::TeardownUrgency;
use tokio_util::sync::CancellationToken;

use super::record::Record;
use super::{JobStatus, Settlement};

/// The most characters that a job's label has; a longer one is cut, and its last character is `…`.
pub const MAX_LABEL_CHARS: usize = 120;

/// What sort of work a job is: the first part of its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JobKind(&'static str);

impl JobKind {
    /// A delegated run.
    pub const SUBAGENT: Self = Self::new("subagent");

    /// A kind of this name.
    ///
    /// # Panics
    ///
    /// The name is empty or has other characters than `a-z`, `0-9`, `-` and `_`. In a constant that is a compile error.
    pub const fn new(name: &'static str) -> Self {
        let bytes = name.as_bytes();
        assert!(!bytes.is_empty(), "the name of a job kind must not be empty");
        let mut place = 0;
        while place < bytes.len() {
            assert!(
                matches!(bytes[place], b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_'),
                "the name of a job kind has characters other than a-z 0-9 - _"
            );
            place += 1;
        }
        Self(name)
    }

    /// The name.
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for JobKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Names a job within its table: `<kind>-<n>`, counting up from 1 for each kind. Never used twice.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct JobId(Arc<str>);

impl JobId {
    pub(super) fn numbered(kind: JobKind, number: u64) -> Self {
        Self(format!("{kind}-{number}").into())
    }

    /// The id's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::borrow::Borrow<str> for JobId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How a job is told to end. It is the job's own: no call's cancellation reaches it.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct JobControl {
    /// Asks the work to stop. The work still settles by itself, when everything that it started is gone.
    pub cancel: CancellationToken,
    /// How patiently a teardown of what the work started waits. Follows the [table's](super::JobTable::urgency).
    pub urgency: TeardownUrgency,
}

/// What is known of a job at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct JobSnapshot {
    /// The job.
    pub id: JobId,
    /// What sort of work it is.
    pub kind: JobKind,
    /// What it is about, on one line of at most [`MAX_LABEL_CHARS`] characters.
    pub label: String,
    /// How it stands.
    pub status: JobStatus,
    /// When it started, in milliseconds since the Unix epoch.
    pub started_at_ms: u64,
    /// When it ended, in milliseconds since the Unix epoch; never before it started, and `None` until it has ended.
    pub finished_at_ms: Option<u64>,
}

/// A handle of a job, for whoever started it. Clones are handles of the same job. It neither keeps the job running nor
/// stops it, but keeps what it came to for as long as the handle lives, also when the table has let go of it.
#[derive(Clone)]
pub struct Job(pub(super) Arc<Record>);

impl Job {
    /// The job's id.
    pub fn id(&self) -> &JobId {
        &self.0.id
    }

    /// What is known of the job now. Never waits.
    pub fn snapshot(&self) -> JobSnapshot {
        self.0.snapshot()
    }

    /// Waits until the job has ended. Cancel-safe, and may be awaited any number of times. Not bounded by itself: a job
    /// ends when its work does.
    pub async fn settled(&self) -> Arc<Settlement> {
        self.0.settled().await
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job")
            .field("id", &self.0.id)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "characters other than a-z 0-9 - _")]
    fn a_kind_that_would_break_a_line_is_refused() {
        let _ = JobKind::new("two words");
    }
}
