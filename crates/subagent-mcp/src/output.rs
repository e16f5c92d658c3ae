//! What the tools answer, as types: the structured half of a result, and the result itself. Owns the shapes; every text
//! comes from [`subagent_tool`].

use rmcp::model::{CallToolResult, ContentBlock};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use subagent_tool::jobs::JobSnapshot;

/// What a delegating tool answers when it succeeds.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub(crate) enum Delegated {
    /// The task is done.
    Foreground {
        /// The run.
        run_id: String,
        /// The subagent's final answer, word for word; empty if it has none.
        output: String,
    },
    /// The task goes on as a background job.
    Background {
        /// The job, for `job_output` and `job_kill`.
        job_id: String,
    },
}

/// What `job_output` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct JobRead {
    /// The output, if it is new, and the status.
    pub(crate) text: String,
    /// The job.
    pub(crate) job: Job,
}

/// What `job_list` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct JobsListed {
    /// The jobs, in the order of their starts.
    pub(crate) jobs: Vec<Job>,
}

/// What `job_kill` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct JobKilled {
    /// Whether there was something to stop: `requested` or `already-finished`.
    pub(crate) outcome: &'static str,
    /// The job.
    pub(crate) job: Job,
}

/// A background job.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Job {
    /// Its id.
    id: String,
    /// What sort of work it is.
    kind: String,
    /// What it is about.
    label: String,
    /// `running`, `stopping`, `completed`, `killed` or `failed`.
    status: &'static str,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(default, with = "String")]
    detail: Option<String>,
    /// When it started, in milliseconds since the Unix epoch.
    started_at: u64,
    /// When it ended, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(default, with = "u64")]
    finished_at: Option<u64>,
}

impl From<&JobSnapshot> for Job {
    fn from(job: &JobSnapshot) -> Self {
        Self {
            id: job.id.to_string(),
            kind: job.kind.to_string(),
            label: job.label.clone(),
            status: job.status.as_str(),
            detail: job.status.detail().map(str::to_owned),
            started_at: job.started_at_ms,
            finished_at: job.finished_at_ms,
        }
    }
}

/// The answer to a call.
#[derive(Debug)]
pub(crate) enum Reply {
    /// The call did what it was made for.
    Done {
        /// What the model reads.
        text: String,
        /// The same as data.
        structured: Value,
    },
    /// It did not. The text says why, and there is no data.
    Failed {
        /// What the model reads.
        text: String,
    },
}

impl Reply {
    /// The reply of a call that succeeded.
    pub(crate) fn done(text: String, structured: &impl Serialize) -> Self {
        match serde_json::to_value(structured) {
            Ok(structured) => Self::Done { text, structured },
            // No type of this file can be so; a client would refuse a result without its data.
            Err(error) => Self::failed(&error),
        }
    }

    /// The reply of a call that came to nothing for this reason.
    pub(crate) fn failed(reason: &dyn std::fmt::Display) -> Self {
        Self::Failed {
            text: format!("Error: {reason}"),
        }
    }
}

impl From<Reply> for CallToolResult {
    fn from(reply: Reply) -> Self {
        match reply {
            Reply::Done { text, structured } => {
                let mut result = Self::success(vec![ContentBlock::text(text)]);
                result.structured_content = Some(structured);
                result
            }
            Reply::Failed { text } => Self::error(vec![ContentBlock::text(text)]),
        }
    }
}
