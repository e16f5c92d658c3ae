//! A bounded JSON-RPC 2.0 peer over newline-delimited JSON: the client's side of a child's stdin and stdout.
//!
//! This module owns framing, envelopes, request ids and the queue of outgoing frames. It knows no method, starts no
//! process, spawns no task, sets no deadline and has no defaults.
//!
//! One owner holds the [`Connection`] and drives it by calling [`Connection::next`] in its `select!` loop. Frames are
//! handled there, in the order in which the child wrote them; while the owner is busy nothing is read, so the pipe
//! itself is the back-pressure. Whatever the child does, memory stays within [`Limits`].
//!
//! ```
//! use serde_json::json;
//! use subagent_subprocess::rpc::{Buffered, Connection, Incoming, Limits, RpcError};
//! use tokio::io::{AsyncReadExt, AsyncWriteExt};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (stdin, mut child_stdin) = tokio::io::duplex(1024);
//! let (mut child_stdout, stdout) = tokio::io::duplex(1024);
//! let limits = Limits { max_frame_bytes: 1 << 20, max_queued_bytes: 1 << 16 };
//! let mut connection = Connection::new(Buffered::new(stdout), stdin, limits);
//!
//! let asked = connection.request("add", &json!({"a": 1, "b": 2}))?;
//! connection.flush().await?;
//! let mut frame = [0; 63];
//! child_stdin.read_exact(&mut frame).await?;
//! assert_eq!(&frame, b"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"add\",\"params\":{\"a\":1,\"b\":2}}\n");
//!
//! child_stdout.write_all(b"a banner\n{\"id\":0,\"result\":3}\n").await?;
//! let Incoming::Response { id, outcome } = connection.next().await? else { panic!("expected a response") };
//! assert_eq!((id, outcome?.get()), (asked, "3"));
//! assert_eq!(connection.ignored().not_json, 1);
//!
//! drop(child_stdout);
//! assert!(matches!(connection.next().await, Err(RpcError::Closed)));
//! # Ok(()) }
//! ```

mod connection;
mod envelope;
mod error;
mod frame;
mod id;
mod input;
mod object;
mod outgoing;
mod source;
mod surrogate;

#[cfg(test)]
mod tests;

pub use connection::{Connection, Ignored, Limits};
pub use envelope::Incoming;
pub use error::{RemoteError, RpcError};
pub use id::{PeerId, RequestId};
pub use object::read_object;
pub use source::{Buffered, Source};
