//! A published run, from its prompt to its proven end. Owns the one loop over what can happen while the prompt is open,
//! and what is still owed to the child afterwards.

use std::borrow::Cow;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use subagent_seam::{AssistantOutput, Attempt, RunDriver, StartRequest, settle};
use subagent_subprocess::rpc::{Incoming, PeerId, RequestId, RpcError};
use subagent_subprocess::{ChildProcess, Deadlines};

use crate::AcpError;
use crate::child::{Broken, Child};
use crate::failure::{Category, Finding, Stage, terminal};
use crate::permission::{Decision, decide};
use crate::provider::Settings;
use crate::startup::Ready;
use crate::wire::{
    AcpStopReason, CancelParams, METHOD_NOT_FOUND, PermissionAnswer, PermissionOutcome, PermissionParams,
    PromptParams, message_chunk, method, stop_reason, text_blocks,
};

/// How long a child may take to settle a cancelled turn before its input is closed.
const SETTLE_GRACE: Duration = Duration::from_millis(500);

/// Drives a published run to its end: prompts, settles, waits for the teardown to be asked for, tears down.
pub(crate) async fn drive<P: ChildProcess>(
    settings: Arc<Settings>,
    request: StartRequest,
    ready: Ready<P>,
    driver: RunDriver,
) {
    let Ready {
        mut child,
        session_id,
    } = ready;
    child.run = Some(driver.id());
    let output = AssistantOutput::bounded(settings.max_output_bytes);
    let mut run = Prompted {
        child,
        session_id,
        output,
        decision: None,
        prompt: None,
        written_before: 0,
    };

    let ending = run.prompt(&request, &driver, &settings).await;
    run.settle(ending, &driver).await;
    let disposal = driver.dispose_requested();
    run.serve_until(disposal).await;

    if run.prompt.is_some() {
        let window = SETTLE_GRACE.min(settings.ladder.eof_grace);
        tokio::select! {
            biased;
            () = request.urgency.immediate_or(driver.abandoned()) => {}
            _ = tokio::time::timeout(window, run.serve_prompt()) => {}
        }
    }
    let outcome = run.child.teardown(&request.urgency, driver.abandoned()).await;
    driver.finish(outcome);
}

/// A child that was given its prompt.
struct Prompted<P: ChildProcess> {
    child: Child<P>,
    session_id: String,
    output: AssistantOutput,
    /// The latest one of the run.
    decision: Option<Decision>,
    /// The prompt's request, as long as it has no answer.
    prompt: Option<RequestId>,
    /// What lies before this place of the child's output was written before the prompt was sent.
    written_before: u64,
}

/// How a prompt ended.
enum Ending {
    Answered {
        reason: AcpStopReason,
        answer: Box<RawValue>,
    },
    Cancelled,
    Failed(Broken),
}

impl Ending {
    fn failed(stage: Stage, category: Category, error: AcpError) -> Self {
        Self::Failed(Broken {
            finding: Finding::new(stage, category),
            error,
        })
    }
}

