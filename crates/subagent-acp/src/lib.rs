//! Delegates a task to an agent process that speaks the Agent Client Protocol (version 1) over its standard streams:
//! Gemini CLI, Claude Code, Codex, OpenCode, Goose and others.
//!
//! Each run spawns a fresh process, performs the handshake, sends one prompt, collects the text of the answer, and ends
//! the process and its group for certain. A run that does not complete carries one safe, bounded diagnostic; raw
//! failures go to the host's [`HostReporter`](subagent_seam::HostReporter) alone.
//!
//! ```no_run
//! use std::sync::Arc;
//! use subagent_acp::{AcpConfig, AcpProvider};
//! use subagent_seam::{HostReporter, Parent, Provider as _, StartRequest, text_of};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let mut config = AcpConfig::new("gemini");
//! config.args = vec!["--acp".into()];
//! let provider = AcpProvider::new(config, HostReporter::default())?;
//!
//! let parent = Parent { session_id: "s-1".into(), cwd: Some("/srv/project".into()), depth: 0 };
//! let run = provider.start(StartRequest::text("Which tests are slow, and why?", parent)).await?;
//! let result = run.result().await;
//! run.dispose().await?;
//! println!("{}: {}", result.stop_reason, text_of(&result.output));
//! # Ok(()) }
//! ```

mod child;
mod config;
mod error;
mod failure;
mod permission;
mod provider;
mod run;
mod startup;
mod wire;

pub use config::{AcpConfig, PermissionPolicy};
pub use error::AcpError;
pub use provider::AcpProvider;
pub use subagent_subprocess::{ConfigDirSource, EnvPolicy, EnvVars, Supervision, supervisor};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

// The front page's example is about this crate.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct FrontPage;
