//! A published run, from its prompt to its proven end. Owns the one loop over what can happen while the run goes on,
//! and what is still owed to the child afterwards.

use std::future::Future;
use std::pin::pin;

use serde_json::value::RawValue;
use subagent_seam::{Attempt, ContentBlock, Diagnostic, RunDriver, StartRequest, settle};
use subagent_subprocess::Deadlines;
use subagent_subprocess::rpc::{Incoming, RequestId, RpcError};

use crate::DshSdkError;
use crate::activity::{Activity, Backlog, Outcome, Place, Told};
use crate::child::{Broken, Child};
use crate::client::{ClientError, TurnEnd, Violation, excerpt, fresh_session_id};
use crate::failure::{Stage, terminal};
use crate::wire::update::Update;
use crate::wire::{PromptParams, TextBlock, message_id, method};

/// Drives a published run to its end: prompts, settles, waits for the teardown to be asked for, tears down.
pub(crate) async fn drive(request: StartRequest, child: Child, driver: RunDriver) {
    let mut run = Prompted {
        hearing: Hearing::Waiting(Backlog::bounded(child.settings.plan.limits.max_frame_bytes)),
        child,
        session_id: fresh_session_id(),
        prompt: None,
    };
    run.child.run = Some(driver.id());

    let ending = run.prompt(&request, &driver).await;
    run.settle(ending, &driver).await;
    run.serve_until(driver.dispose_requested()).await;
    let outcome = run.child.teardown(&request.urgency, || driver.abandoned()).await;
    driver.finish(outcome);
}

/// A child that was given its prompt.
struct Prompted {
    child: Child,
    /// Private to the wire: the parent knows the run by another id.
    session_id: String,
    hearing: Hearing,
    /// The prompt's request, as long as it has no answer.
    prompt: Option<RequestId>,
}

/// What has been heard of the run's own session.
enum Hearing {
    /// The receipt has not come: nothing can be understood yet.
    Waiting(Backlog),
    Following(Activity),
}

/// How a run ended.
enum Ending {
    Idle,
    Cancelled,
    Failed(Broken),
}

impl From<ClientError> for Ending {
    fn from(error: ClientError) -> Self {
        Self::Failed(Broken::client(Stage::SessionRun, error))
    }
}

impl Prompted {
    /// Sends the prompt and folds what comes until the session is idle, one way or another.
    async fn prompt(&mut self, request: &StartRequest, driver: &RunDriver) -> Ending {
        request.progress.enter(Stage::SessionRun);
        let mut cancelled = pin!(async {
            tokio::select! {
                () = request.cancel.cancelled() => {}
                () = driver.dispose_requested() => {}
            }
        });
        let broke = match self.send(&request.prompt) {
            Err(error) => error,
            Ok(prompt) => {
                self.prompt = Some(prompt);
                let settings = &self.child.settings;
                let deadlines = Deadlines::starting_now(settings.run_timeout, settings.idle_timeout);
                loop {
                    let last_frame = self.child.runtime.agent.connection().last_frame_at();
                    tokio::select! {
                        biased;
                        () = &mut cancelled => return Ending::Cancelled,
                        (deadline, after) = deadlines.passed(last_frame) => {
                            return Ending::Failed(Broken::deadline(Stage::SessionRun, deadline, after));
                        }
                        event = self.next_event() => match event {
                            Ok(None) => {}
                            Ok(Some(ending)) => return ending,
                            Err(error) => break error,
                        },
                    }
                    self.child.runtime.tell_progress();
                }
            }
        };
        let error = tokio::select! {
            biased;
            () = &mut cancelled => return Ending::Cancelled,
            error = self.child.runtime.explain(method::SESSION_PROMPT, broke) => error,
        };
        if error.transport().is_some_and(|closed| closed.exit.is_some()) {
            // What the pipe still holds was written before the exit. This ends by itself: the pipe gets no more.
            while let Ok(event) = self.next_event().await {
                if let Some(ending) = event {
                    return ending;
                }
            }
        }
        error.into()
    }

    fn send(&mut self, prompt: &[ContentBlock]) -> Result<RequestId, RpcError> {
        let texts = prompt.iter().filter_map(ContentBlock::as_text);
        let params = PromptParams {
            session_id: &self.session_id,
            content_blocks: texts.map(TextBlock::new).collect(),
        };
        self.child
            .runtime
            .agent
            .connection()
            .request(method::SESSION_PROMPT, &params)
    }

