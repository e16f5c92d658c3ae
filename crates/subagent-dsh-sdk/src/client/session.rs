//! One session of a runtime, and the activity that a prompt sets off in it. Owns how the two streams, the receipt and
//! the notifications, become one run; the rules of an activity are `activity`'s.

use std::pin::pin;
use std::sync::Arc;

use subagent_seam::{ContentBlock, text_of};

use super::{Bound, ClientError, Delivery, HarnessClient, Notification, SessionEvent, TurnEnd};
use crate::activity::{Activity, Outcome, Place, Told};

/// A session. Clones are handles of the same one.
#[derive(Clone, Debug)]
pub struct Session {
    client: HarnessClient,
    id: String,
}

/// The whole activity of one prompt: from the mark at which its message entered the session to the session's becoming
/// idle. It owns all it holds.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SessionRun {
    /// The id of the prompt's message.
    pub message_id: String,
    /// How the last turn ended; `None` when none did.
    pub end: Option<TurnEnd>,
    /// What was said: the last message with content, else the streamed text.
    pub output: Vec<ContentBlock>,
    /// All that was told of the session and of its descendants meanwhile, in wire order.
    pub notifications: Vec<Arc<Notification>>,
}

impl SessionRun {
    /// The text of the output.
    pub fn text(&self) -> String {
        text_of(&self.output)
    }

    /// The events of the session itself, in wire order; the first is the mark.
    pub fn events<'a>(&'a self, session: &'a Session) -> impl Iterator<Item = &'a SessionEvent> {
        self.notifications
            .iter()
            .filter_map(|notification| match &**notification {
                Notification::Event(event) if event.session_id() == session.id => Some(event),
                _ => None,
            })
    }
}

impl Session {
    pub(super) fn new(client: HarnessClient, id: String) -> Self {
        Self { client, id }
    }

    /// The session's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Gives the session something to do and waits until it is idle again.
    ///
    /// Unbounded: a task takes as long as it takes. Cancel-safe: a run that was dropped goes on in the runtime, unheard.
    ///
    /// # Errors
    ///
    /// The prompt was not taken, the runtime ended, it broke the protocol, or it told more than may be kept
    /// ([`TransportClosed`](ClientError::TransportClosed) with a [`Bound`]). How a turn ended is no error: see
    /// [`SessionRun::end`].
    pub async fn run(&self, prompt: &str) -> Result<SessionRun, ClientError> {
        self.run_observed(prompt, |_| ()).await
    }

    /// The same, and shows `observer` each notification of the activity as it comes. The observer is called by this
    /// future: while it is busy the rest waits, within the plan's bound.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub async fn run_observed(
        &self,
        prompt: &str,
        observer: impl FnMut(&Notification) + Send,
    ) -> Result<SessionRun, ClientError> {
        let plan = &self.client.plan;
        let mut news = self.client.subscribe_activity(&self.id, plan.max_activity_bytes);
        let mut early = Early {
            kept: Vec::new(),
            bytes: 0,
            limit: plan.runtime.limits.max_frame_bytes,
        };
        let mut receipt = pin!(self.client.prompt(&self.id, prompt));
        let message_id = loop {
            tokio::select! {
                biased;
                Some(delivery) = news.next() => early.keep(notification(delivery, plan.max_activity_bytes)?)?,
                message_id = &mut receipt => break message_id?,
            }
        };

        let mut hearing = Hearing {
            session_id: &self.id,
            activity: Activity::of(message_id.clone(), plan.max_activity_bytes),
            kept: Vec::new(),
            bytes: 0,
            limit: plan.max_activity_bytes,
            observer,
        };
        let mut place = Place::Before;
        for notification in early.kept {
            place = hearing.hear(notification)?;
            if place == Place::End {
                break;
            }
        }
        while place != Place::End {
            place = match news.next().await {
                Some(delivery) => hearing.hear(notification(delivery, plan.max_activity_bytes)?)?,
                None => return Err(self.client.fault()),
            };
        }
        let Outcome { output, end, .. } = hearing.activity.into_outcome();
        Ok(SessionRun {
            message_id,
            end,
            output,
            notifications: hearing.kept,
        })
    }
}

/// What came before the receipt.
struct Early {
    kept: Vec<Arc<Notification>>,
    bytes: usize,
    limit: usize,
}

impl Early {
    fn keep(&mut self, notification: Arc<Notification>) -> Result<(), Bound> {
        self.bytes = self.bytes.saturating_add(notification.size());
        if self.bytes > self.limit {
            return Err(Bound { limit: self.limit });
        }
        self.kept.push(notification);
        Ok(())
    }
}

/// Hears an activity.
struct Hearing<'a, O> {
    session_id: &'a str,
    activity: Activity,
    kept: Vec<Arc<Notification>>,
    bytes: usize,
    limit: usize,
    observer: O,
}

impl<O: FnMut(&Notification)> Hearing<'_, O> {
    /// Takes the next notification of the session tree.
    fn hear(&mut self, notification: Arc<Notification>) -> Result<Place, ClientError> {
        let told = match &*notification {
            Notification::Event(event) if event.session_id() == self.session_id => {
                Some(Told::Event(event.raw()))
            }
            Notification::Status { session_id, status } if session_id == self.session_id => {
                Some(Told::Status(status))
            }
            _ => None,
        };
        let place = match told {
            Some(told) => self.activity.take(told)?,
            None if self.activity.has_begun() => Place::Within,
            None => Place::Before,
        };
        if place != Place::Before {
            self.bytes = self.bytes.saturating_add(notification.size());
            if self.bytes > self.limit {
                return Err(Bound { limit: self.limit }.into());
            }
            (self.observer)(&notification);
            self.kept.push(notification);
        }
        Ok(place)
    }
}

/// The notification that was delivered. An activity with a gap in it is none.
fn notification(delivery: Delivery, limit: usize) -> Result<Arc<Notification>, Bound> {
    match delivery {
        Delivery::Notification(notification) => Ok(notification),
        Delivery::Lost(_) => Err(Bound { limit }),
    }
}
