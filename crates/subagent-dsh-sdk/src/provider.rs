//! The DSH SDK provider: its checked options and its place behind the seam. Starting and driving a run stand in their
//! own files.

use std::sync::Arc;
use std::time::Duration;

use subagent_seam::{
    BoxFuture, Capabilities, CheckError, HostReporter, NO_START_CAPABILITIES, Provider, Run, RunId,
    StartError, StartRequest,
};
use subagent_subprocess::{ChildProcess, LaunchOptions, Spawned, check_bytes};

use crate::child::Child;
use crate::plan::{Route, RuntimeOptions, RuntimePlan, check_deadline};
use crate::run::drive;
use crate::startup::start;
use crate::{DshSdkConfig, DshSdkError};

/// Runs each task in a fresh process of one DSH SDK runtime.
///
/// Runs share nothing but these options: no output or failure of one can appear in another.
#[derive(Debug)]
pub struct DshSdkProvider {
    settings: Arc<Settings>,
}

/// The options once they are checked.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) name: String,
    pub(crate) plan: RuntimePlan,
    pub(crate) startup_timeout: Option<Duration>,
    pub(crate) run_timeout: Option<Duration>,
    pub(crate) idle_timeout: Option<Duration>,
    pub(crate) max_output_bytes: usize,
    pub(crate) host: HostReporter,
}

impl DshSdkProvider {
    /// Checks `config` and builds the provider. Raw failures of its runs go to `host`. Blocks for as long as the file
    /// system takes to look at the working directory.
    ///
    /// # Errors
    ///
    /// [`DshSdkError::Option`] or [`DshSdkError::MaxTokens`]: an option is out of its bounds, or the working directory
    /// cannot be used.
    pub fn new(config: DshSdkConfig, host: HostReporter) -> Result<Self, DshSdkError> {
        let settings = Settings {
            startup_timeout: check_deadline("startupTimeoutMs", config.startup_timeout)?,
            run_timeout: check_deadline("runTimeoutMs", config.run_timeout)?,
            idle_timeout: check_deadline("idleTimeoutMs", config.idle_timeout)?,
            max_output_bytes: check_bytes("maxOutputBytes", config.max_output_bytes)?,
            plan: RuntimePlan::new(RuntimeOptions {
                launch: LaunchOptions {
                    command: config.command,
                    args: config.args,
                    cwd: config.cwd,
                    inherit_env: config.inherit_env,
                    env: config.env,
                    config_dirs: config.isolated_config_dirs,
                },
                supervision: config.supervision,
                route: Route {
                    provider: config.provider,
                    model: config.model,
                    max_tokens: config.max_tokens,
                },
                dispose_eof_grace: config.dispose_eof_grace,
                dispose_grace: config.dispose_grace,
                shutdown_timeout: config.shutdown_timeout,
                max_frame_bytes: config.max_frame_bytes,
                max_queued_bytes: config.max_queued_bytes,
                stderr_tail_bytes: config.stderr_tail_bytes,
            })?,
            name: config.provider_name,
            host,
        };
        Ok(Self {
            settings: Arc::new(settings),
        })
    }

    /// As [`start`](Provider::start), with a runtime that is there already: nothing is spawned, and the command, its
    /// environment and its directories are not used. For a runtime that is no process of this host, such as a script in
    /// memory under which a whole run is tested. Must be called within a Tokio runtime.
    ///
    /// # Errors
    ///
    /// As [`start`](Provider::start).
    pub async fn start_with<P: ChildProcess>(
        &self,
        request: StartRequest,
        runtime: Spawned<P>,
    ) -> Result<Run, StartError> {
        let progress = request.progress.clone();
        let launch = |_| Ok(self.settings.plan.take(runtime, progress));
        let child = start(&self.settings, &request, launch).await?;
        Ok(publish(request, child))
    }

    /// Starts a child that is spawned.
    async fn start_spawned(&self, request: &StartRequest) -> Result<Child, StartError> {
        let launch = |cwd| self.settings.plan.launch(cwd, request.progress.clone());
        start(&self.settings, request, launch).await
    }
}

/// Hands a child that is ready for its prompt to the task that drives it.
fn publish<P: ChildProcess>(request: StartRequest, child: Child<P>) -> Run {
    let (run, driver) = Run::publish(RunId::fresh());
    tokio::spawn(drive(request, child, driver));
    run
}

impl Provider for DshSdkProvider {
    fn name(&self) -> &str {
        &self.settings.name
    }

    fn capabilities(&self) -> Capabilities {
        NO_START_CAPABILITIES
    }

    fn inherits_parent_context(&self) -> bool {
        false
    }

    fn start(&self, request: StartRequest) -> BoxFuture<'_, Result<Run, StartError>> {
        Box::pin(async move {
            let child = self.start_spawned(&request).await?;
            Ok(publish(request, child))
        })
    }

    fn check(&self, request: StartRequest) -> BoxFuture<'_, Result<(), CheckError>> {
        Box::pin(async move {
            let mut child = self.start_spawned(&request).await?;
            child.teardown(&request.urgency, std::future::pending).await?;
            Ok(())
        })
    }
}
