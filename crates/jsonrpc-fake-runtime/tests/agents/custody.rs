//! One test, run twice: its agents are by themselves, then each is under a supervisor. Owns the two ways and how a fake
//! learns which one it is run; what is expected stands in the test, once for both.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use subagent_acp::Supervision;

use crate::support::{CUSTODY, Custody};

impl Custody {
    /// An agent's group is all that is reached.
    pub(crate) fn unsupervised() -> Self {
        Self::of(Supervision::ProcessGroup, false)
    }

    /// A supervisor of its own for each agent.
    #[cfg(target_os = "linux")]
    pub(crate) fn supervised() -> Self {
        Self::of(crate::supervision::supervisor(), true)
    }

    fn of(supervision: Supervision, is_supervised: bool) -> Self {
        Self {
            supervision,
            is_supervised,
            agents: Arc::default(),
        }
    }

    /// Runs a test whose agents are in this care, and fails if none of them was: then the test has started them where
    /// the choice is not known, in a task of its own that is not [`kept`] for example.
    pub(crate) async fn over(self, test: impl Future<Output = ()>) {
        let agents = Arc::clone(&self.agents);
        CUSTODY.scope(self, test).await;
        assert_ne!(agents.load(Ordering::Relaxed), 0, "no agent knew its custody");
    }

    /// The same for a test that runs itself in a process of its own. The first process starts no agent.
    #[cfg(target_os = "linux")]
    pub(crate) fn over_process(self, name: &str, test: impl FnOnce(&str)) {
        let agents = Arc::clone(&self.agents);
        CUSTODY.sync_scope(self, || test(name));
        if std::env::var_os(crate::lifecycle_host::ROLE).is_some() {
            assert_ne!(agents.load(Ordering::Relaxed), 0, "no agent knew its custody");
        }
    }
}

/// Whether the agents of this test have a supervisor: for the few things that must differ.
#[cfg(target_os = "linux")]
pub(crate) fn is_supervised() -> bool {
    let known = CUSTODY.try_with(|custody| custody.is_supervised);
    known.unwrap_or_default()
}

/// Work for another task or thread, whose agents are in the same care as those of this task.
#[cfg(target_os = "linux")]
pub(crate) fn kept<F: Future>(work: F) -> impl Future<Output = F::Output> {
    let custody = CUSTODY.try_with(Custody::clone);
    async {
        match custody {
            Ok(custody) => CUSTODY.scope(custody, work).await,
            Err(_) => work.await,
        }
    }
}

/// The full name of the test `name` in the module `path`, as the runner knows it.
#[cfg(target_os = "linux")]
pub(crate) fn test_name(path: &str, name: &str) -> String {
    let (_, inside) = path.split_once("::").unwrap();
    format!("{inside}::{name}")
}

/// Makes two tests of each function that is named, in the modules `unsupervised` and `supervised` beside it. A function
/// that is forgotten here is dead code, and so an error.
///
/// In front of the names stands what the test runs on: `one thread`, `threads`, or `a process of its own`; the last is a
/// function of the test's full name that is not async.
macro_rules! both_ways {
    (@ $way:ident
        $(one thread: $($single:ident),+ $(,)?;)?
        $(threads: $($multi:ident),+ $(,)?;)?
        $(a process of its own: $($own:ident),+ $(,)?;)?
    ) => {
        mod $way {
            $($(#[tokio::test]
            async fn $single() {
                $crate::support::Custody::$way().over(super::$single()).await;
            })+)?
            $($(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $multi() {
                $crate::support::Custody::$way().over(super::$multi()).await;
            })+)?
            $($(#[test]
            fn $own() {
                let name = $crate::custody::test_name(module_path!(), stringify!($own));
                $crate::support::Custody::$way().over_process(&name, super::$own);
            })+)?
        }
    };
    ($($tests:tt)+) => {
        $crate::custody::both_ways!(@ unsupervised $($tests)+);
        #[cfg(target_os = "linux")]
        $crate::custody::both_ways!(@ supervised $($tests)+);
    };
}
pub(crate) use both_ways;

#[cfg(target_os = "linux")]
mod tests {
    //! That a test run both ways is one: what the agents' parents are.

    use jsonrpc_fake_runtime::Script;
    use jsonrpc_fake_runtime::acp::AcpSteps as _;
    use jsonrpc_fake_runtime::dsh_sdk::DshSdkSteps as _;

    use crate::dsh_support::FakeRuntime;
    use crate::supervision_deaths::parent_of;
    use crate::support::{FakeAgent, note_pid};

    super::both_ways! { one thread: an_agent_and_a_runtime_have_the_parent_that_the_way_says; }

    async fn an_agent_and_a_runtime_have_the_parent_that_the_way_says() {
        let ours = std::process::id();
        let is_as_told = |pid: u32| {
            let parent = parent_of(pid);
            if super::is_supervised() {
                parent != ours && parent_of(parent) == ours
            } else {
                parent == ours
            }
        };
        let agent = FakeAgent::running(&Script::acp().step(note_pid()).prompted());
        let run = agent.start("do it").await.unwrap();
        assert!(is_as_told(agent.pid("pid").await));
        run.dispose().await.unwrap();

        let runtime = FakeRuntime::running(&Script::dsh_sdk().step(note_pid()).accepted().shutdown());
        let run = runtime.start("do it").await.unwrap();
        assert!(is_as_told(runtime.pid("pid").await));
        run.dispose().await.unwrap();

        let kept = tokio::spawn(super::kept(async { super::is_supervised() }));
        assert_eq!(kept.await.unwrap(), super::is_supervised());
    }
}
