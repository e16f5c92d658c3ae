//! A `String` is refused everywhere: as a title, a name, a value, a line and a whole text.

use subagent_seam::{Diagnostic, FailureLine, Line, SafeFailure, closed_words};

closed_words! { enum Words { Title = "Lamp", Name = "state" } }

fn child_says() -> String {
    String::from("text of a child")
}

fn main() {
    let _ = Line::titled(child_says());
    let _ = Line::titled(Words::Title).word(child_says(), Words::Name);
    let _ = Line::titled(Words::Title).word(Words::Name, child_says());
    let _ = Line::titled(Words::Title).number(Words::Name, child_says());
    let _ = Line::titled(Words::Title).signal(Words::Name, child_says());
    let _ = FailureLine::new(Words::Title, Words::Title, child_says());
    let _ = FailureLine::new(Words::Title, Words::Title, Words::Title).stop_reason(child_says());
    let _ = Diagnostic::from(child_says());
    let _ = Diagnostic::from(Line::titled(Words::Title)).and(child_says());
    let _ = SafeFailure::new(child_says(), Line::titled(Words::Title));
    let _ = SafeFailure::new(Words::Title, child_says());
}
