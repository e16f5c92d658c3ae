//! One runtime from its spawn to its proven end, as its single owner sees it. Owns what holds for provider and client
//! alike: the handshake, what a broken conversation is called, the order of a close. Whose events are whose is not known
//! here.

use std::future::Future;
use std::time::Duration;

use serde::Serialize;
use serde_json::value::RawValue;
use subagent_seam::{Progress, TeardownUrgency, Urgency};
use subagent_subprocess::rpc::{Incoming, PeerId, RpcError};
use subagent_subprocess::{AgentProcess, ChildProcess, Haste, ManagedChild, Teardown, TeardownError};

use crate::client::{ClientError, TransportClosed, TransportFailure, Violation};
use crate::plan::RuntimePlan;
use crate::wire::{InitializeParams, METHOD_NOT_FOUND, ServerInfo, ShutdownParams, method, server_info};

/// How long the exit of a runtime whose pipe closed is awaited. It decides nothing: it is told to the host.
const EXIT_GRACE: Duration = Duration::from_millis(500);

/// A runtime that is being talked to.
#[derive(Debug)]
pub(crate) struct Runtime<P: ChildProcess = ManagedChild> {
    pub(crate) agent: AgentProcess<P>,
    progress: Progress,
    /// Whether the handshake has succeeded: only then is `shutdown` understood.
    ready: bool,
}

impl<P: ChildProcess> Runtime<P> {
    pub(crate) fn new(agent: AgentProcess<P>, progress: Progress) -> Self {
        Self {
            agent,
            progress,
            ready: false,
        }
    }

    /// Performs the handshake. Cancel-safe as far as the conversation goes; unbounded: deadlines are the caller's.
    pub(crate) async fn initialize(
        &mut self,
        params: &InitializeParams<'_>,
    ) -> Result<ServerInfo, ClientError> {
        let answer = match self.ask(method::INITIALIZE, params).await {
            Ok(answer) => answer,
            Err(error) => return Err(self.explain(method::INITIALIZE, error).await),
        };
        let info = server_info(&answer).ok_or_else(|| Violation::server_info(&answer))?;
        self.become_ready();
        Ok(info)
    }

    /// Says that the handshake has succeeded.
    pub(crate) fn become_ready(&mut self) {
        self.ready = true;
    }

    /// Tells the caller how far the runtime is.
    pub(crate) fn tell_progress(&mut self) {
        self.progress.received(self.agent.connection().received_bytes());
    }

    /// Turns down a request of the runtime: a client offers no method.
    pub(crate) fn turn_down(&mut self, id: &PeerId) -> Result<(), RpcError> {
        self.agent
            .connection()
            .reject(id, METHOD_NOT_FOUND, "method not found")
    }

    /// Takes one frame and drops it; turns down what is asked. Cancel-safe. Unbounded.
    pub(crate) async fn serve(&mut self) -> Result<(), RpcError> {
        if let Incoming::Request { id, .. } = self.agent.next().await? {
            self.turn_down(&id)?;
        }
        self.tell_progress();
        Ok(())
    }

    /// Says why the conversation broke while `method` was open, with what is known about the end of the runtime. Bounded
    /// by a fraction of a second. Cancel-safe.
    pub(crate) async fn explain(&mut self, method: &str, error: RpcError) -> ClientError {
        match error {
            RpcError::Remote(error) => ClientError::Response {
                method: method.to_owned(),
                error,
            },
            broken => self.closed(broken).await.into(),
        }
    }

    /// What is known about a conversation that broke.
    async fn closed(&mut self, broken: RpcError) -> TransportClosed {
        let exit = if broken.is_closed_pipe() {
            tokio::time::timeout(EXIT_GRACE, self.agent.exited()).await.ok()
        } else {
            None
        };
        TransportClosed {
            failure: TransportFailure::Conversation(broken),
            exit,
            stderr_tail: self.agent.stderr_tail().await,
        }
    }

    /// Asks the runtime to end if the handshake has succeeded, within the plan's bound, then walks the ladder. Whatever
    /// comes of the question stops nothing. `abandoned` is ready when nobody cares for patience any more; it is called
    /// once for each of the two steps.
    ///
    /// Cancel-safe: a close that was dropped can be begun again.
    pub(crate) async fn close<A: Future<Output = ()> + Send>(
        &mut self,
        plan: &RuntimePlan,
        urgency: &TeardownUrgency,
        abandoned: impl Fn() -> A + Send,
    ) -> Result<Teardown, TeardownError> {
        if std::mem::take(&mut self.ready) {
            let asked = tokio::time::timeout(
                plan.shutdown_timeout,
                self.ask(method::SHUTDOWN, &ShutdownParams {}),
            );
            tokio::select! {
                biased;
                () = urgency.immediate_or(abandoned()) => {}
                answer = asked => match answer {
                    Ok(Ok(_)) => {}
                    Ok(Err(error)) => tracing::debug!(%error, "the runtime did not take the request to shut down"),
                    Err(_) => tracing::debug!("the runtime did not answer the request to shut down in time"),
                },
            }
        }
        let haste = Haste {
            hurried: urgency.reached(Urgency::Hurried),
            immediate: urgency.immediate_or(abandoned()),
        };
        let ignored = self.agent.connection().ignored();
        let outcome = self.agent.teardown(&plan.ladder, haste).await;
        tracing::debug!(?outcome, ?ignored, "teardown of a runtime");
        outcome
    }

    /// Sends a request and waits for its answer; everything else that comes meanwhile is dropped or turned down.
    async fn ask(&mut self, method: &str, params: &impl Serialize) -> Result<Box<RawValue>, RpcError> {
        let asked = self.agent.connection().request(method, params)?;
        loop {
            match self.agent.next().await? {
                Incoming::Response { id, outcome } if id == asked => {
                    return Ok(outcome?.to_owned());
                }
                Incoming::Request { id, .. } => self.turn_down(&id)?,
                Incoming::Response { .. } | Incoming::Notification { .. } => {}
            }
            self.tell_progress();
        }
    }
}
