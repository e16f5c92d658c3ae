//! How a job ends and how it stands. Owns the closed set of endings, the statuses and their words; when a job ends is
//! the ledger's.

use std::fmt;

/// The most bytes of UTF-8 that a kept [`detail`](Settlement::Failed::detail) has. A longer one keeps a prefix that ends
/// on a character boundary. What a delegated run can come to is always shorter.
pub const MAX_DETAIL_BYTES: usize = 16 << 10;

/// What a job came to. Output and detail exclude each other: a job that did not complete has no output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settlement {
    /// It did what it was started for.
    Completed {
        /// What its owner reads. Its producer bounds it.
        output: String,
    },
    /// It was stopped, and nothing of it is left.
    Killed,
    /// It did not do what it was started for, or something of it may be left.
    Failed {
        /// Why. Its owner, a model, reads it.
        detail: String,
    },
}

impl Settlement {
    /// What the owner reads of a completed job.
    pub fn output(&self) -> Option<&str> {
        match self {
            Self::Completed { output } => Some(output),
            Self::Killed | Self::Failed { .. } => None,
        }
    }

    /// The status that follows.
    pub fn status(&self) -> JobStatus {
        match self {
            Self::Completed { .. } => JobStatus::Completed,
            Self::Killed => JobStatus::Killed,
            Self::Failed { detail } => JobStatus::Failed {
                detail: detail.clone(),
            },
        }
    }

    /// The settlement of a job whose work vanished: it panicked, or its async runtime was shut down.
    pub(super) fn abandoned() -> Self {
        Self::Failed {
            detail: "the job was abandoned before it was done".to_owned(),
        }
    }

    /// The same with a detail within [`MAX_DETAIL_BYTES`].
    pub(super) fn bounded(mut self) -> Self {
        if let Self::Failed { detail } = &mut self
            && detail.len() > MAX_DETAIL_BYTES
        {
            detail.truncate(detail.floor_char_boundary(MAX_DETAIL_BYTES));
            detail.shrink_to_fit();
        }
        self
    }

    /// The bytes of text that it keeps.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Completed { output } => output.len(),
            Self::Killed => 0,
            Self::Failed { detail } => detail.len(),
        }
    }
}

/// How a job stands. `Display` gives it as the tools show it: `[status: failed, <detail>]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobStatus {
    /// Its work goes on.
    Running,
    /// It was asked to stop, and its work has not ended yet.
    Stopping,
    /// See [`Settlement::Completed`].
    Completed,
    /// See [`Settlement::Killed`].
    Killed,
    /// See [`Settlement::Failed`].
    Failed {
        /// Why.
        detail: String,
    },
}

impl JobStatus {
    /// The status as one word.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Stopping => "stopping",
            Self::Completed => "completed",
            Self::Killed => "killed",
            Self::Failed { .. } => "failed",
        }
    }

    /// Why the job failed, if it did.
    pub fn detail(&self) -> Option<&str> {
        match self {
            Self::Failed { detail } => Some(detail),
            _ => None,
        }
    }

    /// Whether the job has ended: its status never changes again.
    pub const fn is_final(&self) -> bool {
        !matches!(self, Self::Running | Self::Stopping)
    }
}

impl fmt::Display for JobStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.detail() {
            Some(detail) => write!(f, "[status: {}, {detail}]", self.as_str()),
            None => write!(f, "[status: {}]", self.as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_detail_stands_behind_its_status() {
        let failed = Settlement::Failed {
            detail: "error; diagnostic: x".to_owned(),
        };
        assert_eq!(
            failed.status().to_string(),
            "[status: failed, error; diagnostic: x]"
        );
        assert_eq!(Settlement::Killed.status().to_string(), "[status: killed]");
        assert_eq!(JobStatus::Stopping.to_string(), "[status: stopping]");
    }

    #[test]
    fn a_detail_beyond_the_bound_is_cut_on_a_character_boundary() {
        let detail = format!("x{}", "é".repeat(MAX_DETAIL_BYTES));
        let Settlement::Failed { detail } = (Settlement::Failed { detail }).bounded() else {
            panic!("a failure stays one");
        };
        assert_eq!(detail.len(), MAX_DETAIL_BYTES - 1);
        assert!(detail.ends_with('é'));
    }
}
