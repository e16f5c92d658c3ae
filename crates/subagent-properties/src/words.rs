//! Reads a diagnostic as its grammar says. Owns the check that nothing stands in one but closed words, integers and
//! names of signals; which words a provider has is told by whoever asks.

/// The first part of `text` that is neither of these `words`, nor an integer, nor a signal; `None` when there is none.
///
/// A text that was cut is read up to its cut.
pub fn foreign(text: &str, words: &[&str]) -> Option<String> {
    let cut = text.strip_suffix("\n[diagnostic truncated]");
    let mut lines: Vec<&str> = cut.unwrap_or(text).split('\n').collect();
    if cut.is_some() {
        // The last line may end anywhere.
        lines.pop();
    }
    lines.iter().find_map(|line| foreign_in_line(line, words))
}

fn foreign_in_line(line: &str, words: &[&str]) -> Option<String> {
    if words.contains(&line) {
        return None;
    }
    let Some((title, fields)) = line.strip_suffix(')').and_then(|line| line.split_once(" (")) else {
        return Some(line.to_owned());
    };
    if !words.contains(&title) {
        return Some(title.to_owned());
    }
    fields.split("; ").find_map(|field| {
        let Some((name, value)) = field.split_once(": ") else {
            return Some(field.to_owned());
        };
        if !words.contains(&name) {
            return Some(name.to_owned());
        }
        let closed = words.contains(&value) || is_integer(value) || is_signal(value);
        (!closed).then(|| value.to_owned())
    })
}

fn is_integer(value: &str) -> bool {
    value
        .parse::<i64>()
        .is_ok_and(|number| number.to_string() == value)
}

fn is_signal(value: &str) -> bool {
    let name = value.strip_prefix("SIG").unwrap_or_default();
    let named = (2..=6).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    named || value.strip_prefix("signal ").is_some_and(is_integer)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: &[&str] = &["Lamp", "state", "on"];

    #[test]
    fn closed_words_integers_and_signals_are_all_that_may_stand() {
        for text in [
            "Lamp",
            "Lamp (state: on)",
            "Lamp (state: -7; state: SIGUSR1)",
            "Lamp (on: signal 42)\nLamp",
        ] {
            assert_eq!(foreign(text, WORDS), None, "{text}");
        }
    }

    #[test]
    fn whatever_else_stands_there_is_found() {
        for (text, part) in [
            ("lamp", "lamp"),
            ("Torch (state: on)", "Torch"),
            ("Lamp (colour: on)", "colour"),
            ("Lamp (state: off)", "off"),
            ("Lamp (state: 007)", "007"),
            ("Lamp (state: SIGH)", "SIGH"),
            ("Lamp (state: on; on)", "on"),
            ("Lamp (state: on) ", "Lamp (state: on) "),
            ("Lamp\n", ""),
            ("Lamp\nLamp (state: a secret)", "a secret"),
        ] {
            assert_eq!(foreign(text, WORDS).as_deref(), Some(part), "{text}");
        }
    }

    #[test]
    fn a_text_that_was_cut_is_read_up_to_the_cut() {
        assert_eq!(foreign("Lamp\nLamp (sta\n[diagnostic truncated]", WORDS), None);
        assert_eq!(
            foreign("Torch\nLamp (sta\n[diagnostic truncated]", WORDS).as_deref(),
            Some("Torch")
        );
    }
}
