//! Sending steps become bytes.
//!
//! Owns the shape of outgoing frames, padding and the cutting of texts. Writing the bytes is `engine`.

use serde_json::{Value, json};

use crate::error::StepError;
use crate::step::{AnswerId, Split, Step};
use crate::values::Values;

/// Whether a step only sends, so that it may stand inside `together` and `byte_by_byte`.
pub(crate) fn sends(step: &Step) -> bool {
    match step {
        Step::Respond { .. }
        | Step::RespondError { .. }
        | Step::Notify { .. }
        | Step::Request { .. }
        | Step::Frame { .. }
        | Step::Padded { .. }
        | Step::Line { .. }
        | Step::Raw { .. }
        | Step::Bytes { .. } => true,
        Step::Together { steps }
        | Step::ByteByByte { steps, .. }
        | Step::Repeat { steps, .. }
        | Step::EachPart { steps, .. } => steps.iter().all(sends),
        _ => false,
    }
}

/// Appends what a sending step writes.
pub(crate) fn render(step: &Step, values: &mut Values, out: &mut Vec<u8>) -> Result<(), StepError> {
    match step {
        Step::Respond { to, id, result } => {
            let result = values.json(result);
            let mut frame = json!({"jsonrpc": "2.0", "result": result});
            if let Some(id) = answer_id(to.as_deref(), id, values)? {
                frame["id"] = id;
            }
            push(&frame, out);
        }
        Step::RespondError {
            to,
            code,
            message,
            data,
        } => {
            let mut error = json!({"code": code, "message": values.text(message)});
            if let Some(data) = data {
                error["data"] = values.json(data);
            }
            let id = answer_id(to.as_deref(), &AnswerId::Same, values)?;
            push(&json!({"jsonrpc": "2.0", "id": id, "error": error}), out);
        }
        Step::Notify { method, params } => {
            push(
                &json!({"jsonrpc": "2.0", "method": values.text(method), "params": values.json(params)}),
                out,
            );
        }
        Step::Request { id, method, params } => {
            let (method, params) = (values.text(method), values.json(params));
            push(
                &json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}),
                out,
            );
        }
        Step::Frame { frame } => push(&values.json(frame), out),
        Step::Padded { frame, bytes } => pad(frame, *bytes, values, out)?,
        Step::Line { text } => {
            out.extend_from_slice(values.text(text).as_bytes());
            out.push(b'\n');
        }
        Step::Raw { text } => out.extend_from_slice(values.text(text).as_bytes()),
        Step::Bytes { bytes } => out.extend_from_slice(bytes),
        Step::Together { steps } | Step::ByteByByte { steps, .. } => render_all(steps, values, out)?,
        Step::Repeat { times, steps } => {
            let outer = values.locals.remove("index");
            for index in 0..*times {
                values.locals.insert("index", index.to_string());
                render_all(steps, values, out)?;
            }
            restore("index", outer, values);
        }
        Step::EachPart { text, split, steps } => {
            let outer = values.locals.remove("part");
            for part in cut(&values.text(text), *split) {
                values.locals.insert("part", part.to_owned());
                render_all(steps, values, out)?;
            }
            restore("part", outer, values);
        }
        other => return Err(StepError::NotSending { name: other.name() }),
    }
    Ok(())
}

/// Appends what sending steps write, in order.
pub(crate) fn render_all(steps: &[Step], values: &mut Values, out: &mut Vec<u8>) -> Result<(), StepError> {
    steps.iter().try_for_each(|step| render(step, values, out))
}

/// Gives a local placeholder the value back that it had outside, if any.
pub(crate) fn restore(name: &'static str, outer: Option<String>, values: &mut Values) {
    match outer {
        Some(outer) => values.locals.insert(name, outer),
        None => values.locals.remove(name),
    };
}

/// Whether steps use a placeholder.
pub(crate) fn uses(steps: &[Step], placeholder: &str) -> bool {
    serde_json::to_string(steps).is_ok_and(|text| text.contains(placeholder))
}

/// Cuts a text into parts that concatenate to it.
pub(crate) fn cut(text: &str, split: Split) -> Vec<&str> {
    match split {
        Split::Lines => text.split_inclusive('\n').collect(),
        Split::Characters => text
            .char_indices()
            .map(|(at, letter)| &text[at..at + letter.len_utf8()])
            .collect(),
        Split::Words => {
            let mut parts = Vec::new();
            let (mut start, mut in_gap) = (0, false);
            for (at, letter) in text.char_indices() {
                if in_gap && !letter.is_whitespace() {
                    parts.push(&text[start..at]);
                    start = at;
                }
                in_gap = letter.is_whitespace();
            }
            if start < text.len() {
                parts.push(&text[start..]);
            }
            parts
        }
    }
}

fn push(frame: &Value, out: &mut Vec<u8>) {
    out.extend_from_slice(frame.to_string().as_bytes());
    out.push(b'\n');
}

