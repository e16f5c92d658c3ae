//! The command with a DSH SDK runtime: from its command line, and checked from a file.

use jsonrpc_fake_runtime::dsh_sdk::DshSdkSteps as _;
use jsonrpc_fake_runtime::{Protocol, Script, scenarios};
use serde_json::json;

use crate::command_support::Place;

fn scenario(name: &str) -> Script {
    let all = scenarios(Protocol::DshSdk);
    let found = all.iter().find(|scenario| scenario.name() == name);
    found.unwrap_or_else(|| panic!("no scenario {name}")).script()
}

fn entry(words: &[String]) -> String {
    format!(
        "- name: subagent-dsh-sdk\n  config: {{ command: {}, args: {} }}\n",
        words[0],
        serde_json::to_string(&words[1..]).unwrap()
    )
}

#[test]
fn a_runtime_of_the_command_line_answers() {
    let place = Place::new();
    let runtime = place.agent(&scenario("echo"));
    let run = place.run(["run", "--dsh-sdk", &runtime, "say it again"]);
    assert_eq!(run.seen(), (0, "say it again\n", ""));
}

#[test]
fn its_object_names_the_provider() {
    let place = Place::new();
    let runtime = place.agent(&Script::dsh_sdk().answered("hello"));
    let run = place.run(["run", "--dsh-sdk", &runtime, "--format", "json", "p"]);
    assert_eq!((run.code(), run.stderr.as_str()), (0, ""));
    assert_eq!(
        run.redacted_json(),
        r#"{"tool":"subagent","provider":"dsh-sdk","runId":"[id]","stopReason":"completed","isError":false,"#
            .to_owned()
            + r#""output":[{"type":"text","text":"hello"}],"diagnostic":null,"text":"hello","#
            + r#""timingsMs":{"start":[ms],"run":[ms],"dispose":[ms]}}"#
    );
}

#[test]
fn a_runtime_that_is_not_there_is_told_in_the_providers_words() {
    let run = Place::new().run(["run", "--dsh-sdk", "no-such-runtime", "p"]);
    assert_eq!((run.code(), run.stdout.as_str()), (1, ""));
    assert!(
        run.stderr
            .starts_with("Error: subagent-dsh-sdk: Subagent failure (provider: DSH SDK; "),
        "{run:?}"
    );
}

#[test]
fn it_excludes_what_belongs_to_another_agent() {
    for (args, named) in [
        (
            &["run", "--dsh-sdk", "r", "--acp", "a", "p"][..],
            "'--dsh-sdk <COMMAND>' cannot be used with '--acp <COMMAND>'",
        ),
        (
            &["run", "--dsh-sdk", "r", "--demo", "p"],
            "'--dsh-sdk <COMMAND>' cannot be used with '--demo'",
        ),
        (
            &["run", "--dsh-sdk", "r", "--config", "f", "p"],
            "'--dsh-sdk <COMMAND>' cannot be used with '--config <FILE>'",
        ),
        (
            &["run", "--dsh-sdk", "r", "--permission", "allow", "p"],
            "'--dsh-sdk <COMMAND>' cannot be used with '--permission <POLICY>'",
        ),
    ] {
        let run = Place::new().run(args);
        assert_eq!((run.code(), run.stdout.as_str()), (2, ""), "{run:?}");
        assert!(run.stderr.contains(named), "{run:?}");
    }
}

#[test]
fn a_command_line_that_names_nothing_is_refused() {
    for (line, told) in [
        (
            "",
            "error: --dsh-sdk: expected a command, for example 'my-runtime --stdio'\n",
        ),
        ("r 'open", "error: --dsh-sdk \"r 'open\": missing closing quote\n"),
    ] {
        let run = Place::new().run(["run", "--dsh-sdk", line, "p"]);
        assert_eq!(run.seen(), (2, "", told));
    }
}

#[test]
fn a_runtime_of_a_file_is_checked_without_a_task() {
    let place = Place::new();
    let words = place.fake("agent", &Script::dsh_sdk().answered("hello"));
    place.write("work/subagents.yml", entry(&words));
    let check = place.run(["check", "--format", "json"]);
    assert_eq!((check.code(), check.stderr.as_str()), (0, ""));
    let report = check.json();
    assert_eq!(report["ok"], true);
    assert_eq!(report["providers"][0]["provider"], "dsh-sdk");
    let methods = place.recording("agent").methods().unwrap();
    assert_eq!(methods.first().map(String::as_str), Some("initialize"));
    assert!(
        methods.iter().all(|method| !method.contains("prompt")),
        "a check gave a task: {methods:?}"
    );
}

#[test]
fn a_check_shows_why_a_runtime_does_not_start() {
    let place = Place::new();
    let script = Script::new()
        .stderr("no licence\n")
        .expect("initialize")
        .respond_error(-32000, "log in first");
    place.write("work/subagents.yml", entry(&place.fake("agent", &script)));
    let check = place.run(["check", "--format", "json"]);
    assert_eq!((check.code(), check.stderr.as_str()), (1, ""));
    let provider = &check.json()["providers"][0];
    assert_eq!(
        (&provider["provider"], &provider["ok"]),
        (&json!("dsh-sdk"), &json!(false))
    );
    let causes = provider["causes"].to_string();
    assert!(causes.contains("log in first"), "{provider}");
    assert_eq!(provider["stderr"], "no licence\n");
}
