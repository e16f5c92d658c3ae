//! A validator of the part of JSON schema that ours uses. It fails loudly on a keyword that it does not know, so that
//! nothing in the schema is silently unchecked.

use serde_json::Value;

/// Where and how `value` does not conform to `schema`.
pub(crate) fn faults(schema: &Value, value: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    check(schema, schema, value, "$", &mut faults);
    faults
}

fn check(root: &Value, schema: &Value, value: &Value, path: &str, faults: &mut Vec<String>) {
    for (keyword, rule) in schema.as_object().unwrap() {
        let fits = match keyword.as_str() {
            "$schema" | "$defs" | "title" | "description" | "default" => true,
            "$ref" => {
                let target = rule.as_str().unwrap().strip_prefix('#').unwrap();
                check(root, root.pointer(target).unwrap(), value, path, faults);
                true
            }
            "type" => has_type(rule.as_str().unwrap(), value),
            "enum" => rule.as_array().unwrap().contains(value),
            "oneOf" => conforming(root, rule, value) == 1,
            "anyOf" => conforming(root, rule, value) > 0,
            "pattern" => value
                .as_str()
                .is_none_or(|text| matches(rule.as_str().unwrap(), text)),
            "minLength" => value
                .as_str()
                .is_none_or(|text| text.chars().count() as u64 >= rule.as_u64().unwrap()),
            "minimum" => value
                .as_f64()
                .is_none_or(|number| number >= rule.as_f64().unwrap()),
            "maximum" => value
                .as_f64()
                .is_none_or(|number| number <= rule.as_f64().unwrap()),
            "exclusiveMinimum" => value
                .as_f64()
                .is_none_or(|number| number > rule.as_f64().unwrap()),
            "required" => value.as_object().is_none_or(|object| {
                let mut names = rule.as_array().unwrap().iter();
                names.all(|name| object.contains_key(name.as_str().unwrap()))
            }),
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(root, rule, item, &format!("{path}[{index}]"), faults);
                }
                true
            }
            "properties" => {
                for (name, property) in rule.as_object().unwrap() {
                    if let Some(value) = value.get(name) {
                        check(root, property, value, &format!("{path}.{name}"), faults);
                    }
                }
                true
            }
            "propertyNames" => {
                for name in value.as_object().into_iter().flat_map(|object| object.keys()) {
                    check(
                        root,
                        rule,
                        &Value::String(name.clone()),
                        &format!("{path}.{name}"),
                        faults,
                    );
                }
                true
            }
            "additionalProperties" => {
                let known = schema.get("properties").and_then(Value::as_object);
                let object = value.as_object().into_iter().flatten();
                for (name, value) in
                    object.filter(|(name, _)| known.is_none_or(|known| !known.contains_key(*name)))
                {
                    match rule {
                        Value::Bool(false) => faults.push(format!("{path}.{name}: additional property")),
                        rule => check(root, rule, value, &format!("{path}.{name}"), faults),
                    }
                }
                true
            }
            unknown => panic!("{path}: the validator does not know {unknown}"),
        };
        if !fits {
            faults.push(format!("{path}: {keyword} {rule}"));
        }
    }
}

fn conforming(root: &Value, schemas: &Value, value: &Value) -> usize {
    let conforms = |schema: &&Value| {
        let mut faults = Vec::new();
        check(root, schema, value, "", &mut faults);
        faults.is_empty()
    };
    schemas.as_array().unwrap().iter().filter(conforms).count()
}

fn has_type(name: &str, value: &Value) -> bool {
    match name {
        "array" => value.is_array(),
        "object" => value.is_object(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        unknown => panic!("the validator does not know the type {unknown}"),
    }
}

/// The few patterns of the schema.
fn matches(pattern: &str, text: &str) -> bool {
    if let Some(kind) = pattern.strip_prefix("^(@[^/]+/)?(dsh-)?") {
        let kind = kind.strip_suffix('$').unwrap();
        let rest = match text.split_once('/') {
            Some((scope, rest)) if scope.len() > 1 && scope.starts_with('@') => rest,
            _ => text,
        };
        return rest.strip_prefix("dsh-").unwrap_or(rest) == kind;
    }
    match pattern {
        "^[^=]+$" => !text.is_empty() && !text.contains('='),
        "^[a-zA-Z0-9_-]{1,64}$" => {
            (1..=64).contains(&text.len())
                && text
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
        }
        unknown => panic!("the validator does not know the pattern {unknown}"),
    }
}
