//! Even a `&'static str` is refused: a `String` of a child can be leaked into one.

use subagent_seam::{Diagnostic, FailureLine, Line, SafeFailure, closed_words};

closed_words! { enum Words { Title = "Lamp", Name = "state" } }

fn main() {
    let leaked: &'static str = String::from("text of a child").leak();
    let _ = Line::titled(leaked);
    let _ = Line::titled(Words::Title).word(Words::Name, leaked);
    let _ = FailureLine::new(Words::Title, Words::Title, "literal");
    let _ = Diagnostic::from(leaked);
    let _ = SafeFailure::new(Words::Title, leaked);
}
