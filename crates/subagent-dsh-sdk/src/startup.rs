//! From a request to a child that is ready for its prompt. Owns the order of the start and its rollback: whatever goes
//! wrong, no child is left behind when the error is returned.

use std::path::PathBuf;
use std::sync::Arc;

use subagent_seam::{HostReport, StartError, StartRequest, Word};
use subagent_subprocess::{ChildProcess, cwd_text};
use tokio::time::{Instant, sleep_until};

use crate::DshSdkError;
use crate::child::{Broken, Child};
use crate::client::ClientError;
use crate::failure::{Category, Finding, Stage, clean_abort};
use crate::provider::Settings;
use crate::runtime::Runtime;

/// Starts a child with `launch` and performs the handshake. Dropping the future kills what was spawned.
pub(crate) async fn start<P: ChildProcess>(
    settings: &Arc<Settings>,
    request: &StartRequest,
    launch: impl FnOnce(PathBuf) -> Result<Runtime<P>, ClientError>,
) -> Result<Child<P>, StartError> {
    if request.cancel.is_cancelled() {
        return Err(clean_abort());
    }
    request.progress.enter(Stage::Initialize);
    let deadline = settings.startup_timeout.map(|timeout| Instant::now() + timeout);
    let (mut child, cwd) = in_working_dir(settings, request, launch)?;
    let cwd = cwd_text(&cwd).unwrap_or_default();
    let trouble = match handshake(&mut child, request, cwd, deadline).await {
        Ok(()) if !request.cancel.is_cancelled() => return Ok(child),
        Ok(()) => Trouble::Cancelled,
        Err(trouble) => trouble,
    };
    let teardown = child.teardown(&request.urgency, std::future::pending).await;
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
    launch: impl FnOnce(PathBuf) -> Result<Runtime<P>, ClientError>,
) -> Result<(Child<P>, PathBuf), StartError> {
    // No child yet, so no standard error either.
    let fail = |Broken { finding, error }: Broken| {
        let failure = finding.into_safe();
        let mut report = HostReport::new(&settings.name, Word::of(finding.stage), &error);
        report.shown = Some(failure.diagnostic());
        settings.host.report(&report);
        StartError::Failed(failure.caused_by(error))
    };
    let cwd = settings
        .plan
        .working_dir(request.parent.cwd.as_deref())
        .map_err(|error| {
            fail(Broken {
                finding: Finding::new(Stage::Initialize, Category::Configuration),
                error: DshSdkError::WorkingDir(error),
            })
        })?;
    let runtime = launch(cwd.clone()).map_err(|error| fail(Broken::client(Stage::Initialize, error)))?;
    let child = Child {
        settings: Arc::clone(settings),
        runtime,
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

/// Performs the handshake, unless the request is cancelled or the deadline passes before.
async fn handshake<P: ChildProcess>(
    child: &mut Child<P>,
    request: &StartRequest,
    cwd: &str,
    deadline: Option<Instant>,
) -> Result<(), Trouble> {
    let Child {
        settings, runtime, ..
    } = child;
    let params = settings.plan.route.params(cwd);
    tokio::select! {
        biased;
        () = request.cancel.cancelled() => Err(Trouble::Cancelled),
        () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => {
            let after = settings.startup_timeout.unwrap_or_default();
            Err(Trouble::Failed(Broken::deadline(Stage::Initialize, "startup", after)))
        }
        answer = runtime.initialize(&params) => match answer {
            Ok(_) => Ok(()),
            Err(error) => Err(Trouble::Failed(Broken::client(Stage::Initialize, error))),
        },
    }
}
