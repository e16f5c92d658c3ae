//! What the tests share: a fake agent behind the real provider and tool, waits with a loud bound, and looks at processes.
//! Owns no expectation of its own.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use jsonrpc_fake_runtime::{Prepared, Recording, Script, Step};
use subagent_acp::{AcpConfig, AcpProvider, Supervision};
use subagent_seam::{
    Chain, HostReport, HostReporter, Parent, Provider, Registry, Run, StartError, StartRequest,
};
use subagent_tool::{Call, Context, Outcome, SubagentTool, ToolOptions};
use tokio_util::sync::CancellationToken;

/// How long a test waits for something that should happen at once, before it fails loudly.
pub(crate) const SOON: Duration = Duration::from_secs(20);

/// In whose care the agents of a test are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Custody {
    pub(crate) supervision: Supervision,
    /// What the test is told, whatever that comes to.
    pub(crate) is_supervised: bool,
    /// How many agents have been made.
    pub(crate) agents: Arc<AtomicUsize>,
}

tokio::task_local! {
    /// Set for a test that is run both ways.
    pub(crate) static CUSTODY: Custody;
}

/// Who looks after an agent that is made here and now. Outside of a test that is run both ways it is nobody.
pub(crate) fn supervision() -> Supervision {
    let known = CUSTODY.try_with(|custody| {
        custody.agents.fetch_add(1, Ordering::Relaxed);
        custody.supervision.clone()
    });
    known.unwrap_or_default()
}

/// The fake runtime's binary.
pub(crate) fn fake_program() -> PathBuf {
    env!("CARGO_BIN_EXE_jsonrpc-fake-runtime").into()
}

/// A fake agent that runs one script, behind a real ACP provider.
pub(crate) struct FakeAgent {
    prepared: Prepared,
    config: AcpConfig,
    session_cwd: Option<PathBuf>,
    reports: Arc<Mutex<Vec<String>>>,
}

impl FakeAgent {
    /// The script behind a provider with windows for tests: generous where a child is expected to end by itself.
    pub(crate) fn running(script: &Script) -> Self {
        let prepared = Prepared::in_temp_dir(script).unwrap();
        let mut config = AcpConfig::new(fake_program());
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

    /// Not the fake but another agent, one that is built as an example of this package.
    pub(crate) fn example(name: &str) -> Self {
        let agent = Self::running(&Script::new());
        agent.with(|config| {
            config.command = jsonrpc_fake_runtime::example_program(name).unwrap().into();
            config.args = Vec::new();
        })
    }

    /// The same with other options.
    pub(crate) fn with(mut self, change: impl FnOnce(&mut AcpConfig)) -> Self {
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

    /// The provider, a new one each time.
    pub(crate) fn provider(&self) -> AcpProvider {
        let reports = Arc::clone(&self.reports);
        let observer = move |report: &HostReport<'_>| {
            let mut text = format!("{}: {}", report.stage, Chain(report.error));
            if !report.stderr_tail.is_empty() {
                write!(text, "\nstderr: {}", String::from_utf8_lossy(report.stderr_tail)).unwrap();
            }
            reports.lock().unwrap().push(text);
        };
        AcpProvider::new(self.config.clone(), HostReporter::observed_by(Arc::new(observer))).unwrap()
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

    /// Delegates as a model does: through registry and tool, to the very end.
    pub(crate) async fn delegate(&self, prompt: &str) -> Outcome {
        self.delegate_with(prompt, Context::default()).await
    }

    /// The same under a context; its parent is replaced by this agent's.
    pub(crate) async fn delegate_with(&self, prompt: &str, context: Context) -> Outcome {
        self.delegate_as(self.parent(), prompt, context).await
    }

    /// Delegates from a session in another directory, or in none.
    pub(crate) async fn delegate_from(&self, cwd: Option<&Path>, prompt: &str) -> Outcome {
        let parent = Parent {
            cwd: cwd.map(Path::to_owned),
            ..self.parent()
        };
        self.delegate_as(parent, prompt, Context::default()).await
    }

    async fn delegate_as(&self, parent: Parent, prompt: &str, context: Context) -> Outcome {
        let registry = Registry::new();
        let _registered = registry.register(Arc::new(self.provider())).unwrap();
        let tool = SubagentTool::new(registry, ToolOptions::new(&self.config.provider_name)).unwrap();
        tool.call(Call::new("test task", prompt), Context { parent, ..context })
            .await
    }

    /// Starts a run that can be cancelled by a token.
    pub(crate) async fn start_cancellable(&self, prompt: &str) -> (Run, CancellationToken) {
        let request = self.request(prompt);
        let cancel = request.cancel.clone();
        (self.provider().start(request).await.unwrap(), cancel)
    }

    /// Waits until the script has made the file `name` in [`dir`](Self::dir).
    pub(crate) async fn reached(&self, name: &str) {
        let path = self.dir().join(name);
        eventually(&format!("the script has made {name}"), || path.exists()).await;
    }

    /// The process id that some process has noted in the file `name` in [`dir`](Self::dir).
    pub(crate) async fn pid(&self, name: &str) -> u32 {
        file(&self.dir().join(name)).await.trim().parse().unwrap()
    }

    /// What the host was told, in order: stage, raw error, and the end of the child's standard error.
    pub(crate) fn host_reports(&self) -> Vec<String> {
        self.reports.lock().unwrap().clone()
    }
}

/// A step that notes the fake's process id in the file `pid` of its working directory.
pub(crate) fn note_pid() -> Step {
    Step::WriteFile {
        path: "pid".into(),
        text: "{pid}".into(),
    }
}

/// Waits until `condition` holds, and fails loudly when it does not come to hold in time.
pub(crate) async fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < SOON, "{what}: still not so after {SOON:?}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Waits for a file that a script writes, and reads it.
pub(crate) async fn file(path: &Path) -> String {
    eventually(&format!("{} is written", path.display()), || {
        std::fs::read_to_string(path).is_ok_and(|text| !text.is_empty())
    })
    .await;
    std::fs::read_to_string(path).unwrap()
}

/// Whether a process is there and not a zombie.
pub(crate) fn is_alive(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        !stat
            .rsplit(')')
            .next()
            .unwrap_or("")
            .trim_start()
            .starts_with(['Z', 'X'])
    })
}
