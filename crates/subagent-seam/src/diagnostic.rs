//! The safe failure text: what a parent may read about a run that did not complete. Owns its grammar and its bound.
//! Which stages and categories exist, and when each applies, is every provider's own mapping.

use std::fmt;

use crate::{ClosedWord, Signal, Word, closed_words};

/// The most bytes of UTF-8 that a settled [`Diagnostic`] has.
pub const MAX_DIAGNOSTIC_BYTES: usize = 4096;

const TRUNCATION_SUFFIX: &str = "\n[diagnostic truncated]";

/// One line of safe text: `<title> (<name>: <value>; …)`.
///
/// Its parts are words of [closed vocabularies](ClosedWord), integers and [signals](Signal). There is no way to put a
/// `String`, a path, an error or any other text that exists only at run time into one.
///
/// ```
/// use subagent_seam::{Line, closed_words};
///
/// closed_words! { enum Words { Title = "Lamp", State = "state", On = "on", Watts = "watts" } }
///
/// let line = Line::titled(Words::Title).word(Words::State, Words::On).number(Words::Watts, 60);
/// assert_eq!(line.to_string(), "Lamp (state: on; watts: 60)");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    title: Word,
    fields: Vec<(Word, Value)>,
}

impl Line {
    /// A line without fields.
    pub fn titled(title: impl ClosedWord) -> Self {
        Self {
            title: Word::of(title),
            fields: Vec::new(),
        }
    }

    /// Appends a field whose value is a closed word.
    #[must_use]
    pub fn word(self, name: impl ClosedWord, value: impl ClosedWord) -> Self {
        self.field(name, Value::Word(Word::of(value)))
    }

    /// Appends a field whose value is an integer.
    #[must_use]
    pub fn number(self, name: impl ClosedWord, value: i64) -> Self {
        self.field(name, Value::Number(value))
    }

    /// Appends a field whose value is a signal.
    #[must_use]
    pub fn signal(self, name: impl ClosedWord, value: Signal) -> Self {
        self.field(name, Value::Signal(value))
    }

    fn field(mut self, name: impl ClosedWord, value: Value) -> Self {
        self.fields.push((Word::of(name), value));
        self
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.title)?;
        for (place, (name, value)) in self.fields.iter().enumerate() {
            let lead = if place == 0 { " (" } else { "; " };
            write!(f, "{lead}{name}: {value}")?;
        }
        if self.fields.is_empty() {
            Ok(())
        } else {
            f.write_str(")")
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    Word(Word),
    Number(i64),
    Signal(Signal),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(word) => write!(f, "{word}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Signal(signal) => write!(f, "{signal}"),
        }
    }
}

closed_words! {
    enum Part {
        Title = "Subagent failure",
        Provider = "provider",
        Stage = "stage",
        Category = "category",
        StopReason = "stop reason",
        ExitCode = "exit code",
        Signal = "signal",
    }
}

/// The failure line, field by field: provider, stage and category always stand, the others when they are known.
///
/// ```
/// use subagent_seam::{Diagnostic, FailureLine, Signal, closed_words};
///
/// closed_words! { enum Words { Provider = "ACP", Stage = "process", Category = "process-exit" } }
///
/// let line = FailureLine::new(Words::Provider, Words::Stage, Words::Category).signal(Signal::new(9));
/// assert_eq!(
///     Diagnostic::from(line).as_str(),
///     "Subagent failure (provider: ACP; stage: process; category: process-exit; signal: SIGKILL)",
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailureLine {
    head: Line,
    stop_reason: Option<Word>,
    exit_code: Option<i32>,
    signal: Option<Signal>,
}

impl FailureLine {
    /// A failure of `stage`, of the kind `category`, in the product `provider`.
    pub fn new(provider: impl ClosedWord, stage: impl ClosedWord, category: impl ClosedWord) -> Self {
        let head = Line::titled(Part::Title)
            .word(Part::Provider, provider)
            .word(Part::Stage, stage)
            .word(Part::Category, category);
        Self {
            head,
            stop_reason: None,
            exit_code: None,
            signal: None,
        }
    }

    /// Adds the stop reason.
    #[must_use]
    pub fn stop_reason(mut self, reason: impl ClosedWord) -> Self {
        self.stop_reason = Some(Word::of(reason));
        self
    }

