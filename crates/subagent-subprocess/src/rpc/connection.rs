//! The connection: one owner, who writes, reads and waits through it. Owns the order of events and what a failure
//! means for the calls after it; bytes, frames and ids are the neighbours' business.

use std::convert::Infallible;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use serde::Serialize;
use tokio::io::AsyncWrite;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::envelope::{self, Frame, Place};
use super::id::{Answer, OpenRequests};
use super::input::Input;
use super::outgoing::{Full, OutgoingFrame, Queue};
use super::{Incoming, PeerId, RequestId, RpcError, Source, surrogate};

/// How many lines one poll skips before it lets the runtime do something else.
const MOST_SKIPPED: usize = 1024;

/// The bounds of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes that a line of the peer may have, its newline not counted.
    pub max_frame_bytes: usize,
    /// The most bytes that may wait behind the frame being written. The frame being written does not count.
    pub max_queued_bytes: usize,
}

/// How much of what the peer wrote was ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ignored {
    /// Lines that are no JSON-RPC frame: no JSON, no UTF-8, no object, or an object that is neither call nor answer.
    /// Blank lines do not count.
    pub not_json: u64,
    /// Answers to nothing that was asked, or to a request that was forgotten.
    pub unknown_response: u64,
    /// Further answers to a request that had been answered.
    pub repeated_response: u64,
}

/// The client's side of a JSON-RPC connection over a peer's input (`W`) and output (`R`).
///
/// # Failures
///
/// A failure is final: every later call reports it again. One is special: that the peer's input could not be written
/// (it closed its stdin, say) does not hide what the peer still has to say. [`next`](Self::next) reports
/// [`RpcError::Write`] only while nothing can be read, and goes on to yield frames if some arrive later.
pub struct Connection<R, W> {
    input: Input<R>,
    writer: Option<W>,
    queue: Queue,
    requests: OpenRequests,
    ignored: Ignored,
    last_frame_at: Instant,
    write_failure: Option<RpcError>,
    failure: Option<RpcError>,
    drained: Arc<Notify>,
}

impl<R: Source, W: AsyncWrite + Unpin + Send> Connection<R, W> {
    /// A connection that reads the peer's output from `reader` and writes its input to `writer`.
    pub fn new(reader: R, writer: W, limits: Limits) -> Self {
        Self {
            input: Input::new(reader, limits.max_frame_bytes),
            writer: Some(writer),
            queue: Queue::new(limits.max_queued_bytes),
            requests: OpenRequests::default(),
            ignored: Ignored::default(),
            last_frame_at: Instant::now(),
            write_failure: None,
            failure: None,
            drained: Arc::default(),
        }
    }

    /// Queues a request. It is written by [`next`](Self::next) or [`flush`](Self::flush).
    ///
    /// # Errors
    ///
    /// [`RpcError::QueueFull`], which fails the connection; [`RpcError::Encode`], which does not;
    /// [`RpcError::Closed`] after [`close_input`](Self::close_input); whatever failure came before, a
    /// [`RpcError::Write`] included.
    pub fn request<P: Serialize + ?Sized>(
        &mut self,
        method: &str,
        params: &P,
    ) -> Result<RequestId, RpcError> {
        if let Some(failure) = &self.write_failure {
            return Err(failure.again());
        }
        let id = self.requests.next_id();
        self.enqueue(&OutgoingFrame::request(id, method, params))?;
        self.requests.open();
        Ok(id)
    }

    /// Queues a notification. Once writing has failed it is dropped without an error, for the reason given under
    /// [Failures](Self#failures).
    ///
    /// # Errors
    ///
    /// As [`request`](Self::request), [`RpcError::Write`] excepted.
    pub fn notify<P: Serialize + ?Sized>(&mut self, method: &str, params: &P) -> Result<(), RpcError> {
        self.enqueue(&OutgoingFrame::notification(method, params))
    }

    /// Queues the answer to a request of the peer. Once writing has failed it is dropped, as for
    /// [`notify`](Self::notify).
    ///
    /// # Errors
    ///
    /// As [`notify`](Self::notify).
    pub fn reply<P: Serialize + ?Sized>(&mut self, id: &PeerId, result: &P) -> Result<(), RpcError> {
        self.enqueue(&OutgoingFrame::reply(id, result))
    }

    /// Queues an error as the answer to a request of the peer. Once writing has failed it is dropped, as for
    /// [`notify`](Self::notify).
    ///
    /// # Errors
    ///
    /// As [`notify`](Self::notify).
    pub fn reject(&mut self, id: &PeerId, code: i64, message: &'static str) -> Result<(), RpcError> {
        self.enqueue(&OutgoingFrame::rejection(id, code, message))
    }

