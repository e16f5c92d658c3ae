//! Turns a configuration file into providers and tools.

mod config;
mod deploy;
mod error;
mod host;
mod locate;
mod problem;
mod provider;

pub use config::{CommandLine, Config, JobsEntry, MaxDepth, ToolEntry};
pub use deploy::Deployment;
pub use error::{ConfigError, ConfigErrors, Place, Position};
pub use host::HostContext;
pub use locate::{default_paths, find};
pub use problem::Problem;
pub use provider::ProviderEntry;
pub use subagent_acp::{AcpConfig, ConfigDirSource, PermissionPolicy};
