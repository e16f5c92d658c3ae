//! One connection: a client, its session of jobs, its calls. Owns how a call begins, is cancelled and ends; what it does
//! is `call`'s.

use std::pin::pin;
use std::sync::Arc;

use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest, CustomResult, ErrorCode,
    ErrorData, Implementation, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer};
use subagent_seam::RunId;
use subagent_tool::jobs::Session;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::output::Reply;
use crate::roots::Roots;
use crate::server::Shared;
use crate::watched::Watched;
use crate::{MAX_CALLS, malformed};

/// A connection. Clones are handles of the same one.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    pub(crate) inner: Arc<Inner>,
}

/// What the calls of a connection share.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) shared: Arc<Shared>,
    /// What runs are told about their parent.
    pub(crate) session_id: String,
    pub(crate) jobs: Session,
    pub(crate) watched: Watched,
    pub(crate) roots: Roots,
    ended: CancellationToken,
    calls: TaskTracker,
    places: Semaphore,
}

impl Connection {
    /// A connection that lasts until `ended` is cancelled.
    pub(crate) fn new(shared: Arc<Shared>, ended: CancellationToken) -> Self {
        Self {
            inner: Arc::new(Inner {
                session_id: RunId::fresh().to_string(),
                jobs: shared.jobs.session(),
                watched: Watched::default(),
                roots: Roots::new(shared.options.cwd.clone()),
                ended,
                calls: TaskTracker::new(),
                places: Semaphore::new(MAX_CALLS),
                shared,
            }),
        }
    }

    /// Waits until every call and every job is gone; the calls have been asked to by the token. Cancel-safe, may be
    /// called again. Bounded by the longest teardown.
    pub(crate) async fn end(&self) {
        self.inner.calls.close();
        tokio::join!(self.inner.jobs.end(), self.inner.calls.wait());
    }
}

impl Inner {
    /// Answers one call. When the client cancels it or goes away, the answer comes once everything is torn down.
    async fn answer(
        self: Arc<Self>,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Reply {
        let Ok(_place) = self.places.try_acquire() else {
            return Reply::failed(&format_args!(
                "too many calls at a time, expected at most {MAX_CALLS}"
            ));
        };
        let cancel = self.ended.child_token();
        let given_up = context.ct.clone();
        let mut work = pin!(self.call(request, context, cancel.clone()));
        tokio::select! {
            biased;
            reply = &mut work => return reply,
            () = given_up.cancelled() => cancel.cancel(),
        }
        work.await
    }
}

impl ServerHandler for Connection {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("subagent", env!("CARGO_PKG_VERSION")))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(
            self.inner.shared.catalogue.tools(),
        ))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        // In a task of its own: it is waited for to its end, also when the protocol no longer waits for its answer.
        let call = self
            .inner
            .calls
            .spawn(Arc::clone(&self.inner).answer(request, context));
        let reply = call.await.unwrap_or_else(|error| {
            tracing::error!(%error, "a call was abandoned");
            Reply::failed(&"the call was abandoned before it was done")
        });
        Ok(CallToolResult::from(reply).into())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if request.method != malformed::CALL {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None));
        }
        // A call that could not be read as one. A model made it, so a model has to be told.
        let fault = malformed::fault(request.params.as_ref());
        let mut result = CallToolResult::from(Reply::failed(&fault));
        // Clients of older versions do not know it, and nobody takes it out here; for the others it goes without saying.
        result.result_type = None;
        serde_json::to_value(result)
            .map(CustomResult::new)
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }

    async fn on_roots_list_changed(&self, _: NotificationContext<RoleServer>) {
        self.inner.roots.forget().await;
    }
}
