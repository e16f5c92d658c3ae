//! What is left when the host dies, or its supervisor, or when nobody disposes: nothing under the first and the last, and a
//! teardown that says so under the second. The tree itself stands in `supervision`.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use jsonrpc_fake_runtime::acp::AcpSteps as _;
use jsonrpc_fake_runtime::{Condition, Descendant, Place, Script};
use rustix::process::{Pid, Signal, kill_process};
use subagent_acp::Supervision;
use subagent_seam::{StopReason, text_of};

use crate::supervision::{host_program, left, plant, supervised, tree};
use crate::support::{FakeAgent, eventually, is_alive, note_pid};
use crate::teardown::{AT_ONCE, patient};

/// The parent of a process.
pub(crate) fn parent_of(pid: u32) -> u32 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let (_, rest) = stat.rsplit_once(") ").unwrap();
    rest.split(' ').nth(1).unwrap().parse().unwrap()
}

fn send(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(pid.try_into().unwrap()).unwrap(), signal).unwrap();
}

/// A host that supervises the agent with its own executable, in a process of its own.
#[expect(clippy::disallowed_methods, reason = "this starts a host, not an agent")]
fn host_of(script: &Script, eof_grace: Duration, grace: Duration) -> (FakeAgent, Child) {
    let mut host = Command::new(host_program());
    host.args([eof_grace, grace].map(|window| window.as_millis().to_string()));
    let agent = FakeAgent::running(script).with(|config| {
        host.arg(&config.command).args(&config.args);
    });
    host.current_dir(agent.dir())
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    (agent, host.spawn().unwrap())
}

#[tokio::test]
async fn a_host_that_is_its_own_supervisor_leaves_nothing_and_gives_the_answer() {
    let script = plant(Script::acp().step(note_pid()).prompted())
        .chunk("done")
        .end_turn();
    let (agent, host) = host_of(&script, Duration::from_secs(6), Duration::from_millis(300));
    let output = tokio::task::spawn_blocking(|| host.wait_with_output().unwrap())
        .await
        .unwrap();
    assert_eq!(
        (output.status.code(), output.stdout.as_slice()),
        (Some(0), &b"done\n"[..])
    );
    let mut pids = [0; 8];
    for (pid, name) in pids.iter_mut().zip(crate::supervision::TREE) {
        *pid = agent.pid(name).await;
    }
    assert_eq!(left(pids), [""; 0]);
}

/// As in a container that was there before: the session of the host was begun outside of its process namespace, where it has
/// no number.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "this starts a host, not an agent")]
async fn a_host_whose_session_has_no_number_supervises_like_every_other() {
    let inside = |program: &std::ffi::OsStr| {
        let mut command = Command::new("unshare");
        let namespaces = ["--user", "--map-root-user", "--pid", "--fork", "--mount-proc"];
        command.args(namespaces).arg(program).stdin(Stdio::null());
        command
    };
    if !inside("true".as_ref())
        .output()
        .is_ok_and(|output| output.status.success())
    {
        // Said aloud, since nothing has been tested: this system does not let its users make namespaces.
        return println!("skipped: `unshare` makes no process namespace here");
    }
    let script = plant(Script::acp().prompted()).chunk("done").end_turn();
    let mut words = Vec::new();
    let agent = FakeAgent::running(&script).with(|config| {
        words.push(config.command.clone());
        words.extend(config.args.iter().cloned());
    });
    let mut host = inside(host_program().as_os_str());
    host.args(["6000", "300"]).args(words).current_dir(agent.dir());
    let output = tokio::task::spawn_blocking(move || host.output().unwrap())
        .await
        .unwrap();
    assert_eq!(
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stdout).as_ref()
        ),
        (Some(0), "done\n"),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// The host is killed with `script` in mid-prompt; returns how long it took until everything was gone.
async fn after_the_hosts_death(
    script: Script,
    eof_grace: Duration,
    grace: Duration,
) -> (FakeAgent, Duration) {
    let (agent, mut host) = host_of(&plant(script).touch("planted"), eof_grace, grace);
    agent.reached("planted").await;
    let child = agent.pid("pid").await;
    let supervisor = parent_of(child);
    assert_eq!(parent_of(supervisor), host.id());
    let pids = tree(&agent).await;
    let begun = Instant::now();
    host.kill().unwrap();
    host.wait().unwrap();
    eventually("everything is gone", || {
        !is_alive(child) && left(pids).is_empty() && !is_alive(supervisor)
    })
    .await;
    (agent, begun.elapsed())
}

