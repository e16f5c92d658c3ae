//! From a request to a child that is ready for its prompt. Owns the order of the start and its rollback: whatever goes
//! wrong, no child is left behind when the error is returned.

use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;
use subagent_seam::{HostReport, StartError, StartRequest, Word};
use subagent_subprocess::rpc::Incoming;
use subagent_subprocess::{AgentProcess, ChildProcess, ManagedChild, cwd_text};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::AcpError;
use crate::child::{Broken, Child};
use crate::failure::{Category, Finding, Stage, clean_abort};
use crate::permission::decide;
use crate::provider::Settings;
use crate::wire::{
    InitializeParams, METHOD_NOT_FOUND, NewSessionParams, PROTOCOL_VERSION, PermissionAnswer,
    PermissionParams, method, protocol_version, session_id,
};

/// A child with a session, waiting for its prompt.
#[derive(Debug)]
pub(crate) struct Ready<P: ChildProcess = ManagedChild> {
    pub(crate) child: Child<P>,
    pub(crate) session_id: String,
}

/// Starts a child with `launch` and opens a session. Dropping the future kills what was spawned.
pub(crate) async fn start<P: ChildProcess>(
    settings: &Arc<Settings>,
    request: &StartRequest,
    launch: impl FnOnce(PathBuf) -> Result<AgentProcess<P>, subagent_subprocess::Error>,
) -> Result<Ready<P>, StartError> {
    if request.cancel.is_cancelled() {
        return Err(clean_abort());
    }
    request.progress.enter(Stage::Initialize);
    let deadline = settings.startup_timeout.map(|timeout| Instant::now() + timeout);
    let (mut child, cwd) = in_working_dir(settings, request, launch)?;
    let cwd = cwd_text(&cwd).unwrap_or_default();
    let handshake = Handshake {
        child: &mut child,
        cancel: &request.cancel,
        deadline,
    }
    .open(cwd)
    .await;
    let trouble = match handshake {
        Ok(session_id) if !request.cancel.is_cancelled() => return Ok(Ready { child, session_id }),
        Ok(_) => Trouble::Cancelled,
        Err(trouble) => trouble,
    };
    let teardown = child.teardown(&request.urgency, std::future::pending()).await;
    Err(match (trouble, teardown) {
        (Trouble::Cancelled, Ok(())) => clean_abort(),
        (Trouble::Cancelled, Err(teardown)) => StartError::AbortRollbackFailed(teardown),
        (Trouble::Failed(Broken { finding, error }), teardown) => {
            let start = child.failure(finding, error).await;
            match teardown {
                Ok(()) => StartError::Failed(start),
                Err(teardown) => StartError::RollbackFailed { start, teardown },
            }
        }
    })
}

/// Resolves the working directory and launches the child in it.
fn in_working_dir<P: ChildProcess>(
    settings: &Arc<Settings>,
    request: &StartRequest,
    launch: impl FnOnce(PathBuf) -> Result<AgentProcess<P>, subagent_subprocess::Error>,
) -> Result<(Child<P>, PathBuf), StartError> {
    // No child yet, so no standard error either.
    let fail = |finding: Finding, error: AcpError| {
        let failure = finding.into_safe();
        let mut report = HostReport::new(&settings.name, Word::of(finding.stage), &error);
        report.shown = Some(failure.diagnostic());
        settings.host.report(&report);
        StartError::Failed(failure.caused_by(error))
    };
    let cwd = settings
        .plan
        .working_dir(request.parent.cwd.as_deref())
        .and_then(|cwd| cwd_text(&cwd).map(drop).map(|()| cwd))
        .map_err(|error| {
            fail(
                Finding::new(Stage::Initialize, Category::Configuration),
                AcpError::WorkingDir(error),
            )
        })?;
    let agent = launch(cwd.clone()).map_err(|error| {
        fail(
            Finding::new(Stage::Process, Category::ProcessStart),
            AcpError::Launch(error),
        )
    })?;
    let child = Child {
        settings: Arc::clone(settings),
        agent,
        progress: request.progress.clone(),
        run: None,
    };
    Ok((child, cwd))
}