fn answer_id(to: Option<&str>, id: &AnswerId, values: &Values) -> Result<Option<Value>, StepError> {
    let asked = values.received.request_id(to);
    match (id, asked) {
        (AnswerId::Missing, _) => Ok(None),
        (AnswerId::Other(id), _) | (AnswerId::Same, Some(id)) => Ok(Some(id.clone())),
        (AnswerId::AsString, Some(id)) => Ok(Some(Value::String(
            id.as_str().map_or_else(|| id.to_string(), str::to_owned),
        ))),
        (AnswerId::Same | AnswerId::AsString, None) => Err(StepError::NothingToAnswer {
            method: to.map(str::to_owned),
        }),
    }
}

fn pad(frame: &Value, bytes: usize, values: &mut Values, out: &mut Vec<u8>) -> Result<(), StepError> {
    // A private-use character marks the place in the finished line, so that the padding itself is never escaped.
    const MARK: &str = "\u{f8ff}";
    let outer = values.locals.insert("pad", MARK.to_owned());
    let line = values.json(frame).to_string();
    restore("pad", outer, values);
    let length = line.replacen(MARK, "", 1).len();
    let (Some((before, after)), Some(missing)) = (line.split_once(MARK), bytes.checked_sub(length)) else {
        return Err(StepError::Padding {
            length,
            wanted: bytes,
        });
    };
    out.reserve(bytes + 1);
    out.extend_from_slice(before.as_bytes());
    out.resize(out.len() + missing, b'x');
    out.extend_from_slice(after.as_bytes());
    out.push(b'\n');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Script;

    fn sent(script: &Script) -> String {
        let mut values = Values::default();
        values.received.keep("a", json!({"id": 7, "method": "a"}));
        values.received.keep("b", json!({"id": "x", "method": "b"}));
        values.received.keep("note", json!({"method": "note"}));
        let mut out = Vec::new();
        render_all(&script.steps, &mut values, &mut out).unwrap();
        assert!(values.locals.is_empty(), "{values:?}");
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn an_answer_goes_to_the_last_request_or_to_the_named_one() {
        let script = Script::new()
            .respond(json!(1))
            .respond_to("a", json!(2))
            .respond_error(-5, "no");
        let frames: Vec<Value> = sent(&script)
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(
            frames,
            [
                json!({"jsonrpc": "2.0", "id": "x", "result": 1}),
                json!({"jsonrpc": "2.0", "id": 7, "result": 2}),
                json!({"jsonrpc": "2.0", "id": "x", "error": {"code": -5, "message": "no"}}),
            ]
        );
    }

    #[test]
    fn an_answer_can_carry_a_wrong_id() {
        let mut values = Values::default();
        values.received.keep("a", json!({"id": 7, "method": "a"}));
        let ids = [
            AnswerId::AsString,
            AnswerId::Other(json!(null)),
            AnswerId::Missing,
        ]
        .map(|id| {
            let mut out = Vec::new();
            render(
                &Step::Respond {
                    to: None,
                    id,
                    result: json!(1),
                },
                &mut values,
                &mut out,
            )
            .unwrap();
            serde_json::from_slice::<Value>(&out).unwrap().get("id").cloned()
        });
        assert_eq!(ids, [Some(json!("7")), Some(json!(null)), None]);
    }

    #[test]
    fn an_answer_without_a_request_is_an_error() {
        let step = Step::Respond {
            to: Some("note".into()),
            id: AnswerId::Same,
            result: json!(1),
        };
        let error = render(&step, &mut Values::default(), &mut Vec::new()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "there is no request to answer: expected note to have been received"
        );
    }

    #[test]
    fn a_padded_line_has_exactly_the_length_asked_for() {
        for bytes in [11, 12, 5000] {
            let line = sent(&Script::new().padded(bytes, json!({"t": "é{pad}"})));
            assert_eq!(line.trim_end_matches('\n').len(), bytes);
        }
        let step = |frame| Step::Padded { frame, bytes: 10 };
        for frame in [json!("0123456789{pad}"), json!("no pad")] {
            assert!(matches!(
                render(&step(frame), &mut Values::default(), &mut Vec::new()),
                Err(StepError::Padding { wanted: 10, .. })
            ));
        }
    }

    #[test]
    fn loops_nest_and_give_their_placeholders_back() {
        let script = Script::new().repeat(2, |s| {
            s.raw("{index}:")
                .each_part("a b", Split::Words, |s| s.repeat(2, |s| s.raw("{part}{index} ")))
        });
        assert_eq!(sent(&script), "0:a 0 a 1 b0 b1 1:a 0 a 1 b0 b1 ");
    }

    #[test]
    fn parts_concatenate_to_the_text() {
        for text in ["", " ", " two  words\n", "ein Wörtchen 🦀"] {
            for split in [Split::Words, Split::Characters, Split::Lines] {
                assert_eq!(cut(text, split).concat(), text);
            }
        }
        assert_eq!(cut(" two  words\n", Split::Words), [" ", "two  ", "words\n"]);
        assert_eq!(cut("é🦀", Split::Characters), ["é", "🦀"]);
        assert_eq!(cut("a\n\nb", Split::Lines), ["a\n", "\n", "b"]);
    }
}
