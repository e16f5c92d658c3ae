//! A provider's entry: its options, and where they were written, so that whatever its constructor finds can be told at
//! that place. The only file besides those in `entry` that names concrete providers.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use subagent_acp::{AcpConfig, AcpError, AcpProvider, Supervision};
use subagent_dsh_sdk::{DshSdkConfig, DshSdkError, DshSdkProvider};
use subagent_seam::{Capabilities, Chain, HostReporter, NO_START_CAPABILITIES, Provider};

use crate::error::{ConfigError, Place, Position};
use crate::problem::Problem;

/// A provider that shall be there.
#[derive(Clone, Debug)]
pub struct ProviderEntry {
    pub(crate) id: String,
    pub(crate) config: ProviderConfig,
    pub(crate) origin: Origin,
}

/// The options of a provider, by its kind.
#[derive(Clone, Debug)]
pub(crate) enum ProviderConfig {
    Acp(AcpConfig),
    DshSdk(DshSdkConfig),
}

/// Where an entry was written.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub(crate) file: String,
    pub(crate) entry: Option<String>,
    pub(crate) at: Option<Position>,
    pub(crate) keys: BTreeMap<String, Position>,
}

impl ProviderEntry {
    /// The entry's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The name that the provider is registered under.
    pub fn name(&self) -> &str {
        match &self.config {
            ProviderConfig::Acp(config) => &config.provider_name,
            ProviderConfig::DshSdk(config) => &config.provider_name,
        }
    }

    /// The kind of the entry, for example `subagent-acp`.
    pub fn kind(&self) -> &'static str {
        self.config.kind()
    }

    /// What the provider can honour at the start of a run.
    pub fn capabilities(&self) -> Capabilities {
        match &self.config {
            ProviderConfig::Acp(_) | ProviderConfig::DshSdk(_) => NO_START_CAPABILITIES,
        }
    }

    /// The options, if this is an ACP provider.
    pub fn as_acp(&self) -> Option<&AcpConfig> {
        match &self.config {
            ProviderConfig::Acp(config) => Some(config),
            ProviderConfig::DshSdk(_) => None,
        }
    }

    /// The options, if this is a DSH SDK provider.
    pub fn as_dsh_sdk(&self) -> Option<&DshSdkConfig> {
        match &self.config {
            ProviderConfig::DshSdk(config) => Some(config),
            ProviderConfig::Acp(_) => None,
        }
    }

    /// Builds the provider.
    ///
    /// # Errors
    ///
    /// Its constructor refuses an option; the error says where that was written.
    pub(crate) fn build(&self, reporter: HostReporter) -> Result<Arc<dyn Provider>, Box<ConfigError>> {
        match &self.config {
            ProviderConfig::Acp(config) => match AcpProvider::new(config.clone(), reporter) {
                Ok(provider) => Ok(Arc::new(provider)),
                Err(error) => {
                    let (key, cause) = match &error {
                        AcpError::Option(option) => (option.key(), option.source()),
                        // The constructor has no other; were there one, it would still be told.
                        _ => ("config", error.source()),
                    };
                    Err(Box::new(self.refused(key, &error, cause)))
                }
            },
            ProviderConfig::DshSdk(config) => match DshSdkProvider::new(config.clone(), reporter) {
                Ok(provider) => Ok(Arc::new(provider)),
                Err(error) => {
                    let (key, cause) = match &error {
                        DshSdkError::Option(option) => (option.key(), option.source()),
                        DshSdkError::MaxTokens => ("maxTokens", None),
                        _ => ("config", error.source()),
                    };
                    Err(Box::new(self.refused(key, &error, cause)))
                }
            },
        }
    }

    fn refused(&self, key: &str, error: &dyn Error, cause: Option<&(dyn Error + 'static)>) -> ConfigError {
        let message = match cause {
            Some(cause) => format!("{error}: {}", Chain(cause)),
            None => error.to_string(),
        };
        let home = self.config.path(key).is_some_and(|path| path.starts_with('~'));
        ConfigError {
            place: self.origin.place(key),
            problem: Problem::Refused { message },
            hint: home.then(|| "~ is not expanded; write the path in full".to_owned()),
        }
    }
}

impl ProviderConfig {
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Acp(_) => "subagent-acp",
            Self::DshSdk(_) => "subagent-dsh-sdk",
        }
    }

    pub(crate) fn set_variable(&mut self, name: &str, value: &str) {
        let env = match self {
            Self::Acp(config) => &mut config.env,
            Self::DshSdk(config) => &mut config.env,
        };
        env.push(name, value);
    }

    pub(crate) fn set_run_timeout(&mut self, timeout: Duration) {
        match self {
            Self::Acp(config) => config.run_timeout = Some(timeout),
            Self::DshSdk(config) => config.run_timeout = Some(timeout),
        }
    }

    pub(crate) fn set_supervision(&mut self, supervision: Supervision) {
        match self {
            Self::Acp(config) => config.supervision = supervision,
            Self::DshSdk(config) => config.supervision = supervision,
        }
    }

    pub(crate) fn provider_name_mut(&mut self) -> &mut String {
        match self {
            Self::Acp(config) => &mut config.provider_name,
            Self::DshSdk(config) => &mut config.provider_name,
        }
    }

    /// The path under a key, as it was written.
    fn path(&self, key: &str) -> Option<String> {
        let (cwd, command) = match self {
            Self::Acp(config) => (&config.cwd, &config.command),
            Self::DshSdk(config) => (&config.cwd, &config.command),
        };
        let path = match key {
            "cwd" => cwd.as_deref()?.as_os_str(),
            "command" => command.as_os_str(),
            _ => return None,
        };
        Some(path.to_string_lossy().into_owned())
    }
}

impl Origin {
    /// An entry that a command-line option stands for.
    pub(crate) fn command_line(option: &str) -> Self {
        Self {
            file: option.to_owned(),
            entry: None,
            at: None,
            keys: BTreeMap::new(),
        }
    }

    /// The place of a key: where it was written, else where the entry begins.
    pub(crate) fn place(&self, key: &str) -> Place {
        Place {
            file: Some(self.file.clone()),
            position: self.keys.get(key).copied().or(self.at),
            entry: self.entry.clone(),
            key: Some(key.to_owned()),
        }
    }
}
