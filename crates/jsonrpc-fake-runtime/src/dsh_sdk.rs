//! The words of the DSH SDK protocol (a DeepSeek Harness runtime), as steps of a script.
//!
//! Owns the shapes of its frames. The ready-made scripts are in `dsh_sdk::scenarios` and its neighbours.

use serde_json::{Value, json};

use crate::script::Script;

mod scenarios;

pub(crate) use scenarios::scenarios;

impl Script {
    /// An empty script with the message id `message-1`, for the steps of [`DshSdkSteps`]. The session id is the client's.
    pub fn dsh_sdk() -> Self {
        Self::new().var("messageId", "message-1")
    }
}

/// Steps of a DSH SDK runtime, to be mixed with all others.
///
/// ```
/// use jsonrpc_fake_runtime::dsh_sdk::DshSdkSteps;
/// use jsonrpc_fake_runtime::Script;
///
/// let script = Script::dsh_sdk()
///     .accepted()
///     .delta("one moment")
///     .turn_end("max-tokens")
///     .idle()
///     .shutdown();
/// assert_eq!(script.steps.len(), 12);
/// ```
pub trait DshSdkSteps: Sized {
    /// Receives `initialize` and answers with the name and version of a runtime.
    #[must_use]
    fn initialize(self) -> Self {
        self.initialize_with(
            json!({"serverInfo": {"name": "deepseek-harness-sdk-runtime", "version": "0.0.0-fake"}}),
        )
    }

    /// Receives `initialize` and answers with any result.
    #[must_use]
    fn initialize_with(self, result: Value) -> Self {
        self.with(|script| script.expect("initialize").respond(result))
    }

    /// Receives `session/prompt`.
    #[must_use]
    fn prompt(self) -> Self {
        self.with(|script| script.expect("session/prompt"))
    }

    /// Answers the prompt with the message id: it is queued.
    #[must_use]
    fn receipt(self) -> Self {
        self.with(|script| script.respond_to("session/prompt", json!({"messageId": "{messageId}"})))
    }

    /// Sends the mark where the run's activity begins: the prompt's message enters the session.
    #[must_use]
    fn mark(self) -> Self {
        self.mark_of("{messageId}")
    }

    /// The same for any message id.
    #[must_use]
    fn mark_of(self, message: &str) -> Self {
        let content = json!([{"type": "text", "text": "{prompt}"}]);
        let message = json!({"id": message, "role": "user", "source": {"kind": "user"}, "content": content});
        self.event(
            "agent/inbox/spliced",
            json!({"target": "next-turn", "start": 0, "inserted": [message]}),
        )
    }

    /// Sends `session.status` `running`.
    #[must_use]
    fn running(self) -> Self {
        self.status("running")
    }

    /// Sends `session.status` `idle`: the end of the run's activity.
    #[must_use]
    fn idle(self) -> Self {
        self.status("idle")
    }

    /// Sends any `session.status` of the session.
    #[must_use]
    fn status(self, status: &str) -> Self {
        let params = json!({"sessionId": "{sessionId}", "status": status});
        self.with(|script| script.notify("session.status", params))
    }

    /// A runtime that has taken the prompt: everything up to the first word of the answer, in the order of the real one.
    #[must_use]
    fn accepted(self) -> Self {
        self.initialize()
            .prompt()
            .mark()
            .running()
            .receipt()
            .event("turn/start", json!({"turn": 1}))
    }

    /// Sends a `session.event` of the session.
    #[must_use]
    fn event(self, kind: &str, data: Value) -> Self {
        self.event_of("{sessionId}", kind, data)
    }

    /// Sends a `session.event` of any session. Its `seq` is the number of the step.
    #[must_use]
    fn event_of(self, session: &str, kind: &str, data: Value) -> Self {
        self.with(|script| {
            let event = json!({"type": kind, "seq": script.steps.len(), "time": 0, "data": data});
            script.notify("session.event", json!({"sessionId": session, "event": event}))
        })
    }

    /// Sends a `session.event` of the session whose `event` is any value.
    #[must_use]
    fn raw_event(self, event: Value) -> Self {
        let params = json!({"sessionId": "{sessionId}", "event": event});
        self.with(|script| script.notify("session.event", params))
    }

    /// Sends streamed text.
    #[must_use]
    fn delta(self, text: &str) -> Self {
        self.event("assistant/chunk", delta_data(text))
    }

    /// Sends a whole assistant message of one text.
    #[must_use]
    fn message(self, text: &str) -> Self {
        self.message_with(json!([{"type": "text", "text": text}]))
    }

    /// Sends an assistant message with any content.
    #[must_use]
    fn message_with(self, content: Value) -> Self {
        let message = json!({"id": "answer-1", "role": "assistant", "content": content});
        self.event(
            "assistant/message",
            json!({"turn": 1, "step": 1, "message": message}),
        )
    }

    /// Ends the turn for a reason.
    #[must_use]
    fn turn_end(self, kind: &str) -> Self {
        self.turn_end_with(json!({"turn": 1, "reason": {"kind": kind}}))
    }

    /// Ends the turn with any data.
    #[must_use]
    fn turn_end_with(self, data: Value) -> Self {
        self.event("turn/end", data)
    }

    /// Ends the turn as completed and the run's activity with it.
    #[must_use]
    fn completed(self) -> Self {
        self.turn_end("completed").idle()
    }

    /// Receives `shutdown` and answers it.
    #[must_use]
    fn shutdown(self) -> Self {
        self.with(|script| script.expect("shutdown").respond(json!({})))
    }

    /// A whole good run, `shutdown` included, that says `text`.
    #[must_use]
    fn answered(self, text: &str) -> Self {
        self.accepted().delta(text).message(text).completed().shutdown()
    }

    /// Adds steps of any kind.
    #[must_use]
    fn with(self, add: impl FnOnce(Script) -> Script) -> Self;
}

impl DshSdkSteps for Script {
    fn with(self, add: impl FnOnce(Self) -> Self) -> Self {
        add(self)
    }
}

/// The whole frame of streamed text, for steps that take a frame.
pub fn delta_frame(text: &str) -> Value {
    let event = json!({"type": "assistant/chunk", "seq": 0, "time": 0, "data": delta_data(text)});
    Script::notification(
        "session.event",
        &json!({"sessionId": "{sessionId}", "event": event}),
    )
}

fn delta_data(text: &str) -> Value {
    json!({"turn": 1, "step": 1, "chunk": {"type": "text-delta", "index": 0, "text": text}})
}
