//! Folds what a child says into the output of its run. Owns the selection rule and the bound on collected text;
//! which frames are speech is the protocol's business.

use crate::ContentBlock;

const TRUNCATION_SUFFIX: &str = "\n[output truncated]";

/// The output of a run, as it is being said.
///
/// The last message with content wins. A message without content (a report of usage, say) is skipped. With no message
/// at all the concatenated streamed text is the output; with neither there is none.
///
/// Collected text is bounded, streamed and whole messages each for themselves: past the bound it is cut on a character
/// boundary, the rest is dropped, and `[output truncated]` stands on a line of its own beyond it.
#[derive(Clone, Debug)]
pub struct AssistantOutput {
    max_bytes: usize,
    streamed: BoundedText,
    message: Option<Vec<ContentBlock>>,
}

impl AssistantOutput {
    /// An empty output that keeps at most `max_bytes` bytes of UTF-8.
    pub fn bounded(max_bytes: usize) -> Self {
        Self {
            max_bytes,
            streamed: BoundedText::default(),
            message: None,
        }
    }

    /// Appends streamed text.
    pub fn push_text(&mut self, text: &str) {
        self.streamed.push(text, self.max_bytes);
    }

    /// Takes a whole message.
    pub fn push_message(&mut self, content: Vec<ContentBlock>) {
        if !content.is_empty() {
            self.message = Some(bound_message(content, self.max_bytes));
        }
    }

    /// What has been said so far.
    pub fn into_blocks(self) -> Vec<ContentBlock> {
        match self.message {
            Some(message) => message,
            None => self.streamed.into_block().into_iter().collect(),
        }
    }
}

/// Text that stops growing at a bound.
#[derive(Clone, Debug, Default)]
struct BoundedText {
    text: String,
    cut: bool,
}

impl BoundedText {
    fn push(&mut self, more: &str, max_bytes: usize) {
        if self.cut {
            return;
        }
        let room = max_bytes.saturating_sub(self.text.len());
        if more.len() <= room {
            self.text.push_str(more);
        } else {
            self.text.push_str(&more[..more.floor_char_boundary(room)]);
            self.text.push_str(TRUNCATION_SUFFIX);
            self.cut = true;
        }
    }

    fn into_block(self) -> Option<ContentBlock> {
        (!self.text.is_empty()).then_some(ContentBlock::Text(self.text))
    }
}

/// Bounds the text of a message. Blocks that are not text count with their payload, and are dropped where they do not
/// fit.
fn bound_message(content: Vec<ContentBlock>, max_bytes: usize) -> Vec<ContentBlock> {
    let mut kept = Vec::with_capacity(content.len());
    let mut used = 0;
    for block in content {
        let size = match &block {
            ContentBlock::Text(text) => text.len(),
            ContentBlock::Image { data, mime_type } => data.len() + mime_type.len(),
            ContentBlock::ResourceLink { uri, name } => uri.len() + name.len(),
        };
        if used + size <= max_bytes {
            used += size;
            kept.push(block);
            continue;
        }
        let mut last = BoundedText::default();
        last.push(block.as_text().unwrap_or_default(), max_bytes - used);
        if !last.cut {
            last.text.push_str(TRUNCATION_SUFFIX);
        }
        kept.extend(last.into_block());
        break;
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text_of;

    fn output(max_bytes: usize, chunks: &[&str]) -> String {
        let mut output = AssistantOutput::bounded(max_bytes);
        for chunk in chunks {
            output.push_text(chunk);
        }
        text_of(&output.into_blocks())
    }

    #[test]
    fn streamed_text_is_concatenated_in_order() {
        assert_eq!(output(100, &["a", "", "b", " c"]), "ab c");
    }

    #[test]
    fn nothing_said_is_no_output() {
        assert_eq!(AssistantOutput::bounded(10).into_blocks(), []);
        let mut empty = AssistantOutput::bounded(10);
        empty.push_text("");
        empty.push_message(Vec::new());
        assert_eq!(empty.into_blocks(), []);
    }

    #[test]
    fn the_last_message_with_content_wins_over_streamed_text() {
        let mut output = AssistantOutput::bounded(100);
        output.push_text("streamed");
        output.push_message(vec!["first".into()]);
        output.push_message(vec!["second".into()]);
        output.push_message(Vec::new());
        assert_eq!(output.into_blocks(), [ContentBlock::from("second")]);
    }

    #[test]
    fn text_of_exactly_the_bound_is_whole_and_one_byte_more_is_cut() {
        assert_eq!(output(4, &["ab", "cd"]), "abcd");
        assert_eq!(output(4, &["ab", "cde", "f"]), "abcd\n[output truncated]");
        assert_eq!(output(4, &["abcd", "e"]), "abcd\n[output truncated]");
    }

    #[test]
    fn the_cut_falls_on_a_character_boundary() {
        assert_eq!(output(4, &["abc\u{1f600}"]), "abc\n[output truncated]");
    }

    #[test]
    fn a_message_is_bounded_as_a_whole() {
        let mut output = AssistantOutput::bounded(5);
        output.push_message(vec!["abc".into(), "def".into(), "ghi".into()]);
        assert_eq!(text_of(&output.into_blocks()), "abcde\n[output truncated]");

        let image = ContentBlock::Image {
            data: "0123456789".to_owned(),
            mime_type: "image/png".to_owned(),
        };
        let mut output = AssistantOutput::bounded(5);
        output.push_message(vec!["abc".into(), image]);
        assert_eq!(text_of(&output.into_blocks()), "abc\n[output truncated]");
    }
}
