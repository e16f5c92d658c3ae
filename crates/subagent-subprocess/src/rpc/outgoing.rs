//! Outgoing frames: their encoding, and the bounded queue in which they wait. Knows nothing of what the frames mean.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use memchr::memchr;
use serde::Serialize;
use serde::ser::Error as _;
use tokio::io::AsyncWrite;

use super::{PeerId, RequestId, RpcError};

/// One outgoing frame. Members that are `None` are left out.
#[derive(Serialize)]
pub(super) struct OutgoingFrame<'a, P: ?Sized> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Id<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<&'a P>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a P>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Rejection>,
}

impl<'a, P: Serialize + ?Sized> OutgoingFrame<'a, P> {
    pub(super) fn request(id: RequestId, method: &'a str, params: &'a P) -> Self {
        Self {
            id: Some(Id::Ours(id)),
            ..Self::notification(method, params)
        }
    }

    pub(super) fn notification(method: &'a str, params: &'a P) -> Self {
        Self {
            method: Some(method),
            params: Some(params),
            ..Self::EMPTY
        }
    }

    pub(super) fn reply(id: &'a PeerId, result: &'a P) -> Self {
        Self {
            id: Some(Id::Theirs(id)),
            result: Some(result),
            ..Self::EMPTY
        }
    }

    const EMPTY: Self = Self {
        jsonrpc: "2.0",
        id: None,
        method: None,
        params: None,
        result: None,
        error: None,
    };

    /// The frame as one line, newline included.
    pub(super) fn encode(&self) -> Result<Vec<u8>, RpcError> {
        let mut line = serde_json::to_vec(self).map_err(RpcError::Encode)?;
        if memchr(b'\n', &line).is_some() {
            // Only JSON that was formatted elsewhere and passed through as it is can hold one.
            let error = serde_json::Error::custom("raw JSON with a line break does not fit in one line");
            return Err(RpcError::Encode(error));
        }
        line.push(b'\n');
        Ok(line)
    }
}

impl<'a> OutgoingFrame<'a, ()> {
    pub(super) fn rejection(id: &'a PeerId, code: i64, message: &'static str) -> Self {
        Self {
            id: Some(Id::Theirs(id)),
            error: Some(Rejection { code, message }),
            ..Self::EMPTY
        }
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum Id<'a> {
    Ours(RequestId),
    Theirs(&'a PeerId),
}

#[derive(Serialize)]
struct Rejection {
    code: i64,
    message: &'static str,
}

/// Frames on their way to the peer. The one being written may have any size; those behind it are bounded together.
#[derive(Debug)]
pub(super) struct Queue {
    current: Vec<u8>,
    /// How much of `current` is written.
    written: usize,
    waiting: VecDeque<Vec<u8>>,
    waiting_bytes: usize,
    limit: usize,
    /// Whether the writer has bytes that it may still hold back.
    unflushed: bool,
}

/// The frames behind the one being written would pass the bound.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Full {
    pub(super) limit: usize,
}

impl Queue {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            current: Vec::new(),
            written: 0,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            limit,
            unflushed: false,
        }
    }

    pub(super) fn push(&mut self, frame: Vec<u8>) -> Result<(), Full> {
        if self.current.is_empty() {
            self.current = frame;
            return Ok(());
        }
        let waiting_bytes = self.waiting_bytes.saturating_add(frame.len());
        if waiting_bytes > self.limit {
            return Err(Full { limit: self.limit });
        }
        self.waiting_bytes = waiting_bytes;
        self.waiting.push_back(frame);
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.current.is_empty()
    }

    pub(super) fn clear(&mut self) {
        *self = Self::new(self.limit);
    }

    /// Writes as much as `writer` takes; ready once everything is written.
    pub(super) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        writer: &mut (impl AsyncWrite + Unpin),
    ) -> Poll<io::Result<()>> {
        while !self.current.is_empty() {
            let rest = &self.current[self.written..];
            let count = ready!(Pin::new(&mut *writer).poll_write(cx, rest))?;
            if count == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.unflushed = true;
            self.written += count;
            if self.written >= self.current.len() {
                self.written = 0;
                self.current = self.waiting.pop_front().unwrap_or_default();
                self.waiting_bytes -= self.current.len();
            }
        }
        if self.unflushed {
            ready!(Pin::new(writer).poll_flush(cx))?;
            self.unflushed = false;
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    #[test]
    fn only_frames_behind_the_one_being_written_count() {
        let mut queue = Queue::new(10);
        assert_eq!(queue.push(vec![b'a'; 1000]), Ok(()));
        assert_eq!(queue.push(vec![b'b'; 4]), Ok(()));
        assert_eq!(queue.push(vec![b'c'; 7]), Err(Full { limit: 10 }));
        assert_eq!(queue.push(vec![b'd'; 6]), Ok(()));
        assert_eq!(queue.push(vec![b'e'; 1]), Err(Full { limit: 10 }));

        let mut written = Vec::new();
        let mut cx = Context::from_waker(std::task::Waker::noop());
        assert!(matches!(
            queue.poll_write(&mut cx, &mut written),
            Poll::Ready(Ok(()))
        ));
        assert_eq!(written[1000..], *b"bbbbdddddd");
        assert_eq!(
            queue.push(vec![b'f'; 1000]),
            Ok(()),
            "an idle connection takes a frame of any size"
        );
        assert_eq!(queue.push(vec![b'g'; 10]), Ok(()), "nothing waits any more");
    }

    #[test]
    fn a_writer_that_takes_nothing_is_an_error() {
        let mut queue = Queue::new(10);
        queue.push(vec![b'a'; 5]).unwrap();
        let mut cx = Context::from_waker(std::task::Waker::noop());
        let Poll::Ready(Err(error)) = queue.poll_write(&mut cx, &mut io::Cursor::new(&mut [0; 4][..])) else {
            panic!("expected an error")
        };
        assert_eq!(error.kind(), io::ErrorKind::WriteZero);
    }

    #[test]
    fn raw_json_with_a_line_break_is_refused() {
        let raw = RawValue::from_string("{\n}".to_owned()).unwrap();
        let error = OutgoingFrame::notification("m", &*raw).encode().unwrap_err();
        assert!(matches!(error, RpcError::Encode(_)), "{error:?}");
    }
}
