//! Turns a configuration file into providers and tools. It is the only crate that names concrete providers.
//!
//! [`load_file`] reads a file into a [`Config`]: plain data, checked in itself and against each other.
//! [`Config::deploy`] builds the providers and registers them; the tools stay data, for whoever serves them. A whole
//! configuration can come from a command line too ([`Config::from_command`]).
//!
//! Whatever is wrong comes as [`ConfigErrors`], all of a file in one go: each with its line, column, entry, key and, as
//! a field of its own, a hint.
//!
//! ```
//! use subagent_config::{HostContext, load_str};
//! use subagent_seam::HostReporter;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let file = "
//! - name: subagent-acp
//!   config:
//!     command: gemini
//!     args: ['--acp']
//!     env:
//!       GEMINI_API_KEY: !env GEMINI_API_KEY
//! ";
//! let host = HostContext::from_process()?;
//! let deployment = load_str(file, "subagents.yml", &host)?.deploy(&HostReporter::default())?;
//! assert_eq!(deployment.registry().names(), ["acp"]);
//! // One provider and no tool: the default tool.
//! assert_eq!(deployment.tools()[0].tool_name, "subagent");
//!
//! let errors = load_str("- name: subagent-acp\n  config: { comand: gemini }\n", "subagents.yml", &host).unwrap_err();
//! let first = errors.iter().next().unwrap();
//! assert_eq!(first.to_string(), "subagents.yml:2:11: entry subagent-acp, key command: missing key");
//! # Ok(()) }
//! ```

mod check;
mod config;
mod deploy;
mod entry;
mod error;
mod host;
mod keys;
mod load;
mod locate;
mod problem;
mod provider;
mod schema;
mod scope;
mod tree;

pub use config::{CommandLine, Config, JobsEntry, MaxDepth, ToolEntry};
pub use deploy::Deployment;
pub use error::{ConfigError, ConfigErrors, Place, Position};
pub use host::HostContext;
pub use load::{load_file, load_str};
pub use locate::{default_paths, find};
pub use problem::Problem;
pub use provider::ProviderEntry;
pub use schema::schema;
pub use subagent_acp::{AcpConfig, ConfigDirSource, EnvPolicy, PermissionPolicy, Supervision, supervisor};
pub use subagent_dsh_sdk::DshSdkConfig;

/// The examples of the README, compiled with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
