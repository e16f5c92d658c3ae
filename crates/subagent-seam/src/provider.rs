//! The trait that every provider implements. Owns the signature alone.

use std::future::Future;
use std::pin::Pin;

use crate::{Capabilities, CheckError, Run, StartError, StartRequest};

/// A boxed future that may move between threads.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Starts subagents of one kind. Object safe.
pub trait Provider: Send + Sync {
    /// The name that the provider is registered under.
    fn name(&self) -> &str;

    /// The start features that the provider honours.
    fn capabilities(&self) -> Capabilities;

    /// Whether a child sees the parent's conversation. A child that does not needs a complete, standalone prompt.
    fn inherits_parent_context(&self) -> bool;

    /// Starts a run. Ready when the run is published, or when its start has failed and been rolled back.
    ///
    /// Cancelling [`StartRequest::cancel`] fails the start with [`StartError::Aborted`]. Dropping the future instead is
    /// safe too: it kills what was spawned, without patience.
    ///
    /// # Errors
    ///
    /// The run did not start; see [`StartError`].
    fn start(&self, request: StartRequest) -> BoxFuture<'_, Result<Run, StartError>>;

    /// Does all that [`start`](Self::start) does before publication, sends no prompt, and tears the child down again:
    /// whether the deployment works, without spending a turn. The request's prompt is not used. Cancel-safe as `start`.
    ///
    /// # Errors
    ///
    /// The start or the teardown failed. The sources of the error hold the raw causes.
    fn check(&self, request: StartRequest) -> BoxFuture<'_, Result<(), CheckError>>;
}
