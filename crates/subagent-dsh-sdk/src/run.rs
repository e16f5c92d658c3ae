//! A published run, from its prompt to its proven end. Owns the one loop over what can happen while the run goes on,
//! and what is still owed to the child afterwards; what a frame means for the run is `hearing`'s.

use std::future::Future;
use std::pin::pin;

use serde_json::value::RawValue;
use subagent_seam::{Attempt, ContentBlock, RunDriver, StartRequest, settle};
use subagent_subprocess::rpc::RpcError;
use subagent_subprocess::{ChildProcess, Deadlines};

use crate::DshSdkError;
use crate::activity::Outcome;
use crate::child::{Broken, Child};
use crate::client::{ClientError, TurnEnd, excerpt};
use crate::failure::{Stage, terminal};
use crate::hearing::{Hearing, Taken};
use crate::wire::{PromptParams, TextBlock, method};

/// Drives a published run to its end: prompts, settles, waits for the teardown to be asked for, tears down.
pub(crate) async fn drive<P: ChildProcess>(request: StartRequest, mut child: Child<P>, driver: RunDriver) {
    child.run = Some(driver.id());
    let max_early_bytes = child.settings.plan.limits.max_frame_bytes;
    let hearing = Hearing::of_fresh_session(max_early_bytes, child.settings.max_output_bytes);
    let mut run = Prompted { child, hearing };

    let ending = run.prompt(&request, &driver).await;
    run.settle(ending, &driver).await;
    run.serve_until(driver.dispose_requested()).await;
    let outcome = run.child.teardown(&request.urgency, || driver.abandoned()).await;
    driver.finish(outcome);
}

/// A child that was given its prompt.
struct Prompted<P: ChildProcess> {
    child: Child<P>,
    hearing: Hearing,
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

impl<P: ChildProcess> Prompted<P> {
    /// Sends the prompt and folds what comes until the session is idle, one way or another.
    async fn prompt(&mut self, request: &StartRequest, driver: &RunDriver) -> Ending {
        request.progress.enter(Stage::SessionRun);
        let mut cancelled = pin!(async {
            tokio::select! {
                () = request.cancel.cancelled() => {}
                () = driver.dispose_requested() => {}
            }
        });
        let broke = if let Err(error) = self.send(&request.prompt) {
            error
        } else {
            let settings = &self.child.settings;
            let deadlines = Deadlines::starting_now(settings.run_timeout, settings.idle_timeout);
            loop {
                let last_frame = self.child.runtime.agent.connection().last_frame_at();
                tokio::select! {
                    biased;
                    () = &mut cancelled => return self.cut_short(Ending::Cancelled),
                    (deadline, after) = deadlines.passed(last_frame) => {
                        // A frame that means nothing is not yielded, and restarts the idle deadline all the same.
                        if self.child.runtime.agent.connection().last_frame_at() != last_frame {
                            continue;
                        }
                        let broken = Broken::deadline(Stage::SessionRun, deadline, after);
                        return self.cut_short(Ending::Failed(broken));
                    }
                    event = self.next_event() => match event {
                        Ok(None) => {}
                        Ok(Some(ending)) => return ending,
                        Err(error) => break error,
                    },
                }
                self.child.runtime.tell_progress();
            }
        };
        let error = tokio::select! {
            biased;
            () = &mut cancelled => return self.cut_short(Ending::Cancelled),
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

    fn send(&mut self, prompt: &[ContentBlock]) -> Result<(), RpcError> {
        let texts = prompt.iter().filter_map(ContentBlock::as_text);
        let params = PromptParams {
            session_id: self.hearing.session_id(),
            content_blocks: texts.map(TextBlock::new).collect(),
        };
        let connection = self.child.runtime.agent.connection();
        let prompt = connection.request(method::SESSION_PROMPT, &params)?;
        self.hearing.prompted(prompt);
        Ok(())
    }

    /// Takes the next frame: folds it, or turns down what the child asks; the ending of the run if it is that.
    /// Cancel-safe: a frame that was taken has been dealt with.
    async fn next_event(&mut self) -> Result<Option<Ending>, RpcError> {
        let taken = self.hearing.take(self.child.runtime.agent.next().await?);
        self.follow(taken)
    }

    fn follow(&mut self, taken: Taken) -> Result<Option<Ending>, RpcError> {
        match taken {
            Taken::Nothing => Ok(None),
            Taken::End => Ok(Some(Ending::Idle)),
            Taken::Failed(error) => Ok(Some(error.into())),
            Taken::Asked(id) => self.child.runtime.turn_down(&id).map(|()| None),
        }
    }

    /// Ends the run from our side: folds what the child had written by now, and waits for nothing more. How that would
    /// have ended comes too late.
    fn cut_short(&mut self, ending: Ending) -> Ending {
        let arrived = self.child.runtime.agent.connection().arrived_bytes();
        while let Some(Ok(frame)) = self.child.runtime.agent.connection().next_arrived(arrived) {
            let taken = self.hearing.take(frame);
            if !matches!(self.follow(taken), Ok(None)) {
                break;
            }
        }
        ending
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
            self.child.report(stage, shown.as_ref(), &error).await;
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
                served = self.child.runtime.serve() => if served.is_err() {
                    return disposal.await;
                },
            }
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
