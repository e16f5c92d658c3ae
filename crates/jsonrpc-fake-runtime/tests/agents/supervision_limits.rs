//! What a supervisor leaves alone: the trees of others, the bytes between host and agent, the host's descriptors and
//! memory; and that an agent cannot tell from its start whether it has one.

use std::collections::BTreeSet;
use std::fs::read_link;
use std::path::{Path, PathBuf};

use jsonrpc_fake_runtime::acp::AcpSteps as _;
use jsonrpc_fake_runtime::{Descendant, Place, Script, Step};

use crate::lifecycle_host::in_a_host_of_its_own;
use crate::supervision::{supervised, supervisor};
use crate::supervision_deaths::parent_of;
use crate::support::{FakeAgent, eventually, fake_program, is_alive, note_pid};

/// What the descriptors of a process are.
fn open_files(pid: u32) -> Vec<PathBuf> {
    let files = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap();
    // One that was closed meanwhile is none.
    files
        .filter_map(|entry| read_link(entry.unwrap().path()).ok())
        .collect()
}

fn pipes(files: &[PathBuf]) -> BTreeSet<&Path> {
    let is_pipe = |file: &&Path| file.to_str().unwrap().starts_with("pipe:[");
    files.iter().map(PathBuf::as_path).filter(is_pipe).collect()
}

/// Seen at a shell, which starts the fake: the fake itself moves its pipes about.
#[tokio::test]
async fn host_and_agent_share_three_pipes_and_the_supervisor_has_none_of_them() {
    let launcher = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agents/field_launchers/plain.sh");
    let agent = supervised(FakeAgent::running(&Script::acp().prompted())).with(|config| {
        config.command = launcher.into();
        config.args.insert(0, fake_program().into());
    });
    let run = agent.start("do it").await.unwrap();
    let child = agent.pid("launcher.pid").await;
    let standard = [0, 1, 2].map(|number| read_link(format!("/proc/{child}/fd/{number}")).unwrap());
    assert_eq!(pipes(&standard).len(), 3, "{standard:?}");
    let of_host = open_files(std::process::id());
    assert!(pipes(&standard).is_subset(&pipes(&of_host)), "{of_host:?}");
    let of_supervisor = open_files(parent_of(child));
    assert!(
        pipes(&standard).is_disjoint(&pipes(&of_supervisor)),
        "{of_supervisor:?}"
    );
    run.dispose().await.unwrap();
}

#[tokio::test]
async fn an_agent_starts_the_same_with_and_without_a_supervisor() {
    let script = Script::acp()
        .step(Step::WriteFacts {
            path: "facts".to_owned(),
        })
        .prompted()
        .chunk("done")
        .end_turn();
    let mut facts = Vec::new();
    for with_supervisor in [false, true] {
        let mut agent = FakeAgent::running(&script).with(|config| {
            config.args.push("--".into());
            config.args.push("two words\n\u{fc}".into());
            config.env.push("ODD", "a=b\n");
        });
        if with_supervisor {
            agent = supervised(agent);
        }
        assert_eq!(agent.delegate("do it").await.text, "done");
        let text = std::fs::read_to_string(agent.dir().join("facts")).unwrap();
        let dir = agent.dir().to_str().unwrap().to_owned();
        let mut all: serde_json::Value = serde_json::from_str(&text.replace(&dir, "DIR")).unwrap();
        // Numbers of processes differ, but for one thing: an agent leads its group.
        let object = all.as_object_mut().unwrap();
        let (pid, group) = (object.remove("pid").unwrap(), object.remove("pgid").unwrap());
        assert_eq!(pid, group);
        facts.push(all);
    }
    assert_eq!(facts[0], facts[1]);
}

#[tokio::test]
async fn what_cannot_be_executed_is_told_the_same_with_and_without_a_supervisor() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let not_executable = file.path().as_os_str();
    for command in [
        "/nonexistent/agent".as_ref(),
        "nowhere-to-be-found".as_ref(),
        not_executable,
    ] {
        let mut told = Vec::new();
        for supervision in [subagent_acp::Supervision::ProcessGroup, supervisor()] {
            let agent = FakeAgent::running(&Script::acp()).with(|config| {
                config.command = command.into();
                config.supervision = supervision;
            });
            let error = agent.start("do it").await.unwrap_err();
            told.push((error.to_string(), agent.host_reports()));
        }
        assert_eq!(told[0], told[1]);
        assert_eq!(told[0].1.len(), 1);
    }
}

#[tokio::test]
async fn an_environment_of_a_megabyte_passes() {
    let value = "x".repeat(100_000);
    let agent = supervised(FakeAgent::running(
        &Script::acp().prompted().chunk("done").end_turn(),
    ))
    .with(|config| (0..10).for_each(|index| config.env.push(format!("LARGE_{index}"), &value)));
    assert_eq!(agent.delegate("do it").await.text, "done");
}

/// Memory of a process, in kB.
fn memory(pid: u32, of: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(of)).unwrap();
    let number = line.trim_start_matches(':').trim().trim_end_matches(" kB");
    number.parse().unwrap()
}

