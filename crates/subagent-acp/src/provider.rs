//! The ACP provider: its checked options and its place behind the seam. Starting and driving a run stand in their own
//! files.

use std::sync::Arc;
use std::time::Duration;

use subagent_seam::{
    BoxFuture, Capabilities, CheckError, HURRIED_EOF_GRACE, HostReporter, NO_START_CAPABILITIES, Provider,
    Run, RunId, StartError, StartRequest,
};
use subagent_subprocess::rpc::Limits;
use subagent_subprocess::{
    AgentProcess, ChildProcess, Ladder, LadderStyle, LaunchOptions, LaunchPlan, Spawned, check_bytes,
    check_time,
};

use crate::run::drive;
use crate::startup::{Ready, start};
use crate::{AcpConfig, AcpError, PermissionPolicy};

/// Runs each task in a fresh process of one ACP agent.
///
/// Runs share nothing but these options: no output, decision or failure of one can appear in another.
#[derive(Debug)]
pub struct AcpProvider {
    settings: Arc<Settings>,
}

/// The options once they are checked.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) name: String,
    pub(crate) plan: LaunchPlan,
    pub(crate) permission: PermissionPolicy,
    pub(crate) ladder: Ladder,
    pub(crate) startup_timeout: Option<Duration>,
    pub(crate) run_timeout: Option<Duration>,
    pub(crate) idle_timeout: Option<Duration>,
    pub(crate) limits: Limits,
    pub(crate) max_output_bytes: usize,
    pub(crate) stderr_tail_bytes: usize,
    pub(crate) host: HostReporter,
}

impl AcpProvider {
    /// Checks `config` and builds the provider. Raw failures of its runs go to `host`. Blocks for as long as the file
    /// system takes to look at the working directory.
    ///
    /// # Errors
    ///
    /// [`AcpError::Option`]: an option is out of its bounds, or the working directory cannot be used.
    pub fn new(config: AcpConfig, host: HostReporter) -> Result<Self, AcpError> {
        let time = |key, time: Option<Duration>| time.map(|time| check_time(key, time)).transpose();
        let ladder = Ladder {
            eof_grace: check_time("disposeEofGraceMs", config.dispose_eof_grace)?,
            hurried_eof_grace: HURRIED_EOF_GRACE,
            grace: check_time("disposeGraceMs", config.dispose_grace)?,
            style: LadderStyle::native(),
        };
        let settings = Settings {
            ladder,
            startup_timeout: time("startupTimeoutMs", config.startup_timeout)?,
            run_timeout: time("runTimeoutMs", config.run_timeout)?,
            idle_timeout: time("idleTimeoutMs", config.idle_timeout)?,
            limits: Limits {
                max_frame_bytes: check_bytes("maxFrameBytes", config.max_frame_bytes)?,
                max_queued_bytes: check_bytes("maxQueuedBytes", config.max_queued_bytes)?,
            },
            max_output_bytes: check_bytes("maxOutputBytes", config.max_output_bytes)?,
            stderr_tail_bytes: config.stderr_tail_bytes,
            plan: LaunchPlan::new(LaunchOptions {
                command: config.command,
                args: config.args,
                cwd: config.cwd,
                inherit_env: config.inherit_env,
                env: config.env,
                config_dirs: config.isolated_config_dirs,
            })?
            .supervised(config.supervision, &ladder)?,
            name: config.provider_name,
            permission: config.permission,
            host,
        };
        Ok(Self {
            settings: Arc::new(settings),
        })
    }

    /// As [`start`](Provider::start), with an agent that is there already: nothing is spawned, and the command, its
    /// environment and its directories are not used. For an agent that is no process of this host, such as a script in
    /// memory under which a whole run is tested. Must be called within a Tokio runtime.
    ///
    /// # Errors
    ///
    /// As [`start`](Provider::start).
    pub async fn start_with<P: ChildProcess>(
        &self,
        request: StartRequest,
        agent: Spawned<P>,
    ) -> Result<Run, StartError> {
        let settings = &self.settings;
        let launch = |_| {
            let tail = settings.stderr_tail_bytes;
            Ok(AgentProcess::new(agent, settings.limits, tail, Vec::new()))
        };
        let ready = start(settings, &request, launch).await?;
        Ok(self.publish(request, ready))
    }

    /// Hands a child that is ready for its prompt to the task that drives it.
    fn publish<P: ChildProcess>(&self, request: StartRequest, ready: Ready<P>) -> Run {
        let (run, driver) = Run::publish(RunId::fresh());
        tokio::spawn(drive(Arc::clone(&self.settings), request, ready, driver));
        run
    }

    /// Starts a child that is spawned.
    async fn start_spawned(&self, request: &StartRequest) -> Result<Ready, StartError> {
        let settings = &self.settings;
        let launch = |cwd| {
            settings
                .plan
                .launch(cwd, settings.limits, settings.stderr_tail_bytes)
        };
        start(settings, request, launch).await
    }
}

impl Provider for AcpProvider {
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
            let ready = self.start_spawned(&request).await?;
            Ok(self.publish(request, ready))
        })
    }

    fn check(&self, request: StartRequest) -> BoxFuture<'_, Result<(), CheckError>> {
        Box::pin(async move {
            let mut ready = self.start_spawned(&request).await?;
            ready
                .child
                .teardown(&request.urgency, std::future::pending())
                .await?;
            Ok(())
        })
    }
}
