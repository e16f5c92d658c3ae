//! Reading one entry: its values by type, with every error collected at its place. Owns what each type takes and the
//! advice when something else stands there; which keys there are is `keys`'.

mod map;
mod number;

use std::collections::BTreeMap;
use std::ffi::OsString;

use crate::error::{ConfigError, Place, Position};
use crate::host::HostContext;
use crate::keys::{Key, Presence, nearest};
use crate::problem::Problem;
use crate::tree::{Map, Node, Value};

pub(crate) use number::{MAX_COUNT, MAX_MILLIS};

/// One entry being read.
pub(crate) struct Scope<'a> {
    pub(crate) host: &'a HostContext,
    pub(crate) file: &'a str,
    pub(crate) entry: String,
    /// The kind of the entry, which the texts about bounds begin with.
    pub(crate) package: &'static str,
    pub(crate) errors: Vec<ConfigError>,
    /// Where the keys of the entry were written.
    pub(crate) keys: BTreeMap<String, Position>,
}

/// A mapping whose keys are known.
pub(crate) struct Fields {
    map: Map,
}

impl Fields {
    /// The value of a key, once.
    pub(crate) fn take(&mut self, name: &str) -> Option<Node> {
        let index = self.map.entries.iter().position(|(key, _)| key.name == name)?;
        Some(self.map.entries.remove(index).1)
    }
}

