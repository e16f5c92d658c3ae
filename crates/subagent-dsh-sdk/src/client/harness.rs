//! A runtime that can be started again until it is closed. Owns which process is the current one; the process itself is
//! the client's.

use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::{ClientError, CloseError, HarnessClient, HarnessPlan, ServerInfo, Session, TransportFailure};

/// A runtime for whole tasks.
///
/// Close it in the end. Dropping it and all of its sessions kills the runtime's process group at once.
#[derive(Debug)]
pub struct Harness {
    plan: HarnessPlan,
    closing: CancellationToken,
    current: Mutex<Option<(HarnessClient, ServerInfo)>>,
}

impl Harness {
    /// A harness without a process yet.
    pub fn new(plan: HarnessPlan) -> Self {
        Self {
            plan,
            closing: CancellationToken::new(),
            current: Mutex::new(None),
        }
    }

    /// Starts the runtime and performs the handshake. Does nothing while a runtime is up; one that has ended is replaced
    /// by a fresh one, which knows nothing of the sessions before.
    ///
    /// Bounded by the plan's request timeout and the windows of a close. Cancel-safe: a start that was dropped has left
    /// nothing behind, and can be begun again.
    ///
    /// # Errors
    ///
    /// The runtime could not be spawned, or its handshake failed: its process is gone, and the harness can be started
    /// again. [`ClientError::ClientClosed`] once the harness is closed.
    pub async fn start(&self) -> Result<ServerInfo, ClientError> {
        let mut current = self.current.lock().await;
        if self.closing.is_cancelled() {
            return Err(ClientError::ClientClosed);
        }
        if let Some((client, info)) = &*current {
            if client.ended().is_none() {
                return Ok(info.clone());
            }
            // What is left of the old one goes first; a failure of that is its own affair, and logged.
            if let Err(error) = client.close().await {
                tracing::warn!(%error, "a runtime that had ended is left behind");
            }
            *current = None;
        }
        let client = HarnessClient::spawn(&self.plan)?;
        let info = tokio::select! {
            biased;
            () = self.closing.cancelled() => {
                *current = None;
                if let Err(error) = client.close().await {
                    tracing::warn!(%error, "a runtime that was closed during its handshake is left behind");
                }
                return Err(ClientError::ClientClosed);
            }
            info = client.initialize() => info?,
        };
        *current = Some((client, info.clone()));
        Ok(info)
    }

    /// A new session with a fresh id. It belongs to the runtime that is up now.
    ///
    /// Cancel-safe. Bounded by a start that is going on.
    ///
    /// # Errors
    ///
    /// No runtime is up.
    pub async fn session(&self) -> Result<Session, ClientError> {
        self.session_with_id(super::fresh_session_id()).await
    }

    /// The same with an id: one that the runtime knows, or a new one.
    ///
    /// # Errors
    ///
    /// No runtime is up.
    pub async fn session_with_id(&self, id: impl Into<String>) -> Result<Session, ClientError> {
        Ok(Session::new(self.client().await?, id.into()))
    }

    /// The client of the runtime that is up now.
    ///
    /// Cancel-safe. Bounded by a start that is going on.
    ///
    /// # Errors
    ///
    /// No runtime is up: [`TransportClosed`](ClientError::TransportClosed) before the first start and after the end of a
    /// runtime, [`ClientClosed`](ClientError::ClientClosed) after a close.
    pub async fn client(&self) -> Result<HarnessClient, ClientError> {
        let current = self.current.lock().await;
        let Some((client, _)) = &*current else {
            return Err(if self.closing.is_cancelled() {
                ClientError::ClientClosed
            } else {
                TransportFailure::NotStarted.into()
            });
        };
        match client.ended() {
            None => Ok(client.clone()),
            Some(fault) => Err(fault),
        }
    }

    /// Closes the runtime, as [`HarnessClient::close`] does; a start that is going on is given up. Final and idempotent.
    ///
    /// Cancel-safe. Bounded by the plan's shutdown timeout and windows.
    ///
    /// # Errors
    ///
    /// The runtime's process tree is not proven to be gone.
    pub async fn close(&self) -> Result<(), CloseError> {
        self.closing.cancel();
        match &*self.current.lock().await {
            Some((client, _)) => client.close().await,
            None => Ok(()),
        }
    }
}
