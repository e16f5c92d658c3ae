//! The JSON schema of the file, made from the same tables that the loader reads by. What a schema cannot say, such as
//! unique names across entries, only the loader checks.

use serde_json::{Map, Value, json};

use crate::entry::{self, KINDS};
use crate::keys::{Key, Presence, Shape};
use crate::scope::{MAX_COUNT, MAX_MILLIS};

/// The JSON schema (draft 2020-12) of a configuration file.
///
/// It describes the file as a reader of plain YAML sees it, where `!env NAME` is a string.
pub fn schema() -> Value {
    let definitions: Map<String, Value> = KINDS
        .iter()
        .map(|kind| ((*kind).to_owned(), entry_of(kind)))
        .collect();
    let references: Vec<_> = KINDS
        .iter()
        .map(|kind| json!({ "$ref": format!("#/$defs/{kind}") }))
        .collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "subagents.yml",
        "description": "The providers that tasks can be delegated to, and the tools that delegate to them. \
                        A file with exactly one provider and no tool-subagent entry behaves as if it had one with \
                        defaults.",
        "type": "array",
        "items": { "oneOf": references },
        "$defs": definitions,
    })
}

/// An entry of one kind.
fn entry_of(kind: &str) -> Value {
    let options = entry::options(kind);
    let needs_options = options.iter().any(|key| key.presence == Presence::Required);
    let mut schema = object(&entry::table());
    let properties = &mut schema["properties"];
    properties["name"]["pattern"] = format!("^(@[^/]+/)?(dsh-)?{kind}$").into();
    let about = properties["config"]["description"].take();
    properties["config"] = object(&options);
    properties["config"]["description"] = about;
    if needs_options && let Some(required) = schema["required"].as_array_mut() {
        required.push("config".into());
    }
    schema
}

/// A mapping with the keys of a table.
fn object(keys: &[Key]) -> Value {
    let properties: Map<String, Value> = keys
        .iter()
        .map(|key| (key.name.to_owned(), property(key)))
        .collect();
    let required = keys.iter().filter(|key| key.presence == Presence::Required);
    let required: Vec<_> = required.map(|key| key.name).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn property(key: &Key) -> Value {
    let mut schema = shape(key.shape);
    schema["description"] = key.about.into();
    if let Presence::Default(default) = &key.presence {
        schema["default"] = default.clone();
    }
    schema
}

fn shape(shape: Shape) -> Value {
    match shape {
        Shape::Text => json!({ "type": "string", "minLength": 1 }),
        Shape::ToolName => json!({ "type": "string", "pattern": "^[a-zA-Z0-9_-]{1,64}$" }),
        Shape::Words(words) => json!({ "enum": words }),
        Shape::TextList => json!({ "type": "array", "items": { "type": "string" } }),
        Shape::Environment => variables(&json!({ "type": "string" })),
        Shape::ConfigDirs => variables(&json!({ "type": "string", "minLength": 1 })),
        Shape::Milliseconds => json!({ "type": "number", "exclusiveMinimum": 0, "maximum": MAX_MILLIS }),
        Shape::Integer => json!({ "type": "integer", "minimum": 1, "maximum": MAX_COUNT }),
        Shape::Flag => json!({ "type": "boolean" }),
        Shape::MaxDepth => json!({ "anyOf": [
            { "type": "integer", "minimum": 1, "maximum": u32::MAX },
            { "enum": ["provider-managed"] },
        ] }),
        Shape::Options => json!({ "type": "object" }),
    }
}

/// A mapping from names of variables.
fn variables(value: &Value) -> Value {
    json!({
        "type": "object",
        "propertyNames": { "pattern": "^[^=]+$" },
        "additionalProperties": value,
    })
}
