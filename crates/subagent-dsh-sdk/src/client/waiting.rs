//! Who waits for which answer. Owns that a request whose caller has gone leaves nothing behind, and that every other one
//! is answered once.

use std::collections::HashMap;
use std::future::poll_fn;
use std::task::Poll;

use serde_json::Value;
use serde_json::value::RawValue;
use subagent_subprocess::rpc::{Connection, RemoteError, RequestId, Source};
use tokio::io::AsyncWrite;
use tokio::sync::oneshot;

use super::ClientError;

/// A request on its way to the runtime.
#[derive(Debug)]
pub(super) struct Ask {
    pub(super) method: String,
    pub(super) params: Value,
    /// Whoever awaits the answer; one who stops waiting drops the other end.
    pub(super) answer: oneshot::Sender<Result<Box<RawValue>, ClientError>>,
}

/// The requests that have no answer yet.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    open: HashMap<RequestId, Ask>,
    /// Those that could not be written. They fail with the conversation, and so with all that is known by then.
    unsent: Vec<Ask>,
}

impl Waiting {
    /// Sends a request, unless its caller has gone meanwhile.
    pub(super) fn send<R, W>(&mut self, ask: Ask, connection: &mut Connection<R, W>)
    where
        R: Source,
        W: AsyncWrite + Unpin + Send,
    {
        if ask.answer.is_closed() {
            return;
        }
        match connection.request(&ask.method, &ask.params) {
            Ok(id) => {
                self.open.insert(id, ask);
            }
            // The runtime may have last words. Once they are read the failure shows as the end of the conversation.
            Err(_) => self.unsent.push(ask),
        }
    }

    /// Hands an answer to its caller.
    pub(super) fn answer(&mut self, id: RequestId, outcome: Result<&RawValue, RemoteError>) {
        if let Some(Ask { method, answer, .. }) = self.open.remove(&id) {
            let outcome = outcome.map(RawValue::to_owned);
            let _ = answer.send(outcome.map_err(|error| ClientError::Response { method, error }));
        }
    }

    /// Waits for a caller to go away. Cancel-safe. Unbounded.
    pub(super) async fn given_up(&mut self) -> RequestId {
        poll_fn(|cx| {
            for (id, ask) in &mut self.open {
                if ask.answer.poll_closed(cx).is_ready() {
                    return Poll::Ready(*id);
                }
            }
            Poll::Pending
        })
        .await
    }

    /// Forgets a request whose caller has gone.
    pub(super) fn forget<R, W>(&mut self, id: RequestId, connection: &mut Connection<R, W>)
    where
        R: Source,
        W: AsyncWrite + Unpin + Send,
    {
        self.open.remove(&id);
        connection.forget(id);
    }

    /// Fails every request.
    pub(super) fn fail(&mut self, fault: &ClientError) {
        let open = self.open.drain().map(|(_, ask)| ask);
        for ask in open.chain(self.unsent.drain(..)) {
            let _ = ask.answer.send(Err(fault.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use subagent_subprocess::rpc::{Buffered, Incoming, Limits};
    use tokio::io::{Sink, sink};

    use super::*;

    type Answered = oneshot::Receiver<Result<Box<RawValue>, ClientError>>;

    fn ask(method: &str) -> (Ask, Answered) {
        let (answer, answered) = oneshot::channel();
        let ask = Ask {
            method: method.to_owned(),
            params: Value::Null,
            answer,
        };
        (ask, answered)
    }

    /// A connection to a runtime that has written `output`.
    fn heard(output: &[u8]) -> Connection<Buffered<&[u8]>, Sink> {
        let limits = Limits {
            max_frame_bytes: 1000,
            max_queued_bytes: 1000,
        };
        Connection::new(Buffered::new(output), sink(), limits)
    }

    #[tokio::test]
    async fn a_caller_that_goes_away_leaves_no_state_behind() {
        let mut connection = heard(b"{\"id\":0,\"result\":\"late\"}\n{\"id\":1,\"result\":1}\n");
        let mut waiting = Waiting::default();
        let ((first, impatient), (second, patient)) = (ask("first"), ask("second"));
        waiting.send(first, &mut connection);
        waiting.send(second, &mut connection);
        drop(impatient);
        let gone = waiting.given_up().await;
        waiting.forget(gone, &mut connection);
        let Incoming::Response { id, outcome } = connection.next().await.unwrap() else {
            panic!("expected the second answer")
        };
        assert_eq!(id.to_string(), "1", "the late answer is not yielded");
        waiting.answer(id, outcome);
        assert_eq!(patient.await.unwrap().unwrap().get(), "1");
        assert!(waiting.open.is_empty() && waiting.unsent.is_empty());
        assert_eq!(connection.ignored().unknown_response, 1, "the late answer");
    }

    #[tokio::test]
    async fn a_caller_that_has_gone_already_is_not_asked_for() {
        let mut connection = heard(b"");
        let mut waiting = Waiting::default();
        let (ask, answered) = ask("first");
        drop(answered);
        waiting.send(ask, &mut connection);
        assert!(waiting.open.is_empty() && connection.is_drained());
    }

    #[tokio::test]
    async fn all_fail_together_also_those_that_could_not_be_written() {
        let mut connection = heard(b"");
        let mut waiting = Waiting::default();
        let ((first, open), (second, unsent)) = (ask("first"), ask("second"));
        waiting.send(first, &mut connection);
        connection.close_input();
        waiting.send(second, &mut connection);
        waiting.fail(&ClientError::ClientClosed);
        for answered in [open, unsent] {
            assert!(matches!(answered.await.unwrap(), Err(ClientError::ClientClosed)));
        }
    }
}
