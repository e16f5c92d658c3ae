//! The YAML of a file as a small tree that keeps what a deserializer drops: the position of every key and value, tags,
//! and whether a scalar was quoted. Owns the bounds of a file and the rules of the notation; what the keys mean is the
//! readers' business. Whatever is wrong with one value stays in the tree as [`Value::Refused`] or a [`Fault`], so that
//! everything is reported, with its entry and key, and not only the first.

mod build;
mod scalar;

use crate::error::Position;
use crate::problem::Problem;

pub(crate) use build::parse;
pub(crate) use scalar::{is_variable_name, plain};

/// The most bytes that a file may have.
pub(crate) const MAX_BYTES: usize = 1024 * 1024;

/// The most values that a file may have, counting an alias as a copy of what it stands for.
pub(crate) const MAX_NODES: usize = 20_000;

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) value: Value,
    pub(crate) at: Position,
}

/// A value of the file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Flag(bool),
    Integer(i128),
    Float(f64),
    Text(String),
    /// `!env NAME`, not looked up yet.
    Variable(String),
    List(Vec<Node>),
    Map(Map),
    /// A value that cannot be used wherever it stands.
    Refused(Problem, Option<&'static str>),
}

/// A mapping whose keys are text.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Map {
    pub(crate) entries: Vec<(Key, Node)>,
    pub(crate) faults: Vec<Fault>,
}

/// A key and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Key {
    pub(crate) name: String,
    pub(crate) at: Position,
}

/// A key that cannot be used, or one too many.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fault {
    pub(crate) key: Option<String>,
    pub(crate) at: Position,
    pub(crate) problem: Problem,
    pub(crate) hint: Option<&'static str>,
}

/// Why there is no tree at all.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fatal {
    pub(crate) at: Position,
    pub(crate) problem: Problem,
    pub(crate) hint: Option<&'static str>,
}

impl PartialEq for Node {
    /// By value: the same value may stand in many places.
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl Value {
    /// What it is, for an error.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Flag(_) => "a boolean",
            Self::Integer(_) | Self::Float(_) => "a number",
            Self::Text(_) | Self::Variable(_) => "a string",
            Self::List(_) => "a list",
            Self::Map(_) => "a mapping",
            Self::Refused(..) => "a value that cannot be used",
        }
    }
}

#[cfg(test)]
mod tests;
