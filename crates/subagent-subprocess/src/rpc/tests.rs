//! Tests of a whole connection, in memory. This file owns what they share; each part has a file of its own.

mod ending;
mod reading;
mod writing;

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, DuplexStream, ReadBuf, Sink, duplex, sink};

use super::{Buffered, Connection, Ignored, Incoming, Limits, RpcError, Source};

const LIMITS: Limits = Limits {
    max_frame_bytes: 1 << 20,
    max_queued_bytes: 1 << 10,
};

/// The other end of a connection.
struct Peer {
    stdin: DuplexStream,
    stdout: DuplexStream,
}

/// A connection over pipes that hold `capacity` bytes each.
fn connected(capacity: usize, limits: Limits) -> (Connection<Buffered<DuplexStream>, DuplexStream>, Peer) {
    let (writer, stdin) = duplex(capacity);
    let (stdout, reader) = duplex(capacity);
    let connection = Connection::new(Buffered::new(reader), writer, limits);
    (connection, Peer { stdin, stdout })
}

/// A connection to a peer that has written `output`, reads everything and does no more.
fn reading<S: Source>(source: S, limits: Limits) -> Connection<S, Sink> {
    Connection::new(source, sink(), limits)
}

/// All that a connection with `requests` open requests makes of `output`, one line each, and what it ignored.
fn heard(output: &[u8], requests: usize, limits: Limits) -> (Vec<String>, Ignored) {
    let mut connection = reading(Buffered::new(output), limits);
    for _ in 0..requests {
        connection.request("ask", &()).unwrap();
    }
    (all_now(&mut connection), connection.ignored())
}

/// Everything that can be heard without waiting; the last line is the failure, if the connection failed.
fn all_now<R: Source, W: tokio::io::AsyncWrite + Unpin + Send>(
    connection: &mut Connection<R, W>,
) -> Vec<String> {
    let mut all = Vec::new();
    while let Poll::Ready(next) = poll_once(connection.next()) {
        all.push(shown(&next));
        if next.is_err() {
            break;
        }
    }
    all
}

fn shown(next: &Result<Incoming<'_>, RpcError>) -> String {
    let json =
        |raw: Option<&serde_json::value::RawValue>| raw.map_or("-".to_owned(), |raw| raw.get().to_owned());
    match next {
        Ok(Incoming::Notification { method, params, .. }) => {
            format!("notification {method} {}", json(*params))
        }
        Ok(Incoming::Request { id, method, params }) => {
            format!("request {} {method} {}", id.get(), json(*params))
        }
        Ok(Incoming::Response {
            id,
            outcome: Ok(result),
        }) => format!("response {id} {}", result.get()),
        Ok(Incoming::Response {
            id,
            outcome: Err(error),
        }) => {
            format!(
                "response {id} error {} {:?} {}",
                error.code,
                error.message,
                json(error.data.as_deref())
            )
        }
        Err(RpcError::Closed) => "closed".to_owned(),
        Err(error) => format!("failed: {error}"),
    }
}

/// Polls a future once and drops it.
fn poll_once<F: Future>(future: F) -> Poll<F::Output> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}

/// A source whose runtime has noticed nothing: only `read_now` finds what is there. `None` in `pieces` is an empty
/// moment; the end of `pieces` is the end of the stream, or goes on for ever when there is a `refill`.
struct Unnoticed {
    pieces: VecDeque<Option<&'static [u8]>>,
    refill: Option<&'static [u8]>,
    available: Option<usize>,
}

impl AsyncRead for Unnoticed {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, _: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Poll::Pending
    }
}

impl Source for Unnoticed {
    fn available(&self) -> io::Result<Option<usize>> {
        Ok(self.available)
    }

    fn read_now(&mut self, buf: &mut [u8]) -> io::Result<Option<usize>> {
        let Some(piece) = self.pieces.pop_front().or(self.refill.map(Some)) else {
            return Ok(Some(0));
        };
        Ok(piece.map(|piece| {
            let count = piece.len().min(buf.len());
            buf[..count].copy_from_slice(&piece[..count]);
            if count < piece.len() {
                self.pieces.push_front(Some(&piece[count..]));
            }
            count
        }))
    }
}