impl<P: ChildProcess> Prompted<P> {
    /// Sends the prompt and folds what comes until it ends, one way or another.
    async fn prompt(&mut self, request: &StartRequest, driver: &RunDriver, settings: &Settings) -> Ending {
        request.progress.enter(Stage::Prompt);
        let connection = self.child.agent.connection();
        self.written_before = connection.arrived_bytes();
        let params = PromptParams {
            session_id: &self.session_id,
            prompt: text_blocks(&request.prompt),
        };
        let sent = connection.request(method::SESSION_PROMPT, &params);
        drop(params);

        let mut cancelled = pin!(async {
            tokio::select! {
                () = request.cancel.cancelled() => {}
                () = driver.dispose_requested() => {}
            }
        });
        let broke = match sent {
            Err(error) => error,
            Ok(prompt) => {
                self.prompt = Some(prompt);
                let deadlines = Deadlines::starting_now(settings.run_timeout, settings.idle_timeout);
                loop {
                    let last_frame = self.child.agent.connection().last_frame_at();
                    tokio::select! {
                        biased;
                        () = &mut cancelled => return self.cancel(Ending::Cancelled),
                        (deadline, after) = deadlines.passed(last_frame) => {
                            // A frame that means nothing is not yielded, and restarts the idle deadline all the same.
                            if self.child.agent.connection().last_frame_at() != last_frame {
                                continue;
                            }
                            let error = AcpError::Deadline { deadline, after };
                            return self.cancel(Ending::failed(Stage::Prompt, Category::Timeout, error));
                        }
                        event = self.next_event() => match event {
                            Ok(None) => {}
                            Ok(Some(ending)) => return ending,
                            Err(error) => break error,
                        },
                    }
                    self.child.tell_progress();
                }
            }
        };
        let broken = tokio::select! {
            biased;
            () = &mut cancelled => return self.cancel(Ending::Cancelled),
            broken = self.child.explain(Stage::Prompt, method::SESSION_PROMPT, broke) => broken,
        };
        if broken.finding.exit.is_some() {
            // What the pipe still holds was written before the exit. This ends by itself: the pipe gets no more.
            while let Ok(event) = self.next_event().await {
                if let Some(ending) = event {
                    return ending;
                }
            }
        }
        Ending::Failed(broken)
    }

    /// Takes the next frame: folds it, or serves what the child asks; the ending of the prompt if it is the answer.
    /// Cancel-safe: a frame that was taken has been dealt with.
    async fn next_event(&mut self) -> Result<Option<Ending>, RpcError> {
        match self.child.agent.next().await? {
            Incoming::Notification {
                method,
                params: Some(params),
                end,
            } => {
                if end > self.written_before
                    && let Some(text) = spoken(&method, params, &self.session_id)
                {
                    self.output.push_text(&text);
                }
            }
            Incoming::Request { id, method, params } => {
                let decided = (method == method::REQUEST_PERMISSION)
                    .then(|| decide(self.child.settings.permission, &PermissionParams::read(params)));
                if let Some((_, decision)) = decided {
                    self.decision = Some(decision);
                }
                self.answer(&id, decided.map(|(outcome, _)| outcome))?;
            }
            Incoming::Response { id, outcome } if self.prompt == Some(id) => {
                self.prompt = None;
                return Ok(Some(match outcome {
                    Ok(answer) => Ending::Answered {
                        reason: stop_reason(answer),
                        answer: answer.to_owned(),
                    },
                    // An answer proves that the child is alive: no exit is awaited.
                    Err(error) => {
                        let error = AcpError::Conversation {
                            method: method::SESSION_PROMPT,
                            source: error.into(),
                        };
                        Ending::failed(Stage::Prompt, Category::Transport, error)
                    }
                }));
            }
            Incoming::Notification { .. } | Incoming::Response { .. } => {}
        }
        Ok(None)
    }

    /// Ends the turn from our side: keeps what the child has said by now, and tells it. Best effort: the ending stands
    /// whether or not it hears.
    fn cancel(&mut self, ending: Ending) -> Ending {
        self.fold_arrived();
        let params = CancelParams {
            session_id: &self.session_id,
        };
        if let Err(error) = self
            .child
            .agent
            .connection()
            .notify(method::SESSION_CANCEL, &params)
        {
            tracing::debug!(%error, "the agent could not be told of the cancellation");
        }
        ending
    }

    /// Folds what the child had written when its turn was ended, and waits for nothing more. Questions are turned down, no
    /// decision is recorded, and an answer to the prompt comes too late.
    fn fold_arrived(&mut self) {
        let arrived = self.child.agent.connection().arrived_bytes();
        while self.prompt.is_some() {
            let Some(Ok(frame)) = self.child.agent.connection().next_arrived(arrived) else {
                return;
            };
            match frame {
                Incoming::Notification {
                    method,
                    params: Some(params),
                    end,
                } => {
                    if end > self.written_before
                        && let Some(text) = spoken(&method, params, &self.session_id)
                    {
                        self.output.push_text(&text);
                    }
                }
                Incoming::Request { id, method, .. } => {
                    let permission = method == method::REQUEST_PERMISSION;
                    if self.turn_down(&id, permission).is_err() {
                        return;
                    }
                }
                Incoming::Response { id, .. } if self.prompt == Some(id) => self.prompt = None,
                Incoming::Notification { .. } | Incoming::Response { .. } => {}
            }
        }
    }

