//! How deep delegation goes: what a child is told, and what a command refuses that runs too deep.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use jsonrpc_fake_runtime::Script;
use jsonrpc_fake_runtime::acp::AcpSteps as _;
use jsonrpc_fake_runtime::dsh_sdk::DshSdkSteps as _;

use crate::command_support::{Place, command_line, program};

/// An executable that does `first` in a shell and is then the fake that runs `script`.
pub(crate) fn agent_after(place: &Place, name: &str, first: &str, script: &Script) -> String {
    let fake = command_line(&place.fake(&format!("{name}-fake"), script));
    let agent = place.write(name, format!("#!/bin/sh\n{first}\nexec {fake}\n"));
    fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).unwrap();
    agent.to_str().unwrap().to_owned()
}

fn answering() -> Script {
    Script::acp().prompted().chunk("done").end_turn()
}

#[test]
fn an_agent_that_delegates_to_itself_is_stopped_at_the_limit() {
    for (more, limit) in [("", 3), ("--max-depth 2", 2), ("--max-depth 4", 4)] {
        let place = Place::new();
        // Each agent delegates further in its own right, and notes what came of it under its own depth.
        let first = format!(
            "{} run --acp \"$0\" {more} deeper >out.$SUBAGENT_DEPTH 2>err.$SUBAGENT_DEPTH </dev/null\n\
             echo $? >code.$SUBAGENT_DEPTH",
            program().display()
        );
        let agent = agent_after(&place, "agent", &first, &answering());
        let more: Vec<_> = more.split_whitespace().collect();
        let run = place.run([&["run", "--acp", &agent], &more[..], &["start"]].concat());
        assert_eq!(run.seen(), (0, "done\n", ""));

        let read = |name: &str, depth: u32| fs::read_to_string(place.work().join(format!("{name}.{depth}")));
        let came_of = |depth| ["code", "out", "err"].map(|name| read(name, depth).unwrap());
        for depth in 1..limit {
            assert_eq!(came_of(depth), ["0\n", "done\n", ""], "at depth {depth}");
        }
        let refused = format!("error: delegation depth {limit} is the limit\n");
        assert_eq!(came_of(limit), ["2\n", "", &refused]);
        let deeper = read("code", limit + 1);
        assert!(
            deeper.is_err(),
            "an agent was started beyond the limit: {deeper:?}"
        );
    }
}

#[test]
fn every_command_that_starts_agents_refuses_before_it_starts_one() {
    let place = Place::new();
    let script = Script::acp().touch("started").prompted().end_turn();
    let agent = place.agent(&script);
    let list = place.write("prompts.txt", "one\n");
    let list = list.to_str().unwrap();
    place.write("work/subagents.yml", place.entry("agent", &script, ""));
    for args in [
        &["run", "--acp", &agent, "p"][..],
        &["run", "--acp", &agent, "--format", "json", "--background", "p"],
        &["run", "--acp", &agent, "--jobs", "2", list],
        &["run", "p"],
        &["run", "--demo", "p"],
        &["check"],
    ] {
        for depth in ["3", "4", "4294967295"] {
            let run = place.finish(place.command(args).env("SUBAGENT_DEPTH", depth));
            assert_eq!(
                run.seen(),
                (2, "", "error: delegation depth 3 is the limit\n"),
                "{args:?}"
            );
        }
        assert!(!place.work().join("started").exists(), "{args:?} has started one");
    }
    let run = place.finish(place.command(["run", "p"]).env("SUBAGENT_DEPTH", "2"));
    assert_eq!(run.code(), 0, "one less is not too deep: {run:?}");
    assert!(place.work().join("started").exists());
}

#[test]
fn a_depth_that_is_no_number_is_refused_before_anything_starts() {
    let place = Place::new();
    let agent = place.agent(&Script::acp().touch("started").prompted().end_turn());
    for depth in ["", "two", "-1", "1.0"] {
        let mut command = place.command(["run", "--acp", &agent, "p"]);
        let run = place.finish(command.env("SUBAGENT_DEPTH", depth));
        let told = format!(
            "error: SUBAGENT_DEPTH: \"{depth}\" is no delegation depth, expected a whole number such as 0\n"
        );
        assert_eq!(run.seen(), (2, "", told.as_str()));
    }
    assert!(!place.work().join("started").exists());
}

#[test]
fn what_starts_nothing_does_not_care_how_deep_it_is() {
    let place = Place::new();
    for args in [&["schema"][..], &["completions", "bash"], &["run", "--help"]] {
        let run = place.finish(place.command(args).env("SUBAGENT_DEPTH", "9"));
        assert_eq!(run.code(), 0, "{run:?}");
    }
}

#[test]
fn an_agent_is_told_one_more_and_its_entry_cannot_say_less() {
    let place = Place::new();
    let note = "printf %s \"$SUBAGENT_DEPTH\" >$(basename \"$0\").depth";
    let acp = agent_after(&place, "acp-agent", note, &answering());
    let dsh = agent_after(&place, "dsh-agent", note, &Script::dsh_sdk().answered("done"));
    let entry = |kind: &str, command: &str, env: &str| {
        format!("- name: {kind}\n  config: {{ command: {command}, env: {env} }}\n")
    };
    let tool = |provider: &str| {
        format!(
            "- {{ id: {provider}-tool, name: tool-subagent, config: {{ provider: {provider}, toolName: {provider} }} }}\n"
        )
    };
    for env in ["{}", "{ SUBAGENT_DEPTH: '0' }", "{ SUBAGENT_DEPTH: '-7' }"] {
        place.write(
            "work/subagents.yml",
            entry("subagent-acp", &acp, env)
                + &entry("subagent-dsh-sdk", &dsh, env)
                + &tool("acp")
                + &tool("dsh-sdk"),
        );
        for (own, told) in [(None, "1"), (Some("0"), "1"), (Some("2"), "3")] {
            for (args, agent) in [
                (&["run", "--tool", "acp", "p"][..], "acp-agent"),
                (&["run", "--tool", "dsh-sdk", "p"], "dsh-agent"),
                (&["check"], "acp-agent"),
            ] {
                let mut command = place.command(args);
                if let Some(own) = own {
                    command.env("SUBAGENT_DEPTH", own);
                }
                let run = place.finish(&mut command);
                assert_eq!(run.code(), 0, "{run:?}");
                let noted = place.work().join(format!("{agent}.depth"));
                assert_eq!(fs::read_to_string(&noted).unwrap(), told, "{args:?} at {own:?}");
                fs::remove_file(noted).unwrap();
            }
        }
    }
}
