//! Where a supervisor makes the difference: descendants that fled, and hosts that were killed in the middle of their work.
//! Owns both outcomes, what is gone with a supervisor and what is left without one; a chain of delegations is among it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jsonrpc_fake_runtime::acp::AcpSteps as _;
use jsonrpc_fake_runtime::{Condition, Descendant, Place as At, Script};
use rustix::process::Signal;
use serde_json::json;

use crate::command_depth::agent_after;
use crate::command_process::kill;
use crate::command_support::{Place, program};
use crate::custody::{both_ways, is_supervised};
use crate::lifecycle_host::a_host_of_its_own;
use crate::mcp_support::{background, seen, serve};
use crate::support::{FakeAgent, SOON, eventually, file, is_alive, note_pid};

both_ways! {
    one thread:
        an_answer_is_given_whatever_becomes_of_a_descendant_that_fled_with_its_pipes_closed;
    a process of its own:
        what_is_left_of_a_run_whose_host_was_killed;
}

async fn an_answer_is_given_whatever_becomes_of_a_descendant_that_fled_with_its_pipes_closed() {
    let fled = Descendant::new("fled").place(At::OwnSession).ignores_sigterm();
    let script = Script::acp().prompted().spawn(fled).chunk("done").end_turn();
    let agent = FakeAgent::running(&script.exit(0)).with(|config| {
        config.dispose_grace = Duration::from_millis(100);
    });
    let outcome = agent.delegate("do it").await;
    assert_eq!((outcome.text.as_str(), outcome.is_error), ("done", false));
    assert!(outcome.dispose_error.is_none());
    let fled = agent.pid("fled").await;
    if is_supervised() {
        assert!(!is_alive(fled));
    } else {
        // It has left the group: not reached, and not told. The documentation says so.
        assert!(is_alive(fled));
        kill(fled, Signal::KILL);
    }
}

/// Where the host that is to be killed finds the directory of its test.
const MEETING: &str = "SUBAGENT_TEST_MEETING";

/// One agent that obeys the end of its input, one that obeys nothing and has a descendant that fled.
fn what_is_left_of_a_run_whose_host_was_killed(test: &str) {
    let meeting = tempfile::tempdir().unwrap();
    let host = a_host_of_its_own(test, |command| {
        command.env(MEETING, meeting.path());
    });
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let Some(mut host) = host else {
        runtime.block_on(host_of_two(Path::new(&std::env::var_os(MEETING).unwrap())));
        return;
    };
    runtime.block_on(async {
        let mut pids = [0; 3];
        for (pid, name) in pids.iter_mut().zip(["obedient", "stubborn", "fled"]) {
            *pid = file(&meeting.path().join(name)).await.trim().parse().unwrap();
            assert!(is_alive(*pid), "{name}");
        }
        host.kill().unwrap();
        host.wait().unwrap();
        let [obedient, stubborn, fled] = pids;
        eventually("who obeys the end of its input is gone", || !is_alive(obedient)).await;
        if is_supervised() {
            eventually("so is everybody else", || !is_alive(stubborn) && !is_alive(fled)).await;
        } else {
            // Nobody is left to walk on.
            assert!(is_alive(stubborn) && is_alive(fled));
            for pid in [stubborn, fled] {
                kill(pid, Signal::KILL);
            }
        }
    });
}

/// Runs two agents, tells where they are, and waits to be killed.
async fn host_of_two(meeting: &Path) {
    let tell = |name: &str, pid: u32| {
        let unfinished = meeting.join(format!("{name}.unfinished"));
        std::fs::write(&unfinished, pid.to_string()).unwrap();
        std::fs::rename(unfinished, meeting.join(name)).unwrap();
    };
    let obedient = FakeAgent::running(&Script::acp().step(note_pid()).prompted().touch("ready")).impatient();
    let fled = Descendant::new("fled").place(At::OwnSession).ignores_sigterm();
    let script = Script::acp().ignore_eof().ignore_sigterm().step(note_pid());
    let stubborn = FakeAgent::running(&script.prompted().spawn(fled).touch("ready").hang()).impatient();
    let _runs = [
        obedient.start("do it").await.unwrap(),
        stubborn.start("do it").await.unwrap(),
    ];
    obedient.reached("ready").await;
    stubborn.reached("ready").await;
    tell("obedient", obedient.pid("pid").await);
    tell("stubborn", stubborn.pid("pid").await);
    tell("fled", stubborn.pid("fled").await);
    // Nobody waits for so long, and nobody is left behind if the test itself dies.
    tokio::time::timeout(2 * SOON, std::future::pending::<()>())
        .await
        .unwrap_err();
}

/// Windows that a test can sit out.
const WINDOWS: &str = "    disposeEofGraceMs: 300\n    disposeGraceMs: 300\n";

#[tokio::test]
async fn the_processes_of_a_job_end_with_a_server_that_is_killed_and_the_next_one_does_not_know_it() {
    let place = Place::new();
    let fled = Descendant::new("fled").place(At::OwnSession).ignores_sigterm();
    let script = Script::acp().ignore_eof().ignore_sigterm().prompted();
    let script = script.spawn(fled).chunk("partial").touch("ready").hang();
    let config = place.entry("agent", &script, WINDOWS);
    let served = serve(&place, &config).await;
    let started = seen(&served.call("subagent", background("wait")).await);
    assert!(!started.1, "{started:?}");
    eventually("the job runs", || place.work().join("ready").exists()).await;
    served.signal(Signal::KILL);
    eventually("nothing of it is left", || place.living().is_empty()).await;

    let next = serve(&place, &config).await;
    let read = next.call("job_output", json!({"job_id": "subagent-1"})).await;
    assert_eq!(seen(&read), ("unknown job subagent-1".to_owned(), true));
    assert_eq!(next.close().await.0, 0);
    drop(served);
}

/// The command, which an agent starts again, and so on to the limit: each has a supervisor of its own.
#[tokio::test]
async fn a_chain_of_delegations_is_gone_when_the_first_command_is_killed() {
    let place = Place::new();
    let deepest = Script::acp().ignore_eof().ignore_sigterm().prompted();
    let deepest = deepest.touch("deep").wait_for(Condition::Never);
    let first = format!(
        "echo $$ >pid.$SUBAGENT_DEPTH\n\
         if [ $SUBAGENT_DEPTH -lt 3 ]; then {} run deeper >out.$SUBAGENT_DEPTH 2>err.$SUBAGENT_DEPTH; fi",
        program().display()
    );
    let agent = agent_after(&place, "agent", &first, &deepest);
    place.write("work/subagents.yml", Place::entry_of("agent", &[agent], WINDOWS));
    let mut command = place.command(["run", "start"]).spawn().unwrap();
    eventually("the deepest agent works", || place.work().join("deep").exists()).await;
    let noted: [PathBuf; 4] = std::array::from_fn(|depth| place.work().join(format!("pid.{}", depth + 1)));
    assert!(noted[2].exists() && !noted[3].exists(), "three, and no more");
    // The commands, their supervisors, which have no environment to be known by, and the agents.
    assert_eq!(place.living().len(), 3 + 3);
    command.kill().unwrap();
    command.wait().unwrap();
    eventually("nothing of the chain is left", || place.living().is_empty()).await;
}
