//! The client alone: how a runtime begins, fails to, is replaced, and ends.

use std::time::Duration;

use jsonrpc_fake_runtime::Script;
use jsonrpc_fake_runtime::dsh_sdk::DshSdkSteps as _;
use serde_json::json;
use subagent_dsh_sdk::ChildEnv;
use subagent_dsh_sdk::client::{ClientError, HarnessClient, HarnessPlan, TransportFailure};

use crate::custody::both_ways;
use crate::dsh_support::FakeRuntime;
use crate::support::{eventually, is_alive, note_pid};

both_ways! {
    one thread:
        a_failed_handshake_reaps_its_process_and_can_be_tried_again,
        a_handshake_without_a_server_is_a_violation_and_reaps_the_process,
        a_runtime_that_has_died_is_replaced_by_the_next_start,
        a_close_gives_up_a_start_that_is_going_on,
        a_close_is_shared_fails_what_is_open_and_shuts_down_first,
        the_last_handle_takes_the_runtime_with_it,
        a_runtime_that_never_started_is_a_closed_transport,
        a_base_environment_of_the_callers_own_is_taken_as_it_is;
}

async fn a_failed_handshake_reaps_its_process_and_can_be_tried_again() {
    // The first process refuses, the second one, which finds the file, does not.
    let script = Script::dsh_sdk()
        .step(note_pid())
        .expect("initialize")
        .respond_error(-32000, "not yet");
    let runtime = FakeRuntime::running(&script);
    let harness = runtime.harness();
    let error = harness.start().await.unwrap_err();
    assert!(matches!(error, ClientError::Response { .. }), "{error:?}");
    let first = runtime.pid("pid").await;
    assert!(!is_alive(first));
    assert!(matches!(
        harness.session().await,
        Err(ClientError::TransportClosed(_))
    ));

    let script = Script::dsh_sdk().answered("hello");
    script.save(&runtime.dir().join("script.json")).unwrap();
    harness.start().await.unwrap();
    let run = harness.session().await.unwrap().run("do it").await.unwrap();
    assert_eq!(run.text(), "hello");
    harness.close().await.unwrap();
    harness.close().await.unwrap();
    assert!(matches!(harness.start().await, Err(ClientError::ClientClosed)));
    assert!(matches!(harness.session().await, Err(ClientError::ClientClosed)));
}

async fn a_handshake_without_a_server_is_a_violation_and_reaps_the_process() {
    let runtime = FakeRuntime::scenario("server-info-name-number");
    let client = runtime.spawned();
    let pid = client.pid();
    let error = client.initialize().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "initialize was answered without the name and the version of a server: \
         {\"serverInfo\":{\"name\":7,\"version\":\"1\"}}"
    );
    assert!(matches!(error, ClientError::ProtocolViolation(_)));
    assert!(!is_alive(pid));
}

async fn a_runtime_that_has_died_is_replaced_by_the_next_start() {
    let runtime = FakeRuntime::running(&Script::dsh_sdk().initialize().exit(3));
    let harness = runtime.harness();
    harness.start().await.unwrap();
    let first = harness.client().await;
    if let Ok(first) = &first {
        eventually("the runtime has ended", || first.ended().is_some()).await;
    }
    Script::dsh_sdk()
        .answered("hello")
        .save(&runtime.dir().join("script.json"))
        .unwrap();
    harness.start().await.unwrap();
    assert_eq!(
        harness
            .session()
            .await
            .unwrap()
            .run("do it")
            .await
            .unwrap()
            .text(),
        "hello"
    );
    harness.close().await.unwrap();
}

async fn a_close_gives_up_a_start_that_is_going_on() {
    let script = Script::dsh_sdk()
        .step(note_pid())
        .expect("initialize")
        .touch("asked");
    let runtime = FakeRuntime::running(&script);
    let harness = runtime.harness();
    let (started, closed) = tokio::join!(harness.start(), async {
        runtime.reached("asked").await;
        harness.close().await
    });
    assert!(matches!(started, Err(ClientError::ClientClosed)));
    closed.unwrap();
    assert!(!is_alive(runtime.pid("pid").await));
    assert_eq!(runtime.methods(), ["initialize"]);
}

async fn a_close_is_shared_fails_what_is_open_and_shuts_down_first() {
    let script = Script::dsh_sdk()
        .step(note_pid())
        .initialize()
        .expect("vendor/ask")
        .touch("asked")
        .shutdown();
    let runtime = FakeRuntime::running(&script);
    let client = runtime.client().await;
    let (asked, first, second) = tokio::join!(
        client.request("vendor/ask", json!({}), Duration::from_mins(10)),
        async {
            runtime.reached("asked").await;
            client.close().await
        },
        async {
            runtime.reached("asked").await;
            client.close().await
        }
    );
    assert!(matches!(asked, Err(ClientError::ClientClosed)), "{asked:?}");
    assert!(first.is_ok() && second.is_ok());
    assert!(!is_alive(runtime.pid("pid").await));
    assert_eq!(runtime.methods(), ["initialize", "vendor/ask", "shutdown"]);
}

async fn the_last_handle_takes_the_runtime_with_it() {
    let runtime = FakeRuntime::running(
        &Script::dsh_sdk()
            .ignore_eof()
            .ignore_sigterm()
            .initialize()
            .hang(),
    );
    let client = runtime.client().await;
    let pid = client.pid();
    drop(client.clone());
    assert!(is_alive(pid));
    drop(client);
    eventually("the runtime is gone", || !is_alive(pid)).await;
}

async fn a_runtime_that_never_started_is_a_closed_transport() {
    let mut config = FakeRuntime::running(&Script::dsh_sdk()).harness_config();
    config.command = "no-such-command-anywhere".into();
    config.cwd = "/".into();
    let error = HarnessClient::spawn(&HarnessPlan::new(config).unwrap()).unwrap_err();
    assert!(
        matches!(error.transport().unwrap().failure, TransportFailure::Launch(_)),
        "{error:?}"
    );
}

async fn a_base_environment_of_the_callers_own_is_taken_as_it_is() {
    let runtime = FakeRuntime::scenario("facts");
    let mut base = ChildEnv::default();
    base.set("MY_TOKEN", "kept");
    let mut config = runtime.harness_config();
    config.base_env = Some(base);
    config.env = [("EXTRA", "set")].into_iter().collect();
    let client = HarnessClient::spawn(&HarnessPlan::new(config).unwrap()).unwrap();
    client.initialize().await.unwrap();
    let facts: serde_json::Value =
        serde_json::from_str(&crate::support::file(&runtime.dir().join("facts.json")).await).unwrap();
    let env = facts["env"].to_string();
    assert!(
        env.contains("MY_TOKEN") && env.contains("EXTRA") && !env.contains("HOME"),
        "{env}"
    );
    client.close().await.unwrap();
}
