//! The words of the Agent Client Protocol (version 1), as steps of a script.
//!
//! Owns the shapes of its frames. The ready-made scripts are in `acp::scenarios` and its neighbours.

use serde_json::{Value, json};

use crate::script::Script;

mod scenarios;

pub(crate) use scenarios::scenarios;

/// A moment in the life of a run at which something can go wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Before anything was read.
    Start,
    /// `initialize` was received and not answered.
    Initialize,
    /// `session/new` was received and not answered.
    NewSession,
    /// `session/prompt` was received and not answered.
    Prompt,
    /// The same, after a first chunk of text, `partial`.
    MidPrompt,
    /// The prompt was answered with a text, `done`, and `end_turn`.
    AfterTurn,
}

impl Stage {
    /// Every stage, in order.
    pub const ALL: [Self; 6] = [
        Self::Start,
        Self::Initialize,
        Self::NewSession,
        Self::Prompt,
        Self::MidPrompt,
        Self::AfterTurn,
    ];

    /// The name in the names of scenarios.
    pub fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Initialize => "initialize",
            Self::NewSession => "new-session",
            Self::Prompt => "prompt",
            Self::MidPrompt => "mid-prompt",
            Self::AfterTurn => "after-turn",
        }
    }
}

impl Script {
    /// An empty script with the session id `session-1`, for the steps of [`AcpSteps`].
    pub fn acp() -> Self {
        Self::new().var("sessionId", "session-1")
    }
}

/// Steps of an ACP agent, to be mixed with all others.
///
/// ```
/// use jsonrpc_fake_runtime::acp::AcpSteps;
/// use jsonrpc_fake_runtime::Script;
///
/// let script = Script::acp()
///     .prompted()
///     .chunk("one moment")
///     .expect("session/cancel")
///     .stop("cancelled");
/// assert_eq!(script.steps.len(), 8);
/// ```
pub trait AcpSteps: Sized {
    /// Receives `initialize` and answers version 1 without capabilities.
    #[must_use]
    fn initialize(self) -> Self {
        self.initialize_with(json!({
            "protocolVersion": 1,
            "agentCapabilities": {},
            "agentInfo": {"name": "jsonrpc-fake-runtime", "version": env!("CARGO_PKG_VERSION")},
        }))
    }

    /// Receives `initialize` and answers with any result.
    #[must_use]
    fn initialize_with(self, result: Value) -> Self {
        self.with(|script| script.expect("initialize").respond(result))
    }

    /// Receives `session/new` and answers with the session id.
    #[must_use]
    fn new_session(self) -> Self {
        self.new_session_with(json!({"sessionId": "{sessionId}"}))
    }

    /// Receives `session/new` and answers with any result.
    #[must_use]
    fn new_session_with(self, result: Value) -> Self {
        self.with(|script| script.expect("session/new").respond(result))
    }

    /// `initialize` and `new_session`.
    #[must_use]
    fn ready(self) -> Self {
        self.initialize().new_session()
    }

    /// Receives `session/prompt`.
    #[must_use]
    fn prompt(self) -> Self {
        self.with(|script| script.expect("session/prompt"))
    }

    /// `ready` and `prompt`: what nearly every script begins with.
    #[must_use]
    fn prompted(self) -> Self {
        self.ready().prompt()
    }

    /// Everything up to a stage.
    #[must_use]
    fn up_to(self, stage: Stage) -> Self {
        match stage {
            Stage::Start => self,
            Stage::Initialize => self.with(|script| script.expect("initialize")),
            Stage::NewSession => self.initialize().with(|script| script.expect("session/new")),
            Stage::Prompt => self.prompted(),
            Stage::MidPrompt => self.prompted().chunk("partial"),
            Stage::AfterTurn => self.prompted().chunk("done").end_turn(),
        }
    }

    /// Sends a `session/update` of the session.
    #[must_use]
    fn update(self, update: Value) -> Self {
        self.update_of("{sessionId}", update)
    }

    /// Sends a `session/update` of any session.
    #[must_use]
    fn update_of(self, session: &str, update: Value) -> Self {
        self.with(|script| script.notify("session/update", json!({"sessionId": session, "update": update})))
    }

    /// Sends text of the agent's message.
    #[must_use]
    fn chunk(self, text: &str) -> Self {
        self.update(chunk_update(text))
    }

    /// Sends text of the agent's thoughts.
    #[must_use]
    fn thought(self, text: &str) -> Self {
        self.update(
            json!({"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": text}}),
        )
    }

    /// Answers the prompt with a stop reason.
    #[must_use]
    fn stop(self, reason: &str) -> Self {
        self.stop_with(json!({"stopReason": reason}))
    }

    /// Answers the prompt with any result.
    #[must_use]
    fn stop_with(self, result: Value) -> Self {
        self.with(|script| script.respond_to("session/prompt", result))
    }

    /// Answers the prompt with `end_turn`.
    #[must_use]
    fn end_turn(self) -> Self {
        self.stop("end_turn")
    }

    /// Sends a permission request for a tool call of `kind`; `options` are pairs of option id and kind.
    #[must_use]
    fn ask_permission(self, id: impl Into<Value>, kind: &str, options: &[(&str, &str)]) -> Self {
        let options: Vec<Value> = options
            .iter()
            .map(|(option, kind)| json!({"optionId": option, "name": format!("Option {option}"), "kind": kind}))
            .collect();
        let call = json!({"toolCallId": "call-1", "title": "A tool", "kind": kind, "status": "pending"});
        self.ask_permission_with(id, call, options.into())
    }

    /// Sends a permission request with any tool call and options.
    #[must_use]
    fn ask_permission_with(self, id: impl Into<Value>, call: Value, options: Value) -> Self {
        let params = json!({"sessionId": "{sessionId}", "toolCall": call, "options": options});
        self.with(|script| script.request(id, "session/request_permission", params))
    }

    /// Adds steps of any kind.
    #[must_use]
    fn with(self, add: impl FnOnce(Script) -> Script) -> Self;
}

impl AcpSteps for Script {
    fn with(self, add: impl FnOnce(Self) -> Self) -> Self {
        add(self)
    }
}

/// The whole frame of a chunk of text of the agent's message, for steps that take a frame.
pub fn chunk_frame(text: &str) -> Value {
    let params = json!({"sessionId": "{sessionId}", "update": chunk_update(text)});
    Script::notification("session/update", &params)
}

fn chunk_update(text: &str) -> Value {
    json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}})
}
