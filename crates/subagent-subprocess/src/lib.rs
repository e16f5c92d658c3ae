//! Everything about one child process and its pipes.

mod agent;
mod child;
mod config_dir;
mod cwd;
mod deadline;
mod env;
mod error;
mod exit;
mod ladder;
mod launch;
mod options;
mod os;
mod pipe;
pub mod rpc;
mod spawn;
mod spec;
mod stderr_tail;

pub use agent::{AgentProcess, ChildConnection};
pub use child::ManagedChild;
pub use config_dir::IsolatedConfigDir;
pub use cwd::{configured_cwd, cwd_text, session_cwd};
pub use deadline::Deadlines;
pub use env::{ChildEnv, EnvVars};
pub use error::{Error, TeardownError};
pub use exit::ExitFacts;
pub use ladder::{Haste, Ladder, LadderStyle, Rung, Teardown};
pub use launch::{ConfigDirSource, LaunchOptions, LaunchPlan};
pub use options::{MAX_OPTION_MS, OptionError, check_bytes, check_time};
pub use pipe::{ChildInput, ChildStderr, ChildStdout, InputPipe, OutputPipe};
pub use spawn::{Spawned, spawn};
pub use spec::{ChildSpec, Program};
pub use stderr_tail::StderrTail;
