//! Placeholders: where their values come from and how they are put into texts and JSON values.
//!
//! Owns what has been received so far, as far as templates can name it. Knows nothing about steps or pipes.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

/// A placeholder whose value is computed when it is used, from what has been received.
pub(crate) type Computed = Box<dyn Fn(&Received) -> String>;

/// The frames that a script has taken so far: the last one of each method, and the answers to its own requests.
#[derive(Debug, Default)]
pub struct Received {
    frames: BTreeMap<String, Value>,
    session_id: Option<String>,
    last_request: Option<String>,
}

impl Received {
    /// The last expected frame of `method`, whole.
    pub fn frame(&self, method: &str) -> Option<&Value> {
        self.frames.get(method)
    }

    /// The answer to the own request `id`, whole; `id` as in the script, a number in decimal.
    pub fn answer(&self, id: &str) -> Option<&Value> {
        self.frames.get(&format!("answer:{id}"))
    }

    /// The text of the last `session/prompt`: its text blocks, concatenated.
    pub fn prompt(&self) -> Option<String> {
        let params = self.frame("session/prompt")?.get("params")?;
        let blocks = params
            .get("prompt")
            .or_else(|| params.get("contentBlocks"))?
            .as_array()?;
        Some(
            blocks
                .iter()
                .filter_map(|block| block.get("text")?.as_str())
                .collect(),
        )
    }

    /// The id of the last expected request of `method`, or of any method.
    pub(crate) fn request_id(&self, method: Option<&str>) -> Option<&Value> {
        self.frame(method.or(self.last_request.as_deref())?)?.get("id")
    }

    pub(crate) fn keep(&mut self, method: &str, frame: Value) {
        if frame.get("id").is_some() {
            self.last_request = Some(method.to_owned());
        }
        if let Some(id) = frame.pointer("/params/sessionId").and_then(Value::as_str) {
            self.session_id = Some(id.to_owned());
        }
        self.frames.insert(method.to_owned(), frame);
    }

    pub(crate) fn keep_answer(&mut self, id: &Value, frame: Value) {
        self.frames.insert(format!("answer:{}", text_of(id)), frame);
    }
}

/// Everything that a placeholder can name at one moment.
#[derive(Default)]
pub(crate) struct Values {
    pub(crate) vars: BTreeMap<String, String>,
    pub(crate) computed: BTreeMap<String, Computed>,
    pub(crate) received: Received,
    pub(crate) locals: BTreeMap<&'static str, String>,
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Values")
            .field("vars", &self.vars)
            .field("locals", &self.locals)
            .finish_non_exhaustive()
    }
}

impl Values {
    /// Fills the placeholders of a text. Values are put in as they are and not looked at again.
    pub(crate) fn text(&self, template: &str) -> String {
        let mut out = String::with_capacity(template.len());
        let mut rest = template;
        while let Some(open) = rest.find('{') {
            out.push_str(&rest[..open]);
            let inside = &rest[open + 1..];
            let name = inside
                .find(['{', '}'])
                .filter(|&end| inside[end..].starts_with('}'));
            let filled = name.and_then(|end| Some((self.lookup(&inside[..end])?, &inside[end + 1..])));
            let (value, after) = filled.unwrap_or_else(|| (Value::from("{"), inside));
            out.push_str(&text_of(&value));
            rest = after;
        }
        out.push_str(rest);
        out
    }

    /// Fills the placeholders of every string of a JSON value, member names excepted.
    pub(crate) fn json(&self, template: &Value) -> Value {
        match template {
            Value::String(text) => match whole_pointer(text).and_then(|name| self.lookup(name)) {
                Some(value) => value,
                None => Value::String(self.text(text)),
            },
            Value::Array(items) => items.iter().map(|item| self.json(item)).collect(),
            Value::Object(members) => members
                .iter()
                .map(|(name, value)| (name.clone(), self.json(value)))
                .collect(),
            other => other.clone(),
        }
    }

    fn lookup(&self, name: &str) -> Option<Value> {
        if let Some(value) = self.locals.get(name) {
            return Some(Value::String(value.clone()));
        }
        if let Some(value) = self.vars.get(name) {
            return Some(Value::String(value.clone()));
        }
        if let Some(compute) = self.computed.get(name) {
            return Some(Value::String(compute(&self.received)));
        }
        match name {
            "prompt" => self.received.prompt().map(Value::String),
            "sessionId" => self.received.session_id.clone().map(Value::String),
            "pid" => Some(Value::String(std::process::id().to_string())),
            "cwd" => std::env::current_dir()
                .ok()
                .map(|dir| Value::String(dir.display().to_string())),
            _ => {
                let (frame, pointer) = name.split_once('#')?;
                self.received.frames.get(frame)?.pointer(pointer).cloned()
            }
        }
    }
}

/// The text of a value inside a longer text: a string without its quotes, anything else as JSON.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn whole_pointer(text: &str) -> Option<&str> {
    let name = text.strip_prefix('{')?.strip_suffix('}')?;
    (name.contains('#') && !name.contains(['{', '}'])).then_some(name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn filled(template: &Value) -> Value {
        let mut received = Received::default();
        received.keep(
            "session/prompt",
            json!({"id": 7, "params": {"sessionId": "s-9", "prompt": [{"type": "text", "text": "a {name}"},
                {"type": "image"}, {"type": "text", "text": " b"}]}}),
        );
        received.keep_answer(&json!(3), json!({"id": 3, "result": {"outcome": "cancelled"}}));
        let vars = BTreeMap::from([("name".to_owned(), "Ada".to_owned())]);
        let computed: BTreeMap<String, Computed> = BTreeMap::from([(
            "length".to_owned(),
            Box::new(|received: &Received| received.prompt().unwrap_or_default().len().to_string())
                as Computed,
        )]);
        let locals = BTreeMap::from([("index", "4".to_owned())]);
        Values {
            vars,
            computed,
            received,
            locals,
        }
        .json(template)
    }

    #[test]
    fn every_kind_of_placeholder_is_filled_once() {
        assert_eq!(
            filled(&json!([
                "{name} {index} {length}",
                "<{prompt}>",
                "{sessionId}",
                "{answer:3#/result/outcome}!"
            ])),
            json!(["Ada 4 10", "<a {name} b>", "s-9", "cancelled!"])
        );
    }

    #[test]
    fn a_string_that_is_one_pointer_takes_the_value_itself() {
        assert_eq!(
            filled(&json!(["{session/prompt#/id}", "n{session/prompt#/id}"])),
            json!([7, "n7"])
        );
    }

    #[test]
    fn what_is_no_placeholder_stays_as_it_is() {
        let text = json!("{ {} {unknown} {session/prompt#/nothing} } {");
        assert_eq!(filled(&text), text);
        assert_eq!(filled(&json!("{{name}}")), json!("{Ada}"));
    }
}
