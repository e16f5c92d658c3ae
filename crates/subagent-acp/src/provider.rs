//! The ACP provider: its checked configuration and its place behind the seam. Starting and driving a run stand in
//! their own files.

use subagent_seam::{
    BoxFuture, Capabilities, CheckError, HostReporter, NO_START_CAPABILITIES, Provider, Run, StartError,
    StartRequest,
};

use crate::config::AcpConfig;
use crate::error::ConfigError;

/// Runs each task in a fresh process of one ACP agent.
#[derive(Debug)]
pub struct AcpProvider {
    config: AcpConfig,
}

impl AcpProvider {
    /// Checks `config` and builds the provider. Raw failures of its runs go to `reporter`.
    ///
    /// # Errors
    ///
    /// An option is out of its bounds, or the working directory is not usable.
    pub fn new(config: AcpConfig, reporter: HostReporter) -> Result<Self, ConfigError> {
        let _ = reporter;
        Ok(Self { config })
    }
}

impl Provider for AcpProvider {
    fn name(&self) -> &str {
        &self.config.provider_name
    }

    fn capabilities(&self) -> Capabilities {
        NO_START_CAPABILITIES
    }

    fn inherits_parent_context(&self) -> bool {
        false
    }

    fn start(&self, _request: StartRequest) -> BoxFuture<'_, Result<Run, StartError>> {
        Box::pin(async { Err(StartError::ShutDown) })
    }

    fn check(&self, _request: StartRequest) -> BoxFuture<'_, Result<(), CheckError>> {
        Box::pin(async { Ok(()) })
    }
}
