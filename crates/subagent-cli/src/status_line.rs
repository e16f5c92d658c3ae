//! A line at the bottom of a terminal that is drawn over itself and leaves nothing behind. Owns which bytes that takes;
//! when they are written, and where, is `terminal`'s.
//!
//! No escape sequence: a carriage return and blanks do the same on every terminal, a dumb one or a Windows console
//! included.

use std::iter::repeat_n;

/// What is assumed of a terminal that does not know how wide it is.
const USUAL_COLUMNS: usize = 80;

/// What the line shows now; empty when there is none.
#[derive(Debug, Default)]
pub(crate) struct StatusLine {
    shown: String,
}

impl StatusLine {
    /// What to write so that the line shows `text`, one column for each of its characters. It is cut where the terminal
    /// would begin another line.
    pub(crate) fn draw(&mut self, text: &str, columns: Option<usize>) -> String {
        // The cursor stands behind the line; in the last column some terminals put it on the next one already.
        let room = columns.unwrap_or(USUAL_COLUMNS).saturating_sub(1);
        let blanks = self.columns().min(room);
        self.shown = text.chars().take(room).collect();
        let mut bytes = format!("\r{}", self.shown);
        let too_many = blanks.saturating_sub(self.columns());
        bytes.extend(repeat_n(' ', too_many));
        // Back to where the text ends.
        bytes.extend(repeat_n('\u{8}', too_many));
        bytes
    }

    /// What to write so that nothing of the line is left and other text can begin there.
    pub(crate) fn clear(&mut self) -> String {
        let bytes = self.erased();
        self.shown.clear();
        bytes
    }

    /// What to write so that `text`, whole lines of it, stands above the line.
    pub(crate) fn with_above(&self, text: &[u8]) -> Vec<u8> {
        let mut bytes = self.erased().into_bytes();
        bytes.extend_from_slice(text);
        bytes.extend_from_slice(self.shown.as_bytes());
        bytes
    }

    fn erased(&self) -> String {
        if self.shown.is_empty() {
            return String::new();
        }
        format!("\r{}\r", " ".repeat(self.columns()))
    }

    fn columns(&self) -> usize {
        self.shown.chars().count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a terminal of endless width shows of these bytes in its last line, and where its cursor stands.
    fn last_line(bytes: &str) -> (String, usize) {
        let (mut line, mut at) = (Vec::new(), 0);
        for c in bytes.rsplit('\n').next().unwrap().chars() {
            match c {
                '\r' => at = 0,
                '\u{8}' => at -= 1,
                _ => {
                    line.resize(line.len().max(at + 1), ' ');
                    line[at] = c;
                    at += 1;
                }
            }
        }
        (line.into_iter().collect::<String>().trim_end().to_owned(), at)
    }

    #[test]
    fn a_shorter_text_leaves_nothing_of_a_longer_one() {
        let mut line = StatusLine::default();
        let mut bytes = line.draw("prompt · 10 B", None);
        assert_eq!(bytes, "\rprompt · 10 B");
        bytes += &line.draw("start", None);
        assert_eq!(last_line(&bytes), ("start".to_owned(), 5));
        bytes += &line.clear();
        assert_eq!(last_line(&bytes), (String::new(), 0));
        assert_eq!(line.clear(), "", "it is gone already");
    }

    #[test]
    fn a_narrow_terminal_never_begins_another_line() {
        let mut line = StatusLine::default();
        assert_eq!(line.draw("12345", Some(6)), "\r12345");
        assert_eq!(line.draw("12345", Some(5)), "\r1234");
        assert_eq!(line.draw("é·é·é", Some(4)), "\ré·é");
        assert_eq!(line.draw("12345", Some(1)), "\r");
        assert_eq!(line.draw("12345", Some(0)), "\r");
        let wide = "x".repeat(100);
        assert_eq!(line.draw(&wide, None).len(), 80);
    }

    #[test]
    fn other_text_stands_above_the_line() {
        let mut line = StatusLine::default();
        assert_eq!(line.with_above(b"a warning\n"), b"a warning\n");
        line.draw("prompt", None);
        assert_eq!(line.with_above(b"a warning\n"), b"\r      \ra warning\nprompt");
    }
}
