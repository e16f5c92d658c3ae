//! What an operator is told about a configuration: where, what, and what to do. Owns the place and the layout of the
//! text; what can be wrong is listed in `problem`.

use std::fmt::{self, Write};

use crate::problem::Problem;

/// A place in a file. Both numbers count from 1; the column counts characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// Where something is wrong, as far as that is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// The file, as it was named, or the command-line option that stands for one.
    pub file: Option<String>,
    /// The line and the column in the file.
    pub position: Option<Position>,
    /// The id of the entry; `#2` for the second entry of the file if it has neither an id nor a name.
    pub entry: Option<String>,
    /// The key, for example `cwd`, `args[0]` or `env.PATH`.
    pub key: Option<String>,
}

/// One thing that is wrong with a configuration.
///
/// Its `Display` is one line, control characters of the file escaped, without the [hint](Self::hint), for example
/// `subagents.yml:7:5: entry subagent-acp, key permision: unknown key`. No value of an `env` entry is ever part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigError {
    /// Where.
    pub place: Place,
    /// What.
    pub problem: Problem,
    /// What to do about it, for example `did you mean permission?`; it may have several lines.
    pub hint: Option<String>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            f.write_str(file)?;
            if let Some(position) = self.position {
                write!(f, ":{}:{}", position.line, position.column)?;
            }
            f.write_str(": ")?;
        }
        match (&self.entry, &self.key) {
            (Some(entry), Some(key)) => write!(f, "entry {entry}, key {key}: "),
            (Some(entry), None) => write!(f, "entry {entry}: "),
            (None, Some(key)) => write!(f, "key {key}: "),
            (None, None) => Ok(()),
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(OneLine(f), "{}{}", self.place, self.problem)
    }
}

/// Writes what a file says without breaking the line or moving the cursor: its names may hold any character.
struct OneLine<'a, 'b>(&'a mut fmt::Formatter<'b>);

impl Write for OneLine<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for part in text.split_inclusive(char::is_control) {
            let mut chars = part.chars();
            match chars.next_back() {
                Some(last) if last.is_control() => {
                    write!(self.0, "{}{}", chars.as_str(), last.escape_default())?;
                }
                _ => self.0.write_str(part)?,
            }
        }
        Ok(())
    }
}

impl std::error::Error for ConfigError {}

/// Everything that is wrong with a configuration, in the order of the file; never empty.
///
/// Its `Display` shows each error on a line, followed by its hint, indented.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigErrors(Vec<ConfigError>);

impl ConfigErrors {
    /// The errors in the order of their positions, or `None` if there are none.
    pub(crate) fn of(mut errors: Vec<ConfigError>) -> Option<Self> {
        errors.sort_by_key(|error| error.place.position);
        // An alias has the faults of what it stands for.
        errors.dedup();
        (!errors.is_empty()).then_some(Self(errors))
    }

    /// The errors, in the order of the file.
    pub fn iter(&self) -> std::slice::Iter<'_, ConfigError> {
        self.0.iter()
    }
}

impl From<ConfigError> for ConfigErrors {
    fn from(error: ConfigError) -> Self {
        Self(vec![error])
    }
}

impl<'a> IntoIterator for &'a ConfigErrors {
    type Item = &'a ConfigError;
    type IntoIter = std::slice::Iter<'a, ConfigError>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{error}")?;
            let mut indent = "hint: ";
            for line in error.hint.iter().flat_map(|hint| hint.lines()) {
                write!(f, "\n  {indent}")?;
                OneLine(f).write_str(line)?;
                indent = "      ";
            }
        }
        Ok(())
    }
}

impl std::error::Error for ConfigErrors {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_line_breaks_and_escape_sequences_stays_on_its_line() {
        let error = ConfigError {
            place: Place {
                entry: Some("two\nlines".to_owned()),
                key: Some("\u{1b}[2Jé\r".to_owned()),
                ..Place::default()
            },
            problem: Problem::UnknownProvider {
                provider: "\t".to_owned(),
            },
            hint: Some("did you mean \u{7}?".to_owned()),
        };
        let line = r"entry two\nlines, key \u{1b}[2Jé\r: no provider is named \t";
        assert_eq!(error.to_string(), line);
        assert_eq!(
            ConfigErrors::from(error).to_string(),
            format!("{line}\n  hint: did you mean \\u{{7}}?")
        );
    }

    #[test]
    fn each_error_is_a_line_and_its_hint_is_indented_below() {
        let place = Place {
            file: Some("subagents.yml".to_owned()),
            position: Some(Position { line: 7, column: 5 }),
            entry: Some("subagent-acp".to_owned()),
            key: Some("permision".to_owned()),
        };
        let first = ConfigError {
            place,
            problem: Problem::UnknownKey,
            hint: Some("did you mean permission?\nor not".to_owned()),
        };
        let second = ConfigError {
            place: Place::default(),
            problem: Problem::Empty,
            hint: None,
        };
        let errors = ConfigErrors(vec![first, second]);
        assert_eq!(
            errors.to_string(),
            "subagents.yml:7:5: entry subagent-acp, key permision: unknown key\n  \
             hint: did you mean permission?\n        or not\nmust not be empty"
        );
    }
}
