//! The one place that spawns a process. Owns the order in which a child comes to life: one after another, each in its
//! own process group, with its whole environment and three pipes.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::child::ManagedChild;
use crate::os::{Leader, Pipes};
use crate::pipe::{ChildInput, ChildStderr, ChildStdout};
use crate::supervisor::Supervisor;
use crate::{ChildProcess, ChildSpec, Error};

/// A child that has just been spawned, with its pipes.
#[derive(Debug)]
pub struct Spawned<P: ChildProcess = ManagedChild> {
    /// The process.
    pub child: P,
    /// Writes to its standard input; dropping it closes the pipe.
    pub stdin: P::Stdin,
    /// Reads its standard output.
    pub stdout: P::Stdout,
    /// Reads its standard error.
    pub stderr: P::Stderr,
}

/// Spawns a child in a process group of its own. Must be called within a Tokio runtime with I/O enabled.
///
/// Nothing of the host is inherited but what `spec` names: no variable, no directory, and no descriptor that is closed on
/// `exec`, as everything is that Rust opens.
///
/// # Errors
///
/// The command was not found or could not be executed. Nothing is left behind.
pub fn spawn(spec: &ChildSpec) -> Result<Spawned, Error> {
    let program = spec.program.locate(&spec.env)?;
    let mut command = command(spec, &program);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let spawned = {
        let _turn = turn();
        Leader::spawn(command)
    };
    let (leader, pipes) = match spawned {
        Ok(spawned) => spawned,
        Err(source) => return Err(Error::Spawn { program, source }),
    };
    // From here on an early return drops the leader, and that kills it.
    Spawned::new(ManagedChild::new(leader), pipes).map_err(|source| Error::Spawn { program, source })
}

/// The same under a supervisor, if there is to be one. Blocks until the agent runs: as long as the system takes to start
/// two processes.
#[cfg_attr(
    not(target_os = "linux"),
    expect(unused_variables, reason = "no other platform has supervisors")
)]
pub(crate) fn spawn_under(supervisor: Option<&Supervisor>, spec: &ChildSpec) -> Result<Spawned, Error> {
    #[cfg(target_os = "linux")]
    if let Some(supervisor) = supervisor {
        use crate::supervisor::{Order, Supervised};
        let program = spec.program.locate(&spec.env)?;
        let order = Order {
            windows: supervisor.windows,
            located: program.clone(),
            spec: spec.clone(),
        };
        let (agent, pipes) = Supervised::spawn(supervisor, &order)?;
        return Spawned::new(ManagedChild::supervised(agent), pipes)
            .map_err(|source| Error::Spawn { program, source });
    }
    spawn(spec)
}

/// The right to have a child's ends of its pipes, and to spawn, for as long as it is held.
///
/// While a child comes to life, this process holds the child's ends of its pipes as well, and so would any other child
/// that is forked in that moment, until it runs its own program: a pipe that the first one closes would stay open then,
/// and a write into it succeed that nobody will ever read.
pub(crate) fn turn() -> MutexGuard<'static, ()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Spawned {
    fn new(child: ManagedChild, (stdin, stdout, stderr): Pipes) -> io::Result<Self> {
        Ok(Self {
            child,
            stdin: ChildInput::new(stdin)?,
            stdout: ChildStdout::new(stdout)?,
            stderr: ChildStderr::new(stderr)?,
        })
    }
}

/// The child itself, without its pipes.
///
/// No `pre_exec`: it would make the standard library fork, which copies the page tables of the whole host.
#[expect(clippy::disallowed_methods, reason = "the one place where a child is spawned")]
pub(crate) fn command(spec: &ChildSpec, program: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .args(&spec.args)
        .current_dir(&spec.cwd)
        .env_clear()
        .envs(spec.env.iter());
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt as _;
        command.process_group(0);
        if let crate::Program::Bare(name) = &spec.program {
            command.arg0(name);
        }
    }
    command
}

/// A supervisor without its input: in a group of its own, which no terminal signals, in no directory that anybody may want
/// to remove, and with nothing of the host's environment but what its libraries are found by.
#[cfg(target_os = "linux")]
#[expect(
    clippy::disallowed_methods,
    reason = "the one place where a process is spawned"
)]
pub(crate) fn supervisor_command(program: &Path) -> Command {
    use std::os::unix::process::CommandExt as _;
    const LIBRARIES: &str = "LD_LIBRARY_PATH";
    let mut command = Command::new(program);
    command
        .arg0("subagent-supervisor")
        .current_dir("/")
        .env_clear()
        .envs(std::env::var_os(LIBRARIES).map(|path| (LIBRARIES, path)))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0);
    command
}
