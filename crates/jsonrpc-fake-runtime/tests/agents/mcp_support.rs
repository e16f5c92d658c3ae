//! What the tests of the tools over MCP share: the command with a real client at its other end. Owns no expectation.

#![expect(deprecated, reason = "clients of the older protocol versions have roots")]

use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rmcp::ClientHandler;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ClientRequest,
    ErrorData, Implementation, JsonObject, ListRootsResult, ProgressNotificationParam, Root, ServerResult,
};
use rmcp::service::{
    ClientLifecycleMode, NotificationContext, PeerRequestOptions, RequestContext, RequestHandle, RoleClient,
    RunningService, ServiceError, serve_client_with_lifecycle,
};
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::process::Child;
use tokio::time::timeout;

use crate::command_process::kill;
use crate::command_support::Place;
use crate::support::SOON;

/// A client that writes down what it is told.
#[derive(Clone, Debug, Default)]
pub(crate) struct Client {
    roots: Option<Vec<String>>,
    pub(crate) progress: Arc<Mutex<Vec<(Duration, ProgressNotificationParam)>>>,
    begun: Option<Instant>,
}

impl Client {
    /// A client that offers these roots.
    pub(crate) fn with_roots<'a>(roots: impl IntoIterator<Item = &'a Path>) -> Self {
        let uris = roots.into_iter().map(|path| format!("file://{}", path.display()));
        Self {
            roots: Some(uris.collect()),
            ..Self::default()
        }
    }
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let capabilities = if self.roots.is_some() {
            ClientCapabilities::builder().enable_roots().build()
        } else {
            ClientCapabilities::default()
        };
        ClientConfig::new(capabilities, Implementation::new("test", "1"))
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        let roots = self.roots.iter().flatten().map(Root::new);
        Ok(ListRootsResult::new(roots.collect()))
    }

    async fn on_progress(&self, told: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let at = self.begun.map(|begun| begun.elapsed()).unwrap_or_default();
        self.progress.lock().unwrap().push((at, told));
    }
}

/// `subagent mcp` in the place of a test, and its client.
pub(crate) struct Served<'a> {
    place: &'a Place,
    child: Child,
    pub(crate) client: RunningService<RoleClient, Client>,
}

/// Serves the agents of `config` to a client without roots.
pub(crate) async fn serve<'a>(place: &'a Place, config: &str) -> Served<'a> {
    serve_to(
        place,
        config,
        Client::default(),
        ClientLifecycleMode::Initialize,
        &[],
    )
    .await
}

/// Serves the agents of `config`, a configuration file, with more arguments, to this client.
pub(crate) async fn serve_to<'a>(
    place: &'a Place,
    config: &str,
    mut client: Client,
    lifecycle: ClientLifecycleMode,
    args: &[&str],
) -> Served<'a> {
    place.write("work/subagents.yml", config);
    let mut command = place.command([&["mcp"], args].concat());
    command.stdin(Stdio::piped()).stderr(Stdio::inherit());
    let mut child = tokio::process::Command::from(command).spawn().unwrap();
    let streams = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
    client.begun = Some(Instant::now());
    let begun = serve_client_with_lifecycle(client, streams, lifecycle);
    let client = timeout(SOON, begun)
        .await
        .expect("the session has begun")
        .unwrap();
    Served { place, child, client }
}

/// The entry of a tool that delegates to the provider `name` and has its name.
pub(crate) fn tool_entry(name: &str) -> String {
    format!("- id: tool-{name}\n  name: tool-subagent\n  config: {{ provider: {name}, toolName: {name} }}\n")
}

/// The arguments of a delegating tool.
pub(crate) fn task(prompt: &str) -> Value {
    json!({"description": "test task", "prompt": prompt})
}

/// The same for a task in the background.
pub(crate) fn background(prompt: &str) -> Value {
    json!({"description": "test task", "prompt": prompt, "run_in_background": true})
}

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        other => panic!("no arguments: {other}"),
    }
}

impl Served<'_> {
    /// Calls a tool and waits for the answer.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> CallToolResult {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(object(arguments));
        let called = timeout(SOON, self.client.call_tool(params)).await;
        called
            .unwrap_or_else(|_| panic!("{tool} has not answered"))
            .unwrap()
    }

    /// Calls a tool and does not wait.
    pub(crate) async fn begin(&self, tool: &str, arguments: Value) -> RequestHandle<RoleClient> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(object(arguments));
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        self.client
            .send_cancellable_request(request, PeerRequestOptions::no_options())
            .await
            .unwrap()
    }

    /// Sends the command a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        kill(self.child.id().unwrap(), signal);
    }

    /// Closes the client's side, as a client does that is done.
    pub(crate) async fn close(self) -> (i32, Duration) {
        let Self { place, child, client } = self;
        let begun = Instant::now();
        client.cancel().await.unwrap();
        ended(place, child, begun).await
    }

    /// Waits for the end of the command by itself, while the client still holds its side: exit code and time.
    pub(crate) async fn ended(self) -> (i32, Duration) {
        let Self { place, child, client } = self;
        let ended = ended(place, child, Instant::now()).await;
        drop(client);
        ended
    }
}

/// Waits for the end of the command, and fails unless nothing is left then.
async fn ended(place: &Place, mut child: Child, begun: Instant) -> (i32, Duration) {
    let status = timeout(SOON, child.wait())
        .await
        .expect("the command has ended")
        .unwrap();
    let time = begun.elapsed();
    place.assert_nothing_left();
    (status.code().unwrap_or_else(|| panic!("{status}")), time)
}

/// The text of a result, and whether it is an error.
pub(crate) fn seen(result: &CallToolResult) -> (String, bool) {
    let text = match &*result.content {
        [only] => only.as_text().expect("a text").text.clone(),
        other => panic!("not one text: {other:?}"),
    };
    let is_error = result.is_error.expect("it says whether it is an error");
    assert_eq!(is_error, result.structured_content.is_none(), "{result:?}");
    (text, is_error)
}

/// The answer to a call that was begun.
pub(crate) async fn answer(handle: RequestHandle<RoleClient>) -> Result<CallToolResult, ServiceError> {
    let answered = timeout(SOON, handle.await_response()).await.expect("an answer");
    match answered? {
        ServerResult::CallToolResult(result) => Ok(result),
        other => panic!("{other:?}"),
    }
}
