//! An error is refused, concrete or boxed; it can only hang behind a failure as its cause.

use std::error::Error;
use std::io;

use subagent_seam::{Diagnostic, FailureLine, Line, SafeFailure, closed_words};

closed_words! { enum Words { Title = "Lamp", Name = "state" } }

fn failed(error: io::Error, boxed: Box<dyn Error + Send + Sync>, borrowed: &dyn Error) {
    let _ = Line::titled(borrowed);
    let _ = Line::titled(Words::Title).word(Words::Name, borrowed);
    let _ = FailureLine::new(Words::Title, Words::Title, error);
    let _ = Diagnostic::from(boxed);
    let _ = Diagnostic::from(borrowed);
    let _ = SafeFailure::new(Words::Title, io::Error::other("text of a child"));
}

fn main() {
    failed(io::Error::other("a"), "b".into(), &io::Error::other("c"));
}
