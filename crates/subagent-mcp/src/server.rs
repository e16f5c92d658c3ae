//! The server: the tools of one deployment, for any number of connections. Owns what all connections share, and the order
//! in which one ends.

use std::path::PathBuf;
use std::sync::Arc;

use rmcp::service::{ServerInitializeError, serve_server_with_ct};
use subagent_config::Deployment;
use subagent_seam::{Registry, TeardownUrgency, Urgency};
use subagent_tool::jobs::{JobOptions, JobTable};
use subagent_tool::{SubagentTool, ToolError};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use crate::ServeError;
use crate::catalogue::Catalogue;
use crate::connection::Connection;
use crate::wire::Wire;

/// How many calls of one connection may be unanswered at a time. One more is answered with an error at once.
pub const MAX_CALLS: usize = 128;

/// What a host decides about its server.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ServerOptions {
    /// The directory of a session whose client names none by its roots. Without it the provider must have one of its own.
    pub cwd: Option<PathBuf>,
    /// How patiently teardowns wait. Raising it hurries all that run, and those to come.
    pub urgency: TeardownUrgency,
    /// How many delegations lie above this server. Default 0.
    pub depth: u32,
    /// The depth from which on every delegation is refused, before anything is spawned. Default none.
    pub max_depth: Option<u32>,
    /// Whether the job tools are there even if no call can become a job. Default false.
    pub job_tools: bool,
}

impl ServerOptions {
    /// Sessions live in `cwd`, unless their client names another directory.
    pub fn in_directory(cwd: impl Into<PathBuf>) -> Self {
        Self {
            cwd: Some(cwd.into()),
            ..Self::default()
        }
    }
}

/// The tools of a deployment, to be served. Clones share one server.
#[derive(Clone, Debug)]
pub struct Server {
    shared: Arc<Shared>,
}

/// What all connections share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) catalogue: Catalogue,
    pub(crate) jobs: JobTable,
    pub(crate) options: ServerOptions,
    registry: Registry,
}

impl Server {
    /// A server of every tool of `deployment`, which must outlive it. The job tools are there if its file has a `tool-jobs`
    /// entry, or any call can become a job: in the background, or past a foreground limit.
    ///
    /// # Errors
    ///
    /// A tool cannot work as it is configured.
    pub fn of(deployment: &Deployment, options: ServerOptions) -> Result<Self, ToolError> {
        let registry = deployment.registry();
        let tools = deployment
            .tools()
            .iter()
            .map(|entry| deployment.subagent_tool(entry))
            .collect::<Result<Vec<_>, _>>()?;
        let entry = deployment.jobs();
        let waits = entry.unwrap_or_default();
        let mut jobs = JobOptions::default();
        jobs.wait_timeout = waits.wait_timeout;
        jobs.max_wait_timeout = waits.max_wait_timeout;
        let options = ServerOptions {
            job_tools: options.job_tools || entry.is_some(),
            ..options
        };
        Ok(Self::new(registry.clone(), &tools, jobs, options))
    }

    /// A server of these tools, all of them over `registry`, for a host without a configuration.
    pub fn new(registry: Registry, tools: &[SubagentTool], jobs: JobOptions, options: ServerOptions) -> Self {
        let may_be_job = |tool: &SubagentTool| {
            let options = tool.options();
            options.background || options.foreground_limit.is_some()
        };
        let has_jobs = options.job_tools || tools.iter().any(may_be_job);
        Self {
            shared: Arc::new(Shared {
                catalogue: Catalogue::new(tools, has_jobs.then_some(&jobs)),
                jobs: JobTable::under(jobs, options.urgency.clone()),
                options,
                registry,
            }),
        }
    }

    /// Serves one client over these streams, until its messages end, it can no longer be reached, or `stop` is cancelled.
    /// Then every run and every job of the connection is cancelled, all of them are torn down side by side, and the call
    /// returns when they are gone. Must be called within a Tokio runtime.
    ///
    /// Unbounded while the client stays; from its end on bounded by the longest teardown, or five seconds for answers that
    /// are still on their way. Dropping the future is safe, but what runs then ends without being waited for.
    ///
    /// # Errors
    ///
    /// The session never began, because the client asked for something that cannot be. A client that goes away is none.
    pub async fn serve<R, W>(&self, reader: R, writer: W, stop: CancellationToken) -> Result<(), ServeError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        // Below each other: what stops the server makes the client unreachable, and that ends the session.
        let unreachable = stop.child_token();
        let ended = unreachable.child_token();
        // When this future is dropped, so that nothing goes on for nobody.
        let _ends = ended.clone().drop_guard();
        let connection = Connection::new(Arc::clone(&self.shared), ended.clone());
        let wire = Wire::new(reader, writer, ended.clone(), unreachable.clone());

        let serving = async {
            let service = serve_server_with_ct(connection.clone(), wire, unreachable).await;
            let served = match service {
                Ok(service) => {
                    tokio::select! {
                        _ = service.waiting() => {}
                        () = self.impatience(&ended) => {}
                    }
                    Ok(())
                }
                Err(error) => of_beginning(error),
            };
            ended.cancel();
            served
        };
        let ending = async {
            ended.cancelled().await;
            connection.end().await;
        };
        let (served, ()) = tokio::join!(serving, ending);
        // Calls that came in while the others ended.
        connection.end().await;
        served
    }

    /// Ends every job of every connection, then every run, and returns when all are gone. No more are started.
    ///
    /// Idempotent. Cancel-safe in that every teardown goes on. Bounded by the longest teardown.
    pub async fn shutdown(&self) {
        self.shared.jobs.shutdown().await;
        if let Err(errors) = self.shared.registry.shutdown().await {
            for error in errors {
                tracing::warn!(error = %error, "a run could not be torn down");
            }
        }
    }

    /// Waits until the session has ended and nobody is to be waited for any more.
    async fn impatience(&self, ended: &CancellationToken) {
        ended.cancelled().await;
        self.shared.options.urgency.reached(Urgency::Immediate).await;
    }
}

/// What it means that a session did not begin.
fn of_beginning(error: ServerInitializeError) -> Result<(), ServeError> {
    match error {
        ServerInitializeError::ConnectionClosed(_)
        | ServerInitializeError::TransportError { .. }
        | ServerInitializeError::Cancelled => Ok(()),
        other => Err(ServeError::Initialize(Box::new(other))),
    }
}
