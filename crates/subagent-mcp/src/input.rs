//! What the tools take, as types. Owns the argument `cwd`; the texts of all others are those of
//! [`subagent_tool`]'s descriptions, which `schema` puts in.

use schemars::JsonSchema;
use serde::Deserialize;

/// The arguments of a delegating tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Delegate {
    pub(crate) description: String,
    pub(crate) prompt: String,
    #[serde(default)]
    pub(crate) run_in_background: bool,
    /// The directory that the subagent works in: an absolute path, or one that starts in your working directory. It must
    /// lie inside your working directory, which is also the default.
    #[serde(default)]
    #[schemars(with = "String")]
    pub(crate) cwd: Option<String>,
}

/// The arguments of `job_output`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadJob {
    pub(crate) job_id: String,
    #[serde(default)]
    pub(crate) wait: bool,
    #[serde(default)]
    #[schemars(with = "u64")]
    pub(crate) timeout_ms: Option<u64>,
}

/// The arguments of `job_list`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListJobs {}

/// The arguments of `job_kill`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct KillJob {
    pub(crate) job_id: String,
    #[serde(default)]
    #[schemars(with = "String")]
    pub(crate) reason: Option<String>,
}
