//! What the command prints besides an answer. Owns the grouping by format; each format stands in a file of its own.

pub(crate) mod json;
pub(crate) mod text;