    /// Takes the next frame: folds it, or turns down what the child asks; the ending of the run if it is that.
    /// Cancel-safe: a frame that was taken has been dealt with.
    async fn next_event(&mut self) -> Result<Option<Ending>, RpcError> {
        let place = match self.child.runtime.agent.next().await? {
            Incoming::Notification {
                method,
                params: Some(params),
                ..
            } => match Update::read(&method, params) {
                Some(Update::Event { session_id, event }) if session_id == self.session_id => {
                    self.hearing.hear(Told::Event(event))
                }
                Some(Update::Status { session_id, status }) if session_id == self.session_id => {
                    self.hearing.hear(Told::Status(&status))
                }
                _ => return Ok(None),
            },
            Incoming::Response { id, outcome } if self.prompt == Some(id) => {
                self.prompt = None;
                let max_output_bytes = self.child.settings.max_output_bytes;
                match outcome {
                    Ok(answer) => self.hearing.receive(answer, max_output_bytes),
                    Err(error) => Err(ClientError::Response {
                        method: method::SESSION_PROMPT.to_owned(),
                        error,
                    }),
                }
            }
            Incoming::Request { id, .. } => {
                self.child.runtime.turn_down(&id)?;
                return Ok(None);
            }
            Incoming::Notification { .. } | Incoming::Response { .. } => return Ok(None),
        };
        Ok(match place {
            Ok(Place::End) => Some(Ending::Idle),
            Ok(Place::Before | Place::Within) => None,
            Err(error) => Some(error.into()),
        })
    }

    /// Gives the run its result and reports what the parent is not told.
    async fn settle(&mut self, ending: Ending, driver: &RunDriver) {
        let Outcome { output, end, reason } = self.hearing.take_outcome();
        let (attempt, raw) = match ending {
            Ending::Idle => {
                let (stop_reason, diagnostic) = terminal(end);
                let raw = raw_end(end, reason.as_deref());
                let raw = raw.map(|error| (Stage::SessionRun, diagnostic.clone(), error));
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
                let diagnostic = finding.diagnostic();
                (
                    Attempt::Failed {
                        output,
                        diagnostic: diagnostic.clone(),
                    },
                    Some((finding.stage, Some(diagnostic), error)),
                )
            }
        };
        driver.settle(settle(attempt));
        if let Some((stage, shown, error)) = raw {
            let shown: Option<Diagnostic> = shown;
            self.child.report(stage, shown.as_ref(), &error).await;
        }
    }

    /// After the result: keeps the conversation going until the teardown is asked for, so that the child is never stuck
    /// on a full pipe or an open question.
    async fn serve_until(&mut self, disposal: impl Future<Output = ()>) {
        let mut disposal = pin!(disposal);
        loop {
            tokio::select! {
                biased;
                () = &mut disposal => return,
                served = self.child.runtime.serve() => if served.is_err() {
                    return disposal.await;
                },
            }
        }
    }
}

impl Hearing {
    /// Takes what the run's own session told.
    fn hear(&mut self, told: Told<'_>) -> Result<Place, ClientError> {
        match self {
            Self::Following(activity) => Ok(activity.take(told)?),
            Self::Waiting(backlog) => {
                backlog.keep(told)?;
                Ok(Place::Before)
            }
        }
    }

    /// Takes the receipt, and with it all that came before.
    fn receive(&mut self, answer: &RawValue, max_output_bytes: usize) -> Result<Place, ClientError> {
        let message_id = message_id(answer).ok_or_else(|| Violation::receipt(answer))?;
        let following = Self::Following(Activity::of(message_id, max_output_bytes));
        let (Self::Waiting(backlog), Self::Following(activity)) = (std::mem::replace(self, following), self)
        else {
            // A second receipt: the connection yields no second answer to one request.
            return Ok(Place::Within);
        };
        Ok(backlog.replay(activity)?)
    }

    /// What was said and how it ended. Before the receipt nothing is known to be the run's own.
    fn take_outcome(&mut self) -> Outcome {
        match std::mem::replace(self, Self::Waiting(Backlog::bounded(0))) {
            Self::Following(activity) => activity.into_outcome(),
            Self::Waiting(_) => Outcome {
                output: Vec::new(),
                end: None,
                reason: None,
            },
        }
    }
}

/// What the host is told of a turn that ended otherwise than its kind says in full.
fn raw_end(end: Option<TurnEnd>, reason: Option<&RawValue>) -> Option<DshSdkError> {
    match end {
        None => Some(DshSdkError::MissingTurnEnd),
        Some(
            TurnEnd::Aborted { disposed: true } | TurnEnd::Error | TurnEnd::Interrupted | TurnEnd::Unknown,
        ) => Some(DshSdkError::TurnEnd {
            reason: reason.map_or_else(|| "none".to_owned(), excerpt),
        }),
        Some(
            TurnEnd::Completed | TurnEnd::MaxTokens | TurnEnd::Blocked | TurnEnd::Aborted { disposed: false },
        ) => None,
    }
}
