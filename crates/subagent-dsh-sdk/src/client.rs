//! The client of a DSH SDK runtime, useful alone: [`Harness`] and [`Session`] for whole tasks, [`HarnessClient`] for
//! single requests.
//!
//! ```no_run
//! use subagent_dsh_sdk::client::{Harness, HarnessConfig, HarnessPlan};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let mut config = HarnessConfig::new("dsh", "/srv/project");
//! config.args = vec!["sdk".into()];
//! let harness = Harness::new(HarnessPlan::new(config)?);
//! harness.start().await?;
//!
//! let run = harness.session().await?.run("Which tests are slow, and why?").await?;
//! println!("{:?}: {}", run.end, run.text());
//! harness.close().await?;
//! # Ok(()) }
//! ```
//!
//! The process of a runtime belongs to one task; everything here talks to it over a bounded channel. A runtime that ends
//! fails all that was asked of it at once, with what is known about its end.

mod actor;
mod error;
mod harness;
mod notification;
mod options;
mod session;
mod subscription;
mod waiting;

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use serde_json::value::RawValue;
use subagent_seam::Progress;
use tokio::sync::oneshot;
use uuid::Uuid;

use crate::wire::{self, PromptParams, TextBlock, method};

pub use crate::activity::TurnEnd;
pub use crate::wire::ServerInfo;
pub use error::{Bound, ClientError, CloseError, TransportClosed, TransportFailure, Violation};
pub use harness::Harness;
pub use notification::{Notification, SessionEvent};
pub use options::{HarnessConfig, HarnessPlan};
pub use session::{Session, SessionRun};
pub use subscription::{Delivery, Subscription};

pub(crate) use error::excerpt;

use actor::Mailroom;
use subscription::Filter;
use waiting::Ask;

/// One runtime process. Clones are handles of the same one.
///
/// Close it in the end. Dropping the last handle of a client that was not closed kills the runtime's process group at
/// once, without patience.
#[derive(Clone, Debug)]
pub struct HarnessClient {
    plan: HarnessPlan,
    room: Arc<Mailroom>,
}

impl HarnessClient {
    /// Spawns a runtime. It takes prompts once [`initialize`](Self::initialize) has succeeded. Must be called within a
    /// Tokio runtime.
    ///
    /// # Errors
    ///
    /// [`ClientError::TransportClosed`]: it could not be spawned. Nothing is left behind.
    pub fn spawn(plan: &HarnessPlan) -> Result<Self, ClientError> {
        let runtime = plan.runtime.launch(plan.cwd.clone(), Progress::default())?;
        Ok(Self {
            plan: plan.clone(),
            room: Mailroom::open(runtime, plan.runtime.clone()),
        })
    }

    /// The process id of the runtime.
    pub fn pid(&self) -> u32 {
        self.room.pid
    }

    /// Performs the handshake. Bounded by the plan's request timeout, and the windows of a close if it fails.
    ///
    /// Cancel-safe: after a handshake that was dropped the runtime is in an unknown state, and can be closed.
    ///
    /// # Errors
    ///
    /// The runtime did not answer, refused, or answered without name and version of a server. It is closed, so that no
    /// process is left; spawn a new one to try again.
    pub async fn initialize(&self) -> Result<ServerInfo, ClientError> {
        let outcome = self.handshake().await;
        match &outcome {
            Ok(_) => self.room.become_ready(),
            Err(_) => {
                if let Err(error) = self.close().await {
                    tracing::warn!(%error, "a runtime whose handshake failed is left behind");
                }
            }
        }
        outcome
    }

    /// Gives a session something to do; an unknown session id makes a new session. Returns the id of the message: the
    /// receipt of its being queued, not the end of anything. Bounded by the plan's request timeout. Cancel-safe: a prompt
    /// that was dropped may be carried out.
    ///
    /// # Errors
    ///
    /// The runtime did not take it; see [`ClientError`].
    pub async fn prompt(&self, session_id: &str, text: &str) -> Result<String, ClientError> {
        let params = PromptParams {
            session_id,
            content_blocks: vec![TextBlock::new(text)],
        };
        let params = serde_json::json!(params);
        let answer = self
            .request(method::SESSION_PROMPT, params, self.plan.request_timeout)
            .await?;
        wire::message_id(&answer).ok_or_else(|| Violation::receipt(&answer).into())
    }

