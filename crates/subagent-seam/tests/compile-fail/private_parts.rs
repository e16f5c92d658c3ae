//! The types cannot be changed or made past their constructors.

use subagent_seam::{Diagnostic, FailureLine, Word, closed_words};

closed_words! { enum Words { Title = "Lamp" } }

fn main() {
    let _ = Word("text of a child");
    let mut line = FailureLine::new(Words::Title, Words::Title, Words::Title);
    line.stop_reason = None;
    let mut text = Diagnostic::from(line);
    text.text.push_str("text of a child");
}
