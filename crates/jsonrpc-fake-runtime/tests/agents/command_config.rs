//! Configuration files under the command: found, read, refused, and put into effect down to the child.

use std::path::Path;

use jsonrpc_fake_runtime::acp::AcpSteps as _;
use jsonrpc_fake_runtime::{Facts, Script, Step};
use serde_json::json;
use subagent_config::{HostContext, load_file};
use subagent_seam::{HostReporter, Parent};
use subagent_tool::{Call, Context, SubagentTool, ToolOptions};

use crate::command_support::Place;

fn says(answer: &str) -> Script {
    Script::acp().prompted().chunk(answer).end_turn()
}

fn fixture(name: &str) -> String {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/configs");
    std::fs::read_to_string(fixtures.join(name)).unwrap()
}

#[test]
fn the_local_file_wins_over_the_one_of_the_user() {
    let place = Place::new();
    let shared = place.write(
        "config/subagent/subagents.yml",
        place.entry("shared", &says("shared"), ""),
    );
    let run = || {
        place.finish(
            place
                .command(["run", "who?"])
                .env("XDG_CONFIG_HOME", place.path("config")),
        )
    };
    assert_eq!(run().seen(), (0, "shared\n", ""));
    place.write("work/subagents.yml", place.entry("local", &says("local"), ""));
    assert_eq!(run().seen(), (0, "local\n", ""));
    assert_eq!(
        place
            .run(["run", "who?", "--config", shared.to_str().unwrap()])
            .seen(),
        (0, "shared\n", "")
    );
    place.write("work/other.yml", place.entry("other", &says("relative"), ""));
    assert_eq!(
        place.run(["run", "--config", "other.yml", "who?"]).seen(),
        (0, "relative\n", "")
    );
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let run = Place::new().run(["run", "--config", "missing.yml", "p"]);
    assert_eq!(
        run.seen(),
        (
            2,
            "",
            "error: missing.yml: cannot be read: No such file or directory (os error 2)\n"
        )
    );
}

#[test]
fn all_errors_of_a_file_are_told_in_one_go_and_nothing_is_started() {
    let place = Place::new();
    place.write("work/subagents.yml", fixture("broken/unknown-keys.yml"));
    for args in [
        &["run", "p"][..],
        &["run", "--format", "json", "p"],
        &["check"],
        &["check", "--format", "json"],
    ] {
        let run = place.run(args);
        assert_eq!((run.code(), run.stdout.as_str()), (2, ""));
        insta::allow_duplicates! {
            insta::assert_snapshot!("several_errors", run.stderr);
        }
    }
}

#[test]
fn the_tool_is_chosen_among_those_of_the_file() {
    let place = Place::new();
    let file = place.entry("one", &says("first"), "")
        + &place.entry("two", &says("second"), "")
        + "- { id: a, name: tool-subagent, config: { provider: one, toolName: ask } }\n\
           - { id: b, name: tool-subagent, config: { provider: two, toolName: delegate } }\n\
           - { id: c, name: tool-subagent, disabled: true, config: { provider: two, toolName: gone } }\n";
    place.write("work/subagents.yml", file);
    assert_eq!(
        place.run(["run", "p"]).seen(),
        (
            2,
            "",
            "error: --tool is required, the configuration has several tools: ask, delegate\n"
        )
    );
    assert_eq!(
        place.run(["run", "--tool", "gone", "p"]).seen(),
        (
            2,
            "",
            "error: no tool is named gone, the configuration has: ask, delegate\n"
        )
    );
    let run = place.run(["run", "--tool", "delegate", "--format", "json", "p"]);
    let object = run.json();
    assert_eq!(
        (run.code(), &object["tool"], &object["provider"], &object["text"]),
        (0, &json!("delegate"), &json!("two"), &json!("second"))
    );
    assert_eq!(
        place.run(["run", "--tool", "ask", "p"]).seen(),
        (0, "first\n", "")
    );
}

#[test]
fn a_file_without_a_tool_in_use_has_none_to_run() {
    let place = Place::new();
    place.write("work/subagents.yml", fixture("valid/no-tool.yml"));
    assert_eq!(
        place.run(["run", "p"]).seen(),
        (
            2,
            "",
            "error: the configuration has no tool, expected a tool-subagent entry\n"
        )
    );
}

