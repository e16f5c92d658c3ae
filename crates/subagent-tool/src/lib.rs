//! The tool that a model calls to delegate a task, over any provider of the seam, and the background jobs that such a
//! task, or any other work, can run as.
//!
//! [`SubagentTool::call`] runs one task to its end: start, result, teardown. What comes back holds the text that the
//! calling model reads, word for word, and beside it the facts that the text was made from. [`presentation`] makes that
//! text and nothing else does; [`ToolDescription`] tells the model what the tool is and what it takes.
//!
//! ```
//! use subagent_seam::{Parent, Registry};
//! use subagent_tool::{Call, Context, SubagentTool, ToolError, ToolOptions};
//!
//! # async fn example(registry: Registry) -> Result<(), ToolError> {
//! let tool = SubagentTool::new(registry, ToolOptions::new("acp"))?;
//! let parent = Parent { session_id: "s-1".into(), cwd: Some("/srv/project".into()), depth: 0 };
//! let call = Call::new("List open questions", "Read docs/ and list every open question.");
//! let outcome = tool.call(call, Context { parent, ..Context::default() }).await;
//! println!("{}", outcome.text);
//! # Ok(()) }
//! ```
//!
//! [`SubagentTool::start_background`] takes the same call and returns at once, with a job of a [`jobs::Session`].
//! [`SubagentTool::call_until`] lies between the two: a call that is waited for only so long, and then goes on as a job.
//! [`jobs`] holds the table of all jobs and the tools over them; [`settlement`] says what a run makes of its job.

mod background;
mod continuation;
mod description;
mod error;
mod foreground;
pub mod jobs;
mod outcome;
pub mod presentation;
pub mod settlement;

pub use background::{Refusal, Started};
pub use continuation::Limited;
pub use description::{Parameter, ParameterKind, ToolDescription};
pub use error::ToolError;
pub use foreground::{Call, Context, DEFAULT_TOOL_NAME, SubagentTool, ToolOptions};
pub use outcome::{Outcome, Timings};

/// The examples of the README, compiled with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
