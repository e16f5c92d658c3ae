//! The streams between a host and a scripted child, in memory. Owns what lies in them, who waits for it, and at which
//! byte of the child's output the host wrote what; knows nothing of frames beyond their newlines.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use subagent_subprocess::rpc::Source;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;

/// Both streams. Clones are the same.
#[derive(Clone, Default)]
pub(crate) struct Wire {
    state: Arc<Mutex<State>>,
    /// Wakes the child.
    changed: Arc<Notify>,
}

#[derive(Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one thing that a child may do at any time, whatever else it does"
)]
pub(crate) struct State {
    /// What the host has not read yet.
    output: VecDeque<u8>,
    /// Whether the child has closed its output.
    pub(crate) output_closed: bool,
    /// How many bytes the child has written.
    pub(crate) written: u64,
    /// The most bytes that one read yields; 0 for as many as there are.
    pub(crate) piece: usize,
    /// Whether the host cannot tell how much waits for it.
    pub(crate) blind: bool,
    /// The frames of the host, whole ones only.
    pub(crate) frames: Vec<Written>,
    /// The beginning of its next frame.
    begun: Vec<u8>,
    begun_at: u64,
    /// Whether the child does not read.
    pub(crate) stalled: bool,
    /// Whether the child has closed its input.
    pub(crate) deaf: bool,
    /// Whether the host has closed the child's input.
    pub(crate) input_closed: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

/// A frame of the host.
pub(crate) struct Written {
    pub(crate) line: Vec<u8>,
    /// How many bytes the child had written when the host began to write it.
    pub(crate) at: u64,
}

impl Wire {
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The host's ends.
    pub(crate) fn ends(&self) -> (HostInput, HostOutput) {
        (HostInput(self.clone()), HostOutput(self.clone()))
    }

    /// Changes something on the child's side, and lets the host see it.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let (changed, wakers) = {
            let mut state = self.lock();
            let changed = change(&mut state);
            (changed, [state.reader.take(), state.writer.take()])
        };
        wakers.into_iter().flatten().for_each(Waker::wake);
        changed
    }

    /// The child writes.
    pub(crate) fn write(&self, bytes: &[u8]) {
        self.change(|state| {
            if !state.output_closed {
                state.output.extend(bytes);
                state.written += bytes.len() as u64;
            }
        });
    }

    /// Waits until the host has done something, for one waiter.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }
}

impl State {
    fn read(&mut self, buf: &mut [u8]) -> Option<usize> {
        if self.output.is_empty() {
            return self.output_closed.then_some(0);
        }
        let piece = if self.piece == 0 { usize::MAX } else { self.piece };
        let count = buf.len().min(self.output.len()).min(piece);
        for (to, from) in buf.iter_mut().zip(self.output.drain(..count)) {
            *to = from;
        }
        Some(count)
    }

    fn take(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if self.begun.is_empty() {
                self.begun_at = self.written;
            }
            self.begun.push(*byte);
            if *byte == b'\n' {
                let line = std::mem::take(&mut self.begun);
                let at = self.begun_at;
                self.frames.push(Written { line, at });
            }
        }
    }
}

/// What the host reads.
pub(crate) struct HostInput(Wire);

impl AsyncRead for HostInput {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut state = self.0.lock();
        if let Some(count) = state.read(buf.initialize_unfilled()) {
            buf.advance(count);
            Poll::Ready(Ok(()))
        } else {
            state.reader = Some(cx.waker().clone());
            Poll::Pending
        }
    }
}

impl Source for HostInput {
    fn available(&self) -> io::Result<Option<usize>> {
        let state = self.0.lock();
        Ok((!state.blind).then_some(state.output.len()))
    }

    fn read_now(&mut self, buf: &mut [u8]) -> io::Result<Option<usize>> {
        Ok(self.0.lock().read(buf))
    }
}

/// What the host writes.
pub(crate) struct HostOutput(Wire);

impl AsyncWrite for HostOutput {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let mut state = self.0.lock();
        if state.deaf {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        if state.stalled {
            state.writer = Some(cx.waker().clone());
            return Poll::Pending;
        }
        state.take(buf);
        drop(state);
        self.0.changed.notify_one();
        Poll::Ready(Ok(buf.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl Drop for HostOutput {
    fn drop(&mut self) {
        self.0.lock().input_closed = true;
        self.0.changed.notify_one();
    }
}