    /// Sends any request and waits for its answer for at most `within`, the time that it waits to be sent included.
    ///
    /// Cancel-safe: a request that was dropped, or not answered in time, leaves no state behind; the runtime may still act
    /// on it.
    ///
    /// # Errors
    ///
    /// See [`ClientError`]. A runtime that has ended fails it at once.
    pub async fn request(
        &self,
        method: &str,
        params: Value,
        within: Duration,
    ) -> Result<Box<RawValue>, ClientError> {
        let (answer, answered) = oneshot::channel();
        let ask = Ask {
            method: method.to_owned(),
            params,
            answer,
        };
        let asked = async {
            self.room.ask(ask).await?;
            // An actor that is gone without a word has been closed, or its Tokio runtime has ended.
            answered.await.unwrap_or_else(|_| Err(self.room.fault()))
        };
        tokio::time::timeout(within, asked).await.unwrap_or_else(|_| {
            Err(ClientError::RequestTimeout {
                method: method.to_owned(),
                after: within,
            })
        })
    }

    /// Listens to those notifications that `filter` says yes to, from now on. At most as many bytes as the plan says are
    /// kept unread; what comes beyond is dropped and [counted](Delivery::Lost).
    ///
    /// `filter` is called by the task that reads for everybody: it must not block.
    pub fn subscribe(&self, filter: impl FnMut(&Notification) -> bool + Send + 'static) -> Subscription {
        let filter = Filter::Own(Box::new(filter));
        self.room.subscribers.add(filter, self.plan.subscription_bytes)
    }

    /// Listens to a session and to those of its descendants that start from now on, as [`subscribe`](Self::subscribe)
    /// does.
    pub fn subscribe_session_tree(&self, session_id: &str) -> Subscription {
        self.room
            .subscribers
            .add(Filter::tree(session_id), self.plan.subscription_bytes)
    }

    /// Why the runtime can no longer be talked to; `None` while it can.
    pub fn ended(&self) -> Option<ClientError> {
        self.room.ended()
    }

    /// Asks the runtime to shut down if the handshake had succeeded, then ends it and everything of its process group for
    /// certain. What is still asked fails with [`ClientError::ClientClosed`].
    ///
    /// Final, idempotent and shared: all callers await one close and see the same outcome. Cancel-safe: a caller that
    /// stops waiting does not stop it. Bounded by the plan's shutdown timeout and windows.
    ///
    /// # Errors
    ///
    /// The runtime's process tree is not proven to be gone.
    pub async fn close(&self) -> Result<(), CloseError> {
        self.room.close().await
    }

    async fn handshake(&self) -> Result<ServerInfo, ClientError> {
        let cwd = subagent_subprocess::cwd_text(&self.plan.cwd).map_err(ClientError::never_started)?;
        let params = serde_json::json!(self.plan.runtime.route.params(cwd));
        let answer = self
            .request(method::INITIALIZE, params, self.plan.request_timeout)
            .await?;
        wire::server_info(&answer).ok_or_else(|| Violation::server_info(&answer).into())
    }

    /// Listens to a session tree and keeps so many bytes unread.
    pub(crate) fn subscribe_activity(&self, session_id: &str, max_bytes: usize) -> Subscription {
        self.room.subscribers.add(Filter::tree(session_id), max_bytes)
    }

    /// Why nothing more can be heard.
    pub(crate) fn fault(&self) -> ClientError {
        self.room.fault()
    }
}

/// A fresh session id of the client's own.
pub(crate) fn fresh_session_id() -> String {
    format!("session-{}", Uuid::new_v4().simple())
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_session_id_has_32_hex_digits_and_is_fresh() {
        let id = super::fresh_session_id();
        let digits = id.strip_prefix("session-").unwrap();
        assert!(
            digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()),
            "{id}"
        );
        assert_ne!(super::fresh_session_id(), id);
    }
}
