//! What a scalar stands for: the core schema of YAML 1.2 with strict booleans, and the two tags that name a host
//! variable. Looks nothing up and evaluates nothing.

use granit_parser::{ScalarStyle, Tag};

use super::Value;
use crate::problem::Problem;

const CORE: &str = "tag:yaml.org,2002:";
const QUOTE: &str = "put the value in quotes if it is meant as text";

/// The value of a plain scalar. Only `true` and `false` are booleans.
pub(crate) fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" => Value::Flag(true),
        "false" => Value::Flag(false),
        _ => number(text).unwrap_or_else(|| Value::Text(text.to_owned())),
    }
}

/// The value of a scalar with its notation and tag.
pub(super) fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Value {
    let Some(tag) = tag else {
        return if style == ScalarStyle::Plain {
            plain(text)
        } else {
            Value::Text(text.to_owned())
        };
    };
    // A bare `!` says that a plain scalar is text.
    if tag.parts() == ("", "!") {
        return Value::Text(text.to_owned());
    }
    if let Some(core) = tag.suffix_in_namespace(CORE) {
        return match (&*core, plain(text)) {
            ("str", _) => Value::Text(text.to_owned()),
            ("js", _) => expression(text),
            ("null", value @ Value::Null)
            | ("bool", value @ Value::Flag(_))
            | ("int", value @ Value::Integer(_))
            | ("float", value @ (Value::Integer(_) | Value::Float(_))) => value,
            ("null" | "bool" | "int" | "float" | "seq" | "map", _) => mismatch(),
            _ => unknown(&core),
        };
    }
    match tag.parts() {
        ("!", "env") => variable(text.trim()),
        ("!", "js") => unknown("js"),
        (_, suffix) => unknown(suffix),
    }
}

/// What a tag on a list or a mapping does to it, if not nothing.
pub(super) fn collection_tag(tag: Option<&Tag>, expected: &str) -> Option<Value> {
    let tag = tag?;
    if tag.parts() == ("", "!") || tag.is_yaml_core_schema_tag(expected) {
        return None;
    }
    if tag.parts() == ("!", "env") || tag.suffix_in_namespace(CORE).is_some_and(|core| core == "js") {
        return Some(mismatch());
    }
    Some(match tag.core_suffix() {
        Some(_) => mismatch(),
        None => unknown(tag.suffix()),
    })
}

/// A key's name: text without a tag that would mean more.
pub(super) fn key(text: &str, tag: Option<&Tag>) -> Option<String> {
    let plain_tag = tag.is_none_or(|tag| tag.parts() == ("", "!") || tag.is_yaml_core_schema_tag("str"));
    plain_tag.then(|| text.to_owned())
}

/// Whether this can be the name of an environment variable.
pub(crate) fn is_variable_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0'])
}

fn variable(name: &str) -> Value {
    if is_variable_name(name) {
        Value::Variable(name.to_owned())
    } else {
        Value::Refused(
            Problem::VariableName,
            Some("write the name after the tag: !env NAME"),
        )
    }
}

/// `process.env.NAME`, where the name is what JavaScript takes after a dot; `process.env.A-B` is a subtraction.
fn expression(text: &str) -> Value {
    let name = text.trim().strip_prefix("process.env.").unwrap_or_default();
    let identifier = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) || !name.chars().all(identifier) {
        return Value::Refused(
            Problem::Expression,
            Some("write the value itself, or !env NAME for a variable"),
        );
    }
    Value::Variable(name.to_owned())
}

/// The tag is not shown: an unquoted secret that begins with `!` looks like one.
fn unknown(suffix: &str) -> Value {
    let near = |known: &str| strsim::osa_distance(&suffix.to_ascii_lowercase(), known) <= 1;
    let hint = if near("env") {
        "did you mean !env?"
    } else if near("js") {
        "did you mean !!js?"
    } else {
        QUOTE
    };
    Value::Refused(Problem::UnknownTag, Some(hint))
}

fn mismatch() -> Value {
    Value::Refused(
        Problem::Unsupported {
            feature: "a tag that does not fit its value",
        },
        Some(QUOTE),
    )
}

fn number(text: &str) -> Option<Value> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let radix = |prefix: &str, radix| {
        let digits = text.strip_prefix(prefix)?;
        let digits = (!digits.starts_with(['+', '-'])).then_some(digits)?;
        i128::from_str_radix(digits, radix).ok().map(Value::Integer)
    };
    match unsigned {
        ".inf" | ".Inf" | ".INF" => {
            let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
            return Some(Value::Float(f64::INFINITY * sign));
        }
        ".nan" | ".NaN" | ".NAN" if unsigned == text => return Some(Value::Float(f64::NAN)),
        _ => {}
    }
    if unsigned.starts_with("0x") || unsigned.starts_with("0o") {
        return radix("0x", 16).or_else(|| radix("0o", 8));
    }
    if !unsigned.is_empty() && unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        // More digits than fit are still a number, and out of every bound.
        let integer = text.parse().map(Value::Integer);
        return integer.ok().or_else(|| text.parse().ok().map(Value::Float));
    }
    // What Rust takes beyond YAML, such as `inf` or `infinity`, begins with a letter.
    let numeric = unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let digits = unsigned.contains(|c: char| c.is_ascii_digit());
    (numeric && digits)
        .then(|| text.parse().ok().map(Value::Float))
        .flatten()
}