    /// Adds the exit code.
    #[must_use]
    pub fn exit_code(mut self, code: i32) -> Self {
        self.exit_code = Some(code);
        self
    }

    /// Adds the signal that ended the process.
    #[must_use]
    pub fn signal(mut self, signal: Signal) -> Self {
        self.signal = Some(signal);
        self
    }
}

impl From<FailureLine> for Line {
    fn from(failure: FailureLine) -> Self {
        let FailureLine {
            mut head,
            stop_reason,
            exit_code,
            signal,
        } = failure;
        if let Some(reason) = stop_reason {
            head = head.field(Part::StopReason, Value::Word(reason));
        }
        if let Some(code) = exit_code {
            head = head.number(Part::ExitCode, i64::from(code));
        }
        if let Some(signal) = signal {
            head = head.signal(Part::Signal, signal);
        }
        head
    }
}

/// The whole safe text of one run: one or more [lines](Line).
///
/// It is for display. Nothing may parse it or branch on it; a consumer that needs a fact uses the
/// [stop reason](crate::StopReason).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    text: String,
}

impl Diagnostic {
    /// Appends a line.
    #[must_use]
    pub fn and(mut self, line: impl Into<Line>) -> Self {
        self.text.push('\n');
        self.text.push_str(&line.into().to_string());
        self
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The text within [`MAX_DIAGNOSTIC_BYTES`]: a longer one keeps a prefix that ends on a character boundary, and a
    /// last line says that it was cut. [`settle`](crate::settle) applies this.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        if self.text.len() > MAX_DIAGNOSTIC_BYTES {
            let end = self
                .text
                .floor_char_boundary(MAX_DIAGNOSTIC_BYTES - TRUNCATION_SUFFIX.len());
            self.text.truncate(end);
            self.text.push_str(TRUNCATION_SUFFIX);
        }
        self
    }
}

impl<L: Into<Line>> From<L> for Diagnostic {
    fn from(line: L) -> Self {
        Self {
            text: line.into().to_string(),
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    closed_words! {
        enum Words {
            Provider = "ACP",
            Stage = "prompt",
            Category = "remote-limit",
            Reason = "max_turn_requests",
            Accented = "é",
        }
    }

    fn line() -> FailureLine {
        FailureLine::new(Words::Provider, Words::Stage, Words::Category)
    }

    #[test]
    fn the_order_of_the_fields_is_fixed() {
        let text = Diagnostic::from(
            line()
                .signal(Signal::new(15))
                .exit_code(-3)
                .stop_reason(Words::Reason),
        )
        .to_string();
        assert_eq!(
            text,
            "Subagent failure (provider: ACP; stage: prompt; category: remote-limit; stop reason: max_turn_requests; \
             exit code: -3; signal: SIGTERM)"
        );
    }

    #[test]
    fn unknown_fields_are_left_out() {
        assert_eq!(
            Diagnostic::from(line()).as_str(),
            "Subagent failure (provider: ACP; stage: prompt; category: remote-limit)"
        );
    }

    #[test]
    fn a_text_of_exactly_the_bound_is_kept_and_one_byte_more_is_cut() {
        // Each further line adds three bytes: the newline and the two bytes of the accented letter.
        let mut text = Diagnostic::from(Line::titled(Words::Provider));
        while text.as_str().len() + 3 <= MAX_DIAGNOSTIC_BYTES {
            text = text.and(Line::titled(Words::Accented));
        }
        assert_eq!(text.as_str().len(), 4095);
        assert_eq!(text.clone().bounded(), text);

        let cut = text.and(Line::titled(Words::Accented)).bounded();
        assert!(
            cut.as_str().len() <= MAX_DIAGNOSTIC_BYTES,
            "{} bytes",
            cut.as_str().len()
        );
        assert!(cut.as_str().len() > MAX_DIAGNOSTIC_BYTES - 4);
        assert!(cut.as_str().ends_with("\n[diagnostic truncated]"));
        assert!(cut.as_str().starts_with("ACP\né\n"));
    }

    #[test]
    fn a_bounded_text_stays_as_it_is() {
        let mut text = Diagnostic::from(line());
        for _ in 0..100 {
            text = text.and(line());
        }
        let once = text.bounded();
        assert_eq!(once.clone().bounded(), once);
    }
}
