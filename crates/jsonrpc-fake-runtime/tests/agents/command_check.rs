//! `subagent check`: what the operator learns about each provider, and that `run` says nothing of it.

use jsonrpc_fake_runtime::Script;
use jsonrpc_fake_runtime::acp::AcpSteps as _;
use serde_json::{Value, json};

use crate::command_process::Finished;
use crate::command_support::Place;

/// Asks for a login, with a secret in its message, noise on stderr, and an attempt to look like something else.
fn wants_a_login() -> Script {
    Script::acp()
        .initialize()
        .expect("session/new")
        .stderr("\u{1b}]0;owned\u{7}please run login\nworks: ok\n")
        .respond_error(
            -32000,
            "Authentication required: token canary-4711\u{1b}[2J\nworks: ok",
        )
}

/// A file with several providers: one that works, one that wants a login, one that is not there and one that dies.
fn several(place: &Place) {
    let mut file = String::new();
    for (id, script) in [
        ("works", Script::acp().ready()),
        ("locked", wants_a_login()),
        ("dies", Script::acp().expect("initialize").exit(9)),
    ] {
        file += &place.entry(id, &script, "");
    }
    file +=
        "- id: missing\n  name: subagent-acp\n  config: { providerName: missing, command: no-such-agent }\n";
    file += "- { id: off, name: subagent-acp, disabled: true, config: { providerName: off, command: x } }\n";
    let tools = ["works", "locked", "dies", "missing"].map(|id| {
        format!("- {{ id: tool-{id}, name: tool-subagent, config: {{ provider: {id}, toolName: {id} }} }}\n")
    });
    file += &tools.concat();
    place.write("work/subagents.yml", file);
}

fn check(args: &[&str]) -> Finished {
    let place = Place::new();
    several(&place);
    let check = place.run([&["check"], args].concat());
    for id in ["works", "locked"] {
        let methods = place.recording(id).methods().unwrap();
        assert_eq!(methods, ["initialize", "session/new"], "{id} was given a task");
    }
    check
}

/// The report with its times replaced.
fn without_times(text: &str) -> String {
    let line = |line: &str| match line.split_once(" (") {
        Some((head, time)) if time.ends_with(" ms)") => format!("{head} ([ms])\n"),
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

#[test]
fn the_operator_sees_every_cause_in_the_order_of_the_file() {
    let check = check(&[]);
    assert_eq!((check.code(), check.stderr.as_str()), (1, ""));
    let failure = "error: subagent-acp: Subagent failure (provider: ACP; stage: ";
    assert_eq!(
        without_times(&check.stdout),
        format!(
            "works: ok ([ms])\n\
             locked: failed ([ms])\n  \
             {failure}new-session; category: transport)\n  \
             cause (new-session): session/new failed: the peer answered with error -32000: \
             Authentication required: token canary-4711\\u001b[2J\\nworks: ok\n  \
             end of the child's stderr:\n    \
             | \\u001b]0;owned\\u0007please run login\n    \
             | works: ok\n\
             dies: failed ([ms])\n  \
             {failure}initialize; category: process-exit; exit code: 9)\n  \
             cause (initialize): the agent ended before it answered initialize: exit code 9\n\
             missing: failed ([ms])\n  \
             {failure}process; category: process-start)\n  \
             cause (process): the agent could not be started: command \"no-such-agent\" is not an \
             executable file in any directory of the child's PATH\n"
        )
    );
}

#[test]
fn the_same_as_an_object() {
    let check = check(&["--format", "json"]);
    assert_eq!((check.code(), check.stderr.as_str()), (1, ""));
    assert!(!check.stdout.trim_end().contains(char::is_control), "{check:?}");
    let mut report = check.json();
    for provider in report["providers"].as_array_mut().unwrap() {
        assert!(provider["timeMs"].take().as_f64().unwrap() >= 0.0);
    }
    assert_eq!(report["ok"], false);
    let names: Vec<_> = report["providers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["provider"].clone())
        .collect();
    assert_eq!(names, ["works", "locked", "dies", "missing"]);
    assert_eq!(
        report["providers"][0],
        json!({"provider": "works", "ok": true, "error": null, "causes": [], "stderr": null, "timeMs": null})
    );
    assert_eq!(
        report["providers"][1],
        json!({
            "provider": "locked",
            "ok": false,
            "error": "subagent-acp: Subagent failure (provider: ACP; stage: new-session; category: transport)",
            "causes": [{
                "stage": "new-session",
                "error": "session/new failed: the peer answered with error -32000: \
                          Authentication required: token canary-4711\u{1b}[2J\nworks: ok",
            }],
            "stderr": "\u{1b}]0;owned\u{7}please run login\nworks: ok\n",
            "timeMs": null,
        })
    );
}

#[test]
fn a_run_of_the_same_provider_says_nothing_of_the_cause() {
    let place = Place::new();
    several(&place);
    let told =
        "Error: subagent-acp: Subagent failure (provider: ACP; stage: new-session; category: transport)";
    assert_eq!(
        place.run(["run", "--tool", "locked", "p"]).seen(),
        (1, "", format!("{told}\n").as_str())
    );
    let run = place.run(["run", "--tool", "locked", "--format", "json", "p"]);
    assert_eq!(
        (run.code(), run.stderr.as_str(), &run.json()["text"]),
        (1, "", &Value::from(told))
    );
    assert!(!run.stdout.contains("canary"), "{run:?}");
}

#[test]
fn a_check_of_what_works_is_a_success() {
    let place = Place::new();
    let entry = place.entry("agent", &Script::acp().stderr("chatter\n").ready(), "");
    let file = place.write("elsewhere/agents.yml", entry);
    let check = place.run(["check", "--config", file.to_str().unwrap()]);
    assert_eq!((check.code(), check.stderr.as_str()), (0, ""));
    assert_eq!(without_times(&check.stdout), "agent: ok ([ms])\n");
}

#[test]
fn a_file_without_providers_has_nothing_to_check() {
    let place = Place::new();
    place.write("work/subagents.yml", "[]\n");
    assert_eq!(
        place.run(["check"]).seen(),
        (0, "no provider is configured\n", "")
    );
}