    /// Stops waiting for the answer to a request. An answer that comes late is ignored, and counted as unknown.
    pub fn forget(&mut self, id: RequestId) {
        self.requests.forget(id);
    }

    /// Waits for the next frame that means something, and writes what is queued at the same time.
    ///
    /// Cancel-safe: when the future is dropped, no byte that was read and no part of a frame that was written is lost.
    ///
    /// # Errors
    ///
    /// Once everything readable has been yielded, the failure of the connection: see [Failures](Self#failures).
    /// [`RpcError::Closed`] is the end of the peer's output.
    pub async fn next(&mut self) -> Result<Incoming<'_>, RpcError> {
        let frame = poll_fn(|cx| self.poll_frame(cx, false)).await?;
        Ok(frame.read(self.input.bytes(), self.input.taken_bytes()))
    }

    /// As [`next`](Self::next), and takes `exited` as the word that the peer has exited: what its pipe holds at that moment
    /// is still yielded, then [`RpcError::Closed`] is reported, as after [`finish_reading`](Self::finish_reading).
    ///
    /// Cancel-safe.
    ///
    /// # Errors
    ///
    /// As [`next`](Self::next).
    pub async fn next_or_exit(&mut self, exited: impl Future<Output = ()>) -> Result<Incoming<'_>, RpcError> {
        let mut exited = pin!(exited);
        let frame = poll_fn(|cx| {
            // First, lest a descendant that never stops writing hides the exit.
            if !self.input.is_finishing() && exited.as_mut().poll(cx).is_ready() {
                self.finish_reading();
            }
            self.poll_frame(cx, false)
        })
        .await?;
        Ok(frame.read(self.input.bytes(), self.input.taken_bytes()))
    }

    /// The next frame among the first `arrived` bytes of the peer's output, for which
    /// [`arrived_bytes`](Self::arrived_bytes) was asked before. Waits for nothing: `None` when there is none, or only the
    /// beginning of one.
    ///
    /// # Errors
    ///
    /// As [`next`](Self::next).
    pub fn next_arrived(&mut self, arrived: u64) -> Option<Result<Incoming<'_>, RpcError>> {
        if self.input.taken_bytes() >= arrived {
            return None;
        }
        // Nobody is to be woken: whoever waits for frames asks again, and is then noted in the place of this.
        match self.poll_frame(&mut Context::from_waker(Waker::noop()), true) {
            Poll::Pending => None,
            Poll::Ready(Err(failure)) => Some(Err(failure)),
            Poll::Ready(Ok(frame)) => Some(Ok(frame.read(self.input.bytes(), self.input.taken_bytes()))),
        }
    }

    /// Reads and drops whatever the peer writes, so that it is never kept from going on, and never ends. For a peer that
    /// is being ended: no frame can be had from the connection any more. Cancel-safe.
    pub async fn discard(&mut self) -> Infallible {
        self.failure.get_or_insert(RpcError::Closed);
        poll_fn(|cx| self.input.poll_discard(cx)).await
    }

    /// Writes what is queued, without reading anything.
    ///
    /// A peer that reads nothing until its own output has been read makes this wait for ever: bound it. Cancel-safe.
    ///
    /// # Errors
    ///
    /// [`RpcError::Write`].
    pub async fn flush(&mut self) -> Result<(), RpcError> {
        poll_fn(|cx| {
            ready!(self.poll_write(cx));
            Poll::Ready(match &self.write_failure {
                Some(failure) => Err(failure.again()),
                None => Ok(()),
            })
        })
        .await
    }

    /// Whether no frame waits to be written. An owner that has more to send than the [bound](Limits::max_queued_bytes)
    /// takes waits for this, and so for the peer to read.
    pub fn is_drained(&self) -> bool {
        self.queue.is_empty()
    }

    /// Waits for the next time that everything queued has been written or dropped, if that has not happened since the last
    /// such wait: look at [`is_drained`](Self::is_drained) again afterwards. The future borrows nothing, so that it can
    /// be awaited beside [`next`](Self::next), which does the writing. For one waiter. Cancel-safe. Unbounded.
    pub fn drained(&self) -> impl Future<Output = ()> + Send + use<R, W> {
        let drained = Arc::clone(&self.drained);
        async move { drained.notified().await }
    }

    /// Says that the peer has exited. From now on [`next`](Self::next) yields what its pipe holds at this moment and
    /// then reports [`RpcError::Closed`], also when a descendant of the peer holds the pipe open and writes on.
    ///
    /// When the source does not know what it holds, at most as much as one frame may have is read. Idempotent.
    pub fn finish_reading(&mut self) {
        self.input.finish();
    }

    /// Closes the peer's input. Frames that are not written yet are dropped. Idempotent.
    pub fn close_input(&mut self) {
        self.writer = None;
        self.queue.clear();
        self.drained.notify_one();
    }

    /// How many bytes of the peer's output lie before this moment, as far as that can be told: what has been read and what
    /// waits in the pipe. A notification whose [end](Incoming::Notification::end) is not beyond it was written before now.
    pub fn arrived_bytes(&self) -> u64 {
        self.input.arrived_bytes()
    }

    /// How many bytes the peer has written so far, noise included.
    pub fn received_bytes(&self) -> u64 {
        self.input.received_bytes()
    }

    /// When the last well-formed JSON-RPC frame was taken, also one that was then ignored; noise does not count. At
    /// first the time at which the connection was made.
    pub fn last_frame_at(&self) -> Instant {
        self.last_frame_at
    }

    /// What was ignored so far.
    pub fn ignored(&self) -> Ignored {
        self.ignored
    }

    fn enqueue<P: Serialize + ?Sized>(&mut self, frame: &OutgoingFrame<'_, P>) -> Result<(), RpcError> {
        if let Some(failure) = &self.failure {
            return Err(failure.again());
        }
        if self.write_failure.is_some() {
            return Ok(());
        }
        if self.writer.is_none() {
            return Err(RpcError::Closed);
        }
        let line = frame.encode()?;
        match self.queue.push(line) {
            Ok(()) => Ok(()),
            Err(Full { limit }) => Err(self.failed(RpcError::QueueFull { limit })),
        }
    }

    /// When `eager`, what can be read right now is read, whether or not the runtime has noticed it.
    fn poll_frame(&mut self, cx: &mut Context<'_>, eager: bool) -> Poll<Result<Frame<RequestId>, RpcError>> {
        if let Some(failure) = &self.failure {
            return Poll::Ready(Err(failure.again()));
        }
        // Not ready means that the writer will wake this task; reading goes on meanwhile.
        let _ = self.poll_write(cx);
        for _ in 0..MOST_SKIPPED {
            let line = match (
                self.input.poll_line(cx, eager || self.write_failure.is_some()),
                &self.write_failure,
            ) {
                (Poll::Ready(Ok(line)), _) => line,
                (Poll::Ready(Err(failure)), _) => return Poll::Ready(Err(self.failed(failure))),
                (Poll::Pending, Some(failure)) => return Poll::Ready(Err(failure.again())),
                (Poll::Pending, None) => return Poll::Pending,
            };
            if let Some(frame) = self.accept(line) {
                return Poll::Ready(Ok(frame));
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Writes what is queued. A failure is recorded, and closes the peer's input.
    fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(writer) = &mut self.writer else {
            return Poll::Ready(());
        };
        let was_drained = self.queue.is_empty();
        if let Err(error) = ready!(self.queue.poll_write(cx, writer)) {
            self.write_failure = Some(RpcError::Write(error));
            self.close_input();
        }
        if !was_drained {
            self.drained.notify_one();
        }
        Poll::Ready(())
    }

    /// Decodes a line and counts it; `None` when it means nothing.
    fn accept(&mut self, mut line: Place) -> Option<Frame<RequestId>> {
        let bytes = &mut self.input.bytes_mut()[line.clone()];
        line.end = line.start + bytes.trim_ascii_end().len();
        if line.is_empty() {
            return None;
        }
        surrogate::mend(bytes);
        let Some(frame) = Frame::find(self.input.bytes(), line) else {
            self.ignored.not_json += 1;
            return None;
        };
        self.last_frame_at = Instant::now();
        match frame {
            Frame::Call { id, method, params } => Some(Frame::Call { id, method, params }),
            Frame::Answer { id, outcome } => {
                let id = id.map(|id| envelope::text(self.input.bytes(), id));
                match id.map_or(Answer::Unknown, |id| self.requests.answer(id)) {
                    Answer::Awaited(id) => return Some(Frame::Answer { id, outcome }),
                    Answer::Repeated => self.ignored.repeated_response += 1,
                    Answer::Unknown => self.ignored.unknown_response += 1,
                }
                None
            }
        }
    }

    fn failed(&mut self, failure: RpcError) -> RpcError {
        self.failure.insert(failure).again()
    }
}

impl<R, W> fmt::Debug for Connection<R, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("input_is_open", &self.writer.is_some())
            .field("requests", &self.requests)
            .field("ignored", &self.ignored)
            .field("write_failure", &self.write_failure)
            .field("failure", &self.failure)
            .finish_non_exhaustive()
    }
}
