//! The whole way, from the text of a configuration file to what a parent model reads: loader, registry, real provider,
//! real child; each provider by itself, and both side by side.

use jsonrpc_fake_runtime::acp::AcpSteps as _;
use jsonrpc_fake_runtime::dsh_sdk::DshSdkSteps as _;
use jsonrpc_fake_runtime::{Prepared, Script};
use serde_json::json;
use subagent_config::Deployment;
use subagent_seam::Parent;
use subagent_tool::{Call, Context, Outcome};

use crate::pinned::deployed::{deployed, entry, tool};
use crate::support::fake_program;

/// The command line of a fake.
fn command(prepared: &Prepared) -> Vec<String> {
    let words = std::iter::once(fake_program().into()).chain(prepared.args());
    words.map(|word| word.into_string().unwrap()).collect()
}

/// What a model reads that calls the tool of that name.
async fn called(deployment: &Deployment, name: &str, prompt: &str, cwd: &Prepared) -> Outcome {
    let parent = Parent {
        session_id: "parent".to_owned(),
        cwd: Some(cwd.dir().to_owned()),
        depth: 0,
    };
    let context = Context {
        parent,
        ..Context::default()
    };
    tool(deployment, name)
        .call(Call::new("test task", prompt), context)
        .await
}

fn acp(what: &str) -> Script {
    Script::acp()
        .prompted()
        .chunk(&format!("{what}: "))
        .chunk("{prompt}")
        .end_turn()
}

fn dsh_sdk(what: &str) -> Script {
    Script::dsh_sdk().answered(&format!("{what}: {{prompt}}"))
}

/// Lines of a tool's entry.
fn tool_entry(id: &str, provider: &str) -> String {
    format!("- id: {id}\n  name: tool-subagent\n  config: {{ provider: {provider}, toolName: {id} }}\n")
}

#[tokio::test]
async fn a_file_with_one_acp_provider_answers_through_its_default_tool() {
    let prepared = Prepared::in_temp_dir(&acp("the agent")).unwrap();
    let deployment = deployed(
        prepared.dir(),
        &entry(
            "subagent-acp",
            &command(&prepared),
            &[("permission", json!("decline"))],
        ),
    );
    assert_eq!(deployment.registry().names(), ["acp"]);
    let outcome = called(&deployment, "subagent", "count the files", &prepared).await;
    assert_eq!(outcome.text, "the agent: count the files");
    assert_eq!(
        prepared.recording().methods().unwrap(),
        ["initialize", "session/new", "session/prompt"]
    );
}

#[tokio::test]
async fn a_file_with_one_dsh_sdk_provider_answers_through_its_default_tool() {
    let prepared = Prepared::in_temp_dir(&dsh_sdk("the runtime")).unwrap();
    let keys = [("model", json!("a-model")), ("maxTokens", json!(77))];
    let file = entry("'@deepseek/dsh-subagent-dsh-sdk'", &command(&prepared), &keys);
    let deployment = deployed(prepared.dir(), &file);
    assert_eq!(deployment.registry().names(), ["dsh-sdk"]);
    let outcome = called(&deployment, "subagent", "count the files", &prepared).await;
    assert_eq!(outcome.text, "the runtime: count the files");
    let recording = prepared.recording();
    assert_eq!(
        recording.methods().unwrap(),
        ["initialize", "session/prompt", "shutdown"]
    );
    let handshake = recording.frames().unwrap()[0].to_string();
    assert!(
        handshake.contains("\"a-model\"") && handshake.contains("77"),
        "{handshake}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn both_providers_of_a_file_answer_side_by_side_each_with_its_own_child() {
    // Each waits for the other one, so both are running at the same time.
    let place = tempfile::tempdir().unwrap();
    let meeting = |mine: &str, theirs: &str, script: Script| {
        let path = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
        script.touch(path(mine)).wait_for_file(path(theirs))
    };
    let agent = meeting("agent", "runtime", Script::acp().prompted());
    let agent = Prepared::in_temp_dir(&agent.chunk("the agent: {prompt}").end_turn()).unwrap();
    let runtime = meeting("runtime", "agent", Script::dsh_sdk().accepted());
    let runtime = runtime.message("the runtime: {prompt}").completed().shutdown();
    let runtime = Prepared::in_temp_dir(&runtime).unwrap();
    let file = [
        entry("subagent-acp", &command(&agent), &[]),
        entry("subagent-dsh-sdk", &command(&runtime), &[]),
        tool_entry("ask_agent", "acp"),
        tool_entry("ask_runtime", "dsh-sdk"),
    ];
    let deployment = deployed(place.path(), &file.concat());
    assert_eq!(deployment.registry().names(), ["acp", "dsh-sdk"]);
    let (first, second) = tokio::join!(
        called(&deployment, "ask_agent", "one", &agent),
        called(&deployment, "ask_runtime", "two", &runtime)
    );
    assert_eq!([first.text, second.text], ["the agent: one", "the runtime: two"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn both_providers_of_a_file_fail_side_by_side_each_with_its_own_words() {
    let agent = Prepared::in_temp_dir(&Script::acp().prompted().chunk("half").exit(7)).unwrap();
    let runtime = Prepared::in_temp_dir(&Script::dsh_sdk().accepted().delta("half").exit(7)).unwrap();
    let file = [
        entry("subagent-acp", &command(&agent), &[]),
        entry("subagent-dsh-sdk", &command(&runtime), &[]),
        tool_entry("ask_agent", "acp"),
        tool_entry("ask_runtime", "dsh-sdk"),
    ];
    let deployment = deployed(agent.dir(), &file.concat());
    let (first, second) = tokio::join!(
        called(&deployment, "ask_agent", "one", &agent),
        called(&deployment, "ask_runtime", "two", &runtime)
    );
    assert_eq!(
        first.text,
        "Error: subagent run failed\nDiagnostic: Subagent failure (provider: ACP; stage: process; \
         category: process-exit; exit code: 7)\nPartial output before the run ended:\nhalf"
    );
    assert_eq!(
        second.text,
        "Error: subagent run failed\nDiagnostic: Subagent failure (provider: DSH SDK; stage: session-run; \
         category: transport)\nPartial output before the run ended:\nhalf"
    );
}
