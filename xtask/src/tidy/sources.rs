//! Rules about one Rust file: it begins by saying what it owns, it is not too long, and it switches no lint off in
//! silence.

use super::code::code_only;
use super::finding::Finding;
use super::tree::Tree;

/// The most lines that a Rust file may have.
const CEILING: usize = 400;
/// Directories of files that must not compile; they are inputs of tests and show nothing but the fault.
const COMPILE_FAIL: &[&str] = &["compile-fail", "compile_fail"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.texts_named(".rs")
        .flat_map(|(path, text)| check_file(path, text))
        .collect()
}

fn check_file(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let must_not_compile = path.split('/').any(|part| COMPILE_FAIL.contains(&part));
    if !must_not_compile && !has_header(text) {
        let message = "expected a `//!` header in the first line that says what the file owns";
        findings.push(Finding::at(path, 1, "header", message));
    }
    let lines = text.lines().count();
    if lines > CEILING {
        findings.push(Finding::in_file(
            path,
            "ceiling",
            format!("{lines} lines, expected at most {CEILING}"),
        ));
    }
    for line in silenced(&code_only(text)) {
        let message = "a lint is switched off, expected `#[expect(…, reason = \"…\")]`";
        findings.push(Finding::at(path, line, "attributes", message));
    }
    findings
}

fn has_header(text: &str) -> bool {
    text.lines()
        .next()
        .and_then(|line| line.strip_prefix("//!"))
        .is_some_and(|rest| !rest.trim().is_empty())
}

/// The lines of the attributes that hold `allow(…)`, also inside `cfg_attr`.
fn silenced(code: &str) -> Vec<usize> {
    let mut lines = Vec::new();
    for (at, _) in code.match_indices('#') {
        let Some(attribute) = attribute(&code[at + 1..]) else {
            continue;
        };
        if holds_call(attribute, "allow") {
            lines.push(code[..at].matches('\n').count() + 1);
        }
    }
    lines
}

/// What stands in the brackets of an attribute, given what follows its `#`.
fn attribute(rest: &str) -> Option<&str> {
    let rest = rest.trim_start();
    let rest = rest
        .strip_prefix('!')
        .unwrap_or(rest)
        .trim_start()
        .strip_prefix('[')?;
    let mut depth = 1;
    for (at, character) in rest.char_indices() {
        match character {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(&rest[..at]);
        }
    }
    None
}

fn holds_call(code: &str, name: &str) -> bool {
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    code.match_indices(name).any(|(at, _)| {
        !code[..at].ends_with(is_word) && code[at + name.len()..].trim_start().starts_with('(')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> Vec<String> {
        check(&Tree::of(&[(path, text)]))
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn a_file_without_a_header_is_found() {
        let expected =
            ["a.rs:1: expected a `//!` header in the first line that says what the file owns [header]"];
        assert_eq!(findings("a.rs", "fn a() {}\n"), expected);
        assert_eq!(
            findings("a.rs", "//!\n"),
            expected,
            "an empty header says nothing"
        );
        assert_eq!(
            findings("a.rs", "// no\n//! Owns a.\n"),
            expected,
            "the header comes first"
        );
        assert_eq!(findings("a.rs", ""), expected);
        assert!(findings("a.rs", "//! Owns a.\n").is_empty());
    }

    #[test]
    fn a_file_that_must_not_compile_needs_no_header() {
        assert!(findings("crates/a/tests/compile-fail/b.rs", "fn main() {}\n").is_empty());
        assert_eq!(
            findings("crates/a/tests/compile-fail.rs", "fn main() {}\n").len(),
            1,
            "only in such a directory"
        );
    }

    #[test]
    fn a_file_over_the_ceiling_is_found() {
        let long = format!("//! Owns a.\n{}", "\n".repeat(400));
        assert_eq!(
            findings("a.rs", &long),
            ["a.rs: 401 lines, expected at most 400 [ceiling]"]
        );
        assert!(
            findings(
                "a.rs",
                &long[1..].replacen("/!", "//!", 1).replacen("\n\n", "\n", 1)
            )
            .is_empty()
        );
        assert!(findings("a.md", &long).is_empty(), "only Rust files are bounded");
    }

    #[test]
    fn a_lint_switched_off_is_found_wherever_it_stands() {
        for attribute in [
            "#[allow(dead_code)]",
            "#![allow(x)]",
            "#[cfg_attr(test, allow(x))]",
            "# [\n allow (x)]",
            "#[a, allow(x)]",
        ] {
            let text = format!("//! Owns a.\n\n{attribute}\nfn a() {{}}\n");
            assert_eq!(
                findings("a.rs", &text),
                ["a.rs:3: a lint is switched off, expected `#[expect(…, reason = \"…\")]` [attributes]"],
                "{attribute}"
            );
        }
    }

    #[test]
    fn text_about_it_and_other_words_are_not_found() {
        for line in [
            "// #[allow(x)]",
            "let a = \"#[allow(x)]\";",
            "#[expect(x)] fn allow() {}",
            "#[disallow(x)]",
            "allow(x);",
        ] {
            assert!(
                findings("a.rs", &format!("//! Owns a.\n{line}\n")).is_empty(),
                "{line}"
            );
        }
    }
}
