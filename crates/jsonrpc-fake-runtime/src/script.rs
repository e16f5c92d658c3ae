//! The script: what a fake runtime does, as data, and its JSON file format.
//!
//! Owns the `Script` type. Its fluent builder is `script::builder`, the single steps are in `step`, the words of a protocol in `acp` and its neighbours, the
//! execution in `engine`.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use crate::step::Step;
use serde::{Deserialize, Serialize};

mod builder;

/// Milliseconds that a fake lives at most unless its script says otherwise: nothing is ever left behind for good.
pub const DEFAULT_LIFETIME_MS: u64 = 120_000;

/// What a fake runtime does, step after step.
///
/// After the last step the fake behaves well: it reads (and records) until its stdin ends and then exits with code 0.
/// A stdin that ends while a step waits for a frame ends the script in the same way, unless `ignore_eof` came before.
///
/// Strings of steps may hold placeholders:
///
/// | placeholder | value |
/// |---|---|
/// | `{NAME}` | the script's variable of that name (`vars`, or `--set NAME=VALUE`) |
/// | `{prompt}` | the text of the last `session/prompt`: its text blocks, concatenated |
/// | `{sessionId}` | unless a variable: the `sessionId` of the last received frame that had one |
/// | `{METHOD#/pointer}` | the value at that JSON pointer in the last expected frame of METHOD |
/// | `{answer:ID#/pointer}` | the same in the answer to the request ID |
/// | `{index}`, `{part}`, `{pad}` | inside `repeat`, `each_part`, `padded` |
/// | `{pid}`, `{cwd}` | of the fake itself |
///
/// Anything else in braces stays as it is. A string that is nothing but one pointer placeholder takes the value
/// itself, so that a number stays a number.
///
/// ```
/// use jsonrpc_fake_runtime::Script;
/// use serde_json::json;
///
/// let script = Script::new()
///     .expect("initialize")
///     .respond(json!({"protocolVersion": 1}))
///     .exit(3);
/// assert_eq!(Script::from_json(&script.to_json())?, script);
/// # Ok::<(), jsonrpc_fake_runtime::ScriptError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// One line for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// The bound of the whole life in milliseconds; past it the fake exits with code 124.
    #[serde(default = "default_lifetime", skip_serializing_if = "is_default_lifetime")]
    pub lifetime_ms: u64,
    /// Values of placeholders.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub vars: BTreeMap<String, String>,
    /// The steps, in order.
    pub steps: Vec<Step>,
}

/// Why a script could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// The text is not a script; the source names line, column and the unknown or missing key.
    #[error("not a valid script")]
    Invalid(#[source] serde_json::Error),
    /// The file could not be read or written.
    #[error("script file `{path}`")]
    File {
        /// The file.
        path: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

impl Default for Script {
    fn default() -> Self {
        Self::new()
    }
}

impl Script {
    /// An empty script: reads until stdin ends, answers nothing, exits 0.
    pub fn new() -> Self {
        Self {
            about: String::new(),
            lifetime_ms: DEFAULT_LIFETIME_MS,
            vars: BTreeMap::new(),
            steps: Vec::new(),
        }
    }

    /// Reads a script from its JSON text.
    pub fn from_json(text: &str) -> Result<Self, ScriptError> {
        serde_json::from_str(text).map_err(ScriptError::Invalid)
    }

    /// The script as JSON text, ready for a file.
    pub fn to_json(&self) -> String {
        // A script is a tree of strings, numbers and JSON values with string keys: nothing in it can fail to serialise.
        serde_json::to_string_pretty(self).expect("a script is plain JSON data") + "\n"
    }

    /// Reads a script file.
    pub fn load(path: &Path) -> Result<Self, ScriptError> {
        let text = fs::read_to_string(path).map_err(|source| ScriptError::File {
            path: path.display().to_string(),
            source,
        })?;
        Self::from_json(&text)
    }

    /// Writes a script file.
    pub fn save(&self, path: &Path) -> Result<(), ScriptError> {
        fs::write(path, self.to_json()).map_err(|source| ScriptError::File {
            path: path.display().to_string(),
            source,
        })
    }
}

fn default_lifetime() -> u64 {
    DEFAULT_LIFETIME_MS
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_default_lifetime(ms: &u64) -> bool {
    *ms == DEFAULT_LIFETIME_MS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_on_the_front_page_is_valid() {
        let page = include_str!("../README.md");
        let text = page
            .split("```json\n")
            .nth(1)
            .and_then(|rest| rest.split("```").next())
            .unwrap();
        let script = Script::from_json(text).unwrap();
        assert_eq!((script.steps.len(), script.lifetime_ms), (9, 60_000));
        assert_eq!(Script::from_json(&script.to_json()).unwrap(), script);
    }

    #[test]
    fn unknown_keys_are_refused_wherever_they_stand() {
        let cases = [
            (r#"{"steps": [], "step": []}"#, "unknown field `step`"),
            (r#"{"steps": [{"expct": {}}]}"#, "unknown variant `expct`"),
            (
                r#"{"steps": [{"exit": {"code": 1, "now": true}}]}"#,
                "unknown field `now`",
            ),
            (
                r#"{"steps": [{"wait_for": {"file": {"file": "x"}}}]}"#,
                "unknown field `file`",
            ),
            (
                r#"{"steps": [{"spawn": {"pid_file": "p", "deaf": true}}]}"#,
                "unknown field `deaf`",
            ),
            (
                r#"{"steps": [{"exit": {"code": 256}}]}"#,
                "invalid value: integer `256`",
            ),
            (r#"{"vars": {}}"#, "missing field `steps`"),
        ];
        for (text, message) in cases {
            let ScriptError::Invalid(source) = Script::from_json(text).unwrap_err() else {
                panic!("another error")
            };
            assert!(source.to_string().starts_with(message), "{source}");
        }
    }
}
