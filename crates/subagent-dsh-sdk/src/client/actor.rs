//! The one task that owns a runtime, and the room through which everybody talks to it. Owns the order of requests, and
//! what everybody is told when the runtime ends; who waits for which answer is `waiting`'s.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use subagent_seam::TeardownUrgency;
use subagent_subprocess::TeardownError;
use subagent_subprocess::rpc::{Incoming, PeerId, RpcError};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::subscription::Subscribers;
use super::waiting::{Ask, Waiting};
use super::{ClientError, CloseError, Notification};
use crate::plan::RuntimePlan;
use crate::runtime::Runtime;

/// How many requests wait for their turn at most; further callers wait outside.
const MOST_WAITING: usize = 64;

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
            waiting: Waiting::default(),
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
    waiting: Waiting,
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
                    take(&self.subscribers, &mut self.waiting, incoming);
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
                given_up = self.waiting.given_up() => {
                    self.waiting.forget(given_up, self.runtime.agent.connection());
                }
                Some(ask) = self.asked.recv(), if room => {
                    self.waiting.send(ask, self.runtime.agent.connection());
                }
                () = drained, if !room => {}
                incoming = self.runtime.agent.next() => {
                    let taken = match incoming {
                        Ok(incoming) => take(&self.subscribers, &mut self.waiting, incoming),
                        Err(error) => return Stop::Broken(error),
                    };
                    if let Some(id) = taken && let Err(error) = self.runtime.turn_down(&id) {
                        return Stop::Broken(error);
                    }
                }
            }
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
        self.waiting.fail(fault);
    }
}

impl Drop for Actor {
    /// Also when the task is dropped because its Tokio runtime ends: nobody waits for ever.
    fn drop(&mut self) {
        self.subscribers.end();
    }
}

/// Hands a frame to whoever waits for it. The id of a request of the runtime is returned, to be turned down.
fn take(subscribers: &Subscribers, waiting: &mut Waiting, incoming: Incoming<'_>) -> Option<PeerId> {
    match incoming {
        Incoming::Notification { method, params, .. } => {
            if !subscribers.is_empty() {
                subscribers.deliver(Notification::read(&method, params));
            }
        }
        Incoming::Response { id, outcome } => waiting.answer(id, outcome),
        Incoming::Request { id, .. } => return Some(id),
    }
    None
}
