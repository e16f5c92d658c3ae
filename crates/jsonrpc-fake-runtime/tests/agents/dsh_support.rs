//! A fake DSH SDK runtime behind the real provider, the real tool or the real client. Owns no expectation of its own.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jsonrpc_fake_runtime::{Prepared, Protocol, Recording, Script, scenarios};
use subagent_dsh_sdk::client::{Harness, HarnessClient, HarnessConfig, HarnessPlan};
use subagent_dsh_sdk::{DshSdkConfig, DshSdkProvider};
use subagent_seam::{
    Chain, HostReport, HostReporter, Parent, Provider as _, Registry, Run, StartError, StartRequest,
};
use subagent_tool::{Call, Context, Outcome, SubagentTool, ToolOptions};
use tokio_util::sync::CancellationToken;

use crate::support::{eventually, fake_program, file, supervision};

/// A fake runtime that runs one script.
pub(crate) struct FakeRuntime {
    prepared: Prepared,
    config: DshSdkConfig,
    session_cwd: Option<PathBuf>,
    reports: Arc<Mutex<Vec<String>>>,
}

impl FakeRuntime {
    /// The script, with the windows of a provider by default.
    pub(crate) fn running(script: &Script) -> Self {
        let prepared = Prepared::in_temp_dir(script).unwrap();
        let mut config = DshSdkConfig::new(fake_program());
        config.args = prepared.args();
        config.supervision = supervision();
        let session_cwd = Some(prepared.dir().to_owned());
        Self {
            prepared,
            config,
            session_cwd,
            reports: Arc::default(),
        }
    }

    /// The ready-made scenario of that name.
    pub(crate) fn scenario(name: &str) -> Self {
        let all = scenarios(Protocol::DshSdk);
        let found = all.iter().find(|scenario| scenario.name() == name);
        Self::running(&found.unwrap_or_else(|| panic!("no scenario {name}")).script())
    }

    /// The same with other options of the provider.
    pub(crate) fn with(mut self, change: impl FnOnce(&mut DshSdkConfig)) -> Self {
        change(&mut self.config);
        self
    }

    /// The same for a session with another directory, or with none.
    pub(crate) fn in_session_at(mut self, cwd: Option<PathBuf>) -> Self {
        self.session_cwd = cwd;
        self
    }

    /// The same with short windows: for a child that is expected to sit them out.
    pub(crate) fn impatient(self) -> Self {
        self.with(|config| {
            config.dispose_eof_grace = Duration::from_millis(300);
            config.dispose_grace = Duration::from_millis(300);
            config.shutdown_timeout = Duration::from_millis(300);
        })
    }

    /// A directory for the files that script and test signal each other with; it is also the session's.
    pub(crate) fn dir(&self) -> &Path {
        self.prepared.dir()
    }

    /// What the fake has received.
    pub(crate) fn recording(&self) -> Recording {
        self.prepared.recording()
    }

    /// The methods that the fake has received, in order.
    pub(crate) fn methods(&self) -> Vec<String> {
        self.recording().methods().unwrap()
    }

    /// The provider, a new one each time.
    pub(crate) fn provider(&self) -> DshSdkProvider {
        let reports = Arc::clone(&self.reports);
        let observer = move |report: &HostReport<'_>| {
            let mut text = format!("{}: {}", report.stage, Chain(report.error));
            if !report.stderr_tail.is_empty() {
                write!(text, "\nstderr: {}", String::from_utf8_lossy(report.stderr_tail)).unwrap();
            }
            reports.lock().unwrap().push(text);
        };
        DshSdkProvider::new(self.config.clone(), HostReporter::observed_by(Arc::new(observer))).unwrap()
    }

    /// A request whose session lives in [`dir`](Self::dir).
    pub(crate) fn request(&self, prompt: &str) -> StartRequest {
        StartRequest::text(prompt, self.parent())
    }

    fn parent(&self) -> Parent {
        Parent {
            session_id: "parent".to_owned(),
            cwd: self.session_cwd.clone(),
            depth: 0,
        }
    }

    /// Starts a run.
    pub(crate) async fn start(&self, prompt: &str) -> Result<Run, StartError> {
        self.provider().start(self.request(prompt)).await
    }

    /// Starts a run that can be cancelled by a token.
    pub(crate) async fn start_cancellable(&self, prompt: &str) -> (Run, CancellationToken) {
        let request = self.request(prompt);
        let cancel = request.cancel.clone();
        (self.provider().start(request).await.unwrap(), cancel)
    }

    /// Delegates as a model does: through registry and tool, to the very end.
    pub(crate) async fn delegate(&self, prompt: &str) -> Outcome {
        let registry = Registry::new();
        let _registered = registry.register(Arc::new(self.provider())).unwrap();
        let tool = SubagentTool::new(registry, ToolOptions::new(&self.config.provider_name)).unwrap();
        let context = Context {
            parent: self.parent(),
            ..Context::default()
        };
        tool.call(Call::new("test task", prompt), context).await
    }

    /// What the host was told, in order: stage, raw error, and the end of the child's standard error.
    pub(crate) fn host_reports(&self) -> Vec<String> {
        self.reports.lock().unwrap().clone()
    }

    /// Waits until the script has made the file `name` in [`dir`](Self::dir).
    pub(crate) async fn reached(&self, name: &str) {
        let path = self.dir().join(name);
        eventually(&format!("the script has made {name}"), || path.exists()).await;
    }

    /// Makes the file `name` in [`dir`](Self::dir), for a script that waits for it.
    pub(crate) fn go(&self, name: &str) {
        std::fs::write(self.dir().join(name), "").unwrap();
    }

    /// The process id that some process has noted in the file `name` in [`dir`](Self::dir).
    pub(crate) async fn pid(&self, name: &str) -> u32 {
        file(&self.dir().join(name)).await.trim().parse().unwrap()
    }

    /// The options of a client of this runtime.
    pub(crate) fn harness_config(&self) -> HarnessConfig {
        let mut config = HarnessConfig::new(fake_program(), self.dir());
        config.args = self.prepared.args();
        config.supervision = self.config.supervision.clone();
        config
    }

    /// A harness that has not been started.
    pub(crate) fn harness(&self) -> Harness {
        Harness::new(HarnessPlan::new(self.harness_config()).unwrap())
    }

    /// A client whose handshake has not been performed.
    pub(crate) fn spawned(&self) -> HarnessClient {
        HarnessClient::spawn(&HarnessPlan::new(self.harness_config()).unwrap()).unwrap()
    }

    /// A client that takes prompts.
    pub(crate) async fn client(&self) -> HarnessClient {
        let client = self.spawned();
        client.initialize().await.unwrap();
        client
    }
}
