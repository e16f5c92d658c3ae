//! The subagent command