#[tokio::test]
async fn the_tree_of_a_host_that_was_killed_is_gone_within_the_windows() {
    let (eof_grace, grace) = (Duration::from_millis(400), Duration::from_millis(600));
    let stubborn = Script::acp()
        .ignore_eof()
        .ignore_sigterm()
        .step(note_pid())
        .prompted();
    let (_agent, took) = after_the_hosts_death(stubborn, eof_grace, grace).await;
    let windows = eof_grace + grace;
    assert!(
        took >= windows && took < windows + Duration::from_secs(2),
        "{took:?}"
    );
}

#[tokio::test]
async fn the_rest_is_asked_as_soon_as_the_agent_of_a_killed_host_has_ended() {
    let obedient = Script::acp().step(note_pid()).prompted();
    let (eof_grace, grace) = (Duration::from_mins(1), Duration::from_millis(300));
    let (_agent, took) = after_the_hosts_death(obedient, eof_grace, grace).await;
    // Two of the tree are deaf.
    assert!(took >= grace && took < grace + AT_ONCE, "{took:?}");
}

#[tokio::test]
async fn an_agent_whose_host_was_killed_may_end_its_own_way() {
    let script = Script::acp()
        .ignore_eof()
        .ignore_sigterm()
        .step(note_pid())
        .prompted()
        .touch("prompted")
        .wait_for(Condition::StdinEof)
        .touch("eof")
        .wait_for(Condition::Sigterm)
        .touch("terminated")
        .exit(0);
    let (agent, mut host) = host_of(&script, Duration::from_millis(300), Duration::from_mins(1));
    agent.reached("prompted").await;
    let child = agent.pid("pid").await;
    host.kill().unwrap();
    host.wait().unwrap();
    agent.reached("terminated").await;
    assert!(agent.dir().join("eof").exists());
    eventually("the agent is gone", || !is_alive(child)).await;
}

#[tokio::test]
async fn the_command_supervises_unasked_and_leaves_nothing_when_it_is_killed() {
    let script = plant(Script::acp().step(note_pid()).prompted()).touch("planted");
    let mut words = Vec::new();
    let agent = FakeAgent::running(&script).with(|config| {
        words.push(config.command.to_str().unwrap().to_owned());
        words.extend(config.args.iter().map(|arg| arg.to_str().unwrap().to_owned()));
    });
    #[expect(clippy::disallowed_methods, reason = "this starts the command, not an agent")]
    let mut command = Command::new(crate::command_support::program())
        .args([
            "run",
            "--acp",
            &crate::command_support::command_line(&words),
            "do it",
        ])
        .current_dir(agent.dir())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    agent.reached("planted").await;
    let child = agent.pid("pid").await;
    assert_eq!(parent_of(parent_of(child)), command.id());
    let pids = tree(&agent).await;
    command.kill().unwrap();
    command.wait().unwrap();
    // The agent obeys the end of its input; the deaf of its tree sit out the window of three seconds.
    eventually("everything is gone", || !is_alive(child) && left(pids).is_empty()).await;
}

#[tokio::test]
async fn a_supervisor_that_is_killed_is_reported_and_the_group_is_ended() {
    let script = Script::acp()
        .ignore_eof()
        .ignore_sigterm()
        .step(note_pid())
        .prompted()
        .spawn(Descendant::new("grandchild").ignores_sigterm())
        .spawn(Descendant::new("fled").place(Place::OwnSession).lifetime_ms(8000))
        .chunk("partial")
        .touch("planted");
    let agent = supervised(FakeAgent::running(&script)).impatient();
    let run = agent.start("do it").await.unwrap();
    agent.reached("planted").await;
    let child = agent.pid("pid").await;
    let supervisor = parent_of(child);
    send(supervisor, Signal::KILL);
    eventually("the agent has another parent", || parent_of(child) != supervisor).await;
    let error = run.dispose().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "subagent-acp: Subagent failure (provider: ACP; stage: teardown; category: unknown)"
    );
    assert!(!is_alive(child), "the group is within reach");
    assert!(!is_alive(agent.pid("grandchild").await));
    let reports = agent.host_reports();
    let [report] = reports.as_slice() else {
        panic!("{reports:?}")
    };
    assert_eq!(
        report,
        "teardown: the agent could not be ended for certain: teardown failed: the child's supervisor was ended \
         (signal 9): processes that left the child's group may be left"
    );
    let fled = agent.pid("fled").await;
    assert!(is_alive(fled), "nobody could reach it, and nobody says so");
    send(fled, Signal::KILL);
}

