//! An agent under a supervisor: whatever it started is gone when its dispose returns, wherever that has fled to. What
//! happens when host or supervisor die stands in `supervision_deaths`.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jsonrpc_fake_runtime::acp::AcpSteps as _;
use jsonrpc_fake_runtime::{Descendant, Holds, Place, Script};
use subagent_acp::Supervision;

use crate::support::{FakeAgent, eventually, file, is_alive, note_pid};
use crate::teardown::{AT_ONCE, patient};

/// The executable that becomes the supervisor.
pub(crate) fn supervisor() -> Supervision {
    Supervision::Program(host_program())
}

/// A host that is its own supervisor.
pub(crate) fn host_program() -> PathBuf {
    jsonrpc_fake_runtime::example_program("supervised_host").unwrap()
}

/// The same agent under a supervisor.
pub(crate) fn supervised(agent: FakeAgent) -> FakeAgent {
    agent.with(|config| config.supervision = supervisor())
}

/// Eight processes, each in another relation to the agent.
pub(crate) const TREE: [&str; 8] = [
    "child",
    "orphan",
    "deaf",
    "own-group",
    "own-session",
    "daemon",
    "deaf-daemon",
    "unknown-daemon",
];

/// Starts a tree of eight below the agent; the last one has nothing of the agent's environment.
pub(crate) fn plant(script: Script) -> Script {
    let new = |index: usize| Descendant::new(TREE[index]);
    script
        .spawn(new(0))
        .spawn(new(1).orphaned())
        .spawn(new(2).ignores_sigterm().holds(Holds::Both))
        .spawn(new(3).place(Place::OwnGroup))
        .spawn(new(4).place(Place::OwnSession).holds(Holds::Stdout))
        .spawn(new(5).place(Place::OwnSession).orphaned())
        .spawn(new(6).place(Place::OwnSession).orphaned().ignores_sigterm())
        .spawn(
            new(7)
                .place(Place::OwnSession)
                .orphaned()
                .ignores_sigterm()
                .without_environment(),
        )
}

/// The process ids of a planted tree, all of which live.
pub(crate) async fn tree(agent: &FakeAgent) -> [u32; 8] {
    tree_in(agent.dir()).await
}

/// The same of a child that works in `dir`.
pub(crate) async fn tree_in(dir: &Path) -> [u32; 8] {
    let mut pids = [0; 8];
    for (pid, name) in pids.iter_mut().zip(TREE) {
        *pid = file(&dir.join(name)).await.trim().parse().unwrap();
        assert!(is_alive(*pid), "{name}");
    }
    pids
}

/// Those of a tree that are left, by name.
pub(crate) fn left(pids: [u32; 8]) -> Vec<&'static str> {
    let named = TREE.into_iter().zip(pids);
    named
        .filter(|(_, pid)| is_alive(*pid))
        .map(|(name, _)| name)
        .collect()
}

#[tokio::test]
async fn a_tree_of_eight_is_gone_when_dispose_returns() {
    let script = plant(Script::acp().step(note_pid()).prompted())
        .touch("planted")
        .wait_for_file("go")
        .chunk("done")
        .end_turn();
    let agent = supervised(FakeAgent::running(&script)).with(|config| {
        config.dispose_grace = Duration::from_millis(300);
    });
    let run = agent.start("do it").await.unwrap();
    agent.reached("planted").await;
    let pids = tree(&agent).await;
    std::fs::write(agent.dir().join("go"), "").unwrap();
    assert_eq!(subagent_seam::text_of(&run.result().await.output), "done");
    let begun = Instant::now();
    run.dispose().await.unwrap();
    assert_eq!(left(pids), [""; 0]);
    assert!(!is_alive(agent.pid("pid").await));
    assert!(begun.elapsed() < AT_ONCE, "{:?}", begun.elapsed());
}

#[tokio::test]
async fn the_agents_own_end_is_told_exactly_whatever_is_below_it() {
    type End = fn(Script) -> Script;
    let ends: [(End, &str); 3] = [
        (|s| s.exit(0), "exit code: 0"),
        (|s| s.exit(113), "exit code: 113"),
        (
            |s| s.kill_self(jsonrpc_fake_runtime::Signal::Segv),
            "signal: SIGSEGV",
        ),
    ];
    for (end, told) in ends {
        let script = plant(Script::acp().prompted()).chunk("partial").then(end);
        let agent = supervised(FakeAgent::running(&script)).with(|config| {
            config.dispose_grace = Duration::from_millis(500);
        });
        let outcome = agent.delegate("do it").await;
        assert_eq!(
            outcome.text,
            format!(
                "Error: subagent run failed\n\
                 Diagnostic: Subagent failure (provider: ACP; stage: process; category: process-exit; {told})\n\
                 Partial output before the run ended:\npartial"
            )
        );
        let mut pids = [0; 8];
        for (pid, name) in pids.iter_mut().zip(TREE) {
            *pid = agent.pid(name).await;
        }
        assert_eq!(left(pids), [""; 0]);
    }
}

#[tokio::test]
async fn a_process_that_forks_and_leaves_for_ever_is_caught_within_a_second() {
    let script = Script::acp()
        .prompted()
        .spawn(
            Descendant::new("fleeing")
                .place(Place::OwnSession)
                .ignores_sigterm()
                .multiplies(),
        )
        .wait_for_file("go")
        .chunk("done")
        .end_turn();
    let grace = Duration::from_millis(50);
    let agent = supervised(FakeAgent::running(&script)).with(|config| config.dispose_grace = grace);
    let run = agent.start("do it").await.unwrap();
    let generations = || std::fs::read_to_string(agent.dir().join("fleeing")).unwrap_or_default();
    eventually("it has fled twenty times", || generations().lines().count() > 20).await;
    std::fs::write(agent.dir().join("go"), "").unwrap();
    run.result().await;
    let begun = Instant::now();
    run.dispose().await.unwrap();
    let took = begun.elapsed();
    assert!(took < grace + Duration::from_secs(1), "{took:?}");
    let generations = generations();
    let alive: Vec<_> = generations
        .lines()
        .filter(|pid| is_alive(pid.parse().unwrap()))
        .collect();
    assert_eq!(alive, [""; 0]);
}

#[tokio::test]
async fn an_agent_that_leaves_nothing_costs_no_window() {
    let agent = supervised(patient(&Script::acp().prompted().chunk("done").end_turn()));
    let outcome = agent.delegate("do it").await;
    assert_eq!((outcome.text.as_str(), outcome.is_error), ("done", false));
    assert!(outcome.timings.dispose.unwrap() < AT_ONCE);
}
