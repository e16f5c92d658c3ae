//! Several connections of one server, and clients that misbehave, over streams in memory: who sees whose jobs, and what
//! ends with whom. The provider starts no process; what it is told stands in this file.

#![expect(clippy::unwrap_used, reason = "a panic is how a test reports")]
#![expect(deprecated, reason = "clients of the older protocol versions have roots")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ClientRequest,
    ErrorData, Implementation, ListRootsResult, ProgressNotificationParam, Root,
};
use rmcp::service::{NotificationContext, PeerRequestOptions, RequestContext, RoleClient, RunningService};
use rmcp::{ClientHandler, ServiceExt as _};
use serde_json::{Value, json};
use subagent_mcp::{MAX_CALLS, ServeError, Server, ServerOptions};
use subagent_seam::{
    BoxFuture, Capabilities, CheckError, NO_START_CAPABILITIES, Provider, Registration, Registry, Run, RunId,
    RunResult, StartError, StartRequest, StopReason, text_of,
};
use subagent_tool::jobs::JobOptions;
use subagent_tool::{SubagentTool, ToolOptions};
use tokio::io::{AsyncWriteExt as _, DuplexStream, duplex};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// How long a test waits for what should happen at once.
const SOON: Duration = Duration::from_secs(20);

/// Answers `where` with the run's directory; any other run goes on until it is cancelled.
#[derive(Default)]
struct Stub {
    live: Arc<AtomicUsize>,
}

impl Provider for Stub {
    fn name(&self) -> &'static str {
        "stub"
    }

    fn capabilities(&self) -> Capabilities {
        NO_START_CAPABILITIES
    }

    fn inherits_parent_context(&self) -> bool {
        false
    }

    fn start(&self, request: StartRequest) -> BoxFuture<'_, Result<Run, StartError>> {
        let (run, driver) = Run::publish(RunId::fresh());
        let live = Arc::clone(&self.live);
        live.fetch_add(1, Ordering::SeqCst);
        tokio::spawn(async move {
            if text_of(&request.prompt) == "where" {
                let cwd = request.parent.cwd.unwrap_or_default();
                let output = vec![cwd.display().to_string().into()];
                driver.settle(RunResult::new(StopReason::Completed, output));
            } else {
                request.cancel.cancelled().await;
                driver.settle(RunResult::new(StopReason::Aborted, Vec::new()));
            }
            driver.dispose_requested().await;
            live.fetch_sub(1, Ordering::SeqCst);
            driver.finish(Ok(()));
        });
        Box::pin(std::future::ready(Ok(run)))
    }

    fn check(&self, _: StartRequest) -> BoxFuture<'_, Result<(), CheckError>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

/// A server over one [`Stub`].
struct Host {
    server: Server,
    live: Arc<AtomicUsize>,
    _registered: Registration,
}

impl Host {
    fn new() -> Self {
        let registry = Registry::new();
        let stub = Stub::default();
        let live = Arc::clone(&stub.live);
        let registered = registry.register(Arc::new(stub)).unwrap();
        let tool = SubagentTool::new(registry.clone(), ToolOptions::new("stub")).unwrap();
        let options = ServerOptions::in_directory("/start");
        Self {
            server: Server::new(registry, &[tool], JobOptions::default(), options),
            live,
            _registered: registered,
        }
    }

    fn serve(&self, stop: &CancellationToken) -> (DuplexStream, JoinHandle<Result<(), ServeError>>) {
        let (near, far) = duplex(1 << 16);
        let (reader, writer) = tokio::io::split(far);
        let (server, stop) = (self.server.clone(), stop.clone());
        let serving = tokio::spawn(async move { server.serve(reader, writer, stop).await });
        (near, serving)
    }

    async fn connect(
        &self,
        client: Client,
    ) -> (
        RunningService<RoleClient, Client>,
        JoinHandle<Result<(), ServeError>>,
    ) {
        let (near, serving) = self.serve(&CancellationToken::new());
        (client.serve(near).await.unwrap(), serving)
    }

    async fn live(&self, count: usize) {
        eventually(|| self.live.load(Ordering::SeqCst) == count).await;
    }
}

async fn eventually(condition: impl Fn() -> bool) {
    let waiting = async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    timeout(SOON, waiting).await.expect("the condition holds");
}

/// A client with roots that a test can change.
#[derive(Clone, Default)]
struct Client {
    roots: Arc<Mutex<Vec<&'static str>>>,
    asked: Arc<AtomicUsize>,
    /// Whether it never tells its roots.
    silent: bool,
    progress: Arc<Mutex<Vec<ProgressNotificationParam>>>,
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder().enable_roots().build();
        ClientConfig::new(capabilities, Implementation::new("test", "1"))
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        if self.silent {
            std::future::pending::<()>().await;
        }
        let roots = self
            .roots
            .lock()
            .unwrap()
            .iter()
            .map(|uri| Root::new(*uri))
            .collect();
        Ok(ListRootsResult::new(roots))
    }

    async fn on_progress(&self, told: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.progress.lock().unwrap().push(told);
    }
}

fn call(tool: &'static str, arguments: &Value) -> CallToolRequestParams {
    CallToolRequestParams::new(tool).with_arguments(arguments.as_object().unwrap().clone())
}