#[tokio::test]
async fn an_answer_is_not_lost_when_the_supervisor_is() {
    let script = Script::acp()
        .step(note_pid())
        .prompted()
        .touch("prompted")
        .wait_for_file("go")
        .chunk("done")
        .end_turn();
    let agent = supervised(patient(&script));
    let run = agent.start("do it").await.unwrap();
    agent.reached("prompted").await;
    send(parent_of(agent.pid("pid").await), Signal::KILL);
    std::fs::write(agent.dir().join("go"), "").unwrap();
    let result = run.result().await;
    assert_eq!(
        (result.stop_reason, text_of(&result.output)),
        (StopReason::Completed, "done".to_owned())
    );
    let begun = Instant::now();
    run.dispose().await.unwrap_err();
    assert!(begun.elapsed() < AT_ONCE);
    assert!(!is_alive(agent.pid("pid").await));
}

#[tokio::test]
async fn a_supervisor_that_was_stopped_is_woken_for_its_work() {
    let script = plant(Script::acp().step(note_pid()).prompted()).touch("planted");
    let agent = supervised(FakeAgent::running(&script)).impatient();
    let run = agent.start("do it").await.unwrap();
    agent.reached("planted").await;
    let pids = tree(&agent).await;
    send(parent_of(agent.pid("pid").await), Signal::STOP);
    run.dispose().await.unwrap();
    assert_eq!(left(pids), [""; 0]);
}

#[tokio::test]
async fn a_supervisor_survives_what_a_careless_neighbour_sends() {
    let script = Script::acp().step(note_pid()).prompted().touch("prompted");
    let agent = supervised(patient(&script));
    let run = agent.start("do it").await.unwrap();
    agent.reached("prompted").await;
    let supervisor = parent_of(agent.pid("pid").await);
    for signal in [
        Signal::TERM,
        Signal::INT,
        Signal::HUP,
        Signal::QUIT,
        Signal::USR1,
        Signal::ALARM,
    ] {
        send(supervisor, signal);
    }
    run.dispose().await.unwrap();
    assert!(
        !Path::new(&format!("/proc/{supervisor}")).exists(),
        "ended and reaped"
    );
}

#[tokio::test]
async fn a_run_that_nobody_disposes_of_is_killed_with_its_whole_tree() {
    let script = plant(
        Script::acp()
            .ignore_eof()
            .ignore_sigterm()
            .step(note_pid())
            .prompted(),
    )
    .touch("planted");
    let agent = supervised(patient(&script));
    let run = agent.start("do it").await.unwrap();
    agent.reached("planted").await;
    let child = agent.pid("pid").await;
    let supervisor = parent_of(child);
    let pids = tree(&agent).await;
    let begun = Instant::now();
    drop(run);
    eventually("everything is gone", || left(pids).is_empty() && !is_alive(child)).await;
    eventually("the supervisor is reaped", || {
        !Path::new(&format!("/proc/{supervisor}")).exists()
    })
    .await;
    assert!(begun.elapsed() < AT_ONCE);
}

#[tokio::test]
async fn a_program_that_is_no_supervisor_is_a_failed_start() {
    for (program, cause) in [
        (
            "/bin/true",
            "it ended before it told whether the agent was started",
        ),
        (
            "/nonexistent/supervisor",
            "No such file or directory (os error 2)",
        ),
    ] {
        let agent = FakeAgent::running(&Script::acp())
            .with(|config| config.supervision = Supervision::Program(program.into()));
        let error = agent.start("do it").await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "subagent-acp: Subagent failure (provider: ACP; stage: process; category: process-start)"
        );
        assert_eq!(
            agent.host_reports(),
            [format!(
                "process: the agent could not be started: cannot start the supervisor \"{program}\": {cause}"
            )]
        );
    }
}
