//! Commands that are not the agent itself: shell scripts that start it, and commands that cannot be started at all.
//! Owns the whole text that a parent reads of each.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jsonrpc_fake_runtime::Script;
use jsonrpc_fake_runtime::acp::AcpSteps as _;
use subagent_tool::Context;
use tokio_util::sync::CancellationToken;

use crate::custody::both_ways;
use crate::support::{FakeAgent, fake_program, is_alive, note_pid};

both_ways! {
    one thread:
        a_script_and_the_stubborn_agent_that_it_started_both_end_after_a_finished_prompt,
        a_script_and_the_stubborn_agent_that_it_started_both_end_when_cancelled,
        a_script_that_ignores_sigterm_ends_with_its_stubborn_agent_after_a_finished_prompt,
        a_script_that_ignores_sigterm_ends_with_its_stubborn_agent_when_cancelled,
        an_interpreter_that_is_missing_is_a_start_failure,
        a_launcher_that_ends_with_127_is_told_by_its_exit_code,
        a_command_that_is_missing_is_a_start_failure,
        a_command_that_is_not_executable_is_a_start_failure;
}

/// The three windows of an impatient agent, and what a busy machine may add.
const BUDGET: Duration = Duration::from_millis(3 * 300 + 2000);

fn script_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/agents/field_launchers")
        .join(name)
}

/// The fake, started by a launcher; neither the end of its input nor a SIGTERM ends it.
fn launched_by(launcher: &str, script: &Script) -> FakeAgent {
    FakeAgent::running(script).impatient().with(|config| {
        config.command = script_file(launcher).into();
        config.args.insert(0, fake_program().into());
    })
}

fn stubborn() -> Script {
    Script::acp().ignore_eof().ignore_sigterm().step(note_pid())
}

async fn launcher_and_agent_end_after_a_finished_prompt(launcher: &str) {
    let agent = launched_by(launcher, &stubborn().prompted().chunk("done").end_turn());
    let outcome = agent.delegate("do it").await;
    assert_eq!(outcome.text, "done");
    let dispose = outcome.timings.dispose.unwrap();
    assert!(dispose < BUDGET, "{dispose:?}");
    assert!(!is_alive(agent.pid("launcher.pid").await));
    assert!(!is_alive(agent.pid("pid").await));
    assert_ne!(agent.pid("launcher.pid").await, agent.pid("pid").await);
}

async fn launcher_and_agent_end_when_cancelled(launcher: &str) {
    let agent = launched_by(
        launcher,
        &stubborn().prompted().chunk("partial").touch("prompted"),
    );
    let cancel = CancellationToken::new();
    let context = Context {
        cancel: cancel.clone(),
        ..Context::default()
    };
    let (outcome, ()) = tokio::join!(agent.delegate_with("do it", context), async {
        agent.reached("prompted").await;
        cancel.cancel();
    });
    assert_eq!(
        outcome.text,
        "Error: subagent run was cancelled\nPartial output before the run ended:\npartial"
    );
    // The fake does not answer the cancelled prompt: that window comes on top.
    let dispose = outcome.timings.dispose.unwrap();
    assert!(dispose < BUDGET + Duration::from_millis(300), "{dispose:?}");
    assert!(!is_alive(agent.pid("launcher.pid").await));
    assert!(!is_alive(agent.pid("pid").await));
}

async fn a_script_and_the_stubborn_agent_that_it_started_both_end_after_a_finished_prompt() {
    launcher_and_agent_end_after_a_finished_prompt("plain.sh").await;
}

async fn a_script_and_the_stubborn_agent_that_it_started_both_end_when_cancelled() {
    launcher_and_agent_end_when_cancelled("plain.sh").await;
}

async fn a_script_that_ignores_sigterm_ends_with_its_stubborn_agent_after_a_finished_prompt() {
    launcher_and_agent_end_after_a_finished_prompt("deaf.sh").await;
}

async fn a_script_that_ignores_sigterm_ends_with_its_stubborn_agent_when_cancelled() {
    launcher_and_agent_end_when_cancelled("deaf.sh").await;
}

/// An agent of which only the command matters.
fn commanded(command: PathBuf) -> FakeAgent {
    FakeAgent::running(&Script::acp()).with(|config| {
        config.command = command.into();
        config.args.clear();
    })
}

const NOT_STARTED: &str =
    "Error: subagent-acp: Subagent failure (provider: ACP; stage: process; category: process-start)";

async fn an_interpreter_that_is_missing_is_a_start_failure() {
    let command = script_file("interpreter-missing.sh");
    let agent = commanded(command.clone());
    assert_eq!(agent.delegate("do it").await.text, NOT_STARTED);
    let told = format!(
        "process: the agent could not be started: cannot start {command:?}: No such file or directory (os error 2)"
    );
    assert_eq!(agent.host_reports(), [told]);
}

async fn a_launcher_that_ends_with_127_is_told_by_its_exit_code() {
    let agent = commanded(script_file("exit-127.sh"));
    assert_eq!(
        agent.delegate("do it").await.text,
        "Error: subagent-acp: Subagent failure (provider: ACP; stage: initialize; category: process-exit; exit code: 127)"
    );
    // The shell's own complaint is for the host.
    let reports = agent.host_reports();
    assert_eq!(reports.len(), 1);
    assert!(
        reports[0].starts_with(
            "initialize: the agent ended before it answered initialize: exit code 127\nstderr: "
        )
    );
    assert!(reports[0].contains("the-agent-that-nobody-installed"));
}

async fn a_command_that_is_missing_is_a_start_failure() {
    let agent = commanded("a-command-that-is-nowhere".into());
    assert_eq!(agent.delegate("do it").await.text, NOT_STARTED);
    let told = "process: the agent could not be started: command \"a-command-that-is-nowhere\" is not an executable \
                file in any directory of the child's PATH";
    assert_eq!(agent.host_reports(), [told]);

    let absolute = commanded("/nonexistent/agent".into());
    assert_eq!(absolute.delegate("do it").await.text, NOT_STARTED);
}

async fn a_command_that_is_not_executable_is_a_start_failure() {
    let command = script_file("not-executable.sh");
    let agent = commanded(command.clone());
    assert_eq!(agent.delegate("do it").await.text, NOT_STARTED);
    let told = format!(
        "process: the agent could not be started: cannot start {command:?}: Permission denied (os error 13)"
    );
    assert_eq!(agent.host_reports(), [told]);
}
