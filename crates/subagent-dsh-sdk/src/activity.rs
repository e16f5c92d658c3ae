//! The activity that a prompt sets off in its session: where it begins, what it says, how it ends. Owns these rules and
//! nothing of pipes: it is told what came, in wire order.

use serde_json::value::RawValue;
use subagent_seam::{AssistantOutput, ContentBlock};

use crate::client::{Bound, Violation};
use crate::wire::update::{Event, Reason, inserts, message_content, text_delta};

/// Something that the prompt's own session told. Other sessions have no part in an activity.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Told<'a> {
    Event(&'a RawValue),
    Status(&'a str),
}

/// Where something that was told lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Before the mark: it belongs to somebody else.
    Before,
    /// Within the activity; the mark itself is the first that does.
    Within,
    /// It is the end of the activity, or comes after it.
    End,
}

/// How a turn ended, as the runtime tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TurnEnd {
    /// The task is done.
    Completed,
    /// The model ran out of output tokens.
    MaxTokens,
    /// It was stopped in the runtime.
    Aborted {
        /// Because the session was disposed of.
        disposed: bool,
    },
    /// The task was declined.
    Blocked,
    /// It failed.
    Error,
    /// It was interrupted, for example because the runtime ended in the middle of it and was started again.
    Interrupted,
    /// Missing, malformed, or a reason that this version does not know.
    Unknown,
}

impl TurnEnd {
    fn of(reason: &Reason<'_>) -> Self {
        match reason.kind.as_deref() {
            Some("completed") => Self::Completed,
            Some("max-tokens") => Self::MaxTokens,
            Some("aborted") => Self::Aborted {
                disposed: reason.cause.as_deref() == Some("disposed"),
            },
            Some("blocked") => Self::Blocked,
            Some("error") => Self::Error,
            Some("interrupted") => Self::Interrupted,
            _ => Self::Unknown,
        }
    }
}

/// Folds the activity of one prompt whose message id is known.
#[derive(Debug)]
pub(crate) struct Activity {
    message_id: String,
    begun: bool,
    over: bool,
    output: AssistantOutput,
    end: Option<TurnEnd>,
    /// The last reason as the runtime wrote it, for the host.
    reason: Option<Box<RawValue>>,
}

/// What an activity came to.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) output: Vec<ContentBlock>,
    /// The last end of a turn.
    pub(crate) end: Option<TurnEnd>,
    pub(crate) reason: Option<Box<RawValue>>,
}

impl Activity {
    /// The activity of the message `message_id`, which keeps at most `max_output_bytes` of what is said.
    pub(crate) fn of(message_id: String, max_output_bytes: usize) -> Self {
        Self {
            message_id,
            begun: false,
            over: false,
            output: AssistantOutput::bounded(max_output_bytes),
            end: None,
            reason: None,
        }
    }

    /// Whether the mark has come.
    pub(crate) fn has_begun(&self) -> bool {
        self.begun
    }

    /// Takes what was told next.
    ///
    /// # Errors
    ///
    /// It lies within the activity and is malformed.
    pub(crate) fn take(&mut self, told: Told<'_>) -> Result<Place, Violation> {
        if self.over {
            return Ok(Place::End);
        }
        match told {
            Told::Event(event) if self.begun => self.fold(event)?,
            Told::Event(event) => {
                self.begun = Event::read(event).is_some_and(|event| {
                    event.kind == "agent/inbox/spliced" && inserts(event.data, &self.message_id)
                });
            }
            Told::Status(status) => self.over = self.begun && status == "idle",
        }
        Ok(match (self.begun, self.over) {
            (false, _) => Place::Before,
            (true, false) => Place::Within,
            (true, true) => Place::End,
        })
    }

    /// What was said and how it ended, so far.
    pub(crate) fn into_outcome(self) -> Outcome {
        Outcome {
            output: self.output.into_blocks(),
            end: self.end,
            reason: self.reason,
        }
    }

    fn fold(&mut self, raw: &RawValue) -> Result<(), Violation> {
        let event = Event::read(raw).ok_or_else(|| Violation::event(raw))?;
        match &*event.kind {
            "assistant/chunk" => {
                if let Some(text) = text_delta(event.data) {
                    self.output.push_text(&text);
                }
            }
            "assistant/message" => {
                let content = message_content(event.data).ok_or_else(|| Violation::message(raw))?;
                self.output.push_message(content);
            }
            "turn/end" => {
                let reason = Reason::read(event.data);
                self.end = Some(TurnEnd::of(&reason));
                self.reason = reason.raw.map(RawValue::to_owned);
            }
            _ => {}
        }
        Ok(())
    }
}

/// What a session told before the message id was known, in order and within a bound.
#[derive(Debug)]
pub(crate) struct Backlog {
    kept: Vec<Kept>,
    bytes: usize,
    max_bytes: usize,
}

#[derive(Debug)]
enum Kept {
    Event(Box<RawValue>),
    Status(Box<str>),
}

impl Backlog {
    pub(crate) fn bounded(max_bytes: usize) -> Self {
        Self {
            kept: Vec::new(),
            bytes: 0,
            max_bytes,
        }
    }

    /// Keeps what was told.
    ///
    /// # Errors
    ///
    /// The bound would be passed.
    pub(crate) fn keep(&mut self, told: Told<'_>) -> Result<(), Bound> {
        let (size, kept) = match told {
            Told::Event(event) => (event.get().len(), Kept::Event(event.to_owned())),
            Told::Status(status) => (status.len(), Kept::Status(status.into())),
        };
        // What holding it costs counts, too: nothing is free, however short it is.
        self.bytes = self.bytes.saturating_add(size + size_of::<Kept>());
        if self.bytes > self.max_bytes {
            self.kept = Vec::new();
            return Err(Bound {
                limit: self.max_bytes,
            });
        }
        self.kept.push(kept);
        Ok(())
    }

    /// Tells an activity all that was kept; where the last of it lies.
    ///
    /// # Errors
    ///
    /// As [`Activity::take`]. What comes after the malformed event is dropped.
    pub(crate) fn replay(self, activity: &mut Activity) -> Result<Place, Violation> {
        let mut place = Place::Before;
        for kept in self.kept {
            place = activity.take(match &kept {
                Kept::Event(event) => Told::Event(event),
                Kept::Status(status) => Told::Status(status),
            })?;
        }
        Ok(place)
    }
}

#[cfg(test)]
mod tests;
