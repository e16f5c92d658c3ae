//! The provider-neutral contract between a host and the subagents it delegates to
