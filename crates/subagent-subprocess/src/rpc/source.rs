//! What a connection reads from: an asynchronous reader that can also be asked what it holds right now. Owns the trait
//! and an in-memory implementation; the one for a child's stdout lives with the pipes.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, ReadBuf};
use tokio::task::coop::unconstrained;

/// A reader of the peer's output.
pub trait Source: AsyncRead + Unpin + Send {
    /// How many bytes can be read right now without waiting for the writer; `None` when that is unknown.
    fn available(&self) -> io::Result<Option<usize>>;

    /// Reads what is there without waiting, whatever the runtime believes about readiness: `Ok(None)` when nothing is
    /// there, `Ok(Some(0))` at the end of the stream.
    fn read_now(&mut self, buf: &mut [u8]) -> io::Result<Option<usize>>;
}

/// Makes a [`Source`] of any reader that needs no driver to make progress, for example of
/// [`tokio::io::DuplexStream`]: to drive a connection in memory.
///
/// What it holds is unknown to it: [`available`](Source::available) is always `None`.
#[derive(Debug)]
pub struct Buffered<R>(R);

impl<R> Buffered<R> {
    /// Wraps `reader`.
    pub fn new(reader: R) -> Self {
        Self(reader)
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Buffered<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buf)
    }
}

impl<R: AsyncRead + Unpin + Send> Source for Buffered<R> {
    fn available(&self) -> io::Result<Option<usize>> {
        Ok(None)
    }

    fn read_now(&mut self, buf: &mut [u8]) -> io::Result<Option<usize>> {
        let mut buf = ReadBuf::new(buf);
        // Unconstrained: a task that has used up its share of the runtime must not read as an empty pipe.
        let read = unconstrained(poll_fn(|cx| Pin::new(&mut self.0).poll_read(cx, &mut buf)));
        match pin!(read).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Pending => Ok(None),
            Poll::Ready(outcome) => outcome.map(|()| Some(buf.filled().len())),
        }
    }
}
