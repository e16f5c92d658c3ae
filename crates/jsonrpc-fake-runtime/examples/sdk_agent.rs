//! A real peer for the tests: an agent built on the official Rust SDK of the Agent Client Protocol. Owns no wire format of
//! its own, which is the point: what this agent understands, every agent on that SDK understands.
//!
//! The first word of the prompt says what it does: `answer`, `permission`, `wait`, `fail`, `refuse` or `die`.

use std::sync::Arc;

use agent_client_protocol::v1::schema::{
    CancelNotification, ContentBlock, ContentChunk, InitializeRequest, InitializeResponse, NewSessionRequest,
    NewSessionResponse, PermissionOption, PermissionOptionKind, PromptRequest, PromptResponse,
    RequestPermissionOutcome, RequestPermissionRequest, SessionId, SessionNotification, SessionUpdate,
    StopReason, ToolCallUpdate, ToolCallUpdateFields, ToolKind,
};
use agent_client_protocol::v1::{ConnectionTo, Responder};
use agent_client_protocol::{Agent, Client, Error, Result, Stdio};
use tokio::sync::Notify;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let cancelled = Arc::new(Notify::new());
    let told = Arc::clone(&cancelled);
    Agent
        .v1()
        .name("sdk-agent")
        .on_receive_request(
            async move |request: InitializeRequest, responder, _connection| {
                responder.respond(InitializeResponse::new(request.protocol_version))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: NewSessionRequest, responder, _connection| {
                // The session's name carries its directory, so that a prompt can be answered with it.
                responder.respond(NewSessionResponse::new(format!("in {}", request.cwd.display())))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: PromptRequest,
                        responder: Responder<PromptResponse>,
                        connection: ConnectionTo<Client>| {
                let turn = Turn {
                    connection: connection.clone(),
                    session: request.session_id.clone(),
                };
                let cancelled = Arc::clone(&cancelled);
                // A handler blocks the connection; a turn that asks the client something must not.
                connection.spawn(async move {
                    match turn.take(&request, &cancelled).await {
                        Ok(reason) => responder.respond(PromptResponse::new(reason)),
                        Err(error) => responder.respond_with_error(error),
                    }
                })
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_notification(
            async move |_: CancelNotification, _connection| {
                told.notify_one();
                Ok(())
            },
            agent_client_protocol::on_receive_notification!(),
        )
        .connect_to(Stdio::new())
        .await
}

struct Turn {
    connection: ConnectionTo<Client>,
    session: SessionId,
}

impl Turn {
    async fn take(&self, request: &PromptRequest, cancelled: &Notify) -> Result<StopReason> {
        let prompt: String = request
            .prompt
            .iter()
            .filter_map(|block| match block {
                ContentBlock::Text(text) => Some(text.text.as_str()),
                _ => None,
            })
            .collect();
        match prompt.split_whitespace().next() {
            Some("answer") => {
                for word in prompt.split_inclusive(' ') {
                    self.say(word)?;
                }
                self.say(&format!(" ({})", self.session))?;
                Ok(StopReason::EndTurn)
            }
            Some("permission") => {
                let answered = self.ask_permission().await?;
                self.say(&answered)?;
                Ok(StopReason::EndTurn)
            }
            Some("wait") => {
                self.say("waiting")?;
                cancelled.notified().await;
                Ok(StopReason::Cancelled)
            }
            Some("refuse") => Ok(StopReason::Refusal),
            Some("die") => std::process::exit(9),
            _ => Err(Error::internal_error().data("a private detail")),
        }
    }

    fn say(&self, text: &str) -> Result<()> {
        let chunk = ContentChunk::new(ContentBlock::from(text.to_owned()));
        let update = SessionUpdate::AgentMessageChunk(chunk);
        self.connection
            .send_notification(SessionNotification::new(self.session.clone(), update))
    }

    async fn ask_permission(&self) -> Result<String> {
        let call = ToolCallUpdate::new("call-1", ToolCallUpdateFields::new().kind(ToolKind::Edit));
        let options = vec![
            PermissionOption::new("for-ever", "Always", PermissionOptionKind::AllowAlways),
            PermissionOption::new("once", "Once", PermissionOptionKind::AllowOnce),
            PermissionOption::new("no", "No", PermissionOptionKind::RejectOnce),
        ];
        let request = RequestPermissionRequest::new(self.session.clone(), call, options);
        let answer = self.connection.send_request(request).block_task().await?;
        Ok(match answer.outcome {
            RequestPermissionOutcome::Selected(selected) => format!("selected {}", selected.option_id),
            _ => "cancelled".to_owned(),
        })
    }
}
