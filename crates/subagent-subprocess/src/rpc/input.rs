//! The reading side of a connection: the peer's output, line by line, until it ends or the peer has exited. Owns when
//! and how much is read; knows nothing of what a line means.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::ReadBuf;

use super::envelope::Place;
use super::frame::{CHUNK, FrameBuffer, TooLong};
use super::{RpcError, Source};

/// A source and the buffer that it is read into.
pub(super) struct Input<R> {
    source: R,
    buffer: FrameBuffer,
    stage: Stage,
    received_bytes: u64,
}

#[derive(Clone, Copy)]
enum Stage {
    /// The peer may write on.
    Open,
    /// The peer has exited: at most so many bytes of its output can be left.
    Draining { left: usize },
    /// Every byte is in the buffer.
    Ended,
}

impl<R: Source> Input<R> {
    pub(super) fn new(source: R, max_frame_bytes: usize) -> Self {
        Self {
            source,
            buffer: FrameBuffer::new(max_frame_bytes),
            stage: Stage::Open,
            received_bytes: 0,
        }
    }

    /// The next line, as a place in the [buffer](Self::bytes) that stays valid until the next call. What the peer left
    /// without a newline when it ended is the last line.
    ///
    /// When `eager`, what can be read right now is read, whether or not the runtime has noticed it: not ready means
    /// that nothing was there.
    pub(super) fn poll_line(&mut self, cx: &mut Context<'_>, eager: bool) -> Poll<Result<Place, RpcError>> {
        loop {
            match self.buffer.take_line() {
                Ok(Some(line)) => return Poll::Ready(Ok(line)),
                Ok(None) => {}
                Err(TooLong { limit }) => return Poll::Ready(Err(RpcError::FrameTooLong { limit })),
            }
            match ready!(self.poll_fill(cx, eager)) {
                Ok(0) => {
                    self.stage = Stage::Ended;
                    let rest = self.buffer.take_rest();
                    return Poll::Ready(if rest.is_empty() {
                        Err(RpcError::Closed)
                    } else {
                        Ok(rest)
                    });
                }
                Ok(count) => {
                    self.buffer.filled(count);
                    self.received_bytes += count as u64;
                }
                Err(error) => return Poll::Ready(Err(RpcError::Read(error))),
            }
        }
    }

    /// From now on only what the source holds at this moment is read.
    pub(super) fn finish(&mut self) {
        if let Stage::Open = self.stage {
            // A source that fails to say what it holds is treated like one that does not know.
            let known = self.source.available().unwrap_or(None);
            let left = known.unwrap_or_else(|| self.buffer.limit().saturating_add(CHUNK));
            self.stage = Stage::Draining { left };
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.buffer.bytes()
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        self.buffer.bytes_mut()
    }

    /// Whether the peer is known to have exited.
    pub(super) fn is_finishing(&self) -> bool {
        !matches!(self.stage, Stage::Open)
    }

    pub(super) fn arrived_bytes(&self) -> u64 {
        let waiting = self.source.available().ok().flatten().unwrap_or(0);
        self.received_bytes + waiting as u64
    }

    pub(super) fn taken_bytes(&self) -> u64 {
        self.received_bytes - self.buffer.waiting() as u64
    }

    /// Reads and drops. Never ready: after the end of the stream there is nothing to wake for.
    pub(super) fn poll_discard<T>(&mut self, cx: &mut Context<'_>) -> Poll<T> {
        while let Stage::Open = self.stage {
            self.buffer.take_rest();
            match ready!(self.poll_fill(cx, false)) {
                Ok(0) | Err(_) => self.stage = Stage::Ended,
                Ok(_) => {}
            }
        }
        Poll::Pending
    }

    pub(super) fn received_bytes(&self) -> u64 {
        self.received_bytes
    }

    /// Reads once; 0 is the end.
    fn poll_fill(&mut self, cx: &mut Context<'_>, eager: bool) -> Poll<io::Result<usize>> {
        let room = match self.stage {
            Stage::Open => {
                let mut room = ReadBuf::new(self.buffer.room());
                return match Pin::new(&mut self.source).poll_read(cx, &mut room) {
                    Poll::Ready(outcome) => Poll::Ready(outcome.map(|()| room.filled().len())),
                    Poll::Pending if eager => match self.source.read_now(self.buffer.room()).transpose() {
                        Some(outcome) => Poll::Ready(outcome),
                        None => Poll::Pending,
                    },
                    Poll::Pending => Poll::Pending,
                };
            }
            Stage::Draining { left } => {
                let room = self.buffer.room();
                let wanted = room.len().min(left);
                &mut room[..wanted]
            }
            Stage::Ended => return Poll::Ready(Ok(0)),
        };
        if room.is_empty() {
            return Poll::Ready(Ok(0));
        }
        let count = self.source.read_now(room)?.unwrap_or(0);
        if let Stage::Draining { left } = &mut self.stage {
            *left -= count.min(*left);
        }
        Poll::Ready(Ok(count))
    }
}
