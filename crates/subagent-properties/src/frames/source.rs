//! A stream in pieces, and a source that watches how it is read. Owns how large the buffer behind it must be; what the
//! bytes mean is not known here.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use subagent_subprocess::rpc::Source;
use tokio::io::{AsyncRead, ReadBuf};

/// A stream that is cut into pieces of the given lengths, over and over.
pub(super) struct Cut<'a> {
    pub(super) left: VecDeque<&'a [u8]>,
    /// Whether the stream ends, or stays open and silent.
    ends: bool,
}

impl<'a> Cut<'a> {
    pub(super) fn whole(stream: &'a [u8]) -> Self {
        Self {
            left: VecDeque::from([stream]),
            ends: true,
        }
    }

    pub(super) fn into(stream: &'a [u8], pieces: &[usize], ends: bool) -> Self {
        let mut left = VecDeque::new();
        let mut rest = stream;
        for piece in pieces.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (head, tail) = rest.split_at((*piece).min(rest.len()));
            left.push_back(head);
            rest = tail;
        }
        Self { left, ends }
    }

    /// Takes what fits; `None` when nothing is there yet.
    fn take(&mut self, room: &mut [u8]) -> Option<usize> {
        let Some(piece) = self.left.pop_front() else {
            return self.ends.then_some(0);
        };
        let count = piece.len().min(room.len());
        room[..count].copy_from_slice(&piece[..count]);
        if count < piece.len() {
            self.left.push_front(&piece[count..]);
        }
        Some(count)
    }
}

/// A source that tells how large the buffer behind it must be, and is not ready every other time.
pub(super) struct Spied<'a> {
    source: Cut<'a>,
    /// How many bytes have come since the last newline: the buffer holds them all.
    held: usize,
    most: Arc<AtomicUsize>,
    ready: bool,
}

impl<'a> Spied<'a> {
    pub(super) fn new(source: Cut<'a>) -> (Self, Arc<AtomicUsize>) {
        let most = Arc::<AtomicUsize>::default();
        let spied = Self {
            source,
            held: 0,
            most: Arc::clone(&most),
            ready: false,
        };
        (spied, most)
    }

    fn read(&mut self, room: &mut [u8]) -> Option<usize> {
        assert!(!room.is_empty(), "a read without room reads as the end");
        self.most.fetch_max(self.held + room.len(), Ordering::Relaxed);
        let count = self.source.take(room)?;
        let newline = room[..count].iter().rposition(|byte| *byte == b'\n');
        self.held = newline.map_or(self.held + count, |place| count - place - 1);
        Some(count)
    }
}

impl AsyncRead for Spied<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.ready = !self.ready;
        if !self.ready {
            return Poll::Pending;
        }
        match self.read(buf.initialize_unfilled()) {
            Some(count) => {
                buf.advance(count);
                Poll::Ready(Ok(()))
            }
            None => Poll::Pending,
        }
    }
}

impl Source for Spied<'_> {
    fn available(&self) -> io::Result<Option<usize>> {
        Ok(Some(self.source.left.iter().map(|piece| piece.len()).sum()))
    }

    fn read_now(&mut self, buf: &mut [u8]) -> io::Result<Option<usize>> {
        Ok(self.read(buf))
    }
}
