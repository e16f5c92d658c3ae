//! A path is refused, owned or borrowed.

use std::path::{Path, PathBuf};

use subagent_seam::{Diagnostic, FailureLine, Line, SafeFailure, closed_words};

closed_words! { enum Words { Title = "Lamp", Name = "state" } }

fn configured(path: &Path, owned: PathBuf) {
    let _ = Line::titled(path);
    let _ = Line::titled(Words::Title).word(Words::Name, owned.clone());
    let _ = FailureLine::new(Words::Title, Words::Title, owned.clone());
    let _ = Diagnostic::from(path);
    let _ = Diagnostic::from(owned.clone());
    let _ = SafeFailure::new(Words::Title, owned);
}

fn main() {
    configured(Path::new("/home"), PathBuf::from("/home"));
}
