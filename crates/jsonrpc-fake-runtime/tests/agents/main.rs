//! Everything that spawns a child: the providers, the tool and the command against scripted and real agents.
//!
//! One binary for all of it, so that it is linked once. Each file holds one kind of behaviour; `support` holds what
//! they share, and nothing else spawns.

#![expect(clippy::unwrap_used, reason = "a panic is how a test reports")]

mod acp_deadlines;
#[cfg(target_os = "linux")]
mod acp_table;
mod canary;
mod concurrency;
mod sdk_peer;
mod support;
