//! One entry of a file: its name, its id, and the options of its kind. Owns which kinds there are; a kind is one file
//! below, with its table of keys and its reading.

mod acp;
mod child;
mod dsh_sdk;
mod jobs;
mod tool;

use crate::config::{JobsEntry, ToolEntry};
use crate::error::{ConfigError, Position};
use crate::host::HostContext;
use crate::keys::{Key, Shape, nearest};
use crate::problem::Problem;
use crate::provider::{Origin, ProviderEntry};
use crate::scope::Scope;
use crate::tree::{Map, Node, Value};

/// The kinds that there are.
pub(crate) const KINDS: &[&str] = &[acp::NAME, dsh_sdk::NAME, tool::NAME, jobs::NAME];

/// An entry that was read, as far as it could be.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) id: String,
    pub(crate) disabled: bool,
    pub(crate) content: Content,
    pub(crate) origin: Origin,
}

/// What an entry describes.
#[derive(Debug)]
pub(crate) enum Content {
    Provider(Box<ProviderEntry>),
    Tool(ToolEntry),
    Jobs(JobsEntry),
    /// Nothing that could be told; the reason was reported.
    Unreadable,
}

/// The keys that every entry has.
pub(crate) fn table() -> Vec<Key> {
    vec![
        Key::required(
            "name",
            Shape::Text,
            "the kind of the entry; a leading '@scope/' and 'dsh-' are ignored",
        ),
        Key::optional(
            "id",
            Shape::Text,
            "what errors call the entry, unique; the name if it is left out",
        ),
        Key::with_default(
            "disabled",
            Shape::Flag,
            false,
            "whether the entry is checked and then skipped",
        ),
        Key::optional("config", Shape::Options, "the options of the entry"),
    ]
}

/// The keys of a kind.
pub(crate) fn options(kind: &str) -> Vec<Key> {
    match kind {
        acp::NAME => acp::table(),
        dsh_sdk::NAME => dsh_sdk::table(),
        tool::NAME => tool::table(),
        jobs::NAME => jobs::table(),
        _ => Vec::new(),
    }
}

/// Reads the entry that stands at `index`, and reports what is wrong with it.
pub(crate) fn read(index: usize, node: Node, file: &str, host: &HostContext) -> (Entry, Vec<ConfigError>) {
    let at = node.at;
    let mut scope = Scope {
        host,
        file,
        entry: label(&node).unwrap_or_else(|| format!("#{}", index + 1)),
        package: "",
        errors: Vec::new(),
        keys: std::collections::BTreeMap::new(),
    };
    let mut disabled = false;
    let content = if let Value::Map(map) = node.value {
        read_map(&mut scope, map, at, &mut disabled)
    } else {
        let hint = Some("begin the entry with its name, for example - name: subagent-acp");
        scope.mismatch("", &node, "a mapping", hint)
    };
    let entry = Entry {
        id: scope.entry.clone(),
        disabled,
        content: content.unwrap_or(Content::Unreadable),
        origin: origin(&scope, at),
    };
    (entry, scope.errors)
}

fn read_map(scope: &mut Scope<'_>, map: Map, at: Position, disabled: &mut bool) -> Option<Content> {
    let mut fields = scope.fields(map, at, &table());
    misplaced(scope);
    if let Some(id) = fields.take("id").and_then(|node| scope.text("id", node)) {
        scope.entry = id;
    }
    if let Some(flag) = fields
        .take("disabled")
        .and_then(|node| scope.flag("disabled", node))
    {
        *disabled = flag;
    }
    let name = fields.take("name")?;
    let name_at = name.at;
    let name = scope.text("name", name)?;
    let kind = kind(scope, &name, name_at)?;
    scope.package = kind;
    let config = fields.take("config").unwrap_or(Node {
        value: Value::Map(Map::default()),
        at,
    });
    let Value::Map(map) = config.value else {
        let hint = Some("write the options below it, or leave the key out");
        return scope.mismatch("config", &config, "a mapping", hint);
    };
    let fields = scope.fields(map, config.at, &options(kind));
    match kind {
        acp::NAME => {
            let origin = origin(scope, at);
            Some(Content::Provider(Box::new(acp::read(scope, fields, origin))))
        }
        dsh_sdk::NAME => {
            let origin = origin(scope, at);
            Some(Content::Provider(Box::new(dsh_sdk::read(scope, fields, origin))))
        }
        tool::NAME => tool::read(scope, fields).map(Content::Tool),
        _ => Some(Content::Jobs(jobs::read(scope, fields))),
    }
}

