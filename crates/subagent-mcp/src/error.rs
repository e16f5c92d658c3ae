//! Why a connection was not served to its ordinary end. Owns the texts for the operator; what a call comes to is always
//! a result, never an error of this crate.

/// Why a connection was not served. A client that goes away, at whatever moment, is no error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// Client and server did not agree on a beginning.
    #[error("the client and this server could not begin a session")]
    Initialize(#[source] Box<rmcp::service::ServerInitializeError>),
}
