//! A scripted fake agent runtime, for tests of programs that drive agents over stdio JSON-RPC.
//!
//! A test writes down what the child does, step by step, as a [`Script`]; the binary `jsonrpc-fake-runtime` does it, and
//! records every line it receives. Scripts can misbehave in every way that a child process can: die at any moment, say
//! nothing, say too much, close a pipe, ignore signals, leave descendants behind.
//!
//! ```
//! use jsonrpc_fake_runtime::acp::AcpSteps;
//! use jsonrpc_fake_runtime::{Prepared, Recording, Script};
//!
//! let script = Script::acp().prompted().chunk("you said: {prompt}").end_turn();
//! let prepared = Prepared::in_temp_dir(&script)?;
//! // Start the binary with `prepared.args()` as the child of the program under test, then look at
//! // what that program sent:
//! let recording: Recording = prepared.recording();
//! assert!(recording.frames()?.is_empty(), "nothing was started here");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`Script`] and [`Step`]: what a fake does, as data with a builder and a JSON form.
//! - [`acp`] and [`dsh_sdk`]: the words of the Agent Client Protocol and of the DSH SDK protocol; ready-made scripts are
//!   [`scenarios`].
//! - [`Prepared`], [`Recording`], [`Facts`]: for the test that starts the binary.
//! - [`Runtime`]: runs a script in this process, for a program that carries a fake agent inside.
//! - [`main`]: the whole binary in one line, for a package that needs a fake of its own.

pub mod acp;
mod cli;
mod descendant;
pub mod dsh_sdk;
mod engine;
mod error;
mod frame;
mod input;
mod misbehave;
mod prepared;
mod process;
mod record;
mod render;
mod runtime;
mod scenario;
mod script;
mod stdio;
mod step;
mod values;

pub use cli::main;
pub use descendant::{Descendant, Holds, Place};
pub use error::{RunError, StepError};
pub use prepared::{Prepared, example_program};
pub use process::Facts;
pub use record::Recording;
pub use runtime::{Outcome, Runtime};
pub use scenario::{Protocol, Scenario, UnknownProtocol, scenarios};
pub use script::{DEFAULT_LIFETIME_MS, Script, ScriptError};
pub use stdio::Stdio;
pub use step::{AnswerId, Condition, Signal, Split, Step};
pub use values::Received;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
