//! The messages of one connection, in both directions. Owns their bounds, and the moment when the client is gone: all that
//! the connection runs is then asked to stop at once, before anything else is waited for.

use std::io;
use std::sync::Arc;

use rmcp::model::ClientJsonRpcMessage;
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// The most bytes of a message of the client's, its line end included. A longer one is dropped as it arrives and never
/// answered; the connection goes on.
pub const MAX_MESSAGE_BYTES: usize = 16 << 20;

/// How many messages may wait for a client that does not read. One more, and the client counts as gone.
pub const MAX_WAITING_MESSAGES: usize = 1024;

/// The two streams of a client as lines of JSON.
pub(crate) struct Wire<R: AsyncRead, W: AsyncWrite> {
    lines: AsyncRwTransport<RoleServer, R, W>,
    places: Arc<Semaphore>,
    begun: bool,
    /// Cancelled at the end of the client's messages: nothing that it asked for is of use any more.
    ended: CancellationToken,
    /// Cancelled when nothing reaches the client any more.
    unreachable: CancellationToken,
    /// Cancelled when nothing is written any more: a write that a client holds up would otherwise hold up the end.
    closed: CancellationToken,
}

impl<R, W> Wire<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    /// Over these streams. `ended` should lie below `unreachable`.
    pub(crate) fn new(
        reader: R,
        writer: W,
        ended: CancellationToken,
        unreachable: CancellationToken,
    ) -> Self {
        Self {
            lines: AsyncRwTransport::new_server(reader, writer).with_max_line_length(MAX_MESSAGE_BYTES),
            places: Arc::new(Semaphore::new(MAX_WAITING_MESSAGES)),
            begun: false,
            ended,
            unreachable,
            closed: CancellationToken::new(),
        }
    }
}

impl<R, W> Transport<RoleServer> for Wire<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let place = Arc::clone(&self.places).try_acquire_owned();
        let sent = self.lines.send(message);
        let (unreachable, closed) = (self.unreachable.clone(), self.closed.clone());
        async move {
            let sent = if let Ok(_place) = place {
                tokio::select! {
                    sent = sent => sent,
                    () = closed.cancelled() => Err(io::ErrorKind::NotConnected.into()),
                }
            } else {
                tracing::warn!(
                    limit = MAX_WAITING_MESSAGES,
                    "the client does not read, giving it up"
                );
                Err(io::ErrorKind::TimedOut.into())
            };
            if sent.is_err() {
                closed.cancel();
                unreachable.cancel();
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let Some(message) = self.lines.receive().await else {
                self.ended.cancel();
                return None;
            };
            // Before the first request there is nothing that another message could be about. It does no harm.
            self.begun |= matches!(message, ClientJsonRpcMessage::Request(_));
            if self.begun {
                return Some(message);
            }
            tracing::debug!("a message before the first request is ignored");
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        // Whoever still writes holds the writer.
        self.closed.cancel();
        self.lines.close().await
    }
}
