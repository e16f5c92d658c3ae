//! The errors of this crate that are for operators and hosts. None of their texts may reach a parent model.

/// Why a provider could not be built. For the operator: it may name paths.
#[derive(Debug, thiserror::Error)]
#[error("subagent-acp: {message}")]
#[non_exhaustive]
pub struct ConfigError {
    /// The configuration key at fault, in the spelling of configuration files, for example `disposeGraceMs`.
    pub key: &'static str,
    message: String,
}
