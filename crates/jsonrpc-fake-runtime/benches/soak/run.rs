//! One run as its plan wants it, and whether it kept what is promised: an end in time, a diagnostic of closed words, and
//! nothing left when the teardown has returned.

use std::sync::Arc;
use std::time::{Duration, Instant};

use jsonrpc_fake_runtime::{Prepared, Protocol};
use subagent_acp::{AcpConfig, AcpProvider, Supervision};
use subagent_dsh_sdk::{DshSdkConfig, DshSdkProvider};
use subagent_seam::{
    HostReport, HostReporter, Parent, Provider, Registration, Registry, Run, StartError, StartRequest,
};
use subagent_tool::jobs::{JobOptions, JobTable, Wait};
use subagent_tool::{Call, Context, SubagentTool, ToolOptions};

use crate::judge::{Verdict, dispose_error, outcome, result, settlement, start_error};
use crate::leftovers::living_in;
use crate::plan::{Plan, Treatment};

/// How much longer than its own bounds a run may take on a machine that is busy with many others.
const SLACK: Duration = Duration::from_secs(20);

/// The least that a killed tree is given to end on such a machine.
const KILL_BOUND: Duration = Duration::from_secs(2);

/// Drives one run to its end and looks at what is left of it.
pub(crate) async fn drive(plan: Plan) -> Verdict {
    let prepared = Prepared::in_temp_dir(&plan.script).map_err(|error| format!("no script: {error}"))?;
    let bound = plan.startup_timeout + plan.run_timeout + 2 * plan.grace + 2 * KILL_BOUND + SLACK;
    let begun = Instant::now();
    let treated = tokio::time::timeout(bound, treat(&plan, &prepared)).await;
    let ended = treated.map_err(|_| format!("has not ended after {:?}", begun.elapsed()))??;
    // Nobody awaits the teardown of what was dropped.
    let may_take = match plan.treatment {
        Treatment::Dropped { .. } => SLACK,
        _ => Duration::ZERO,
    };
    let ended_at = Instant::now();
    loop {
        let left = living_in(prepared.dir());
        if left.is_empty() {
            return Ok(ended);
        }
        if ended_at.elapsed() >= may_take {
            return Err(format!("left behind: {}", left.join("; ")));
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn treat(plan: &Plan, prepared: &Prepared) -> Verdict {
    let provider = provider(plan, prepared)?;
    let parent = Parent {
        session_id: "soak".to_owned(),
        cwd: Some(prepared.dir().to_owned()),
        depth: 0,
    };
    let request = StartRequest::text("do it", parent.clone());
    match plan.treatment {
        Treatment::Foreground { cancel } => foreground(provider, parent, cancel).await,
        Treatment::Background { kill } => background(provider, parent, kill).await,
        Treatment::Run { cancel } => {
            let token = request.cancel.clone();
            at(cancel, run(&*provider, request), || token.cancel()).await
        }
        Treatment::DisposedEarly { after } => match provider.start(request).await {
            Ok(run) => {
                // Whether it has ended by then or not.
                let _ = tokio::time::timeout(after, run.result()).await;
                finish(&run).await
            }
            Err(error) => start_error(&error),
        },
        Treatment::Dropped { after } => {
            let run = async {
                let run = provider.start(request).await?;
                run.result().await;
                Ok::<_, StartError>(())
            };
            match tokio::time::timeout(after, run).await {
                Ok(Ok(())) => Ok("ended, then dropped"),
                Ok(Err(error)) => start_error(&error),
                Err(_) => Ok("dropped"),
            }
        }
        Treatment::ShutDown { after } => shut_down(provider, request, after).await,
    }
}

/// Does one thing at a time of its own while another goes on, to whose end it comes.
async fn at<T>(time: Option<Duration>, work: impl Future<Output = T>, act: impl FnOnce()) -> T {
    let mut work = std::pin::pin!(work);
    let Some(time) = time else {
        return work.await;
    };
    tokio::select! {
        ended = &mut work => ended,
        () = tokio::time::sleep(time) => {
            act();
            work.await
        }
    }
}

async fn foreground(provider: Arc<dyn Provider>, parent: Parent, cancel: Option<Duration>) -> Verdict {
    let (tool, _registered) = tool(provider, false)?;
    let context = Context {
        parent,
        ..Context::default()
    };
    let token = context.cancel.clone();
    let call = tool.call(Call::new("soak", "do it"), context);
    outcome(&at(cancel, call, || token.cancel()).await)
}

async fn background(provider: Arc<dyn Provider>, parent: Parent, kill: Option<Duration>) -> Verdict {
    let (tool, _registered) = tool(provider, true)?;
    let table = JobTable::new(JobOptions::default());
    let session = table.session();
    let context = Context {
        parent,
        ..Context::default()
    };
    let started = tool
        .start_background(Call::new("soak", "do it"), context, &session)
        .map_err(|refusal| refusal.text())?;
    let id = started.job.id().as_str();
    let settled = at(kill, started.job.settled(), || {
        // It may have ended by itself.
        let _ = session.kill(id, None);
    })
    .await;
    let shown = session
        .output(id, Wait::No)
        .await
        .map_err(|error| error.to_string())?;
    session.end().await;
    table.shutdown().await;
    settlement(&settled, &shown.text)
}

async fn run(provider: &dyn Provider, request: StartRequest) -> Verdict {
    match provider.start(request).await {
        Ok(run) => {
            run.result().await;
            finish(&run).await
        }
        Err(error) => start_error(&error),
    }
}

/// Result and teardown, awaited twice at once.
async fn finish(run: &Run) -> Verdict {
    let (ended, again, disposed, disposed_again) =
        tokio::join!(run.result(), run.result(), run.dispose(), run.dispose());
    if !Arc::ptr_eq(&ended, &again) {
        return Err("two results".to_owned());
    }
    for disposed in [disposed, disposed_again] {
        disposed.map_err(|error| dispose_error(&error))?;
    }
    result(&ended)
}

async fn shut_down(provider: Arc<dyn Provider>, request: StartRequest, after: Duration) -> Verdict {
    let registry = Registry::new();
    let name = provider.name().to_owned();
    let _registered = registry.register(provider).map_err(|error| error.to_string())?;
    let work = async {
        match registry.start(&name, request).await {
            Ok(run) => finish(&run).await,
            Err(error) => start_error(&error),
        }
    };
    let shutdown = async {
        tokio::time::sleep(after).await;
        registry.shutdown().await
    };
    let (ended, disposed) = tokio::join!(work, shutdown);
    disposed.map_err(|errors| format!("the registry's shutdown: {errors:?}"))?;
    ended
}

fn tool(provider: Arc<dyn Provider>, background: bool) -> Result<(SubagentTool, Registration), String> {
    let registry = Registry::new();
    let mut options = ToolOptions::new(provider.name());
    options.background = background;
    let registered = registry.register(provider).map_err(|error| error.to_string())?;
    let tool = SubagentTool::new(registry, options).map_err(|error| error.to_string())?;
    Ok((tool, registered))
}

fn provider(plan: &Plan, prepared: &Prepared) -> Result<Arc<dyn Provider>, String> {
    let fake = env!("CARGO_BIN_EXE_jsonrpc-fake-runtime");
    let supervision = if plan.is_supervised {
        Supervision::OwnExecutable
    } else {
        Supervision::ProcessGroup
    };
    // The host's log is nobody's business here.
    let reporter = HostReporter::observed_by(Arc::new(|_: &HostReport<'_>| ()));
    let dispose_grace = plan.grace.max(KILL_BOUND);
    if plan.protocol == Protocol::Acp {
        let mut config = AcpConfig::new(fake);
        config.args = prepared.args();
        config.supervision = supervision;
        config.dispose_eof_grace = plan.grace;
        config.dispose_grace = dispose_grace;
        config.startup_timeout = Some(plan.startup_timeout);
        config.run_timeout = Some(plan.run_timeout);
        config.idle_timeout = plan.idle_timeout;
        let provider = AcpProvider::new(config, reporter);
        return Ok(Arc::new(provider.map_err(|error| error.to_string())?));
    }
    let mut config = DshSdkConfig::new(fake);
    config.args = prepared.args();
    config.supervision = supervision;
    config.shutdown_timeout = plan.grace;
    config.dispose_eof_grace = plan.grace;
    config.dispose_grace = dispose_grace;
    config.startup_timeout = Some(plan.startup_timeout);
    config.run_timeout = Some(plan.run_timeout);
    config.idle_timeout = plan.idle_timeout;
    let provider = DshSdkProvider::new(config, reporter);
    Ok(Arc::new(provider.map_err(|error| error.to_string())?))
}
