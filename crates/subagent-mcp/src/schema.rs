//! The JSON schemas of what the tools take and answer. Owns how a type's schema is brought into the form that clients of
//! every age understand: an object, without references, without `null`, without the vocabulary of one language.

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;
use subagent_tool::ToolDescription;

/// The schema of an answer.
pub(crate) fn of<T: JsonSchema>() -> JsonObject {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    plain(&mut schema);
    let mut object = match schema {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    };
    // What a sum of objects is goes without saying, except to a client that looks for the word.
    object.insert("type".to_owned(), "object".into());
    // The name and the purpose of the Rust type; the tool's own description tells the model more.
    object.remove("title");
    object.remove("description");
    object
}

/// The schema of arguments: that of the type, with what `described` tells the model about each of them. What the type has
/// and the description has not stays as it is, unless it is named in `hidden`.
pub(crate) fn input<T: JsonSchema>(described: &ToolDescription, hidden: &[&str]) -> JsonObject {
    let mut schema = of::<T>();
    let told = described.input_schema();
    let properties = schema
        .entry("properties")
        .or_insert_with(|| Value::Object(JsonObject::new()));
    if let Value::Object(properties) = properties {
        for name in hidden {
            properties.remove(*name);
        }
        for (name, property) in properties {
            let Some(told) = told["properties"].get(name).and_then(Value::as_object) else {
                continue;
            };
            for (key, value) in told {
                property[key] = value.clone();
            }
        }
    }
    schema
        .entry("required")
        .or_insert_with(|| Value::Array(Vec::new()));
    schema
}

/// Takes out of a schema what only Rust knows.
fn plain(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if object.get("format").is_some_and(|format| format == "uint64") {
                object.remove("format");
            }
            if object.get("default").is_some_and(Value::is_null) {
                object.remove("default");
            }
            // A comment of the source is broken into lines, a description is not.
            if let Some(Value::String(text)) = object.get_mut("description") {
                *text = text.replace('\n', " ");
            }
            object.values_mut().for_each(plain);
        }
        Value::Array(values) => values.iter_mut().for_each(plain),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use subagent_tool::jobs::{JobOptions, descriptions};

    use super::*;
    use crate::input::{Delegate, KillJob, ListJobs, ReadJob};
    use crate::output::{Delegated, JobKilled, JobRead};

    #[test]
    fn the_types_take_what_the_descriptions_tell() {
        let options = JobOptions::default();
        let [read, list, kill] = descriptions(&options);
        for (derived, described) in [
            (input::<ReadJob>(&read, &[]), read),
            (input::<ListJobs>(&list, &[]), list),
            (input::<KillJob>(&kill, &[]), kill),
        ] {
            assert_eq!(
                Value::Object(derived),
                described.input_schema(),
                "{}",
                described.name
            );
        }
    }

    #[test]
    fn a_delegating_tool_takes_a_directory_beside_what_is_described() {
        let foreground = ToolDescription::new("subagent", false);
        let background = foreground.clone().with_background();
        for (described, hidden) in [(background, &[][..]), (foreground, &["run_in_background"][..])] {
            let mut schema = Value::Object(input::<Delegate>(&described, hidden));
            let cwd = schema["properties"]
                .as_object_mut()
                .unwrap()
                .remove("cwd")
                .unwrap();
            assert_eq!(schema, described.input_schema());
            assert_eq!(
                cwd,
                json!({
                    "type": "string",
                    "description": "The directory that the subagent works in: an absolute path, or one that starts \
                        in your working directory. It must lie inside your working directory, which is also the \
                        default.",
                })
            );
        }
    }

    #[test]
    fn an_answer_is_an_object_without_references() {
        for schema in [of::<Delegated>(), of::<JobRead>(), of::<JobKilled>()] {
            assert_eq!(schema["type"], "object");
            let text = Value::Object(schema).to_string();
            for word in ["$ref", "$defs", "$schema", "uint64", "null"] {
                assert!(!text.contains(word), "{word} in {text}");
            }
        }
        let job = &of::<JobRead>()["properties"]["job"];
        assert_eq!(
            job["required"],
            json!(["id", "kind", "label", "status", "startedAt"])
        );
    }
}
