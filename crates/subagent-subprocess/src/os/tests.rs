//! The parts of the platform layer that the platform at hand does not choose by itself: the leader of platforms without
//! signals, and the wait for `SIGCHLD`. Whatever is chosen is tested with real agents, outside this crate.

use std::process::{Command, Stdio};
use std::time::Duration;

use super::*;
use crate::ExitFacts;

/// A child that ends when its standard input does.
fn cat() -> Command {
    piped("cat", &[])
}

#[expect(
    clippy::disallowed_methods,
    reason = "the layer below the one place that spawns is tested by itself"
)]
fn piped(program: &str, args: &[&std::ffi::OsStr]) -> Command {
    use std::os::unix::process::CommandExt as _;
    let mut command = Command::new(program);
    command
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    command
}

async fn soon(exited: impl Future<Output = ExitFacts>) -> ExitFacts {
    tokio::time::timeout(Duration::from_secs(20), exited)
        .await
        .expect("the child should have ended by now")
}

#[tokio::test]
async fn the_portable_leader_sees_an_exit_and_survives_a_late_kill() {
    let (leader, (stdin, ..)) = portable::Leader::spawn(cat()).unwrap();
    assert_eq!(leader.exit_facts(), None);
    assert!(leader.pid() > 1);
    drop(stdin);
    let (first, second) = tokio::join!(soon(leader.exited()), soon(leader.exited()));
    assert_eq!(
        (first, second),
        (
            ExitFacts {
                code: Some(0),
                signal: None
            },
            first
        )
    );
    leader.strike(Blow::Kill).unwrap();
    leader.reap().unwrap();
    assert!(!leader.rest_is_left());
    leader.rest_gone().await;
    assert_eq!(leader.exit_facts(), Some(first));
}

#[tokio::test]
async fn the_portable_leader_kills_and_cannot_ask() {
    let (leader, pipes) = portable::Leader::spawn(cat()).unwrap();
    leader.strike(Blow::Terminate).unwrap();
    assert_eq!(leader.exit_facts(), None);
    leader.strike(Blow::Kill).unwrap();
    assert_eq!(
        soon(leader.exited()).await,
        ExitFacts {
            code: None,
            signal: Some(9)
        }
    );
    drop(pipes);
}

#[tokio::test]
async fn an_exit_is_seen_by_signal_where_there_is_no_descriptor_for_it() {
    let (leader, (stdin, ..)) = Leader::spawn(cat()).unwrap();
    let leader = leader.watching_children();
    let closing = async {
        tokio::task::yield_now().await;
        drop(stdin);
    };
    let (first, second, ()) = tokio::join!(soon(leader.exited()), soon(leader.exited()), closing);
    assert_eq!(
        (first, second),
        (
            ExitFacts {
                code: Some(0),
                signal: None
            },
            first
        )
    );
}

#[tokio::test]
async fn a_reaped_leader_is_struck_no_more() {
    let (leader, (stdin, ..)) = Leader::spawn(cat()).unwrap();
    drop(stdin);
    let exit = soon(leader.exited()).await;
    leader.reap().unwrap();
    leader.reap().unwrap();
    assert!(!leader.rest_is_left());
    leader.strike(Blow::Kill).unwrap();
    assert_eq!(leader.exit_facts(), Some(exit));
}

#[tokio::test]
async fn a_leader_outside_its_own_group_is_struck_by_its_number() {
    let (neighbour, its_pipes) = Leader::spawn(cat()).unwrap();
    let mut command = cat();
    // In another group than its own, as a child is that has moved there by itself.
    std::os::unix::process::CommandExt::process_group(&mut command, neighbour.pid().cast_signed());
    let (leader, pipes) = Leader::spawn(command).unwrap();
    leader.strike(Blow::Kill).unwrap();
    assert_eq!(
        soon(leader.exited()).await,
        ExitFacts {
            code: None,
            signal: Some(9)
        }
    );
    assert_eq!(neighbour.exit_facts(), None);
    drop((pipes, its_pipes));
    let _ = soon(neighbour.exited()).await;
}

/// Between two looks at it a chain can always have moved on: it must not pass for a group of zombies.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_group_that_forks_and_exits_all_the_time_is_not_overlooked() {
    let dir = tempfile::tempdir().unwrap();
    let link = dir.path().join("link.sh");
    // Ends by itself after some seconds, whatever becomes of the test.
    std::fs::write(
        &link,
        "trap '' TERM; [ \"$1\" -gt 5000 ] || sh \"$0\" $(($1 + 1)) &\n",
    )
    .unwrap();
    let (leader, pipes) = Leader::spawn(piped("sh", &[link.as_os_str(), "0".as_ref()])).unwrap();
    let exit = soon(leader.exited()).await;
    assert_eq!(exit.code, Some(0));
    leader.reap().unwrap();
    let group = leader.pid().cast_signed();
    let begun = std::time::Instant::now();
    // Every look may be the one that sees nobody.
    while leader.rest_is_left() && begun.elapsed() < Duration::from_secs(2) {}
    if leader.rest_is_left() {
        leader.strike(Blow::Kill).unwrap();
        let gone = tokio::time::timeout(Duration::from_secs(20), leader.rest_gone());
        gone.await.expect("a killed group should be gone by now");
    }
    for _ in 0..50 {
        let mut all = process_table::entries().unwrap();
        assert!(!all.any(|process| process.group == group && process.is_living));
    }
    drop(pipes);
}
