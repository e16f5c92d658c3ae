//! Received frames: what kind each is, and the box in which those wait that no step has asked for yet.
//!
//! Owns matching. Reading lines is `input`; nothing here does input or output.

use std::collections::VecDeque;

use serde_json::Value;

/// Frames that wait at most for a step that asks for them; further ones push the oldest out.
const WAITING: usize = 10_000;

/// Frames that arrived and that no step has asked for yet, in order.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    frames: VecDeque<Value>,
}

impl Inbox {
    /// Adds what a line held. What is not a JSON object is not a frame and is left out.
    pub(crate) fn add(&mut self, line: Option<Value>) {
        if let Some(frame @ Value::Object(_)) = line {
            if self.frames.len() == WAITING {
                self.frames.pop_front();
            }
            self.frames.push_back(frame);
        }
    }

    /// Takes the first request or notification of `method`.
    pub(crate) fn take(&mut self, method: &str) -> Option<Value> {
        self.take_first(|frame| frame.get("method").and_then(Value::as_str) == Some(method))
    }

    /// Takes the first answer to the request `id`.
    pub(crate) fn take_answer(&mut self, id: &Value) -> Option<Value> {
        self.take_first(|frame| frame.get("method").is_none() && frame.get("id") == Some(id))
    }

    /// Whether a request or notification of `method` waits.
    pub(crate) fn holds(&self, method: &str) -> bool {
        self.frames
            .iter()
            .any(|frame| frame.get("method").and_then(Value::as_str) == Some(method))
    }

    fn take_first(&mut self, wanted: impl Fn(&Value) -> bool) -> Option<Value> {
        let position = self.frames.iter().position(wanted)?;
        self.frames.remove(position)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn frames_of_other_methods_keep_their_order() {
        let mut inbox = Inbox::default();
        for line in [
            r#"{"method":"a","id":1}"#,
            r#"{"method":"b"}"#,
            r#"{"method":"a","id":2}"#,
        ] {
            inbox.add(serde_json::from_str(line).ok());
        }
        assert_eq!(inbox.take("b"), Some(json!({"method": "b"})));
        assert_eq!(inbox.take("b"), None);
        assert_eq!(inbox.take("a"), Some(json!({"method": "a", "id": 1})));
        assert!(inbox.holds("a"));
        assert_eq!(inbox.take("a"), Some(json!({"method": "a", "id": 2})));
        assert!(!inbox.holds("a"));
    }

    #[test]
    fn a_request_is_not_an_answer_and_ids_match_by_type() {
        let mut inbox = Inbox::default();
        for line in [
            r#"{"method":"a","id":1}"#,
            r#"{"id":"1","result":{}}"#,
            r#"{"id":1,"error":{}}"#,
        ] {
            inbox.add(serde_json::from_str(line).ok());
        }
        assert_eq!(inbox.take_answer(&json!(1)), Some(json!({"id": 1, "error": {}})));
        assert_eq!(inbox.take_answer(&json!(1)), None);
    }

    #[test]
    fn noise_is_left_out_and_the_oldest_frame_makes_room() {
        let mut inbox = Inbox::default();
        for line in ["", "noise", "[]", "42", r#"{"method":"old"}"#] {
            inbox.add(serde_json::from_str(line).ok());
        }
        assert_eq!(inbox.frames.len(), 1);
        for _ in 0..WAITING {
            inbox.add(Some(json!({"method": "new"})));
        }
        assert_eq!(inbox.frames.len(), WAITING);
        assert!(!inbox.holds("old"));
    }
}
