//! The one task that owns a runtime, and the room through which everybody talks to it. Owns the order of requests, which
//! answers are awaited, and what everybody is told when the runtime ends.

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::Poll;

use serde_json::Value;
use serde_json::value::RawValue;
use subagent_seam::TeardownUrgency;
use subagent_subprocess::TeardownError;
use subagent_subprocess::rpc::{Incoming, RequestId, RpcError};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::subscription::Subscribers;
use super::{ClientError, CloseError, Notification};
use crate::plan::RuntimePlan;
use crate::runtime::Runtime;

/// How many requests wait for their turn at most; further callers wait outside.
const MOST_WAITING: usize = 64;

/// A request on its way to the runtime.
#[derive(Debug)]
pub(super) struct Ask {
    pub(super) method: String,
    pub(super) params: Value,
    /// Whoever awaits the answer; one who stops waiting drops the other end.
    pub(super) answer: oneshot::Sender<Result<Box<RawValue>, ClientError>>,
}

type Closed = Result<(), Arc<TeardownError>>;

/// What handles and task share.
#[derive(Debug)]
pub(super) struct Mailroom {
    pub(super) pid: u32,
    pub(super) subscribers: Arc<Subscribers>,
    shared: Arc<Shared>,
    asks: mpsc::Sender<Ask>,
    closed: watch::Receiver<Option<Closed>>,
}

#[derive(Debug, Default)]
struct Shared {
    /// Whether the handshake has succeeded.
    ready: AtomicBool,
    /// Why the runtime can no longer be talked to.
    fault: OnceLock<ClientError>,
    /// Asks for a close.
    close: CancellationToken,
    /// Says that nobody holds the client any more.
    abandoned: CancellationToken,
}

impl Mailroom {
    /// Starts the task that owns `runtime`.
    pub(super) fn open(runtime: Runtime, plan: RuntimePlan) -> Arc<Self> {
        let (asks, asked) = mpsc::channel(MOST_WAITING);
        let (outcome, closed) = watch::channel(None);
        let shared = Arc::<Shared>::default();
        let subscribers = Arc::<Subscribers>::default();
        let pid = runtime.agent.pid();
        let actor = Actor {
            runtime,
            plan,
            asked,
            open: HashMap::new(),
            unsent: Vec::new(),
            subscribers: Arc::clone(&subscribers),
            shared: Arc::clone(&shared),
        };
        tokio::spawn(actor.live(outcome));
        Arc::new(Self {
            pid,
            subscribers,
            shared,
            asks,
            closed,
        })
    }

    pub(super) async fn ask(&self, ask: Ask) -> Result<(), ClientError> {
        if let Some(fault) = self.ended() {
            return Err(fault);
        }
        self.asks.send(ask).await.map_err(|_| self.fault())
    }

    pub(super) fn become_ready(&self) {
        self.shared.ready.store(true, Ordering::Release);
    }

    pub(super) fn ended(&self) -> Option<ClientError> {
        if self.shared.close.is_cancelled() {
            return Some(ClientError::ClientClosed);
        }
        self.shared.fault.get().cloned()
    }

    pub(super) fn fault(&self) -> ClientError {
        self.ended().unwrap_or(ClientError::ClientClosed)
    }

    pub(super) async fn close(&self) -> Result<(), CloseError> {
        self.shared.close.cancel();
        let mut closed = self.closed.clone();
        match closed.wait_for(Option::is_some).await {
            Ok(outcome) => outcome.clone().unwrap_or(Ok(())).map_err(CloseError),
            // The task ended without a word, because its Tokio runtime did: dropping the process has killed its group.
            Err(_) => Ok(()),
        }
    }
}

impl Drop for Mailroom {
    fn drop(&mut self) {
        self.shared.abandoned.cancel();
    }
}

/// The owner of a runtime.
struct Actor {
    runtime: Runtime,
    plan: RuntimePlan,
    asked: mpsc::Receiver<Ask>,
    open: HashMap<RequestId, Ask>,
    /// Requests that could not be written. They fail with the conversation, and so with all that is known by then.
    unsent: Vec<Ask>,
    subscribers: Arc<Subscribers>,
    shared: Arc<Shared>,
}

/// Why an actor no longer listens to its runtime.
enum Stop {
    /// Somebody wants it closed.
    Close,
    /// Nobody holds the client any more.
    Abandoned,
    /// The conversation broke.
    Broken(RpcError),
}

impl Actor {
    async fn live(mut self, outcome: watch::Sender<Option<Closed>>) {
        let mut stop = self.converse().await;
        if let Stop::Broken(error) = stop {
            let fault = self.runtime.explain("the conversation", error).await;
            if fault.transport().is_some_and(|closed| closed.exit.is_some()) {
                // What the pipe still holds was written before the exit. This ends by itself: the pipe gets no more.
                while let Ok(incoming) = self.runtime.agent.next().await {
                    self.subscribers.take(&mut self.open, incoming);
                }
            }
            let _ = self.shared.fault.set(fault.clone());
            self.fail_everybody(&fault);
            stop = self.refuse(&fault).await;
        }
        if matches!(stop, Stop::Abandoned) {
            // Dropping the process kills its group.
            return;
        }
        self.fail_everybody(&ClientError::ClientClosed);
        // From here on every caller is told so by the room itself.
        self.asked.close();
        while let Ok(ask) = self.asked.try_recv() {
            let _ = ask.answer.send(Err(ClientError::ClientClosed));
        }
        if self.shared.ready.load(Ordering::Acquire) {
            self.runtime.become_ready();
        }
        let abandoned = || self.shared.abandoned.clone().cancelled_owned();
        let closed = self
            .runtime
            .close(&self.plan, &TeardownUrgency::default(), abandoned)
            .await;
        outcome.send_replace(Some(closed.map(drop).map_err(Arc::new)));
    }

