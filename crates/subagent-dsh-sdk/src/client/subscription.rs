//! Subscriptions: what a runtime tells, on its way to those who want it. Owns the bound of each one and the order in
//! which things arrive; a subscriber that does not read loses, and learns it, and nobody else notices.

use std::collections::{HashSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::Notify;

use super::Notification;

/// How many descendants of a session a subscription follows at once; those beyond are not followed.
const MOST_DESCENDANTS: usize = 4096;

/// The longest session id of a descendant that is followed, in bytes.
const LONGEST_ID: usize = 1024;

/// What a subscriber receives.
#[derive(Clone, Debug)]
pub enum Delivery {
    /// Something that the runtime told.
    Notification(Arc<Notification>),
    /// So many notifications would have stood here, but were dropped because the subscriber did not read.
    Lost(u64),
}

/// Receives what a runtime tells, in the order in which it tells it. Dropping it ends the subscription.
#[derive(Debug)]
pub struct Subscription {
    mailbox: Arc<Mailbox>,
}

impl Subscription {
    /// Waits for the next delivery. `None` is the end: the runtime can no longer be heard and everything delivered has
    /// been taken. Cancel-safe. Unbounded.
    pub async fn next(&mut self) -> Option<Delivery> {
        loop {
            {
                let mut state = self.mailbox.lock();
                if let Some(delivery) = state.take() {
                    return Some(delivery);
                }
                if state.ended {
                    return None;
                }
            }
            // Whoever delivers between the look and the wait leaves a permit behind.
            self.mailbox.arrived.notified().await;
        }
    }

    /// The next delivery if it is already there.
    pub fn try_next(&mut self) -> Option<Delivery> {
        self.mailbox.lock().take()
    }
}

#[derive(Debug)]
struct Mailbox {
    state: Mutex<State>,
    arrived: Notify,
    max_bytes: usize,
}

#[derive(Debug, Default)]
struct State {
    queue: VecDeque<Delivery>,
    bytes: usize,
    ended: bool,
}

impl State {
    fn take(&mut self) -> Option<Delivery> {
        let delivery = self.queue.pop_front();
        if let Some(Delivery::Notification(notification)) = &delivery {
            self.bytes -= notification.size();
        }
        delivery
    }
}

impl Mailbox {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a notification in. An empty mailbox takes one of any size; a full one drops it and counts.
    fn put(&self, notification: &Arc<Notification>) {
        let mut state = self.lock();
        let bytes = state.bytes + notification.size();
        if bytes <= self.max_bytes || state.bytes == 0 {
            state.bytes = bytes;
            state
                .queue
                .push_back(Delivery::Notification(Arc::clone(notification)));
        } else if let Some(Delivery::Lost(count)) = state.queue.back_mut() {
            *count += 1;
        } else {
            state.queue.push_back(Delivery::Lost(1));
        }
        drop(state);
        self.arrived.notify_one();
    }

    fn end(&self) {
        self.lock().ended = true;
        self.arrived.notify_one();
    }
}

/// Which notifications a subscriber wants.
pub(crate) enum Filter {
    /// Those that the subscriber's own function says yes to.
    Own(Box<dyn FnMut(&Notification) -> bool + Send>),
    /// Those of a session and of its descendants that start while it is subscribed to.
    Tree(Tree),
}

impl Filter {
    pub(crate) fn tree(session_id: &str) -> Self {
        Self::Tree(Tree {
            root: session_id.to_owned(),
            descendants: HashSet::new(),
        })
    }

    fn wants(&mut self, notification: &Notification) -> bool {
        match self {
            Self::Own(wants) => wants(notification),
            Self::Tree(tree) => tree.wants(notification),
        }
    }
}

/// A session and those of its descendants that are alive.
pub(crate) struct Tree {
    root: String,
    descendants: HashSet<String>,
}

impl Tree {
    fn wants(&mut self, notification: &Notification) -> bool {
        let belongs = notification
            .session_id()
            .is_some_and(|id| id == self.root || self.descendants.contains(id));
        if belongs {
            match notification {
                Notification::SubagentStarted { child_session_id, .. }
                    if self.descendants.len() < MOST_DESCENDANTS && child_session_id.len() <= LONGEST_ID =>
                {
                    self.descendants.insert(child_session_id.clone());
                }
                Notification::SubagentFinished { child_session_id, .. } => {
                    self.descendants.remove(child_session_id);
                }
                _ => {}
            }
        }
        belongs
    }
}

/// All subscribers of one runtime.
#[derive(Default)]
pub(crate) struct Subscribers {
    state: Mutex<Registry>,
}

#[derive(Default)]
struct Registry {
    entries: Vec<(Filter, Weak<Mailbox>)>,
    ended: bool,
}

impl Subscribers {
    /// Adds a subscriber that may keep `max_bytes` unread. Everything told from now on is for it; nothing, if the runtime
    /// can no longer be heard.
    pub(crate) fn add(&self, filter: Filter, max_bytes: usize) -> Subscription {
        let mut registry = self.lock();
        let mailbox = Arc::new(Mailbox {
            state: Mutex::new(State {
                ended: registry.ended,
                ..State::default()
            }),
            arrived: Notify::new(),
            max_bytes,
        });
        if !registry.ended {
            registry.entries.push((filter, Arc::downgrade(&mailbox)));
        }
        Subscription { mailbox }
    }

    /// Whether nobody listens.
    pub(crate) fn is_empty(&self) -> bool {
        self.lock().entries.is_empty()
    }

    /// Delivers a notification to everybody who wants it. Never waits. A subscriber whose filter panics is dropped.
    pub(crate) fn deliver(&self, notification: Notification) {
        let notification = Arc::new(notification);
        self.lock().entries.retain_mut(|(filter, mailbox)| {
            let Some(mailbox) = mailbox.upgrade() else {
                return false;
            };
            match catch_unwind(AssertUnwindSafe(|| filter.wants(&notification))) {
                Ok(false) => true,
                Ok(true) => {
                    mailbox.put(&notification);
                    true
                }
                Err(_) => {
                    tracing::error!("the filter of a subscription panicked");
                    mailbox.end();
                    false
                }
            }
        });
    }

    /// Says that the runtime can no longer be heard. Idempotent.
    pub(crate) fn end(&self) {
        let mut registry = self.lock();
        registry.ended = true;
        for (_, mailbox) in registry.entries.drain(..) {
            if let Some(mailbox) = mailbox.upgrade() {
                mailbox.end();
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Registry> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Subscribers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Subscribers").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
