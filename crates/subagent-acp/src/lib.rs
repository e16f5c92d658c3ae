//! Delegates a task to an agent process that speaks the Agent Client Protocol
