//! What happens before a DSH SDK run is published.

use jsonrpc_fake_runtime::Script;
use jsonrpc_fake_runtime::dsh_sdk::DshSdkSteps as _;
use serde_json::json;
use subagent_seam::{CheckError, Provider as _};

use crate::custody::both_ways;
use crate::dsh_support::FakeRuntime;
use crate::support::{is_alive, note_pid};

both_ways! {
    one thread:
        a_request_that_is_already_cancelled_spawns_nothing,
        a_start_that_is_cancelled_in_its_handshake_leaves_nothing_behind,
        a_run_is_published_only_after_the_handshake,
        a_missing_directory_is_a_matter_of_configuration_and_spawns_nothing,
        a_directory_that_cannot_be_told_is_a_matter_of_configuration,
        a_command_that_cannot_be_spawned_is_a_closed_transport,
        a_refused_handshake_tells_the_host_what_the_parent_never_sees,
        a_check_performs_the_handshake_and_shuts_down,
        an_exit_in_the_handshake_is_a_fact_for_the_host_alone;
}

const ABORTED: &str = "subagent request was aborted before the SDK child started";

fn failure(category: &str) -> String {
    format!("subagent-dsh-sdk: Subagent failure (provider: DSH SDK; stage: initialize; category: {category})")
}

async fn a_request_that_is_already_cancelled_spawns_nothing() {
    let runtime = FakeRuntime::running(&Script::dsh_sdk().step(note_pid())).in_session_at(None);
    let request = runtime.request("do it");
    request.cancel.cancel();
    let error = runtime.provider().start(request).await.unwrap_err();
    assert!(error.is_clean_abort());
    assert_eq!(error.to_string(), ABORTED);
    assert!(!runtime.dir().join("pid").exists());
}

async fn a_start_that_is_cancelled_in_its_handshake_leaves_nothing_behind() {
    let script = Script::dsh_sdk()
        .step(note_pid())
        .expect("initialize")
        .touch("asked");
    let runtime = FakeRuntime::running(&script);
    let request = runtime.request("do it");
    let cancel = request.cancel.clone();
    let provider = runtime.provider();
    let (outcome, ()) = tokio::join!(provider.start(request), async {
        runtime.reached("asked").await;
        cancel.cancel();
    });
    let error = outcome.unwrap_err();
    assert!(error.is_clean_abort());
    assert_eq!(error.to_string(), ABORTED);
    assert!(!is_alive(runtime.pid("pid").await));
    assert!(runtime.host_reports().is_empty());
    assert_eq!(runtime.methods(), ["initialize"]);
}

async fn a_run_is_published_only_after_the_handshake() {
    let info = json!({"serverInfo": {"name": "n", "version": "1"}});
    let script = Script::dsh_sdk()
        .expect("initialize")
        .touch("asked")
        .wait_for_file("go")
        .respond(info)
        .prompt()
        .mark()
        .receipt()
        .message("hello")
        .completed();
    let runtime = FakeRuntime::running(&script).impatient();
    let provider = runtime.provider();
    let mut start = provider.start(runtime.request("do it"));
    tokio::select! {
        _ = &mut start => panic!("a run was published in the middle of its handshake"),
        () = runtime.reached("asked") => {}
    }
    runtime.go("go");
    let run = start.await.unwrap();
    run.result().await;
    let session = runtime.recording().frames().unwrap()[1]
        .pointer("/params/sessionId")
        .unwrap()
        .to_string();
    assert!(!session.contains(&run.id().to_string()));
    run.dispose().await.unwrap();
}

async fn a_missing_directory_is_a_matter_of_configuration_and_spawns_nothing() {
    let nowhere = "/nonexistent-directory-of-a-test";
    for cwd in [None, Some("relative".into()), Some(nowhere.into())] {
        let runtime = FakeRuntime::running(&Script::dsh_sdk().step(note_pid())).in_session_at(cwd.clone());
        let outcome = runtime.delegate("do it").await;
        assert_eq!(
            outcome.text,
            format!("Error: {}", failure("configuration")),
            "{cwd:?}"
        );
        let reports = runtime.host_reports();
        assert_eq!(reports.len(), 1, "{reports:?}");
        assert!(reports[0].starts_with("initialize: the run has no usable working directory: "));
        assert!(!runtime.dir().join("pid").exists());
    }
}

#[cfg(unix)]
async fn a_directory_that_cannot_be_told_is_a_matter_of_configuration() {
    use std::os::unix::ffi::OsStrExt as _;
    let runtime = FakeRuntime::running(&Script::dsh_sdk());
    let dir = runtime.dir().join(std::ffi::OsStr::from_bytes(b"not-utf8-\xff"));
    std::fs::create_dir(&dir).unwrap();
    let error = runtime.in_session_at(Some(dir)).start("do it").await.unwrap_err();
    assert_eq!(error.to_string(), failure("configuration"));
}

async fn a_command_that_cannot_be_spawned_is_a_closed_transport() {
    let runtime = FakeRuntime::running(&Script::dsh_sdk());
    for command in ["no-such-command-anywhere", "/etc/passwd"] {
        let runtime = FakeRuntime::running(&Script::dsh_sdk()).with(|config| config.command = command.into());
        let outcome = runtime.delegate("do it").await;
        assert_eq!(
            outcome.text,
            format!("Error: {}", failure("transport")),
            "{command}"
        );
        assert!(outcome.start_error.is_some());
        let reports = runtime.host_reports();
        assert_eq!(reports.len(), 1, "{reports:?}");
        assert!(
            reports[0].contains("the runtime could not be started"),
            "{reports:?}"
        );
    }
    drop(runtime);
}

async fn a_refused_handshake_tells_the_host_what_the_parent_never_sees() {
    let runtime = FakeRuntime::scenario("auth-required");
    let request = runtime.request("unused");
    let error = runtime.provider().check(request).await.unwrap_err();
    assert!(matches!(error, CheckError::Start(_)));
    assert_eq!(error.to_string(), failure("protocol"));
    assert_eq!(
        runtime.host_reports(),
        [
            "initialize: initialize was refused: the peer answered with error -32000: not ready: the credential \
             fake-credential-4711 has expired"
        ]
    );
}

async fn a_check_performs_the_handshake_and_shuts_down() {
    let runtime = FakeRuntime::running(&Script::dsh_sdk().step(note_pid()).initialize().shutdown());
    runtime.provider().check(runtime.request("unused")).await.unwrap();
    assert_eq!(runtime.methods(), ["initialize", "shutdown"]);
    assert!(!is_alive(runtime.pid("pid").await));
}

async fn an_exit_in_the_handshake_is_a_fact_for_the_host_alone() {
    let script = Script::dsh_sdk()
        .expect("initialize")
        .stderr("why: no licence")
        .exit(7);
    let runtime = FakeRuntime::running(&script);
    let error = runtime.start("do it").await.unwrap_err();
    assert_eq!(error.to_string(), failure("transport"));
    assert_eq!(
        runtime.host_reports(),
        [
            "initialize: the runtime cannot be talked to: exit code 7: the connection is closed\nstderr: why: no licence"
        ]
    );
}
