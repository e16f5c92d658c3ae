//! Tests of whole configurations, in one binary.

#![expect(clippy::unwrap_used, reason = "a panic in a test is its report")]

mod broken;
mod deploy;
mod json_schema;
mod schema;
mod support;
mod valid;
