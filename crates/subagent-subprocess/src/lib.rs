//! Everything about one child process and its pipes: spawn, environment, JSON-RPC lines, teardown
