//! Why a tool could not be built. Owns the texts for the operator; what a call comes to is an
//! [`Outcome`](crate::Outcome), never an error.

/// Why a tool could not be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// The registry holds no provider of the name that the tool delegates to.
    #[error("tool {tool}: no provider is named {provider}")]
    UnknownProvider {
        /// The tool.
        tool: String,
        /// The name that was asked for.
        provider: String,
    },
    /// The tool limits the delegation depth by a number, and its provider cannot enforce one.
    #[error(
        "tool {tool}: maxDepth is a number, but provider {provider} does not enforce a depth limit; \
         set maxDepth: provider-managed"
    )]
    DepthLimitUnsupported {
        /// The tool.
        tool: String,
        /// Its provider.
        provider: String,
    },
}
