//! Running a script in this process: what it needs, and how it can end.
//!
//! Owns the public face of execution. The work is done in `engine`.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use crate::engine::Engine;
use crate::error::RunError;
use crate::record::Recorder;
use crate::script::Script;
use crate::stdio::Stdio;
use crate::values::{Computed, Received, Values};

/// How a script ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// After the last step the peer closed stdin.
    Finished,
    /// The peer closed stdin or stopped reading stdout before the last step.
    PeerClosed,
    /// A step `exit` with this code.
    Exited(u8),
    /// The lifetime of the script was over.
    LifetimeOver,
}

impl Outcome {
    /// The exit code that a process should end with.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Finished | Self::PeerClosed => 0,
            Self::Exited(code) => code,
            Self::LifetimeOver => 124,
        }
    }
}

/// A script, ready to be run in this process.
///
/// ```
/// use jsonrpc_fake_runtime::{Outcome, Runtime, Script, Stdio};
/// use serde_json::json;
///
/// let script = Script::new().expect("greet").respond(json!({"text": "{greeting}"}));
/// let (answer, output) = std::io::pipe()?;
/// let outcome = Runtime::new(script)
///     .value("greeting", |received| format!("hello {}", received.frame("greet").unwrap()["params"]["name"]))
///     .run(Stdio::of(&br#"{"id": 1, "method": "greet", "params": {"name": 5}}"#[..], output, std::io::sink()))?;
/// assert_eq!(outcome, Outcome::Finished);
/// let answer: serde_json::Value = serde_json::from_reader(answer)?;
/// assert_eq!(answer, json!({"jsonrpc": "2.0", "id": 1, "result": {"text": "hello 5"}}));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Runtime {
    script: Script,
    record: Option<PathBuf>,
    values: Values,
    descendants: Option<PathBuf>,
}

impl Runtime {
    /// Prepares a script.
    pub fn new(script: Script) -> Self {
        let values = Values {
            vars: script.vars.clone(),
            ..Values::default()
        };
        Self {
            script,
            record: None,
            values,
            descendants: None,
        }
    }

    /// Records every received line in a file, before it is acted on.
    #[must_use]
    pub fn record(mut self, path: impl Into<PathBuf>) -> Self {
        self.record = Some(path.into());
        self
    }

    /// Computes the placeholder `{name}` when it is used, from what has been received.
    #[must_use]
    pub fn value(mut self, name: &str, compute: impl Fn(&Received) -> String + 'static) -> Self {
        self.values
            .computed
            .insert(name.to_owned(), Box::new(compute) as Computed);
        self
    }

    /// Allows the step `spawn`. `program` is started with one hidden argument and must hand it to [`crate::main`], so
    /// that a program that knows nothing of it is never started by accident.
    #[must_use]
    pub fn descendants_from(mut self, program: impl Into<PathBuf>) -> Self {
        self.descendants = Some(program.into());
        self
    }

    /// Carries the script out. Blocks until it ends, at most for its lifetime as far as waiting goes; a write to a peer
    /// that does not read blocks until that peer goes away.
    pub fn run(self, stdio: Stdio) -> Result<Outcome, RunError> {
        let recorder = match &self.record {
            None => None,
            Some(path) => Some(Recorder::open(path).map_err(|source| RunError::Record {
                path: path.display().to_string(),
                source,
            })?),
        };
        let lifetime = Duration::from_millis(self.script.lifetime_ms);
        let mut engine = Engine::new(stdio, recorder, self.values, self.descendants, lifetime);
        for (index, step) in self.script.steps.iter().enumerate() {
            match engine.step(step) {
                Ok(ControlFlow::Continue(())) => {}
                Ok(ControlFlow::Break(outcome)) => return Ok(outcome),
                Err(source) => {
                    return Err(RunError::Step {
                        number: index + 1,
                        name: step.name(),
                        source,
                    });
                }
            }
        }
        engine.read_to_the_end().map_err(RunError::Afterwards)
    }
}
