//! Delegates a task to an agent process that speaks the Agent Client Protocol.

mod config;
mod error;
mod provider;

pub use config::{AcpConfig, ConfigDirSource, PermissionPolicy};
pub use error::ConfigError;
pub use provider::AcpProvider;
