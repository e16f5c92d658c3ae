//! What of a child and of the host a client of the tools over MCP can see: nothing. A canary stands in everything that a
//! child of either kind controls, at every stage, and another one in what the host knows; neither may come through, in
//! whatever way the client looks.

use std::fs;

use jsonrpc_fake_runtime::{Protocol, Script, Step, scenarios};
use rmcp::service::ClientLifecycleMode;
use serde_json::{Value, json};

use crate::command_support::Place;
use crate::mcp_support::{Client, answer, seen, serve_to, tool_entry};

/// In everything that a child controls.
const CHILD: &str = "ChildCanary-93ab";
/// In what the host knows and a client need not: the environment, the directory, the arguments.
const HOST: &str = "HostCanary_5d1c";

/// Short enough that a child that falls silent is not waited for long.
const DEADLINES: &str = "    startupTimeoutMs: 3000\n    idleTimeoutMs: 1000\n";

fn arguments(background: bool) -> Value {
    json!({"description": "where", "prompt": "where?", "run_in_background": background})
}

/// The entries of every scenario of a protocol that holds a canary, and their names.
fn entries(place: &Place, protocol: Protocol, kind: &str) -> (String, Vec<String>) {
    let (mut config, mut names) = (String::new(), Vec::new());
    for (name, script) in scripts(protocol) {
        let name = name.as_str();
        let mut words = place.fake(name, &script.var("canary", CHILD));
        words.extend(["--".to_owned(), HOST.to_owned()]);
        let keys = format!("{DEADLINES}    env: {{ {HOST}: {HOST} }}\n");
        config +=
            &Place::entry_of(name, &words, &keys).replace("name: subagent-acp\n", &format!("name: {kind}\n"));
        config += &tool_entry(name);
        names.push(name.to_owned());
    }
    (config, names)
}

/// Every scenario that holds a canary, and for each child that dies one that falls silent instead.
fn scripts(protocol: Protocol) -> Vec<(String, Script)> {
    let mut scripts = Vec::new();
    for scenario in scenarios(protocol) {
        let (name, script) = (scenario.name().to_owned(), scenario.script());
        if let (Protocol::DshSdk, Some(stage)) = (protocol, name.strip_prefix("canary-exit-at-")) {
            let mut silent = script.clone();
            assert!(matches!(silent.steps.pop(), Some(Step::Exit { .. })), "{name}");
            scripts.push((format!("canary-silent-at-{stage}"), silent.hang()));
        }
        if name.starts_with("canary-") {
            scripts.push((name, script));
        }
    }
    scripts
}

async fn assert_clean(protocol: Protocol, kind: &str, count: usize) {
    let place = Place::new();
    let root = place.path(HOST);
    fs::create_dir(&root).unwrap();
    let (config, names) = entries(&place, protocol, kind);
    assert_eq!(names.len(), count);
    let client = Client::with_roots([root.as_path()]);
    let told = client.progress.clone();
    let served = serve_to(&place, &config, client, ClientLifecycleMode::Initialize, &[]).await;
    // Few at a time: there may be only so many jobs.
    for (round, names) in names.chunks(8).enumerate() {
        let (mut calls, mut jobs) = (Vec::new(), Vec::new());
        for name in names {
            calls.push((name, served.begin(name, arguments(false)).await));
            jobs.push(served.call(name, arguments(true)).await);
        }
        let mut visible = jobs;
        for (name, call) in calls {
            let result = answer(call).await.unwrap();
            assert_ne!(seen(&result).0, "", "{name}");
            visible.push(result);
        }
        for number in 0..names.len() {
            let job = json!({"job_id": format!("subagent-{}", round * 8 + number + 1), "wait": true});
            visible.push(served.call("job_output", job).await);
        }
        visible.push(served.call("job_list", json!({})).await);
        clean(&serde_json::to_string(&visible).unwrap());
    }
    clean(&serde_json::to_string(&served.client.list_all_tools().await.unwrap()).unwrap());
    served.close().await;
    let told = told.lock().unwrap();
    assert!(!told.is_empty(), "a child that is silent is told of");
    clean(&format!("{told:?}"));
}

/// Nothing is cut off either: a part of a canary would be as bad. The names of the tools hold the word itself.
fn clean(visible: &str) {
    let visible = visible.to_lowercase();
    for canary in [CHILD, HOST] {
        for part in canary.to_lowercase().split(['-', '_']) {
            assert!(!visible.contains(part), "{part:?} in {visible}");
        }
    }
}

mod heavy {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_canary_of_an_acp_agent_or_of_the_host_never_reaches_a_client() {
        // Six stages of dying and of falling silent, four of an error, three ends of a turn, two answers of a start.
        assert_clean(Protocol::Acp, "subagent-acp", 6 + 6 + 4 + 3 + 2).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_canary_of_a_dsh_sdk_runtime_or_of_the_host_never_reaches_a_client() {
        // Seven stages of dying and of falling silent, three of an error, four ends of a turn, a start, a message.
        assert_clean(Protocol::DshSdk, "subagent-dsh-sdk", 7 + 7 + 3 + 4 + 1 + 1).await;
    }
}
