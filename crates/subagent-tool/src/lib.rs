//! The tool that a model calls to delegate a task, over any provider of the seam.
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

mod description;
mod error;
mod foreground;
mod outcome;
pub mod presentation;

pub use description::{Parameter, ParameterKind, ToolDescription};
pub use error::ToolError;
pub use foreground::{Call, Context, DEFAULT_TOOL_NAME, SubagentTool, ToolOptions};
pub use outcome::{Outcome, Timings};

/// The examples of the README, compiled with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