impl Scope<'_> {
    /// Reports an error about a key, or about the entry as a whole.
    pub(crate) fn fail(&mut self, at: Position, key: &str, problem: Problem, hint: Option<String>) {
        self.errors.push(ConfigError {
            place: Place {
                file: Some(self.file.to_owned()),
                position: Some(at),
                entry: Some(self.entry.clone()),
                key: (!key.is_empty()).then(|| key.to_owned()),
            },
            problem,
            hint,
        });
    }

    /// Whether an error about this key was reported.
    pub(crate) fn failed(&self, key: &str) -> bool {
        self.errors
            .iter()
            .any(|error| error.place.key.as_deref() == Some(key))
    }

    /// A mapping with the keys of a table. Reports unknown, duplicate and missing ones.
    pub(crate) fn fields(&mut self, map: Map, at: Position, keys: &[Key]) -> Fields {
        self.faults(&map, "");
        let known = |name: &str| keys.iter().any(|key| key.name == name);
        let taken: Vec<_> = map.entries.iter().map(|(key, _)| key.name.clone()).collect();
        for (key, value) in &map.entries {
            self.keys.insert(key.name.clone(), value.at);
            if !known(&key.name) {
                let free = keys
                    .iter()
                    .map(|key| key.name)
                    .filter(|name| !taken.iter().any(|t| t == name));
                let near =
                    nearest(&key.name, free).or_else(|| nearest(&key.name, keys.iter().map(|key| key.name)));
                let hint = near.map_or_else(
                    || {
                        format!(
                            "known keys: {}",
                            keys.iter().map(|key| key.name).collect::<Vec<_>>().join(", ")
                        )
                    },
                    |name| format!("did you mean {name}?"),
                );
                self.fail(key.at, &key.name, Problem::UnknownKey, Some(hint));
            }
        }
        for key in keys {
            if key.presence == Presence::Required && !taken.iter().any(|name| name == key.name) {
                self.fail(
                    at,
                    key.name,
                    Problem::MissingKey,
                    Some(format!("{}: {}", key.name, key.about)),
                );
            }
        }
        Fields { map }
    }

    /// A text that is not empty.
    pub(crate) fn text(&mut self, key: &str, node: Node) -> Option<String> {
        let at = node.at;
        let text = self.any_text(key, node)?;
        if text.is_empty() {
            self.fail(at, key, Problem::Empty, None);
            return None;
        }
        Some(text)
    }

    /// A text as processes take it, which a host variable may hold without being UTF-8; it may be empty.
    pub(crate) fn os_text(&mut self, key: &str, node: Node) -> Option<OsString> {
        let at = node.at;
        let text = match node.value {
            Value::Variable(name) => self.variable(key, at, name)?,
            value => OsString::from(self.expect_text(key, Node { value, at })?),
        };
        if text.as_encoded_bytes().contains(&0) {
            self.fail(at, key, Problem::Nul, None);
            return None;
        }
        Some(text)
    }

    /// `true` or `false`.
    pub(crate) fn flag(&mut self, key: &str, node: Node) -> Option<bool> {
        let node = self.scalar(key, node, "true or false")?;
        match node.value {
            Value::Flag(flag) => Some(flag),
            _ => self.mismatch(
                key,
                &node,
                "true or false",
                Some("write true or false without quotes"),
            ),
        }
    }

    /// The place of a text in a list of words.
    pub(crate) fn word(&mut self, key: &str, node: Node, words: &'static [&'static str]) -> Option<usize> {
        let at = node.at;
        let text = self.any_text(key, node)?;
        let index = words.iter().position(|word| *word == text);
        if index.is_none() {
            let hint = nearest(&text, words.iter().copied()).map(|word| format!("did you mean {word}?"));
            self.fail(at, key, Problem::UnknownWord { expected: words }, hint);
        }
        index
    }

    /// A list of texts as processes take them.
    pub(crate) fn list(&mut self, key: &str, node: Node) -> Option<Vec<OsString>> {
        let Value::List(nodes) = node.value else {
            let hint = Some("write a list, for example ['--verbose']");
            return self.mismatch(key, &node, "a list of strings", hint);
        };
        let texts = nodes.into_iter().enumerate();
        Some(
            texts
                .filter_map(|(index, node)| self.os_text(&format!("{key}[{index}]"), node))
                .collect(),
        )
    }

    /// The value of a host variable that must be set.
    fn variable(&mut self, key: &str, at: Position, name: String) -> Option<OsString> {
        let value = self.host.variable(&name);
        if value.is_none() {
            let hint = Some("set it, or write the value itself".to_owned());
            self.fail(at, key, Problem::MissingVariable { variable: name }, hint);
        }
        value
    }

    fn any_text(&mut self, key: &str, node: Node) -> Option<String> {
        let at = node.at;
        match node.value {
            Value::Variable(name) => match self.variable(key, at, name.clone())?.into_string() {
                Ok(text) => Some(text),
                Err(_) => self.unfit(key, at, name, "text in UTF-8"),
            },
            value => self.expect_text(key, Node { value, at }),
        }
    }

    fn expect_text(&mut self, key: &str, node: Node) -> Option<String> {
        let hint = match node.value {
            Value::Text(text) => return Some(text),
            Value::Null => Some("give it a value, or leave the key out"),
            Value::Flag(_) | Value::Integer(_) | Value::Float(_) => Some("put the value in quotes"),
            _ => None,
        };
        self.mismatch(key, &node, "a string", hint)
    }

    /// A scalar that is not text: a host variable is read as if its value had been written there without quotes.
    fn scalar(&mut self, key: &str, node: Node, expected: &str) -> Option<Node> {
        let Value::Variable(name) = node.value else {
            return Some(node);
        };
        let value = self.variable(key, node.at, name.clone())?;
        match value.to_str().map(crate::tree::plain) {
            // Whatever is text, or nothing, can be neither a number nor a boolean.
            None | Some(Value::Text(_) | Value::Null) => self.unfit(key, node.at, name, expected),
            Some(value) => Some(Node { value, at: node.at }),
        }
    }

    fn unfit<T>(&mut self, key: &str, at: Position, variable: String, expected: &str) -> Option<T> {
        let expected = expected.to_owned();
        self.fail(at, key, Problem::UnfitVariable { variable, expected }, None);
        None
    }

    /// Reports a value of a wrong type, or what the tree says of a value that cannot be used at all.
    pub(crate) fn mismatch<T>(
        &mut self,
        key: &str,
        node: &Node,
        expected: &str,
        hint: Option<&str>,
    ) -> Option<T> {
        let (problem, hint) = match &node.value {
            Value::Refused(problem, hint) => (problem.clone(), *hint),
            value => {
                let (expected, found) = (expected.to_owned(), value.type_name());
                (Problem::WrongType { expected, found }, hint)
            }
        };
        self.fail(node.at, key, problem, hint.map(str::to_owned));
        None
    }

    /// Reports the keys of a mapping that cannot be used.
    fn faults(&mut self, map: &Map, prefix: &str) {
        for fault in &map.faults {
            let key = fault.key.as_ref().map_or_else(
                || prefix.trim_end_matches('.').to_owned(),
                |key| format!("{prefix}{key}"),
            );
            self.fail(
                fault.at,
                &key,
                fault.problem.clone(),
                fault.hint.map(str::to_owned),
            );
        }
    }
}
