//! Turns a configuration file into providers and tools.

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
pub use subagent_acp::{AcpConfig, ConfigDirSource, PermissionPolicy};
