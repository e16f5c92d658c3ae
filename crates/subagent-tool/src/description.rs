//! What a model is told about the tool before it calls it. Owns the texts and the JSON schema of the arguments; both
//! follow from what the provider's children can see.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

/// A tool, as it is offered to a model.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolDescription {
    /// The name that the model calls.
    pub name: String,
    /// What the tool does and when to use it.
    pub text: Cow<'static, str>,
    /// What it takes, in the order of display.
    pub parameters: Vec<Parameter>,
}

/// One argument of the tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What kind of value it takes.
    pub kind: ParameterKind,
    /// What to put into it.
    pub description: &'static str,
    /// Whether a call without it is refused.
    pub required: bool,
}

/// The kind of value that a [`Parameter`] takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParameterKind {
    /// A JSON string.
    String,
    /// A JSON boolean.
    Boolean {
        /// What a call without it means.
        default: bool,
    },
    /// A JSON number without a fraction, zero or more.
    Integer {
        /// What a call without it means.
        default: u64,
        /// A greater one is taken for this one.
        maximum: u64,
    },
}

impl ParameterKind {
    /// The kind's name in a JSON schema.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Boolean { .. } => "boolean",
            Self::Integer { .. } => "integer",
        }
    }
}

impl Parameter {
    fn schema(&self) -> Value {
        let mut schema = json!({"type": self.kind.as_str(), "description": self.description});
        match self.kind {
            ParameterKind::String => {}
            ParameterKind::Boolean { default } => schema["default"] = default.into(),
            ParameterKind::Integer { default, maximum } => {
                schema["default"] = default.into();
                schema["minimum"] = 0.into();
                schema["maximum"] = maximum.into();
            }
        }
        schema
    }
}

impl ToolDescription {
    /// The description of a tool called `name`. A child that does not inherit the parent's conversation needs a prompt
    /// that stands alone, and the model is told so.
    pub fn new(name: impl Into<String>, inherits_parent_context: bool) -> Self {
        let (text, prompt) = if inherits_parent_context {
            (INHERITING_TEXT, INHERITING_PROMPT)
        } else {
            (STANDALONE_TEXT, STANDALONE_PROMPT)
        };
        Self {
            name: name.into(),
            text: text.into(),
            parameters: vec![
                Parameter {
                    name: "description",
                    kind: ParameterKind::String,
                    description: "What the task is, in 3 to 5 words, for display.",
                    required: true,
                },
                Parameter {
                    name: "prompt",
                    kind: ParameterKind::String,
                    description: prompt,
                    required: true,
                },
            ],
        }
    }

    /// The same with the argument by which a model asks for a background job.
    #[must_use]
    pub fn with_background(mut self) -> Self {
        self.parameters.push(Parameter {
            name: "run_in_background",
            kind: ParameterKind::Boolean { default: false },
            description: BACKGROUND,
            required: false,
        });
        self
    }

    /// The same for a tool whose calls go on as background jobs when they last long.
    #[must_use]
    pub fn with_foreground_limit(mut self) -> Self {
        self.text = format!("{} {FOREGROUND_LIMIT}", self.text).into();
        self
    }

    /// The JSON schema of the arguments: an object with the parameters and nothing else.
    pub fn input_schema(&self) -> Value {
        let properties: Map<_, _> = self
            .parameters
            .iter()
            .map(|parameter| (parameter.name.to_owned(), parameter.schema()))
            .collect();
        let required: Vec<_> = self
            .parameters
            .iter()
            .filter(|parameter| parameter.required)
            .map(|parameter| parameter.name)
            .collect();
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
    }
}

const STANDALONE_TEXT: &str = "Delegates a task to a subagent that works on it alone, in a process of its own, and \
    returns its final answer. The subagent does not see this conversation and cannot ask back. Use it for work that can \
    be described completely and whose intermediate steps you do not need to see. A run that does not complete is \
    reported as an error that names the stage at which it failed, with whatever it had said until then.";

const STANDALONE_PROMPT: &str = "The complete, standalone task: the goal, every fact and file path it depends on, and \
    the form the answer should have. The subagent sees nothing but this text.";

const INHERITING_TEXT: &str = "Delegates a task to a subagent that works on it alone, in a process of its own, and \
    returns its final answer. The subagent sees this conversation but cannot ask back. Use it for work whose \
    intermediate steps you do not need to see. A run that does not complete is reported as an error that names the \
    stage at which it failed, with whatever it had said until then.";

const INHERITING_PROMPT: &str = "The task: the goal and the form the answer should have. What stands in this \
    conversation need not be repeated.";

const FOREGROUND_LIMIT: &str = "A task that takes long goes on as a background job: you get the job's id instead, \
    job_output returns the answer later, and job_kill stops it.";

const BACKGROUND: &str = "Set it to true to start the task as a background job and get the job's id at once, instead \
    of waiting for the answer. job_output then returns the answer, job_list shows your jobs, job_kill stops one.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_that_sees_nothing_needs_a_standalone_prompt() {
        let description = ToolDescription::new("subagent", false);
        assert!(description.text.contains("does not see this conversation"));
        assert_eq!(
            description.input_schema(),
            json!({
                "type": "object",
                "properties": {
                    "description": {"type": "string", "description": "What the task is, in 3 to 5 words, for display."},
                    "prompt": {"type": "string", "description": STANDALONE_PROMPT},
                },
                "required": ["description", "prompt"],
                "additionalProperties": false,
            })
        );
    }

    #[test]
    fn a_background_job_has_to_be_asked_for() {
        let schema = ToolDescription::new("subagent", false)
            .with_background()
            .input_schema();
        assert_eq!(
            schema["properties"]["run_in_background"],
            json!({"type": "boolean", "description": BACKGROUND, "default": false})
        );
        assert_eq!(schema["required"], json!(["description", "prompt"]));
    }

    #[test]
    fn a_call_that_may_go_on_as_a_job_is_described_so() {
        let description = ToolDescription::new("subagent", false).with_foreground_limit();
        assert_eq!(description.text, format!("{STANDALONE_TEXT} {FOREGROUND_LIMIT}"));
        assert_eq!(
            description.parameters,
            ToolDescription::new("subagent", false).parameters
        );
    }

    #[test]
    fn a_child_that_sees_the_conversation_is_described_so() {
        let description = ToolDescription::new("helper", true);
        assert_eq!(description.name, "helper");
        assert!(description.text.contains("sees this conversation"));
        assert_eq!(description.parameters[1].description, INHERITING_PROMPT);
    }
}
