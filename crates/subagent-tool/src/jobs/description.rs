//! What a model is told about the job tools before it calls them. Owns their names, texts and arguments; what they
//! answer is `tools`'.

use super::JobOptions;
use crate::{Parameter, ParameterKind, ToolDescription};

/// The name of the tool that reads a job.
pub const JOB_OUTPUT: &str = "job_output";

/// The name of the tool that lists jobs.
pub const JOB_LIST: &str = "job_list";

/// The name of the tool that stops a job.
pub const JOB_KILL: &str = "job_kill";

/// The descriptions of [`JOB_OUTPUT`], [`JOB_LIST`] and [`JOB_KILL`], in this order, for a table with these bounds.
pub fn descriptions(options: &JobOptions) -> [ToolDescription; 3] {
    let milliseconds = |time: std::time::Duration| time.as_millis().try_into().unwrap_or(u64::MAX);
    let output = ToolDescription {
        name: JOB_OUTPUT.to_owned(),
        text: OUTPUT_TEXT.into(),
        parameters: vec![
            JOB_ID,
            Parameter {
                name: "wait",
                kind: ParameterKind::Boolean { default: false },
                description: "Set it to true to wait until the job has finished.",
                required: false,
            },
            Parameter {
                name: "timeout_ms",
                kind: ParameterKind::Integer {
                    default: milliseconds(options.wait_timeout.min(options.max_wait_timeout)),
                    maximum: milliseconds(options.max_wait_timeout),
                },
                description: "The longest to wait, in milliseconds. Without wait it has no effect.",
                required: false,
            },
        ],
    };
    let list = ToolDescription {
        name: JOB_LIST.to_owned(),
        text: LIST_TEXT.into(),
        parameters: Vec::new(),
    };
    let kill = ToolDescription {
        name: JOB_KILL.to_owned(),
        text: KILL_TEXT.into(),
        parameters: vec![
            JOB_ID,
            Parameter {
                name: "reason",
                kind: ParameterKind::String,
                description: "Why, for the log of the host. The job does not see it.",
                required: false,
            },
        ],
    };
    [output, list, kill]
}

const JOB_ID: Parameter = Parameter {
    name: "job_id",
    kind: ParameterKind::String,
    description: "The job's id, for example subagent-1.",
    required: true,
};

const OUTPUT_TEXT: &str = "Reads a background job: what it came to, once it has completed, and its status. It answers at \
    once unless it is told to wait; a wait that runs out leaves the job running. Output that an earlier call returned is \
    not repeated.";

const LIST_TEXT: &str =
    "Lists your background jobs with their status: those that run, and those that finished last.";

const KILL_TEXT: &str = "Asks a background job to stop and returns at once. The job is stopping until everything that it \
    started is gone; job_output tells how it ended.";

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    #[test]
    fn the_tools_take_what_they_need_and_nothing_else() {
        let options = JobOptions {
            wait_timeout: Duration::from_secs(90),
            max_wait_timeout: Duration::from_mins(1),
            ..JobOptions::default()
        };
        let [output, list, kill] = descriptions(&options);
        assert_eq!(
            output.input_schema(),
            json!({
                "type": "object",
                "properties": {
                    "job_id": {"type": "string", "description": "The job's id, for example subagent-1."},
                    "wait": {
                        "type": "boolean",
                        "description": "Set it to true to wait until the job has finished.",
                        "default": false,
                    },
                    "timeout_ms": {
                        "type": "integer",
                        "description": "The longest to wait, in milliseconds. Without wait it has no effect.",
                        "default": 60_000, "minimum": 0, "maximum": 60_000,
                    },
                },
                "required": ["job_id"],
                "additionalProperties": false,
            })
        );
        assert_eq!(
            list.input_schema(),
            json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false})
        );
        assert_eq!(kill.input_schema()["required"], json!(["job_id"]));
        assert_eq!(
            [output.name, list.name, kill.name],
            ["job_output", "job_list", "job_kill"]
        );
    }
}
