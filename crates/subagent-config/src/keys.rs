//! What keys there are: one table a mapping, from which both the unknown keys of a file and its schema are found, so
//! that the two cannot disagree. Reading values is the business of `scope`.

use std::time::Duration;

use serde_json::Value;

/// A key that a mapping may have.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    /// What it means, for whoever edits a file.
    pub(crate) about: &'static str,
    pub(crate) shape: Shape,
    pub(crate) presence: Presence,
}

/// What the value of a key looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A text that is not empty.
    Text,
    /// The name of a tool.
    ToolName,
    /// One of a few words.
    Words(&'static [&'static str]),
    /// A list of texts.
    TextList,
    /// A mapping from variables to texts.
    Environment,
    /// A mapping from variables to `fresh` or a path.
    ConfigDirs,
    /// A positive number of milliseconds.
    Milliseconds,
    /// A positive integer.
    Integer,
    /// `true` or `false`.
    Flag,
    /// A positive integer or `provider-managed`.
    MaxDepth,
    /// A mapping with the keys of the entry's kind.
    Options,
}

/// Whether a key must stand there.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Presence {
    Required,
    /// May be left out; nothing stands in for it.
    Optional,
    /// May be left out; this value stands in for it.
    Default(Value),
}

impl Key {
    pub(crate) fn required(name: &'static str, shape: Shape, about: &'static str) -> Self {
        Self {
            name,
            about,
            shape,
            presence: Presence::Required,
        }
    }

    pub(crate) fn optional(name: &'static str, shape: Shape, about: &'static str) -> Self {
        Self {
            presence: Presence::Optional,
            ..Self::required(name, shape, about)
        }
    }

    pub(crate) fn with_default(
        name: &'static str,
        shape: Shape,
        default: impl Into<Value>,
        about: &'static str,
    ) -> Self {
        Self {
            presence: Presence::Default(default.into()),
            ..Self::required(name, shape, about)
        }
    }

    /// A time that has a default or may be absent.
    pub(crate) fn time(name: &'static str, default: Option<Duration>, about: &'static str) -> Self {
        match default {
            None => Self::optional(name, Shape::Milliseconds, about),
            Some(default) => Self::with_default(name, Shape::Milliseconds, millis(default), about),
        }
    }
}

/// The milliseconds of a duration, whole where they are.
fn millis(duration: Duration) -> Value {
    match u64::try_from(duration.as_millis()) {
        Ok(whole) if Duration::from_millis(whole) == duration => whole.into(),
        _ => (duration.as_secs_f64() * 1000.0).into(),
    }
}

/// The known name that `unknown` was most likely meant to be.
pub(crate) fn nearest<'a>(unknown: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let unknown = unknown.to_lowercase();
    let near = known.into_iter().map(|name| {
        let distance = strsim::osa_distance(&unknown, &name.to_lowercase());
        (distance, name)
    });
    // A third of the letters may be wrong.
    let near = near.filter(|(distance, name)| *distance * 3 <= name.chars().count().max(3));
    near.min_by_key(|(distance, _)| *distance).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_one_that_could_have_been_meant() {
        let known = [
            "permission",
            "args",
            "env",
            "cwd",
            "disposeGraceMs",
            "disposeEofGraceMs",
        ];
        assert_eq!(nearest("permision", known), Some("permission"));
        assert_eq!(nearest("Args", known), Some("args"));
        assert_eq!(nearest("dispose_grace_ms", known), Some("disposeGraceMs"));
        assert_eq!(nearest("disposeEofGrace", known), Some("disposeEofGraceMs"));
        assert_eq!(nearest("evn", known), Some("env"));
        assert_eq!(nearest("colour", known), None);
    }

    #[test]
    fn a_time_is_shown_in_whole_milliseconds_where_it_has_some() {
        assert_eq!(millis(Duration::from_secs(6)), 6000);
        assert_eq!(millis(Duration::from_micros(1500)), 1.5);
    }
}
