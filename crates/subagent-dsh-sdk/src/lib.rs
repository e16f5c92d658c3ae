//! Drives DeepSeek Harness runtimes over their SDK protocol: JSON-RPC over the standard streams of a child process.
//!
//! Two things live here. [`client`] is an SDK for such a runtime, useful alone. [`DshSdkProvider`] delegates tasks to it:
//! each run spawns a fresh process, performs the handshake, sends one prompt, collects what the session says until it is
//! idle, and ends the process and its group for certain. A run that does not complete carries one safe, bounded
//! diagnostic; raw failures go to the host's [`HostReporter`](subagent_seam::HostReporter) alone.
//!
//! ```no_run
//! use subagent_dsh_sdk::{DshSdkConfig, DshSdkProvider};
//! use subagent_seam::{HostReporter, Parent, Provider as _, StartRequest, text_of};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let mut config = DshSdkConfig::new("dsh");
//! config.args = vec!["sdk".into()];
//! let provider = DshSdkProvider::new(config, HostReporter::default())?;
//!
//! let parent = Parent { session_id: "s-1".into(), cwd: Some("/srv/project".into()), depth: 0 };
//! let run = provider.start(StartRequest::text("Which tests are slow, and why?", parent)).await?;
//! let result = run.result().await;
//! run.dispose().await?;
//! println!("{}: {}", result.stop_reason, text_of(&result.output));
//! # Ok(()) }
//! ```

mod activity;
mod child;
pub mod client;
mod config;
mod error;
mod failure;
mod hearing;
mod plan;
mod provider;
mod run;
mod runtime;
mod startup;
mod wire;

/// The examples of the front page, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct FrontPage;

pub use config::DshSdkConfig;
pub use error::{DshSdkError, MAX_SAFE_INTEGER};
pub use provider::DshSdkProvider;
pub use subagent_subprocess::{ChildEnv, ConfigDirSource, EnvPolicy, EnvVars, Supervision, supervisor};
