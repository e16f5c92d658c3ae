//! Everything that spawns a child: the providers, the tool and the command against scripted and real agents.
//!
//! One binary for all of it, so that it is linked once. Each file holds one kind of behaviour; `support` holds what
//! they share, and nothing else spawns.

#![expect(clippy::unwrap_used, reason = "a panic is how a test reports")]
#![cfg_attr(
    target_os = "linux",
    expect(
        clippy::unnecessary_debug_formatting,
        reason = "messages show paths in quotes, and a test that is run both ways is a function like any other to clippy"
    )
)]

mod acp_deadlines;
#[cfg(target_os = "linux")]
mod acp_table;
mod canary;
#[cfg(target_os = "linux")]
mod command_background;
#[cfg(target_os = "linux")]
mod command_check;
#[cfg(target_os = "linux")]
mod command_config;
#[cfg(target_os = "linux")]
mod command_depth;
#[cfg(target_os = "linux")]
mod command_dsh;
#[cfg(target_os = "linux")]
mod command_jobs;
#[cfg(target_os = "linux")]
mod command_jobs_ends;
#[cfg(target_os = "linux")]
mod command_process;
#[cfg(target_os = "linux")]
mod command_run;
#[cfg(target_os = "linux")]
mod command_session;
#[cfg(target_os = "linux")]
mod command_signals;
#[cfg(target_os = "linux")]
mod command_streams;
#[cfg(target_os = "linux")]
mod command_support;
#[cfg(target_os = "linux")]
mod command_terminal;
#[cfg(target_os = "linux")]
mod command_threads;
#[cfg(target_os = "linux")]
mod command_usage;
#[cfg(target_os = "linux")]
mod compositions;
mod concurrency;
mod custody;
#[cfg(target_os = "linux")]
mod descriptors;
#[cfg(target_os = "linux")]
mod dsh_client;
#[cfg(target_os = "linux")]
mod dsh_client_ends;
#[cfg(target_os = "linux")]
mod dsh_events;
#[cfg(target_os = "linux")]
mod dsh_lifecycle;
#[cfg(target_os = "linux")]
mod dsh_order;
#[cfg(target_os = "linux")]
mod dsh_rows;
#[cfg(target_os = "linux")]
mod dsh_sessions;
#[cfg(target_os = "linux")]
mod dsh_startup;
#[cfg(target_os = "linux")]
mod dsh_support;
#[cfg(target_os = "linux")]
mod dsh_table;
#[cfg(target_os = "linux")]
mod environment;
#[cfg(target_os = "linux")]
mod environment_minimal;
#[cfg(target_os = "linux")]
mod field_endings;
#[cfg(target_os = "linux")]
mod field_escapes;
#[cfg(target_os = "linux")]
mod field_frames;
#[cfg(target_os = "linux")]
mod field_launchers;
#[cfg(target_os = "linux")]
mod field_memory;
#[cfg(target_os = "linux")]
mod field_memory_dsh;
#[cfg(target_os = "linux")]
mod field_order;
#[cfg(target_os = "linux")]
mod field_permissions;
#[cfg(target_os = "linux")]
mod field_time;
#[cfg(target_os = "linux")]
mod field_traffic;
#[cfg(target_os = "linux")]
mod field_volume;
#[cfg(target_os = "linux")]
mod lifecycle;
#[cfg(target_os = "linux")]
mod lifecycle_host;
#[cfg(target_os = "linux")]
mod mcp_calls;
#[cfg(target_os = "linux")]
mod mcp_canary;
#[cfg(target_os = "linux")]
mod mcp_endings;
#[cfg(target_os = "linux")]
mod mcp_limit;
#[cfg(target_os = "linux")]
mod mcp_raw;
#[cfg(target_os = "linux")]
mod mcp_session;
#[cfg(target_os = "linux")]
mod mcp_support;
#[cfg(target_os = "linux")]
mod mcp_wire;
#[cfg(target_os = "linux")]
mod pinned;
mod sdk_peer;
#[cfg(target_os = "linux")]
mod supervision;
#[cfg(target_os = "linux")]
mod supervision_deaths;
#[cfg(target_os = "linux")]
mod supervision_dsh;
#[cfg(target_os = "linux")]
mod supervision_limits;
mod support;
#[cfg(target_os = "linux")]
mod teardown;
#[cfg(target_os = "linux")]
mod teardown_tree;
#[cfg(target_os = "linux")]
mod working_dir;