    /// Gives the run its result and reports what the parent is not told.
    async fn settle(&mut self, ending: Ending, driver: &RunDriver) {
        let output = std::mem::replace(&mut self.output, AssistantOutput::bounded(0)).into_blocks();
        let (attempt, raw) = match ending {
            Ending::Answered { reason, answer } => {
                let (stop_reason, diagnostic) = terminal(reason, self.decision);
                let raw = match reason {
                    AcpStopReason::Unknown => Some(AcpError::StopReason {
                        answered: answer.get().to_owned(),
                    }),
                    AcpStopReason::MaxTurnRequests => Some(AcpError::TurnRequests),
                    _ => None,
                };
                let raw = raw
                    .zip(diagnostic.clone())
                    .map(|(error, shown)| (Stage::Prompt, shown, error));
                (
                    Attempt::Ended {
                        stop_reason,
                        output,
                        diagnostic,
                    },
                    raw,
                )
            }
            Ending::Cancelled => (Attempt::Cancelled { output }, None),
            Ending::Failed(Broken { finding, error }) => {
                let diagnostic = finding.diagnostic(self.decision);
                (
                    Attempt::Failed {
                        output,
                        diagnostic: diagnostic.clone(),
                    },
                    Some((finding.stage, diagnostic, error)),
                )
            }
        };
        driver.settle(settle(attempt));
        if let Some((stage, shown, error)) = raw {
            self.child.report(stage, &shown, &error).await;
        }
    }

    /// After the result: keeps the conversation going until the teardown is asked for, so that the child is never stuck
    /// on a full pipe or an open question.
    async fn serve_until(&mut self, disposal: impl Future<Output = ()> + Send) {
        let mut disposal = pin!(disposal);
        loop {
            tokio::select! {
                biased;
                () = &mut disposal => return,
                served = self.serve() => if served.is_err() {
                    return disposal.await;
                },
            }
        }
    }

    /// The same until the prompt has its answer.
    async fn serve_prompt(&mut self) {
        while self.prompt.is_some() && self.serve().await.is_ok() {}
    }

    /// Takes one frame after the result: nothing is folded, every question is turned down, no decision is recorded.
    async fn serve(&mut self) -> Result<(), RpcError> {
        match self.child.agent.next().await? {
            Incoming::Request { id, method, .. } => {
                let permission = method == method::REQUEST_PERMISSION;
                self.turn_down(&id, permission)?;
            }
            Incoming::Response { id, .. } if self.prompt == Some(id) => self.prompt = None,
            Incoming::Response { .. } | Incoming::Notification { .. } => {}
        }
        self.child.tell_progress();
        Ok(())
    }

    /// Answers a request of a child whose turn is over.
    fn turn_down(&mut self, id: &PeerId, permission: bool) -> Result<(), RpcError> {
        self.answer(id, permission.then_some(PermissionOutcome::Cancelled))
    }

    /// Answers a request of the child: with a permission outcome, or that there is no such method.
    fn answer(&mut self, id: &PeerId, outcome: Option<PermissionOutcome>) -> Result<(), RpcError> {
        let connection = self.child.agent.connection();
        match outcome {
            Some(outcome) => connection.reply(id, &PermissionAnswer { outcome }),
            None => connection.reject(id, METHOD_NOT_FOUND, "method not found"),
        }
    }
}

/// The text that a notification adds to the output of the session.
fn spoken<'a>(method: &str, params: &'a RawValue, session_id: &str) -> Option<Cow<'a, str>> {
    (method == method::SESSION_UPDATE)
        .then(|| message_chunk(params, session_id))
        .flatten()
}
