//! The bound of a diagnostic and its closed words. Owns an independent way to write one, which the real one must agree
//! with.
//!
//! Input: three bytes for a field (its kind and name, its value, and whether a new line begins), over and over.

use std::fmt::Write as _;

use subagent_seam::{
    Attempt, Diagnostic, FailureLine, Line, MAX_DIAGNOSTIC_BYTES, Signal, closed_words, settle,
};

use crate::words::foreign;

const SUFFIX: &str = "\n[diagnostic truncated]";

closed_words! {
    enum Words {
        Short = "a",
        Accented = "é",
        Long = "a word of a length that no provider has, which fills a diagnostic soon, and makes a cut likely anywhere in it",
        Han = "字",
        Face = "\u{1f600}",
        Plain = "process-exit",
        Combining = "e\u{301}e\u{301}e\u{301}",
    }
}

/// Checks what becomes of a diagnostic. Returns the length of the text before it was bounded.
pub fn check(input: &[u8]) -> usize {
    let mut expected = String::from("Subagent failure (provider: a; stage: é; category: 字");
    let mut diagnostic: Option<Diagnostic> = None;
    let mut first = FailureLine::new(Words::Short, Words::Accented, Words::Han);
    if let Some(code) = input.first() {
        first = first.exit_code(i32::from(*code) - 128);
        let _ = write!(expected, "; exit code: {}", i32::from(*code) - 128);
    }
    expected.push(')');
    let mut line: Option<Line> = None;
    for field in input.chunks_exact(3).take(4096) {
        let (name, shown_name) = word(field[0]);
        if field[2] % 4 == 0 || line.is_none() {
            append(&mut diagnostic, &first, line.take(), &mut expected);
        }
        let fresh = line.is_none();
        let current = line.take().unwrap_or_else(|| {
            let _ = write!(expected, "\n{shown_name}");
            Line::titled(name)
        });
        expected.push_str(if fresh { " (" } else { "; " });
        let number = i64::from(field[1]) * 1_000_003 - 100_000_000;
        line = Some(match field[0] % 3 {
            0 => {
                let (value, shown) = word(field[1]);
                let _ = write!(expected, "{shown_name}: {shown}");
                current.word(name, value)
            }
            1 => {
                let _ = write!(expected, "{shown_name}: {number}");
                current.number(name, number)
            }
            _ => {
                let signal = Signal::new(i32::from(field[1]));
                let _ = write!(expected, "{shown_name}: {signal}");
                current.signal(name, signal)
            }
        });
    }
    append(&mut diagnostic, &first, line.take(), &mut expected);
    let diagnostic = diagnostic.unwrap_or_else(|| first.into());
    assert_eq!(diagnostic.as_str(), expected);
    bounded(&diagnostic);
    expected.len()
}

/// Ends a line, if there is one.
fn append(
    diagnostic: &mut Option<Diagnostic>,
    first: &FailureLine,
    line: Option<Line>,
    expected: &mut String,
) {
    let text = diagnostic.take().unwrap_or_else(|| first.clone().into());
    *diagnostic = Some(match line {
        Some(line) => {
            expected.push(')');
            text.and(line)
        }
        None => text,
    });
}

fn bounded(diagnostic: &Diagnostic) {
    let result = settle(Attempt::Failed {
        output: Vec::new(),
        diagnostic: diagnostic.clone(),
    });
    let shown = result.diagnostic.expect("a failure has a diagnostic");
    let (text, full) = (shown.as_str(), diagnostic.as_str());
    assert!(text.len() <= MAX_DIAGNOSTIC_BYTES, "{} bytes", text.len());
    if full.len() <= MAX_DIAGNOSTIC_BYTES {
        assert_eq!(text, full, "a short text stays as it is");
    } else {
        let kept = text.strip_suffix(SUFFIX).expect("a text that was cut says so");
        assert!(full.starts_with(kept), "the beginning is kept");
        // No character has more than four bytes: a cut that loses more loses a whole one.
        assert!(text.len() + 3 >= MAX_DIAGNOSTIC_BYTES, "{} bytes", text.len());
    }
    assert_eq!(shown.clone().bounded(), shown, "a bounded text stays as it is");
    let words: Vec<_> = VOCABULARY.iter().chain(PARTS).copied().collect();
    assert_eq!(foreign(text, &words), None, "{text}");
}

const VOCABULARY: &[&str] = <Words as subagent_seam::ClosedWord>::WORDS;

const PARTS: &[&str] = &["Subagent failure", "provider", "stage", "category", "exit code"];

/// The word that a byte chooses, and how it reads.
fn word(choice: u8) -> (Words, &'static str) {
    let place = usize::from(choice) / 3 % VOCABULARY.len();
    (
        <Words as subagent_seam::ClosedWord>::VALUES[place],
        VOCABULARY[place],
    )
}
