//! What a child inherits of the host's open files: nothing but its three pipes.

use std::fs::read_link;
use std::path::{Path, PathBuf};

use jsonrpc_fake_runtime::Script;
use jsonrpc_fake_runtime::acp::AcpSteps as _;

use crate::support::{FakeAgent, fake_program};

/// The open files of a process, by number.
fn open_files(pid: u32) -> Vec<(u32, PathBuf)> {
    let mut files: Vec<_> = std::fs::read_dir(format!("/proc/{pid}/fd"))
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let number = entry.file_name().to_str().unwrap().parse().unwrap();
            // Another thread may have closed it meanwhile.
            (number, read_link(entry.path()).unwrap_or_default())
        })
        .collect();
    files.sort();
    files
}

/// Files that whoever started this process meant for all of its descendants: those that no `exec` closes. Nothing that a
/// Rust program opens is like that.
fn handed_down() -> Vec<PathBuf> {
    const CLOSE_ON_EXEC: u32 = 0o2_000_000;
    let stays_open = |number: &u32| {
        let info = std::fs::read_to_string(format!("/proc/self/fdinfo/{number}")).unwrap_or_default();
        let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
        flags.is_some_and(|flags| u32::from_str_radix(flags.trim(), 8).unwrap() & CLOSE_ON_EXEC == 0)
    };
    open_files(std::process::id())
        .into_iter()
        .filter(|(number, _)| *number > 2 && stays_open(number))
        .map(|(_, file)| file)
        .collect()
}

/// Seen at a shell, which starts the fake: the fake itself moves its pipes about.
#[tokio::test]
async fn a_child_has_its_three_pipes_and_what_it_opened_itself() {
    let _open_in_the_host = tempfile::tempfile().unwrap();
    let handed_down = handed_down();
    let shell_script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agents/field_launchers/plain.sh");
    let launched = || {
        FakeAgent::running(&Script::acp().prompted()).with(|config| {
            config.command = shell_script.clone().into();
            config.args.insert(0, fake_program().into());
        })
    };
    let (first, second) = (launched(), launched());
    let runs = (
        first.start("do it").await.unwrap(),
        second.start("do it").await.unwrap(),
    );
    for agent in [&first, &second] {
        let files = open_files(agent.pid("launcher.pid").await);
        let (pipes, own) = files.split_at(3);
        for (place, (number, file)) in (0..).zip(pipes) {
            assert_eq!(*number, place);
            assert!(file.to_str().unwrap().starts_with("pipe:["), "{file:?}");
        }
        let own: Vec<_> = own
            .iter()
            .map(|(_, file)| file)
            .filter(|file| !handed_down.contains(file))
            .collect();
        assert_eq!(own, [&shell_script]);
    }
    runs.0.dispose().await.unwrap();
    runs.1.dispose().await.unwrap();
}

#[tokio::test]
async fn a_child_sees_the_end_of_its_input_while_another_one_lives() {
    let script = Script::acp().prompted().chunk("hello").end_turn();
    let (first, second) = (FakeAgent::running(&script), FakeAgent::running(&script));
    let first = first.start("do it").await.unwrap();
    let second = second.start("do it").await.unwrap();
    let begun = std::time::Instant::now();
    first.dispose().await.unwrap();
    // Were its input held open by the other one, the whole first window of six seconds would pass.
    assert!(begun.elapsed() < std::time::Duration::from_secs(5));
    second.dispose().await.unwrap();
}
