//! Rust sources without their comments and literals, so that a rule about code is not misled by text. It is a scanner for
//! exactly that, no parser.

/// The same text with every character of a comment or of a string or character literal as a space; lines stay lines.
pub(crate) fn code_only(source: &str) -> String {
    let mut scanner = Scanner {
        rest: source,
        code: String::with_capacity(source.len()),
        after_word: false,
    };
    while let Some(next) = scanner.rest.chars().next() {
        let hidden = scanner.hidden();
        if hidden > 0 {
            scanner.hide(hidden);
        } else {
            scanner.keep(next);
        }
    }
    scanner.code
}

struct Scanner<'a> {
    rest: &'a str,
    code: String,
    /// The character before is part of a word: a letter that follows cannot begin a literal.
    after_word: bool,
}

impl Scanner<'_> {
    fn keep(&mut self, next: char) {
        self.code.push(next);
        self.after_word = next.is_alphanumeric() || next == '_';
        self.rest = &self.rest[next.len_utf8()..];
    }

    fn hide(&mut self, bytes: usize) {
        let (hidden, rest) = self.rest.split_at(bytes);
        self.code.extend(
            hidden
                .chars()
                .map(|character| if character == '\n' { '\n' } else { ' ' }),
        );
        self.after_word = false;
        self.rest = rest;
    }

    /// How many bytes from here on are a comment or a literal.
    fn hidden(&self) -> usize {
        let rest = self.rest;
        if rest.starts_with("//") {
            return rest.find('\n').unwrap_or(rest.len());
        }
        if rest.starts_with("/*") {
            return block_comment(rest);
        }
        if rest.starts_with('"') {
            return string(rest, 0);
        }
        if rest.starts_with('\'') {
            return character(rest);
        }
        if self.after_word {
            return 0;
        }
        let prefix = rest.len() - rest.trim_start_matches(['b', 'c']).len();
        match rest[prefix..].strip_prefix('r') {
            Some(raw) if prefix <= 1 => raw_string(raw, prefix + 1),
            None if prefix == 1 && rest[prefix..].starts_with('"') => string(rest, prefix),
            _ => 0,
        }
    }
}

fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if rest[at..].starts_with("*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                return at;
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

/// A string whose opening quote stands at `quote`.
fn string(rest: &str, quote: usize) -> usize {
    let mut escaped = false;
    for (at, character) in rest.char_indices().skip_while(|(at, _)| *at <= quote) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// A raw string: what follows its `r`, which ends `before` bytes from the start. Not one: 0.
fn raw_string(raw: &str, before: usize) -> usize {
    let hashes = raw.len() - raw.trim_start_matches('#').len();
    let Some(body) = raw[hashes..].strip_prefix('"') else {
        return 0;
    };
    let end = format!("\"{}", "#".repeat(hashes));
    let opening = before + hashes + 1;
    body.find(&end)
        .map_or(before + raw.len(), |at| opening + at + end.len())
}

/// A character literal; a lifetime is none: 0.
fn character(rest: &str) -> usize {
    let mut characters = rest.char_indices().skip(1);
    match characters.next() {
        Some((_, '\\')) => {
            characters.next();
            characters
                .find(|(_, character)| *character == '\'')
                .map_or(rest.len(), |(at, _)| at + 1)
        }
        Some(_) => match characters.next() {
            Some((at, '\'')) => at + 1,
            _ => 0,
        },
        None => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words that are left.
    fn words(source: &str) -> Vec<String> {
        code_only(source).split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn comments_are_hidden_also_nested_ones() {
        assert_eq!(words("a // b\nc /* d /* e */ f */ g /// h"), ["a", "c", "g"]);
    }

    #[test]
    fn strings_of_every_kind_are_hidden() {
        assert_eq!(words(r#"a "b \" // c" d b"e" f c"g" h"#), ["a", "d", "f", "h"]);
        assert_eq!(
            words("a r\"b\\\" c r#\"d \" e\"# f br##\"g\"# h\"## i"),
            ["a", "c", "f", "i"]
        );
    }

    #[test]
    fn a_quote_as_a_character_opens_no_string() {
        assert_eq!(
            words(r#"a '"' b '\'' c '\u{22}' d b'"' e"#),
            ["a", "b", "c", "d", "b", "e"]
        );
    }

    #[test]
    fn lifetimes_and_raw_names_are_code() {
        assert_eq!(
            words("&'a str r#fn for bar"),
            ["&'a", "str", "r#fn", "for", "bar"]
        );
    }

    #[test]
    fn lines_stay_lines() {
        assert_eq!(code_only("a\n/*\n*/\n\"\n\"\nb").lines().count(), 6);
    }

    #[test]
    fn what_is_not_closed_is_hidden_to_the_end() {
        assert_eq!(words("a \"b"), ["a"]);
        assert_eq!(words("a /* b"), ["a"]);
        assert_eq!(words("a r#\"b\""), ["a"]);
    }
}
