//! The session of a connection over MCP: its directory, its jobs, its depth.

use std::fs;
use std::os::unix::fs::symlink;

use jsonrpc_fake_runtime::Script;
use jsonrpc_fake_runtime::acp::AcpSteps as _;
use rmcp::service::ClientLifecycleMode;
use serde_json::json;

use crate::command_support::Place;
use crate::mcp_support::{Client, background, seen, serve, serve_to};

fn echo_cwd() -> Script {
    Script::acp()
        .prompted()
        .chunk("{session/new#/params/cwd}")
        .end_turn()
}

fn in_directory(cwd: &str) -> serde_json::Value {
    json!({"description": "where", "prompt": "where?", "cwd": cwd})
}

fn anywhere() -> serde_json::Value {
    json!({"description": "where", "prompt": "where?"})
}

#[tokio::test]
async fn the_session_lives_in_the_first_root_else_where_it_is_told_else_where_it_was_started() {
    let place = Place::new();
    let config = place.entry("agent", &echo_cwd(), "");
    for name in ["work/given", "root", "second"] {
        fs::create_dir(place.path(name)).unwrap();
    }
    let (root, second) = (place.path("root"), place.path("second"));
    let roots = || Client::with_roots([root.as_path(), second.as_path()]);
    for (client, args, expected) in [
        (Client::default(), &[][..], place.work()),
        (
            Client::default(),
            &["--cwd", "given"][..],
            place.path("work/given"),
        ),
        (roots(), &["--cwd", "given"][..], root.clone()),
        (
            Client::with_roots([]),
            &["--cwd", "given"][..],
            place.path("work/given"),
        ),
    ] {
        let served = serve_to(&place, &config, client, ClientLifecycleMode::Initialize, args).await;
        let answered = served.call("subagent", anywhere()).await;
        assert_eq!(seen(&answered), (expected.display().to_string(), false));
        served.close().await;
    }
}

#[tokio::test]
async fn a_call_works_in_a_directory_inside_the_sessions_and_in_no_other() {
    let place = Place::new();
    fs::create_dir_all(place.path("root/inside")).unwrap();
    fs::create_dir(place.path("other")).unwrap();
    let root = place.path("root").canonicalize().unwrap();
    symlink(place.path("other"), root.join("out")).unwrap();
    symlink("inside", root.join("in")).unwrap();
    let config = place.entry("agent", &echo_cwd(), "");
    let client = Client::with_roots([root.as_path()]);
    let served = serve_to(&place, &config, client, ClientLifecycleMode::Initialize, &[]).await;
    let inside = root.join("inside").display().to_string();
    for asked in ["inside", "in", &inside] {
        let answered = served.call("subagent", in_directory(asked)).await;
        assert_eq!(seen(&answered), (inside.clone(), false), "{asked}");
    }
    for asked in ["..", "out", "/", &place.work().display().to_string()] {
        let answered = served.call("subagent", in_directory(asked)).await;
        let text = "Error: argument cwd lies outside of the session's working directory, expected a directory inside it";
        assert_eq!(seen(&answered), (text.to_owned(), true), "{asked}");
    }
    let answered = served.call("subagent", in_directory("missing")).await;
    let text =
        "Error: argument cwd does not name a directory, expected one inside the session's working directory";
    assert_eq!(seen(&answered), (text.to_owned(), true));
    served.close().await;
}

#[tokio::test]
async fn a_session_without_a_usable_directory_is_the_providers_finding() {
    let place = Place::new();
    let gone = place.path("gone");
    let config = place.entry("agent", &echo_cwd(), "");
    let client = Client::with_roots([gone.as_path()]);
    let served = serve_to(&place, &config, client, ClientLifecycleMode::Initialize, &[]).await;
    let answered = served.call("subagent", anywhere()).await;
    let text =
        "Error: subagent-acp: Subagent failure (provider: ACP; stage: initialize; category: configuration)";
    assert_eq!(seen(&answered), (text.to_owned(), true));
    served.close().await;
}

#[tokio::test]
async fn a_job_of_another_connection_is_unknown() {
    let (one, two) = (Place::new(), Place::new());
    let hanging = Script::acp().prompted().hang();
    let first = serve(&one, &one.entry("agent", &hanging, "")).await;
    let second = serve(&two, &two.entry("agent", &hanging, "")).await;
    assert!(!seen(&first.call("subagent", background("wait")).await).1);
    let read = second.call("job_output", json!({"job_id": "subagent-1"})).await;
    assert_eq!(seen(&read), ("unknown job subagent-1".to_owned(), true));
    first.close().await;
    second.close().await;
}

#[tokio::test]
async fn at_the_depth_limit_every_delegation_is_refused_and_nothing_is_started() {
    let place = Place::new();
    let config = place.entry("agent", &echo_cwd(), "");
    let lifecycle = ClientLifecycleMode::Initialize;
    let served = serve_to(
        &place,
        &config,
        Client::default(),
        lifecycle,
        &["--max-depth", "0"],
    )
    .await;
    for arguments in [anywhere(), background("where?")] {
        let answered = served.call("subagent", arguments).await;
        assert_eq!(
            seen(&answered),
            ("delegation depth 0 is the limit".to_owned(), true)
        );
    }
    assert_eq!(place.living().len(), 1, "the server alone");
    let (code, _) = served.close().await;
    assert_eq!(code, 0);
}
