//! Hundreds of runs of every kind, after which nothing is left of them: no process, no zombie, no open file, no
//! temporary directory. The only test of its binary, since it counts what its whole process has.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a panic is how a test reports")]

#[expect(dead_code, reason = "shared with tests that need more of it")]
#[path = "agents/lifecycle_host.rs"]
mod lifecycle_host;
#[expect(dead_code, reason = "shared with tests that need more of it")]
#[path = "agents/support.rs"]
mod support;

/// Hundreds of processes, and a count: this runs alone where the runner knows how.
mod heavy {
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};
    use std::time::Duration;

    use jsonrpc_fake_runtime::acp::AcpSteps as _;
    use jsonrpc_fake_runtime::{Descendant, Holds, Script, Signal};
    use subagent_acp::ConfigDirSource;
    use subagent_seam::{Provider as _, StopReason};
    use tokio::task::JoinSet;

    use crate::lifecycle_host::in_a_host_of_its_own;
    use crate::support::{FakeAgent, eventually, is_alive, note_pid};

    const RUNS: usize = 200;
    const AT_ONCE: usize = 10;

    /// In a process of its own, so that its temporary directories are all in one place.
    #[test]
    fn two_hundred_runs_of_every_kind_leave_nothing_behind() {
        let temporary = tempfile::tempdir().unwrap();
        if !in_a_host_of_its_own(
            "heavy::two_hundred_runs_of_every_kind_leave_nothing_behind",
            |command| {
                command.env("TMPDIR", temporary.path());
            },
        ) {
            assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0);
            return;
        }
        drop(temporary);
        let place = std::env::temp_dir();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        // What is opened once and for all is opened now.
        runtime.block_on(many(KINDS.len()));
        runtime.block_on(settled(&place));
        let before = open_files();
        assert!(before > 3);
        runtime.block_on(many(RUNS));
        runtime.block_on(async {
            settled(&place).await;
            eventually("as few files are open as before", || open_files() <= before).await;
        });
        assert_eq!(open_files(), before);
    }

    /// Waits until nothing of the runs is to be seen.
    async fn settled(place: &Path) {
        eventually("no child of this process is left, not even a zombie", || {
            children().is_empty()
        })
        .await;
        eventually("no process of the runs lives", || living(place).is_empty()).await;
        assert_eq!(entries(place), BTreeSet::new());
    }

    const KINDS: [Kind; 10] = [
        Kind::Completed,
        Kind::ExitsInMidTurn,
        Kind::KillsItself,
        Kind::RefusesTheSession,
        Kind::Cancelled,
        Kind::DroppedHandle,
        Kind::DroppedStart,
        Kind::Stubborn,
        Kind::LeavesGrandchildren,
        Kind::NotStarted,
    ];

    #[derive(Clone, Copy, Debug)]
    enum Kind {
        Completed,
        ExitsInMidTurn,
        KillsItself,
        RefusesTheSession,
        Cancelled,
        DroppedHandle,
        DroppedStart,
        Stubborn,
        LeavesGrandchildren,
        NotStarted,
    }

    async fn many(count: usize) {
        let mut runs = JoinSet::new();
        for kind in KINDS.into_iter().cycle().take(count) {
            if runs.len() == AT_ONCE {
                runs.join_next().await.unwrap().unwrap();
            }
            runs.spawn(one(kind));
        }
        while let Some(ended) = runs.join_next().await {
            ended.unwrap();
        }
    }

    impl Kind {
        fn script(self) -> Script {
            let script = Script::acp().step(note_pid());
            let prompted = script.clone().prompted().chunk("partial").touch("prompted");
            match self {
                Self::Completed | Self::NotStarted => prompted.end_turn(),
                Self::ExitsInMidTurn => prompted.exit(3),
                Self::KillsItself => prompted.kill_self(Signal::Kill),
                Self::RefusesTheSession => script
                    .initialize()
                    .expect("session/new")
                    .respond_error(-32000, "no"),
                Self::Cancelled => prompted.expect("session/cancel").stop("cancelled"),
                Self::DroppedHandle => prompted.ignore_eof().ignore_sigterm(),
                Self::DroppedStart => script.ignore_sigterm().expect("initialize").touch("prompted"),
                Self::Stubborn => prompted.ignore_eof().ignore_sigterm().end_turn(),
                Self::LeavesGrandchildren => prompted
                    .spawn(Descendant::new("{cwd}/one").holds(Holds::Both).orphaned())
                    .spawn(Descendant::new("{cwd}/two").ignores_sigterm())
                    .end_turn()
                    .exit(0),
            }
        }
    }

    async fn one(kind: Kind) {
        let agent = FakeAgent::running(&kind.script()).with(|config| {
            config.dispose_eof_grace = Duration::from_millis(100);
            config.dispose_grace = Duration::from_millis(100);
            config.isolated_config_dirs = vec![("AGENT_HOME".into(), ConfigDirSource::Fresh)];
            if matches!(kind, Kind::NotStarted) {
                config.command = "/nonexistent/agent".into();
            }
        });
        let stop_reason = match kind {
            Kind::DroppedHandle => {
                let run = agent.start("do it").await.unwrap();
                agent.reached("prompted").await;
                drop(run);
                None
            }
            Kind::DroppedStart => {
                let provider = agent.provider();
                let mut start = provider.start(agent.request("do it"));
                tokio::select! {
                    _ = &mut start => panic!("the handshake cannot have ended"),
                    () = agent.reached("prompted") => {}
                }
                None
            }
            Kind::Cancelled => {
                let (run, cancel) = agent.start_cancellable("do it").await;
                agent.reached("prompted").await;
                cancel.cancel();
                let stop_reason = run.result().await.stop_reason;
                run.dispose().await.unwrap();
                Some(stop_reason)
            }
            _ => agent
                .delegate("do it")
                .await
                .result
                .map(|result| result.stop_reason),
        };
        let expected = match kind {
            Kind::Completed | Kind::Stubborn | Kind::LeavesGrandchildren => Some(StopReason::Completed),
            Kind::ExitsInMidTurn | Kind::KillsItself => Some(StopReason::Error),
            Kind::Cancelled => Some(StopReason::Aborted),
            Kind::DroppedHandle | Kind::DroppedStart | Kind::RefusesTheSession | Kind::NotStarted => None,
        };
        assert_eq!(stop_reason, expected, "{kind:?}: {:?}", agent.host_reports());
        if !matches!(kind, Kind::NotStarted) {
            let pid = agent.pid("pid").await;
            eventually("the child is gone", || !is_alive(pid)).await;
        }
    }

    fn open_files() -> usize {
        std::fs::read_dir("/proc/self/fd").unwrap().count()
    }

    fn entries(dir: &Path) -> BTreeSet<PathBuf> {
        std::fs::read_dir(dir)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect()
    }

    fn processes() -> impl Iterator<Item = u32> {
        let names = std::fs::read_dir("/proc").unwrap();
        names.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
    }

    /// The children of this process, zombies included.
    fn children() -> Vec<u32> {
        let own = std::process::id().to_string();
        let parent = |pid: &u32| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            // `pid (name) state ppid …`, and the name may hold anything.
            let parent = stat.rsplit(')').next()?.split_ascii_whitespace().nth(1)?;
            Some(parent.to_owned())
        };
        processes()
            .filter(|pid| parent(pid).as_deref() == Some(&own))
            .collect()
    }

    /// Processes that were started with a path below `place`: every fake and every descendant of one.
    fn living(place: &Path) -> Vec<u32> {
        let place = place.to_str().unwrap();
        let has_it = |pid: &u32| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains(place)
        };
        processes().filter(has_it).collect()
    }
}