#[test]
fn the_childs_environment_is_the_scrubbed_one_with_the_configured_one_on_top() {
    let place = Place::new();
    let script = Script::acp()
        .step(Step::WriteFacts {
            path: "facts.json".to_owned(),
        })
        .then(|script| script.prompted().chunk("done").end_turn());
    let more = "    env:\n      CREDENTIAL: !env AGENT_API_KEY\n      OLD_STYLE: !!js process.env.AGENT_API_KEY\n      \
                LEFT_OUT: !env NOT_SET_ANYWHERE\n      PLAIN: text\n    isolatedConfigDirs: { AGENT_HOME: fresh }\n";
    place.write("work/subagents.yml", place.entry("agent", &script, more));
    let mut command = place.command(["run", "p"]);
    command
        .env("AGENT_API_KEY", "canary-value")
        .env("DSH_SESSION", "x")
        .env("my_password", "x")
        .env("KEPT", "yes");
    assert_eq!(place.finish(&mut command).seen(), (0, "done\n", ""));
    let env = Facts::read(place.work().join("facts.json")).unwrap().env;
    let value = |name: &str| env.get(name).map(String::as_str);
    assert_eq!(
        ["CREDENTIAL", "OLD_STYLE", "PLAIN", "KEPT"].map(value),
        [
            Some("canary-value"),
            Some("canary-value"),
            Some("text"),
            Some("yes")
        ]
    );
    assert_eq!(
        ["LEFT_OUT", "AGENT_API_KEY", "DSH_SESSION", "my_password"].map(value),
        [None; 4]
    );
    let isolated = Path::new(value("AGENT_HOME").unwrap());
    assert!(
        isolated.starts_with(place.path("tmp")) && !isolated.exists(),
        "{}",
        isolated.display()
    );
}

#[test]
fn a_missing_variable_elsewhere_is_an_error_that_names_it() {
    let place = Place::new();
    place.write(
        "work/subagents.yml",
        "- name: subagent-acp\n  config: { command: !env NO_SUCH_AGENT }\n",
    );
    let run = place.run(["run", "p"]);
    assert_eq!((run.code(), run.stdout.as_str()), (2, ""));
    assert!(run.stderr.starts_with("error: ./subagents.yml:2:"), "{run:?}");
    assert!(run.stderr.contains("NO_SUCH_AGENT"), "{run:?}");
}

#[test]
fn the_timeout_of_the_command_line_wins_over_the_files() {
    let place = Place::new();
    let silent = Script::acp()
        .prompted()
        .expect("session/cancel")
        .stop("cancelled");
    place.write(
        "work/subagents.yml",
        place.entry("agent", &silent, "    runTimeoutMs: 600000\n"),
    );
    let timeout = "Error: subagent run failed\n\
                   Diagnostic: Subagent failure (provider: ACP; stage: prompt; category: timeout)\n";
    assert_eq!(
        place.run(["run", "--timeout", "300ms", "p"]).seen(),
        (1, "", timeout)
    );
    place.write(
        "work/subagents.yml",
        place.entry("agent", &silent, "    runTimeoutMs: 300\n"),
    );
    assert_eq!(place.run(["run", "p"]).seen(), (1, "", timeout));
}

/// What a host in Rust does: the loader's providers in the registry, and a tool over one of them.
#[tokio::test]
async fn a_file_becomes_what_a_model_reads() {
    let place = Place::new();
    let failing = Script::acp().prompted().chunk("partial").exit(3);
    let text = place.entry("works", &says("the answer"), "")
        + &place.entry("fails", &failing, "")
        + "- { id: a, name: tool-subagent, config: { provider: works } }\n\
           - { id: b, name: tool-subagent, config: { provider: fails, toolName: other } }\n";
    let host = HostContext::new(place.work(), |_| None);
    let config = load_file(place.write("work/subagents.yml", text), &host).unwrap();
    let deployment = config.deploy(&HostReporter::default()).unwrap();
    let mut read = Vec::new();
    for entry in deployment.tools() {
        let mut options = ToolOptions::new(&entry.provider);
        options.tool_name.clone_from(&entry.tool_name);
        let tool = SubagentTool::new(deployment.registry().clone(), options).unwrap();
        let parent = Parent {
            cwd: Some(place.work()),
            ..Parent::default()
        };
        let outcome = tool
            .call(
                Call::new("a task", "do it"),
                Context {
                    parent,
                    ..Context::default()
                },
            )
            .await;
        read.push((tool.name().to_owned(), outcome.text));
    }
    let diagnostic = "Subagent failure (provider: ACP; stage: process; category: process-exit; exit code: 3)";
    let failure = format!(
        "Error: subagent run failed\nDiagnostic: {diagnostic}\nPartial output before the run ended:\npartial"
    );
    assert_eq!(
        read,
        [
            ("subagent".to_owned(), "the answer".to_owned()),
            ("other".to_owned(), failure)
        ]
    );
    place.assert_nothing_left();
}