/// Says of options that stand beside `config` where they belong.
fn misplaced(scope: &mut Scope<'_>) {
    let tables: Vec<_> = KINDS.iter().flat_map(|kind| options(kind)).collect();
    for error in &mut scope.errors {
        let is_option = |key: &str| tables.iter().any(|option| option.name == key);
        if error.problem == Problem::UnknownKey && error.place.key.as_deref().is_some_and(is_option) {
            error.hint = Some("move it below config".to_owned());
        }
    }
}

/// The kind that a name stands for.
fn kind(scope: &mut Scope<'_>, name: &str, at: Position) -> Option<&'static str> {
    let bare = bare(name);
    if let Some(kind) = KINDS.iter().find(|kind| **kind == bare) {
        return Some(kind);
    }
    let hint = nearest(bare, KINDS.iter().copied()).map(|near| format!("did you mean {near}?"));
    let problem = Problem::UnknownKind {
        name: name.to_owned(),
        known: KINDS,
    };
    scope.fail(at, "name", problem, hint);
    None
}

/// A name without the scope and the prefix that package names of a DeepSeek Harness deployment have.
fn bare(name: &str) -> &str {
    let unscoped = match name.strip_prefix('@').and_then(|rest| rest.split_once('/')) {
        Some((scope, rest)) if !scope.is_empty() => rest,
        _ => name,
    };
    unscoped.strip_prefix("dsh-").unwrap_or(unscoped)
}

/// What to call an entry in errors before it is read: its id, else its name.
fn label(node: &Node) -> Option<String> {
    let Value::Map(map) = &node.value else { return None };
    let text = |wanted: &str| {
        let (_, node) = map.entries.iter().find(|(key, _)| key.name == wanted)?;
        match &node.value {
            Value::Text(text) if !text.is_empty() => Some(text.clone()),
            _ => None,
        }
    };
    text("id").or_else(|| text("name").map(|name| bare(&name).to_owned()))
}

fn origin(scope: &Scope<'_>, at: Position) -> Origin {
    Origin {
        file: scope.file.to_owned(),
        entry: Some(scope.entry.clone()),
        at: Some(at),
        keys: scope.keys.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_and_a_prefix_are_no_part_of_the_kind() {
        assert_eq!(bare("subagent-acp"), "subagent-acp");
        assert_eq!(bare("dsh-subagent-acp"), "subagent-acp");
        assert_eq!(bare("@scope/dsh-subagent-acp"), "subagent-acp");
        assert_eq!(bare("@scope/tool-jobs"), "tool-jobs");
        assert_eq!(bare("@/tool-jobs"), "@/tool-jobs");
        assert_eq!(bare("dsh-dsh-tool-jobs"), "dsh-tool-jobs");
    }

    #[test]
    fn every_key_of_a_table_is_read() {
        let host = HostContext::new("/", |_| None);
        for kind in KINDS {
            for key in options(kind) {
                // Nothing takes a list in a list.
                let text = format!("{{ name: {kind}, config: {{ {}: [[]] }} }}", key.name);
                let (_, errors) = read(0, crate::tree::parse(&text).unwrap(), "f", &host);
                let about = |error: &ConfigError| {
                    let path = error.place.key.as_deref().unwrap_or_default();
                    path == key.name || path == format!("{}[0]", key.name)
                };
                assert!(
                    errors.iter().any(about),
                    "{kind}: {} is not read: {errors:?}",
                    key.name
                );
                assert!(
                    !errors.iter().any(|error| error.problem == Problem::UnknownKey),
                    "{errors:?}"
                );
            }
        }
    }
}