/// Why a handshake did not come to its end.
enum Trouble {
    Cancelled,
    Failed(Broken),
}

impl Trouble {
    fn failed(stage: Stage, category: Category, error: AcpError) -> Self {
        Self::Failed(Broken {
            finding: Finding::new(stage, category),
            error,
        })
    }
}

/// The two requests before a prompt.
struct Handshake<'a, P: ChildProcess> {
    child: &'a mut Child<P>,
    cancel: &'a CancellationToken,
    deadline: Option<Instant>,
}

impl<P: ChildProcess> Handshake<'_, P> {
    async fn open(mut self, cwd: &str) -> Result<String, Trouble> {
        let stage = Stage::Initialize;
        self.ask(stage, method::INITIALIZE, &InitializeParams::new(), |result| {
            let answered = protocol_version(result).map_or("none", RawValue::get);
            if answered == PROTOCOL_VERSION.to_string() {
                return Ok(());
            }
            let answered = answered.to_owned();
            Err(Trouble::failed(
                stage,
                Category::Transport,
                AcpError::Version { answered },
            ))
        })
        .await?;
        self.child.tell_progress();
        let stage = Stage::NewSession;
        self.child.progress.enter(stage);
        self.ask(
            stage,
            method::SESSION_NEW,
            &NewSessionParams { cwd, mcp_servers: [] },
            |result| {
                session_id(result)
                    .ok_or_else(|| Trouble::failed(stage, Category::Protocol, AcpError::SessionId))
            },
        )
        .await
    }

    /// Sends a request and reads its answer; serves what the child asks meanwhile.
    async fn ask<T>(
        &mut self,
        stage: Stage,
        method: &'static str,
        params: &impl Serialize,
        read: impl FnOnce(&RawValue) -> Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        let mut cancelled = pin!(self.cancel.cancelled());
        let mut deadline = pin!(sleep_until(self.deadline.unwrap_or_else(Instant::now)));
        let asked = self.child.agent.connection().request(method, params);
        let broke = match asked {
            Err(error) => error,
            Ok(asked) => loop {
                tokio::select! {
                    biased;
                    () = &mut cancelled => return Err(Trouble::Cancelled),
                    () = &mut deadline, if self.deadline.is_some() => return Err(self.timed_out(stage)),
                    incoming = self.child.agent.next() => match incoming {
                        Ok(Incoming::Response { id, outcome }) if id == asked => {
                            return match outcome {
                                Ok(result) => read(result),
                                // An answer proves that the child is alive: no exit is awaited.
                                Err(error) => {
                                    let error = AcpError::Conversation { method, source: error.into() };
                                    Err(Trouble::failed(stage, Category::Transport, error))
                                }
                            };
                        }
                        Ok(Incoming::Request { id, method, params }) => {
                            let answer = (method == method::REQUEST_PERMISSION)
                                .then(|| decide(self.child.settings.permission, &PermissionParams::read(params)).0);
                            let connection = self.child.agent.connection();
                            let sent = match answer {
                                Some(outcome) => connection.reply(&id, &PermissionAnswer { outcome }),
                                None => connection.reject(&id, METHOD_NOT_FOUND, "method not found"),
                            };
                            if let Err(error) = sent {
                                break error;
                            }
                        }
                        Ok(_) => {}
                        Err(error) => break error,
                    },
                }
                self.child.tell_progress();
            },
        };
        // The startup deadline does not run on while an exit is awaited.
        tokio::select! {
            biased;
            () = &mut cancelled => Err(Trouble::Cancelled),
            broken = self.child.explain(stage, method, broke) => Err(Trouble::Failed(broken)),
        }
    }

    fn timed_out(&self, stage: Stage) -> Trouble {
        let after = self.child.settings.startup_timeout.unwrap_or_default();
        Trouble::failed(
            stage,
            Category::Timeout,
            AcpError::Deadline {
                deadline: "startup",
                after,
            },
        )
    }
}
