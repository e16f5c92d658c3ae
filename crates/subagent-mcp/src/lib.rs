//! The delegation tools over the Model Context Protocol: a server that any client of that protocol can use.
//!
//! A [`Server`] holds the tools of a deployment. [`Server::serve`] serves one connection to its end: every tool of the
//! deployment, and beside them the job tools where a task can run in the background. One connection is one session. It
//! owns its background jobs, and when it ends, all its runs and jobs are cancelled and torn down before `serve` returns.
//!
//! The texts that a model reads are those of [`subagent_tool`]; here they only get their place in the protocol. A call
//! that fails is answered with a result that says so, never with an error of the protocol.
//!
//! ```no_run
//! use subagent_config::{HostContext, load_file};
//! use subagent_mcp::{Server, ServerOptions};
//! use subagent_seam::HostReporter;
//! use tokio_util::sync::CancellationToken;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let host = HostContext::from_process()?;
//! let deployment = load_file("subagents.yml", &host)?.deploy(&HostReporter::default())?;
//! let options = ServerOptions::in_directory(host.launch_dir());
//! let server = Server::of(&deployment, options)?;
//! // Cancelled by whatever shall end the server, for example a signal.
//! let stop = CancellationToken::new();
//! let served = server.serve(tokio::io::stdin(), tokio::io::stdout(), stop).await;
//! server.shutdown().await;
//! Ok(served?)
//! # }
//! ```

mod arguments;
mod call;
mod catalogue;
mod connection;
mod directory;
mod error;
mod input;
mod malformed;
mod output;
mod progress;
mod roots;
mod schema;
mod server;
mod watched;
mod wire;

pub use error::ServeError;
pub use server::{MAX_CALLS, Server, ServerOptions};
pub use wire::{MAX_MESSAGE_BYTES, MAX_WAITING_MESSAGES};

/// The examples of the README, compiled with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
