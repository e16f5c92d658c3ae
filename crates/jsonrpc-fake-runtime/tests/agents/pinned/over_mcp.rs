//! Plays a row over the Model Context Protocol: a client, the server of the row's own deployment, the real provider, a real
//! child. Owns that comparison: what a client is given is word for word what is pinned for the tool itself.

use std::collections::BTreeMap;
use std::sync::Arc;

use rmcp::model::{CallToolRequestParams, CallToolResult};
use rmcp::service::{RoleClient, RunningService};
use rmcp::{ServiceExt as _, model::JsonObject};
use serde_json::{Value, json};
use subagent_mcp::{Server, ServerOptions};
use subagent_seam::StopReason;
use tokio::io::{duplex, split};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::play::{BOUND, Scene};
use super::row::{Cancel, Ends, Row};
use super::{AT_ONCE, Table, reference};

impl Table {
    /// Plays every row over the protocol, both ways, and compares it with what is pinned.
    pub(crate) async fn check_over_mcp(self) {
        let pinned = ["foreground", "background"].map(|mode| reference::pinned(self.name, mode));
        let pinned = Arc::new(pinned);
        let turns = Arc::new(Semaphore::new(AT_ONCE));
        let rows: Vec<_> = self
            .sections
            .into_iter()
            .flat_map(|section| section.rows)
            .map(|row| spawned(row, self.kind, &turns, &pinned))
            .collect();
        assert_eq!(rows.len(), pinned[0].len(), "one pinned text for each row");
        let mut failed = Vec::new();
        for (name, row) in rows {
            if row.await.is_err() {
                failed.push(name);
            }
        }
        assert!(failed.is_empty(), "rows that failed, see above: {failed:#?}");
    }
}

type Pinned = Arc<[BTreeMap<String, String>; 2]>;

fn spawned(
    row: Row,
    kind: &'static str,
    turns: &Arc<Semaphore>,
    pinned: &Pinned,
) -> (String, JoinHandle<()>) {
    let (name, turns, pinned) = (row.name.clone(), Arc::clone(turns), Arc::clone(pinned));
    let played = tokio::spawn(async move {
        let _turn = turns.acquire().await.unwrap();
        // A client has no call before it makes one, and of a call that it cancels it is told nothing.
        if row.cancel == Cancel::Never {
            let playing = row.foreground_over_mcp(kind, &pinned[0][&row.name]);
            row.in_time(Box::pin(playing)).await;
        }
        if row.cancel != Cancel::BeforeTheCall {
            let playing = row.background_over_mcp(kind, &pinned[1][&row.name]);
            row.in_time(Box::pin(playing)).await;
        }
    });
    (name, played)
}

impl Row {
    async fn foreground_over_mcp(&self, kind: &str, pinned: &str) {
        let scene = Scene::of(self, kind);
        let client = Client::of(&scene).await;
        let calling = client.call("subagent", self.arguments(false));
        let result = scene.play(calling, || {}).await;
        client.end().await;
        let text = text(&result);
        scene.finish(text).await;
        assert_eq!(text, pinned, "{}", self.name);
        let succeeded = self.ends == Ends::With(StopReason::Completed);
        assert_eq!(result.is_error, Some(!succeeded), "{}", self.name);
        assert_eq!(result.structured_content.is_some(), succeeded, "{}", self.name);
    }

    async fn background_over_mcp(&self, kind: &str, pinned: &str) {
        let scene = Scene::of(self, kind);
        let client = Client::of(&scene).await;
        let started = client.call("subagent", self.arguments(true)).await;
        assert_eq!(text(&started), "started background subagent job subagent-1");
        let wait = u64::try_from(BOUND.as_millis()).unwrap();
        let reading = json!({"job_id": "subagent-1", "wait": true, "timeout_ms": wait});
        let peer = client.service.peer().clone();
        let kill = || {
            let kill = CallToolRequestParams::new("job_kill")
                .with_arguments(object(json!({"job_id": "subagent-1"})));
            drop(tokio::spawn(async move { peer.call_tool(kill).await }));
        };
        let result = scene.play(client.call("job_output", reading), kill).await;
        client.end().await;
        let text = text(&result);
        scene.finish(text).await;
        assert_eq!(text, pinned, "{}", self.name);
        assert_eq!(result.is_error, Some(false), "{}", self.name);
        let data = result.structured_content.as_ref().unwrap();
        assert_eq!(data["text"], pinned, "{}", self.name);
    }

    fn arguments(&self, background: bool) -> Value {
        json!({"description": "test task", "prompt": self.prompt, "run_in_background": background})
    }
}

/// A client of the server of one scene.
struct Client {
    service: RunningService<RoleClient, ()>,
    serving: JoinHandle<()>,
}

impl Client {
    async fn of(scene: &Scene<'_>) -> Self {
        let mut options = ServerOptions::default();
        options.cwd = scene.cwd();
        let server = Server::of(scene.deployment(), options).unwrap();
        let (near, far) = duplex(1 << 16);
        let (reader, writer) = split(far);
        let serving = tokio::spawn(async move {
            let ended = server.serve(reader, writer, CancellationToken::new()).await;
            server.shutdown().await;
            ended.unwrap();
        });
        let service = ().serve(near).await.unwrap();
        Self { service, serving }
    }

    async fn call(&self, tool: &'static str, arguments: Value) -> CallToolResult {
        let params = CallToolRequestParams::new(tool).with_arguments(object(arguments));
        self.service.call_tool(params).await.unwrap()
    }

    /// Goes away, as a client does that is done, and waits for the end of the server.
    async fn end(self) {
        self.service.cancel().await.unwrap();
        self.serving.await.unwrap();
    }
}

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        other => panic!("no arguments: {other}"),
    }
}

fn text(result: &CallToolResult) -> &str {
    match &*result.content {
        [only] => &only.as_text().expect("a text").text,
        other => panic!("not one text: {other:?}"),
    }
}
