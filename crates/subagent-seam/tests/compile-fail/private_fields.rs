//! The types cannot be put together field by field.

use subagent_seam::{Diagnostic, Line, Word, closed_words};

closed_words! { enum Words { Title = "Lamp" } }

fn main() {
    let _ = Diagnostic { text: String::from("text of a child") };
    let _ = Line { title: Word::of(Words::Title), fields: Vec::new() };
}
