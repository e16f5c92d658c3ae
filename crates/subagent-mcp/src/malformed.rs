//! A call of a tool that is not formed as one. Owns what is said about it; what stands inside well-formed arguments is
//! judged by `arguments`.

use serde_json::Value;

use crate::arguments::kind_of;

/// The method by which tools are called.
pub(crate) const CALL: &str = "tools/call";

/// Why the parameters of a call cannot be read. The model reads it.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CallError {
    /// A member is not there.
    #[error("{name} is missing, expected {expected}")]
    Missing {
        name: &'static str,
        expected: &'static str,
    },
    /// One is of another type.
    #[error("{name} is {found}, expected {expected}")]
    WrongType {
        name: &'static str,
        found: &'static str,
        expected: &'static str,
    },
    /// What no rule above has caught.
    #[error("the call cannot be read, expected the name of a tool and its arguments")]
    Unreadable,
}

/// What is wrong with these parameters, which could not be read as those of a call.
pub(crate) fn fault(params: Option<&Value>) -> CallError {
    let Some(params) = params else {
        return CallError::Missing {
            name: "params",
            expected: "an object",
        };
    };
    let wrong = |name, value: &Value, expected| CallError::WrongType {
        name,
        found: kind_of(value),
        expected,
    };
    if !params.is_object() {
        return wrong("params", params, "an object");
    }
    match (params.get("name"), params.get("arguments")) {
        (None, _) => CallError::Missing {
            name: "name",
            expected: "a string",
        },
        (Some(name), _) if !name.is_string() => wrong("name", name, "a string"),
        (_, Some(arguments)) if !arguments.is_object() => wrong("arguments", arguments, "an object"),
        _ => CallError::Unreadable,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_wrong_with_a_call_is_named() {
        for (params, said) in [
            (json!([]), "params is an array, expected an object"),
            (json!({"arguments": {}}), "name is missing, expected a string"),
            (json!({"name": 5}), "name is a number, expected a string"),
            (
                json!({"name": "a", "arguments": [1]}),
                "arguments is an array, expected an object",
            ),
            (
                json!({"name": "a", "_meta": 1}),
                "the call cannot be read, expected the name of a tool and its arguments",
            ),
        ] {
            assert_eq!(fault(Some(&params)).to_string(), said);
        }
        assert_eq!(fault(None).to_string(), "params is missing, expected an object");
    }
}
