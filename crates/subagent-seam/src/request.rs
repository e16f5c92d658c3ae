//! What a host hands to a provider to start a run. Owns the request's types; checking and starting belong to the
//! [registry](crate::Registry) and the [provider](crate::Provider).

use std::path::PathBuf;

use tokio_util::sync::CancellationToken;

use crate::{Progress, TeardownUrgency};

/// One piece of a prompt or of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ContentBlock {
    /// Plain text.
    Text(String),
    /// An image.
    Image {
        /// The image's bytes in base64.
        data: String,
        /// Its media type, for example `image/png`.
        mime_type: String,
    },
    /// A reference to something that the child may be able to read itself.
    ResourceLink {
        /// Where it is.
        uri: String,
        /// What to call it.
        name: String,
    },
}

impl ContentBlock {
    /// The text of a text block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl From<String> for ContentBlock {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for ContentBlock {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// The text blocks of `blocks`, concatenated.
pub fn text_of(blocks: &[ContentBlock]) -> String {
    blocks.iter().filter_map(ContentBlock::as_text).collect()
}

/// The agent on whose behalf the host delegates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parent {
    /// The parent's session.
    pub session_id: String,
    /// The directory that the parent works in. A provider without a directory of its own needs it.
    pub cwd: Option<PathBuf>,
    /// How many delegations lie above the parent: 0 for one that a person talks to.
    pub depth: u32,
}

/// Which tools a child may use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolFilter {
    /// Only these, if present.
    pub allow: Option<Vec<String>>,
    /// None of these.
    pub deny: Vec<String>,
}

/// The optional features of a start. A provider gets only those that its
/// [capabilities](crate::Capabilities) advertise; any other is refused, never ignored.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StartFeatures {
    /// JSON schema of the structured result.
    pub output_schema: Option<serde_json::Value>,
    /// How deep the child may delegate further.
    pub max_depth: Option<u32>,
    /// Which tools the child may use.
    pub tool_filter: Option<ToolFilter>,
    /// Who the child should be.
    pub persona: Option<String>,
}

/// A task for a child.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StartRequest {
    /// A short name of the task, for display.
    pub label: Option<String>,
    /// The task itself.
    pub prompt: Vec<ContentBlock>,
    /// Who asks.
    pub parent: Parent,
    /// Asks the run to stop: before publication the start fails with a clean abort, afterwards the result settles as
    /// `aborted`.
    pub cancel: CancellationToken,
    /// Optional features.
    pub features: StartFeatures,
    /// Where the run tells how far it is.
    pub progress: Progress,
    /// How patiently a teardown of this run, rollback of its start included, waits for the child.
    pub urgency: TeardownUrgency,
}

impl StartRequest {
    /// A request with a prompt and a parent, and nothing else.
    pub fn new(prompt: impl IntoIterator<Item = ContentBlock>, parent: Parent) -> Self {
        Self {
            label: None,
            prompt: prompt.into_iter().collect(),
            parent,
            cancel: CancellationToken::new(),
            features: StartFeatures::default(),
            progress: Progress::default(),
            urgency: TeardownUrgency::default(),
        }
    }

    /// The same with the text `prompt`.
    pub fn text(prompt: impl Into<String>, parent: Parent) -> Self {
        Self::new([ContentBlock::Text(prompt.into())], parent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_text_blocks_have_text() {
        let blocks = [
            ContentBlock::from("a"),
            ContentBlock::Image {
                data: "AAAA".to_owned(),
                mime_type: "image/png".to_owned(),
            },
            ContentBlock::ResourceLink {
                uri: "file:///b".to_owned(),
                name: "b".to_owned(),
            },
            ContentBlock::from("c".to_owned()),
        ];
        assert_eq!(text_of(&blocks), "ac");
    }
}
