//! From the arguments of a call to a type. Owns what is said about arguments that do not fit, always with their name.

use rmcp::model::JsonObject;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The most characters of a name that is given back to the one who wrote it.
const MAX_NAME_CHARS: usize = 64;

/// Why arguments were refused. The model reads it.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ArgumentError {
    /// A required one is not there.
    #[error("argument {name} is missing, expected {expected}")]
    Missing { name: String, expected: &'static str },
    /// One is of another type.
    #[error("argument {name} is {found}, expected {expected}")]
    WrongType {
        name: String,
        found: &'static str,
        expected: &'static str,
    },
    /// The tool has no such argument.
    #[error("unknown argument {name}, expected {expected}")]
    Unknown { name: String, expected: String },
    /// What no rule above has caught.
    #[error("the arguments do not fit: {reason}")]
    Misfit { reason: String },
}

/// The arguments as a `T`, if they follow `schema`, which is that of `T`. An optional argument may also be `null`; a whole
/// number may be written with a fraction of zero.
pub(crate) fn parse<T: DeserializeOwned>(
    schema: &JsonObject,
    arguments: Option<JsonObject>,
) -> Result<T, ArgumentError> {
    let mut arguments = arguments.unwrap_or_default();
    let properties = schema.get("properties").and_then(Value::as_object);
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|known| known == name));
    let expected = |name: &str| {
        let kind = properties.and_then(|properties| properties.get(name)?.get("type")?.as_str());
        kind_of_type(kind.unwrap_or_default())
    };

    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        if !arguments.contains_key(name) {
            return Err(ArgumentError::Missing {
                name: name.to_owned(),
                expected: expected(name),
            });
        }
    }
    arguments.retain(|name, value| !value.is_null() || is_required(name));
    for (name, value) in &mut arguments {
        if !properties.is_some_and(|properties| properties.contains_key(name)) {
            return Err(unknown(name, properties));
        }
        let (expected, found) = (expected(name), kind_of(value));
        if expected == WHOLE {
            if let Some(whole) = whole(value) {
                *value = whole.into();
                continue;
            }
        } else if expected == found {
            continue;
        }
        return Err(ArgumentError::WrongType {
            name: name.clone(),
            found,
            expected,
        });
    }
    serde_json::from_value(Value::Object(arguments)).map_err(|error| ArgumentError::Misfit {
        reason: error.to_string(),
    })
}

fn unknown(name: &str, properties: Option<&JsonObject>) -> ArgumentError {
    let known: Vec<_> = properties
        .into_iter()
        .flatten()
        .map(|(name, _)| name.as_str())
        .collect();
    let mut shown: String = name.chars().take(MAX_NAME_CHARS).collect();
    if shown.len() < name.len() {
        shown.push('…');
    }
    ArgumentError::Unknown {
        name: shown,
        expected: match &*known {
            [] => "no arguments".to_owned(),
            [only] => format!("only {only}"),
            known => format!("one of {}", known.join(", ")),
        },
    }
}

/// A number without a fraction, zero or more.
fn whole(value: &Value) -> Option<u64> {
    /// From here on a float no longer tells neighbours apart.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    value.as_u64().or_else(|| {
        let float = value.as_f64()?;
        let fits = float.fract() == 0.0 && (0.0..EXACT).contains(&float);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "neither is possible within these bounds"
        )]
        fits.then_some(float as u64)
    })
}

const WHOLE: &str = "a whole number, zero or more";

fn kind_of_type(name: &str) -> &'static str {
    match name {
        "string" => "a string",
        "boolean" => "true or false",
        "integer" => WHOLE,
        _ => "a value",
    }
}

/// What a value is, in a few words.
pub(crate) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use subagent_tool::ToolDescription;
    use subagent_tool::jobs::{JobOptions, descriptions};

    use super::*;
    use crate::input::{Delegate, ListJobs, ReadJob};
    use crate::schema;

    fn object(value: Value) -> Option<JsonObject> {
        match value {
            Value::Null => None,
            Value::Object(object) => Some(object),
            other => panic!("{other}"),
        }
    }

    fn delegate(arguments: Value) -> Result<Delegate, String> {
        let described = ToolDescription::new("subagent", false).with_background();
        let schema = schema::input::<Delegate>(&described, &[]);
        parse(&schema, object(arguments)).map_err(|error| error.to_string())
    }

    #[test]
    fn what_does_not_fit_is_named() {
        for (arguments, said) in [
            (json!(null), "argument description is missing, expected a string"),
            (
                json!({"description": "d"}),
                "argument prompt is missing, expected a string",
            ),
            (
                json!({"description": "d", "prompt": ["p"]}),
                "argument prompt is an array, expected a string",
            ),
            (
                json!({"description": null, "prompt": "p"}),
                "argument description is null, expected a string",
            ),
            (
                json!({"description": "d", "prompt": "p", "run_in_background": "true"}),
                "argument run_in_background is a string, expected true or false",
            ),
            (
                json!({"description": "d", "prompt": "p", "promt": "p"}),
                "unknown argument promt, expected one of description, prompt, run_in_background, cwd",
            ),
        ] {
            assert_eq!(delegate(arguments).unwrap_err(), said);
        }
    }

    #[test]
    fn an_unknown_name_is_not_given_back_whole() {
        let name = "é".repeat(1000);
        let refused = delegate(json!({"description": "d", "prompt": "p", name: 1})).unwrap_err();
        let shown = format!("unknown argument {}…, expected one of ", "é".repeat(64));
        assert!(refused.starts_with(&shown), "{refused}");
    }

    #[test]
    fn what_is_optional_may_be_left_out_or_null() {
        for arguments in [
            json!({"description": "d", "prompt": "p"}),
            json!({"description": "d", "prompt": "p", "run_in_background": null, "cwd": null}),
        ] {
            let parsed = delegate(arguments).unwrap();
            assert!(!parsed.run_in_background && parsed.cwd.is_none());
        }
    }

    #[test]
    fn a_whole_number_may_be_written_as_a_float() {
        let [read, list, _] = descriptions(&JobOptions::default());
        let schema = schema::input::<ReadJob>(&read, &[]);
        for (written, meant) in [(json!(30), 30), (json!(30.0), 30)] {
            let arguments = object(json!({"job_id": "subagent-1", "timeout_ms": written}));
            let parsed: ReadJob = parse(&schema, arguments).unwrap();
            assert_eq!(parsed.timeout_ms, Some(meant));
        }
        for written in [json!(-1), json!(0.5), json!(1e300)] {
            let arguments = object(json!({"job_id": "subagent-1", "timeout_ms": written}));
            assert_eq!(
                parse::<ReadJob>(&schema, arguments).unwrap_err().to_string(),
                "argument timeout_ms is a number, expected a whole number, zero or more"
            );
        }
        let none = schema::input::<ListJobs>(&list, &[]);
        assert_eq!(
            parse::<ListJobs>(&none, object(json!({"all": true})))
                .unwrap_err()
                .to_string(),
            "unknown argument all, expected no arguments"
        );
    }
}
