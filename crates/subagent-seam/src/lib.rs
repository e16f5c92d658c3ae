//! The provider-neutral contract between a host and the subagents that it delegates to.
//!
//! A *parent* (a model conversation in some host program) hands a task to a *provider*, which runs an agent as a
//! separate process. This crate says what a request is, what a run and its result are, and what a parent may read when
//! a run did not complete. It knows nothing of processes, protocols, tools or files.
//!
//! The heart of it is [`Diagnostic`]: a failure text that can be made only of words fixed at compile time, integers and
//! signal names, so that no byte which a child controls can reach the parent through it.
//!
//! ```
//! use std::sync::Arc;
//! use subagent_seam::{Parent, Provider, Registry, StartRequest, text_of};
//!
//! # async fn example(provider: Arc<dyn Provider>) -> Result<(), Box<dyn std::error::Error>> {
//! let registry = Registry::new();
//! let _registered = registry.register(provider)?;
//! let parent = Parent { session_id: "s-1".into(), cwd: Some("/srv/project".into()), depth: 0 };
//! let run = registry.start("acp", StartRequest::text("List the open questions.", parent)).await?;
//! let result = run.result().await;
//! match &result.diagnostic {
//!     None => println!("{}", text_of(&result.output)),
//!     Some(diagnostic) => println!("{diagnostic}"),
//! }
//! run.dispose().await?;
//! # Ok(()) }
//! ```

mod capabilities;
mod diagnostic;
mod error;
mod host;
mod output;
mod progress;
mod provider;
mod registry;
mod request;
mod result;
mod run;
mod settlement;
mod signal;
mod words;

pub use capabilities::{Capabilities, Feature, NO_START_CAPABILITIES};
pub use diagnostic::{Diagnostic, FailureLine, Line, MAX_DIAGNOSTIC_BYTES};
pub use error::{Cause, CheckError, DisposeError, SafeFailure, StartError};
pub use host::{Chain, HostObserver, HostReport, HostReporter};
pub use output::AssistantOutput;
pub use progress::{HURRIED_EOF_GRACE, Progress, TeardownUrgency, Urgency};
pub use provider::{BoxFuture, Provider};
pub use registry::{Observation, Registration, Registry, RegistryError};
pub use request::{ContentBlock, Parent, StartFeatures, StartRequest, ToolFilter, text_of};
pub use result::{RunResult, StopReason};
pub use run::{Run, RunDriver, RunId, WeakRun};
pub use settlement::{Attempt, settle};
pub use signal::Signal;
pub use words::{ClosedWord, Word};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
