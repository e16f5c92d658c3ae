//! A value of the environment is refused.

use std::env;

use subagent_seam::{Diagnostic, Line, closed_words};

closed_words! { enum Words { Title = "Lamp", Name = "state" } }

fn main() {
    let _ = Line::titled(Words::Title).word(Words::Name, env::var_os("HOME").unwrap_or_default());
    let _ = Diagnostic::from(env::var("HOME").unwrap_or_default());
}
