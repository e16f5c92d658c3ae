//! The one place that spawns a process. Owns the order in which a child comes to life: one after another, each in its
//! own process group, with its whole environment and three pipes.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use crate::child::ManagedChild;
use crate::os::Leader;
use crate::pipe::{ChildInput, ChildStderr, ChildStdout};
use crate::{ChildSpec, Error};

/// A child that has just been spawned, with its pipes.
#[derive(Debug)]
pub struct Spawned {
    /// The process.
    pub child: ManagedChild,
    /// Writes to its standard input; dropping it closes the pipe.
    pub stdin: ChildInput,
    /// Reads its standard output.
    pub stdout: ChildStdout,
    /// Reads its standard error.
    pub stderr: ChildStderr,
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
    let command = command(spec, &program);
    let fail = |source| Error::Spawn {
        program: program.clone(),
        source,
    };
    let (leader, pipes) = {
        // While a child comes to life, this process holds the child's ends of its pipes as well, and so would any other
        // child that is forked in that moment, until it runs its own program: a pipe that the first one closes would
        // stay open then, and a write into it succeed that nobody will ever read.
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        Leader::spawn(command).map_err(fail)?
    };
    // From here on an early return drops the leader, and that kills it.
    let child = ManagedChild::new(leader);
    let (stdin, stdout, stderr) = pipes;
    Ok(Spawned {
        child,
        stdin: ChildInput::new(stdin).map_err(fail)?,
        stdout: ChildStdout::new(stdout).map_err(fail)?,
        stderr: ChildStderr::new(stderr).map_err(fail)?,
    })
}

/// No `pre_exec`: it would make the standard library fork, which copies the page tables of the whole host.
#[expect(clippy::disallowed_methods, reason = "the one place where a child is spawned")]
fn command(spec: &ChildSpec, program: &PathBuf) -> Command {
    let mut command = Command::new(program);
    command
        .args(&spec.args)
        .current_dir(&spec.cwd)
        .env_clear()
        .envs(spec.env.iter())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
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
