//! A borrowed text that lives for less than the whole program is refused.

use subagent_seam::{Diagnostic, FailureLine, Line, SafeFailure, closed_words};

closed_words! { enum Words { Title = "Lamp", Name = "state" } }

fn from_a_child(text: &str) {
    let _ = Line::titled(text);
    let _ = Line::titled(Words::Title).word(Words::Name, text);
    let _ = FailureLine::new(Words::Title, Words::Title, text);
    let _ = FailureLine::new(Words::Title, Words::Title, Words::Title).stop_reason(text);
    let _ = Diagnostic::from(text);
    let _ = Diagnostic::from(Line::titled(Words::Title)).and(text);
    let _ = SafeFailure::new(Words::Title, text);
}

fn main() {
    from_a_child(&String::from("text of a child"));
}
