//! A vocabulary written by hand must be known to the compiler in full.

use subagent_seam::{ClosedWord, Line};

#[derive(Clone, Copy)]
struct Leaked;

impl ClosedWord for Leaked {
    const WORDS: &'static [&'static str] = &[String::from("text of a child").leak()];
    const VALUES: &'static [Self] = &[Leaked];

    fn index(self) -> usize {
        0
    }
}

fn main() {
    let _ = Line::titled(Leaked);
}
