//! The command on a system without a thread to spare: what needs none works as ever, what cannot work without says so, and
//! nothing panics. No limit of the system has a part in it: a stack larger than any address space cannot be had either.

use std::process::Command;

use jsonrpc_fake_runtime::Script;
use jsonrpc_fake_runtime::acp::AcpSteps as _;
use serde_json::json;

use crate::command_depth::agent_after;
use crate::command_support::Place;

/// What the system says.
const WHY: &str = "Resource temporarily unavailable (os error 11)";

/// Keeps a command and what it starts from having any thread but the first.
fn without_threads(command: &mut Command) -> &mut Command {
    command.env("RUST_MIN_STACK", (1_u64 << 50).to_string())
}

/// An agent that is spared that.
fn agent(place: &Place, script: &Script) -> String {
    agent_after(place, "agent", "unset RUST_MIN_STACK", script)
}

fn answering() -> Script {
    Script::acp().prompted().chunk("done").end_turn()
}

#[test]
fn a_run_needs_no_thread() {
    let place = Place::new();
    let agent = agent(&place, &answering());
    let run = place.finish(without_threads(&mut place.command(["run", "--acp", &agent, "p"])));
    assert_eq!(run.seen(), (0, "done\n", ""));
    let args = ["run", "--acp", &agent, "--format", "json", "--background", "p"];
    let run = place.finish(without_threads(&mut place.command(args)));
    assert_eq!((run.code(), &run.json()["isError"]), (0, &json!(false)));
}

#[test]
fn a_failure_is_told_without_a_thread() {
    let place = Place::new();
    let agent = agent(&place, &Script::acp().prompted().respond_error(-32603, "no"));
    let run = place.finish(without_threads(&mut place.command(["run", "--acp", &agent, "p"])));
    let text = "Error: subagent run failed\n\
                Diagnostic: Subagent failure (provider: ACP; stage: prompt; category: transport)\n";
    assert_eq!(run.seen(), (1, "", text));
}

#[test]
fn an_agent_that_cannot_start_its_threads_is_a_failed_start() {
    let place = Place::new();
    let run = place.finish(without_threads(&mut place.command(["run", "--demo", "p"])));
    let text = "Error: subagent-acp: Subagent failure (provider: ACP; stage: initialize; category: process-exit; \
                exit code: 1)\n";
    assert_eq!(run.seen(), (1, "", text));
}

#[test]
fn a_private_directory_is_removed_without_a_thread() {
    let place = Place::new();
    let agent = agent(&place, &answering());
    let more = "    isolatedConfigDirs: { AGENT_HOME: fresh }\n";
    place.write(
        "work/subagents.yml",
        Place::entry_of("acp", &[agent, String::new()], more),
    );
    let run = place.finish(without_threads(&mut place.command(["run", "p"])));
    assert_eq!(run.seen(), (0, "done\n", ""));
    let left = std::fs::read_dir(place.path("tmp")).unwrap().count();
    assert_eq!(left, 0);
}

#[test]
fn a_prompt_on_standard_input_needs_a_thread_and_says_so() {
    let place = Place::new();
    let agent = agent(&place, &answering());
    let run = place.finish(without_threads(&mut place.command(["run", "--acp", &agent, "-"])));
    let text = format!("error: the prompt could not be read from stdin: {WHY}\n");
    assert_eq!(run.seen(), (1, "", text.as_str()));
    let args = ["run", "--acp", &agent, "--jobs", "2"];
    let run = place.finish(without_threads(&mut place.command(args)));
    let text = format!("error: the prompts cannot be read, no thread could be started: {WHY}\n");
    assert_eq!(run.seen(), (1, "", text.as_str()));
}

#[test]
fn a_server_needs_threads_and_says_so() {
    let place = Place::new();
    let agent = agent(&place, &answering());
    place.write("work/subagents.yml", Place::entry_of("acp", &[agent], ""));
    let run = place.finish(without_threads(&mut place.command(["mcp"])));
    let text = format!("error: the threads for stdin and stdout could not be started: {WHY}\n");
    assert_eq!(run.seen(), (1, "", text.as_str()));
}

#[test]
fn a_check_needs_no_thread() {
    let place = Place::new();
    let agent = agent(&place, &answering());
    place.write("work/subagents.yml", Place::entry_of("acp", &[agent], ""));
    let check = place.finish(without_threads(&mut place.command(["check"])));
    assert_eq!((check.code(), check.stderr.as_str()), (0, ""), "{check:?}");
}
