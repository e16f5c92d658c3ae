//! Everything about one child process that is talked to over its pipes: its environment and working directory, the one
//! place that spawns, a bounded JSON-RPC peer, the observed exit, and a teardown ladder that returns when the process and
//! its group are gone.
//!
//! [`LaunchPlan`] holds what is decided once; [`AgentProcess`] is one running child with its conversation. The parts below
//! them can be used alone: [`spawn`], [`ManagedChild`], [`rpc`], [`Ladder`].
//!
//! Errors and observations of this crate may hold text that the child controls. They are for hosts and operators.

mod agent;
mod child;
mod child_process;
mod config_dir;
mod cwd;
mod deadline;
mod env;
mod env_policy;
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
pub mod supervisor;

pub use agent::{AgentProcess, ChildConnection};
pub use child::ManagedChild;
pub use child_process::ChildProcess;
pub use config_dir::IsolatedConfigDir;
pub use cwd::{configured_cwd, cwd_text, session_cwd};
pub use deadline::Deadlines;
pub use env::{ChildEnv, EnvVars};
pub use env_policy::EnvPolicy;
pub use error::{Error, TeardownError};
pub use exit::ExitFacts;
pub use ladder::{Haste, Ladder, LadderStyle, Rung, Teardown};
pub use launch::{ConfigDirSource, LaunchOptions, LaunchPlan};
pub use options::{MAX_OPTION_MS, OptionError, check_bytes, check_time};
pub use pipe::{ChildInput, ChildStderr, ChildStdout, InputPipe, OutputPipe};
pub use spawn::{Spawned, spawn};
pub use spec::{ChildSpec, Program};
pub use stderr_tail::StderrTail;
pub use supervisor::Supervision;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
