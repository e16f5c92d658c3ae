//! The entry `tool-jobs`. Owns its keys and how the two waits bound each other.

use crate::config::JobsEntry;
use crate::keys::Key;
use crate::problem::Problem;
use crate::scope::{Fields, Scope};

/// The kind's name.
pub(crate) const NAME: &str = "tool-jobs";

/// The kind's keys.
pub(crate) fn table() -> Vec<Key> {
    let defaults = JobsEntry::default();
    vec![
        Key::time(
            "waitTimeoutMs",
            Some(defaults.wait_timeout),
            "how long job_output waits when it is not told; never longer than maxWaitTimeoutMs",
        ),
        Key::time(
            "maxWaitTimeoutMs",
            Some(defaults.max_wait_timeout),
            "the longest that job_output can be told to wait",
        ),
    ]
}

/// Reads an entry. What cannot be read keeps its default and is reported.
pub(super) fn read(scope: &mut Scope<'_>, mut fields: Fields) -> JobsEntry {
    let mut jobs = JobsEntry::default();
    if let Some(node) = fields.take("maxWaitTimeoutMs") {
        jobs.max_wait_timeout = scope
            .time("maxWaitTimeoutMs", node)
            .unwrap_or(jobs.max_wait_timeout);
    }
    // A default gives way to a smaller cap; a wait that somebody wrote contradicts it.
    jobs.wait_timeout = jobs.wait_timeout.min(jobs.max_wait_timeout);
    if let Some(node) = fields.take("waitTimeoutMs") {
        let at = node.at;
        match scope.time("waitTimeoutMs", node) {
            Some(wait) if wait > jobs.max_wait_timeout && !scope.failed("maxWaitTimeoutMs") => {
                let problem = Problem::GreaterThan {
                    other: "maxWaitTimeoutMs",
                };
                let hint = format!("maxWaitTimeoutMs is {}", jobs.max_wait_timeout.as_millis());
                scope.fail(at, "waitTimeoutMs", problem, Some(hint));
            }
            Some(wait) => jobs.wait_timeout = wait,
            None => {}
        }
    }
    jobs
}
