//! What is heard of a run among all that its child tells. Owns the session, the prompt and the order of receipt and
//! activity; the conversation itself is the run's.

use serde_json::value::RawValue;
use subagent_subprocess::rpc::{Incoming, PeerId, RequestId};

use crate::activity::{Activity, Backlog, Outcome, Place, Told};
use crate::client::{ClientError, Violation, fresh_session_id};
use crate::wire::update::Update;
use crate::wire::{message_id, method};

/// Hears one run.
#[derive(Debug)]
pub(crate) struct Hearing {
    /// Private to the wire: the parent knows the run by another id.
    session_id: String,
    /// The prompt's request, as long as it has no answer.
    prompt: Option<RequestId>,
    heard: Heard,
    max_output_bytes: usize,
}

/// What has been heard of the run's own session.
#[derive(Debug)]
enum Heard {
    /// The receipt has not come: nothing can be understood yet.
    Early(Backlog),
    Following(Activity),
}

/// What a frame means for a run.
#[derive(Debug)]
pub(crate) enum Taken {
    /// The run goes on.
    Nothing,
    /// The session is idle: the run is over.
    End,
    /// The prompt was not taken, or the child broke the protocol.
    Failed(ClientError),
    /// The child asks something.
    Asked(PeerId),
}

impl Hearing {
    /// Hears the activity of a fresh session: keeps at most `max_early_bytes` before the receipt and `max_output_bytes` of
    /// what is said.
    pub(crate) fn of_fresh_session(max_early_bytes: usize, max_output_bytes: usize) -> Self {
        Self {
            session_id: fresh_session_id(),
            prompt: None,
            heard: Heard::Early(Backlog::bounded(max_early_bytes)),
            max_output_bytes,
        }
    }

    /// The session's id.
    pub(crate) fn session_id(&self) -> &str {
        &self.session_id
    }

    /// Says which request is the prompt.
    pub(crate) fn prompted(&mut self, prompt: RequestId) {
        self.prompt = Some(prompt);
    }

    /// Takes a frame.
    pub(crate) fn take(&mut self, incoming: Incoming<'_>) -> Taken {
        let place = match incoming {
            Incoming::Notification {
                method,
                params: Some(params),
                ..
            } => match Update::read(&method, params) {
                Some(Update::Event { session_id, event }) if session_id == self.session_id => {
                    self.told(Told::Event(event))
                }
                Some(Update::Status { session_id, status }) if session_id == self.session_id => {
                    self.told(Told::Status(&status))
                }
                _ => return Taken::Nothing,
            },
            Incoming::Response { id, outcome } if self.prompt == Some(id) => {
                self.prompt = None;
                match outcome {
                    Ok(answer) => self.receipt(answer),
                    Err(error) => Err(ClientError::Response {
                        method: method::SESSION_PROMPT.to_owned(),
                        error,
                    }),
                }
            }
            Incoming::Request { id, .. } => return Taken::Asked(id),
            Incoming::Notification { .. } | Incoming::Response { .. } => return Taken::Nothing,
        };
        match place {
            Ok(Place::End) => Taken::End,
            Ok(Place::Before | Place::Within) => Taken::Nothing,
            Err(error) => Taken::Failed(error),
        }
    }

    /// What was said and how it ended. Before the receipt nothing is known to be the run's own.
    pub(crate) fn take_outcome(&mut self) -> Outcome {
        match std::mem::replace(&mut self.heard, Heard::Early(Backlog::bounded(0))) {
            Heard::Following(activity) => activity.into_outcome(),
            Heard::Early(_) => Outcome {
                output: Vec::new(),
                end: None,
                reason: None,
            },
        }
    }

    fn told(&mut self, told: Told<'_>) -> Result<Place, ClientError> {
        match &mut self.heard {
            Heard::Following(activity) => Ok(activity.take(told)?),
            Heard::Early(backlog) => {
                backlog.keep(told)?;
                Ok(Place::Before)
            }
        }
    }

    /// Takes the receipt, and with it all that came before.
    fn receipt(&mut self, answer: &RawValue) -> Result<Place, ClientError> {
        let message_id = message_id(answer).ok_or_else(|| Violation::receipt(answer))?;
        let mut activity = Activity::of(message_id, self.max_output_bytes);
        let place = match std::mem::replace(&mut self.heard, Heard::Early(Backlog::bounded(0))) {
            Heard::Early(backlog) => backlog.replay(&mut activity),
            // There is one prompt, and one answer to it.
            Heard::Following(_) => Ok(Place::Before),
        };
        // Also when it was malformed: what was said before that is kept.
        self.heard = Heard::Following(activity);
        Ok(place?)
    }
}