fn task(prompt: &str, background: bool) -> Value {
    json!({"description": "test", "prompt": prompt, "run_in_background": background})
}

async fn text(client: &RunningService<RoleClient, Client>, tool: &'static str, arguments: Value) -> String {
    let called = timeout(SOON, client.call_tool(call(tool, &arguments))).await;
    let result: CallToolResult = called.expect("an answer").unwrap();
    result.content[0].as_text().unwrap().text.clone()
}

#[tokio::test]
async fn a_job_belongs_to_its_connection_and_ends_with_it_alone() {
    let host = Host::new();
    let (one, serving_one) = host.connect(Client::default()).await;
    let (two, serving_two) = host.connect(Client::default()).await;
    for (client, id) in [(&one, "subagent-1"), (&two, "subagent-2")] {
        let started = text(client, "subagent", task("wait", true)).await;
        assert_eq!(started, format!("started background subagent job {id}"));
    }
    for tool in ["job_output", "job_kill"] {
        let arguments = json!({"job_id": "subagent-1"});
        assert_eq!(
            text(&two, tool, arguments).await,
            "job subagent-1 belongs to another session"
        );
    }
    assert_eq!(
        text(&two, "job_list", json!({})).await,
        "subagent-2 [subagent] running — test"
    );
    host.live(2).await;

    one.cancel().await.unwrap();
    timeout(SOON, serving_one).await.unwrap().unwrap().unwrap();
    host.live(1).await;
    assert_eq!(
        text(&two, "job_list", json!({})).await,
        "subagent-2 [subagent] running — test"
    );
    host.server.shutdown().await;
    host.live(0).await;
    two.cancel().await.unwrap();
    timeout(SOON, serving_two).await.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn a_client_is_asked_for_its_roots_once_and_again_when_they_change() {
    let host = Host::new();
    let client = Client::default();
    let (roots, asked) = (Arc::clone(&client.roots), Arc::clone(&client.asked));
    *roots.lock().unwrap() = vec!["file:///first%20root", "file:///second"];
    let (client, _serving) = host.connect(client).await;
    assert_eq!(asked.load(Ordering::SeqCst), 0, "nobody needs it yet");
    for _ in 0..2 {
        assert_eq!(
            text(&client, "subagent", task("where", false)).await,
            "/first root"
        );
    }
    assert_eq!(asked.load(Ordering::SeqCst), 1);

    *roots.lock().unwrap() = vec!["https://example.com/"];
    client.notify_roots_list_changed().await.unwrap();
    let changed = async { while text(&client, "subagent", task("where", false)).await != "/start" {} };
    timeout(SOON, changed).await.expect("the change is heeded");
    assert_eq!(asked.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn progress_is_told_while_the_client_keeps_its_roots_to_itself() {
    let host = Host::new();
    let client = Client {
        silent: true,
        ..Client::default()
    };
    let progress = Arc::clone(&client.progress);
    let (client, serving) = host.connect(client).await;
    let request =
        ClientRequest::CallToolRequest(CallToolRequest::new(call("subagent", &task("where", false))));
    let options = PeerRequestOptions::no_options();
    let calling = client.send_cancellable_request(request, options).await.unwrap();
    eventually(|| !progress.lock().unwrap().is_empty()).await;
    {
        let told = progress.lock().unwrap();
        assert!(told[0].progress < 2.0, "{told:?}");
        assert_eq!(told[0].message.as_deref(), Some("start, 0 bytes received"));
    }
    calling.cancel(None).await.unwrap();
    client.cancel().await.unwrap();
    timeout(SOON, serving).await.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn more_calls_than_may_be_are_refused_and_the_others_go_on() {
    let host = Host::new();
    let (client, serving) = host.connect(Client::default()).await;
    let peer = client.peer().clone();
    let calls: Vec<_> = (0..MAX_CALLS)
        .map(|_| {
            let peer = peer.clone();
            tokio::spawn(async move { peer.call_tool(call("subagent", &task("wait", false))).await })
        })
        .collect();
    host.live(MAX_CALLS).await;
    assert_eq!(
        text(&client, "job_list", json!({})).await,
        format!("Error: too many calls at a time, expected at most {MAX_CALLS}")
    );
    host.live(MAX_CALLS).await;
    client.cancel().await.unwrap();
    timeout(SOON, serving).await.unwrap().unwrap().unwrap();
    host.live(0).await;
    drop(calls);
}

#[tokio::test]
async fn a_client_that_does_not_read_is_given_up() {
    let host = Host::new();
    let (mut near, serving) = host.serve(&CancellationToken::new());
    let begin = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "deaf", "version": "1"},
    }});
    near.write_all(format!("{begin}\n").as_bytes()).await.unwrap();
    let flood = async {
        for id in 1_u64.. {
            let line = json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"}).to_string() + "\n";
            if near.write_all(line.as_bytes()).await.is_err() {
                break;
            }
        }
    };
    timeout(SOON, flood).await.expect("the server gives up");
    timeout(SOON, serving).await.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn the_hosts_stop_ends_a_connection_that_has_not_begun() {
    let host = Host::new();
    let stop = CancellationToken::new();
    let (_near, serving) = host.serve(&stop);
    stop.cancel();
    timeout(SOON, serving).await.unwrap().unwrap().unwrap();
}