/// What is its own is the same in every build. How many pages of the executable it shares is not: a release build has less
/// than half of this bound, an unoptimised one about half, and the kernel maps more of a file that was written just now.
#[tokio::test]
async fn a_supervisor_has_little_memory_and_hardly_any_of_its_own() {
    let agent = supervised(FakeAgent::running(&Script::acp().step(note_pid()).prompted()));
    let run = agent.start("do it").await.unwrap();
    let supervisor = parent_of(agent.pid("pid").await);
    let (own, all) = (memory(supervisor, "RssAnon"), memory(supervisor, "VmRSS"));
    assert!(own <= 512, "{own} kB of its own");
    assert!(all <= 8_000, "{all} kB");
    run.dispose().await.unwrap();
}

#[test]
fn this_executable_cannot_be_its_own_supervisor_unless_its_main_says_so() {
    let agent = FakeAgent::running(&Script::acp())
        .with(|config| config.supervision = subagent_acp::Supervision::OwnExecutable);
    let provider = std::panic::catch_unwind(|| agent.provider());
    assert!(provider.is_err());
    assert_eq!(
        subagent_acp::Supervision::of_this_executable(),
        subagent_acp::Supervision::ProcessGroup
    );
}

/// Two descendants in sessions of their own below one agent.
struct Family {
    agent: FakeAgent,
    run: Option<subagent_seam::Run>,
    pids: [u32; 3],
}

impl Family {
    async fn start() -> Self {
        let fled = |name: &str| Descendant::new(name).place(Place::OwnSession).ignores_sigterm();
        let script = Script::acp()
            .step(note_pid())
            .prompted()
            .spawn(fled("first"))
            .spawn(fled("second").orphaned())
            .touch("planted");
        let agent = supervised(FakeAgent::running(&script)).impatient();
        let run = agent.start("do it").await.unwrap();
        agent.reached("planted").await;
        let pids = [
            agent.pid("pid").await,
            agent.pid("first").await,
            agent.pid("second").await,
        ];
        Self {
            agent,
            run: Some(run),
            pids,
        }
    }

    fn is_alive(&self) -> bool {
        self.pids.iter().all(|pid| is_alive(*pid))
    }

    fn is_gone(&self) -> bool {
        !self.pids.iter().any(|pid| is_alive(*pid))
    }
}

mod heavy {
    use super::*;

    const RUNS: usize = 20;

    async fn families() -> Vec<Family> {
        let mut starting = tokio::task::JoinSet::new();
        for _ in 0..RUNS {
            starting.spawn(Family::start());
        }
        starting.join_all().await
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn each_of_twenty_supervisors_ends_only_its_own_tree() {
        let mut families = families().await;
        for ended in 0..RUNS / 2 {
            let run = families[ended].run.take().unwrap();
            run.dispose().await.unwrap();
            for (index, family) in families.iter().enumerate() {
                if index <= ended {
                    assert!(family.is_gone(), "{index} after the end of {ended}");
                } else {
                    assert!(family.is_alive(), "{index} after the end of {ended}");
                }
            }
        }
        // And the others all at once.
        let runs: Vec<_> = families
            .iter_mut()
            .filter_map(|family| family.run.take())
            .collect();
        let mut ending = tokio::task::JoinSet::new();
        for run in runs {
            ending.spawn(async move { run.dispose().await.unwrap() });
        }
        ending.join_all().await;
        for family in &families {
            assert!(family.is_gone(), "{:?}", family.agent.dir());
        }
    }

    #[test]
    fn no_descriptor_thread_or_process_is_left_by_supervised_runs() {
        let name = "supervision_limits::heavy::no_descriptor_thread_or_process_is_left_by_supervised_runs";
        if !in_a_host_of_its_own(name, |_| {}) {
            return;
        }
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let mut first = None;
        let count = || {
            let entries = |of: &str| std::fs::read_dir(format!("/proc/self/{of}")).unwrap().count();
            let own = std::fs::read_dir("/proc/self/task").unwrap().flat_map(|task| {
                let children = std::fs::read_to_string(task.unwrap().path().join("children"));
                children
                    .unwrap_or_default()
                    .split_whitespace()
                    .map(str::to_owned)
                    .collect::<Vec<_>>()
            });
            (entries("fd"), entries("task"), own.count())
        };
        for round in 0..4 {
            runtime.block_on(async {
                let families = families().await;
                let mut ending = tokio::task::JoinSet::new();
                for mut family in families {
                    let run = family.run.take().unwrap();
                    if round % 2 == 0 {
                        ending.spawn(async move {
                            run.dispose().await.unwrap();
                            drop(family);
                        });
                    } else {
                        drop(run);
                    }
                }
                ending.join_all().await;
                // A failed start leaves nothing either.
                let agent = supervised(FakeAgent::running(&Script::acp()))
                    .with(|config| config.command = "/nonexistent/agent".into());
                agent.start("do it").await.unwrap_err();
                eventually("no child is left", || count().2 == 0).await;
                // What the first round has opened for good, such as the runtime's own, is there to stay.
                let (descriptors, threads) = *first.get_or_insert_with(|| {
                    let (descriptors, threads, _) = count();
                    (descriptors, threads)
                });
                let none_was_added = || {
                    let now = count();
                    now.0 <= descriptors && now.1 <= threads
                };
                eventually(
                    &format!("{descriptors} descriptors, {threads} threads"),
                    none_was_added,
                )
                .await;
            });
        }
    }
}