    /// Talks to the runtime until it breaks or somebody wants it to end.
    async fn converse(&mut self) -> Stop {
        let shared = Arc::clone(&self.shared);
        loop {
            // One frame at a time: while the runtime does not read, callers wait where their own bounds see them, and
            // nothing piles up here.
            let room = self.runtime.agent.connection().is_drained();
            let drained = self.runtime.agent.connection().drained();
            tokio::select! {
                biased;
                () = shared.close.cancelled() => return Stop::Close,
                () = shared.abandoned.cancelled() => return Stop::Abandoned,
                given_up = given_up(&mut self.open) => {
                    self.open.remove(&given_up);
                    self.runtime.agent.connection().forget(given_up);
                }
                Some(ask) = self.asked.recv(), if room => self.send(ask),
                () = drained, if !room => {}
                incoming = self.runtime.agent.next() => {
                    let taken = match incoming {
                        Ok(incoming) => self.subscribers.take(&mut self.open, incoming),
                        Err(error) => return Stop::Broken(error),
                    };
                    if let Some(id) = taken && let Err(error) = self.runtime.turn_down(&id) {
                        return Stop::Broken(error);
                    }
                }
            }
        }
    }

    /// Sends a request.
    fn send(&mut self, ask: Ask) {
        if ask.answer.is_closed() {
            return;
        }
        match self.runtime.agent.connection().request(&ask.method, &ask.params) {
            Ok(id) => {
                self.open.insert(id, ask);
            }
            // The runtime may have last words. Once they are read the failure shows as the end of the conversation.
            Err(_) => self.unsent.push(ask),
        }
    }

    /// Answers everybody with `fault` until somebody wants the client to end.
    async fn refuse(&mut self, fault: &ClientError) -> Stop {
        let shared = Arc::clone(&self.shared);
        loop {
            tokio::select! {
                biased;
                () = shared.close.cancelled() => return Stop::Close,
                () = shared.abandoned.cancelled() => return Stop::Abandoned,
                Some(ask) = self.asked.recv() => {
                    let _ = ask.answer.send(Err(fault.clone()));
                }
            }
        }
    }

    /// Fails every open request and ends every subscription.
    fn fail_everybody(&mut self, fault: &ClientError) {
        self.subscribers.end();
        let open = self.open.drain().map(|(_, ask)| ask);
        for ask in open.chain(self.unsent.drain(..)) {
            let _ = ask.answer.send(Err(fault.clone()));
        }
    }
}

impl Drop for Actor {
    /// Also when the task is dropped because its Tokio runtime ends: nobody waits for ever.
    fn drop(&mut self) {
        self.subscribers.end();
    }
}

impl Subscribers {
    /// Hands a frame to whoever waits for it. The id of a request of the runtime is returned, to be turned down.
    fn take(
        &self,
        open: &mut HashMap<RequestId, Ask>,
        incoming: Incoming<'_>,
    ) -> Option<subagent_subprocess::rpc::PeerId> {
        match incoming {
            Incoming::Notification { method, params, .. } => {
                if !self.is_empty() {
                    self.deliver(Notification::read(&method, params));
                }
            }
            Incoming::Response { id, outcome } => {
                if let Some(ask) = open.remove(&id) {
                    let outcome = outcome
                        .map(RawValue::to_owned)
                        .map_err(|error| ClientError::Response {
                            method: ask.method,
                            error,
                        });
                    let _ = ask.answer.send(outcome);
                }
            }
            Incoming::Request { id, .. } => return Some(id),
        }
        None
    }
}

/// Waits for somebody to stop waiting for an answer. Cancel-safe.
async fn given_up(open: &mut HashMap<RequestId, Ask>) -> RequestId {
    poll_fn(|cx| {
        for (id, ask) in open.iter_mut() {
            if ask.answer.poll_closed(cx).is_ready() {
                return Poll::Ready(*id);
            }
        }
        Poll::Pending
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_request_that_nobody_awaits_any_more_is_found() {
        let mut open = HashMap::new();
        let (answer, answered) = oneshot::channel();
        let (patient, _patient) = oneshot::channel();
        let mut connection = subagent_subprocess::rpc::Connection::new(
            subagent_subprocess::rpc::Buffered::new(tokio::io::empty()),
            tokio::io::sink(),
            subagent_subprocess::rpc::Limits {
                max_frame_bytes: 100,
                max_queued_bytes: 100,
            },
        );
        let mut ids = Vec::new();
        for answer in [answer, patient] {
            let id = connection.request("m", &()).unwrap();
            ids.push(id);
            let ask = Ask {
                method: "m".to_owned(),
                params: Value::Null,
                answer,
            };
            open.insert(id, ask);
        }
        let waiter = tokio::spawn(async move { given_up(&mut open).await });
        tokio::task::yield_now().await;
        drop(answered);
        assert_eq!(waiter.await.unwrap(), ids[0]);
    }
}
