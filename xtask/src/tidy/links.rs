//! Links and paths in the documents: what a reader is sent to is in the repository. Addresses of the net are not
//! followed, and code blocks are not read.

use super::finding::Finding;
use super::tree::{Tree, resolve};

/// Tells of the past, so the files that it names may be gone.
const CHANGELOG: &str = "CHANGELOG.md";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts_named(".md") {
        let mut fence: Option<&str> = None;
        for (index, line) in text.lines().enumerate() {
            let marker = ["```", "~~~"]
                .into_iter()
                .find(|marker| line.trim_start().starts_with(marker));
            match (fence, marker) {
                (None, Some(marker)) => fence = Some(marker),
                (Some(open), Some(marker)) if open == marker => fence = None,
                (Some(_), _) => {}
                (None, None) => {
                    let faults = check_line(tree, path, line).into_iter();
                    findings.extend(faults.map(|message| Finding::at(path, index + 1, "links", message)));
                }
            }
        }
    }
    findings
}

fn check_line(tree: &Tree, path: &str, line: &str) -> Vec<String> {
    let (prose, spans) = split_code(line);
    let mut faults = Vec::new();
    for target in targets(&prose) {
        let file = target.split('#').next().unwrap_or_default();
        let there = resolve(path, file).is_some_and(|file| tree.exists(&file));
        if !there {
            faults.push(format!(
                "the link to `{target}` leads to nothing in the repository"
            ));
        }
    }
    let named = spans
        .into_iter()
        .filter(|span| path != CHANGELOG && names_file(tree, span));
    for span in named.filter(|span| !tree.exists(span)) {
        faults.push(format!("`{span}` is not in the repository"));
    }
    faults
}

/// The line without its code spans, and the spans.
fn split_code(line: &str) -> (String, Vec<&str>) {
    let (mut prose, mut spans) = (String::new(), Vec::new());
    for (index, piece) in line.split('`').enumerate() {
        if index % 2 == 0 {
            prose.push_str(piece);
        } else {
            // Something has to stand for the span, or a link text of code only would vanish.
            prose.push('_');
            spans.push(piece);
        }
    }
    (prose, spans)
}

/// The targets of the links of a line that are files: `[text](target)`, and `[name]: target`.
fn targets(prose: &str) -> Vec<&str> {
    let inline = prose
        .match_indices("](")
        .filter_map(|(at, open)| prose[at + open.len()..].split(')').next());
    let reference = prose
        .trim_start()
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("]:"))
        .map(|(_, to)| to);
    let targets = inline
        .chain(reference)
        .filter_map(|target| target.split_whitespace().next());
    let targets = targets.map(|target| target.trim_start_matches('<').trim_end_matches('>'));
    targets.filter(|target| is_file(target)).collect()
}

/// Not an address, not a place on the same page, not an item of the Rust documentation.
fn is_file(target: &str) -> bool {
    !target.starts_with('#')
        && !target.contains("://")
        && !target.contains("::")
        && !target.starts_with("mailto:")
}

/// Whether a code span reads like a path from the root: its first part is a directory there, and no part is a placeholder.
fn names_file(tree: &Tree, span: &str) -> bool {
    let is_path = |character: char| character.is_alphanumeric() || "_-./".contains(character);
    let first = span.split_once('/').map(|(first, _)| first);
    first.is_some_and(|first| !first.is_empty() && tree.has_top_directory(first))
        && span.chars().all(is_path)
        && !span.contains("..")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(text: &str) -> Vec<String> {
        let tree = Tree::of(&[
            ("docs/page.md", text),
            ("docs/there.md", ""),
            ("README.md", ""),
            ("src/lib.rs", ""),
        ]);
        check(&tree).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_link_to_a_missing_file_is_found() {
        assert_eq!(
            findings("\n[`code`](gone.md) and [x](../gone/ \"title\")\n[name]: gone.md#part\n"),
            [
                "docs/page.md:2: the link to `gone.md` leads to nothing in the repository [links]",
                "docs/page.md:2: the link to `../gone/` leads to nothing in the repository [links]",
                "docs/page.md:3: the link to `gone.md#part` leads to nothing in the repository [links]",
            ]
        );
    }

    #[test]
    fn a_link_out_of_the_repository_is_found() {
        let text = concat!("[x](../..", "/README.md)");
        let expected = concat!("the link to `../..", "/README.md` leads to nothing");
        assert!(findings(text)[0].contains(expected), "{:?}", findings(text));
    }

    #[test]
    fn links_to_what_is_there_and_to_the_net_are_fine() {
        let text = "[a](there.md) [b](../README.md#x) [c](#here) [d](https://example.org/a.md) [e](a::b) [f](..)\n\
                    [g]: <there.md>\n[h](mailto:a@example.org)\n";
        assert!(findings(text).is_empty(), "{:?}", findings(text));
    }

    #[test]
    fn a_path_in_code_must_be_there() {
        assert_eq!(
            findings("`src/gone.rs`"),
            ["docs/page.md:1: `src/gone.rs` is not in the repository [links]"]
        );
        for text in [
            "`src/lib.rs`",
            "`docs/`",
            "`src/<name>.rs`",
            "`src/*.rs`",
            "`other/gone.rs`",
            "`src/...`",
            "`/proc/version`",
        ] {
            assert!(findings(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn code_blocks_are_not_read() {
        assert!(findings("```text\n[a](gone.md)\n~~~\n`src/gone.rs`\n```\n").is_empty());
        assert_eq!(
            findings("```\n```\n[a](gone.md)\n").len(),
            1,
            "after the block it is text again"
        );
    }

    #[test]
    fn the_changelog_may_name_what_is_gone() {
        let tree = Tree::of(&[(CHANGELOG, "`src/gone.rs`"), ("src/lib.rs", "")]);
        assert!(check(&tree).is_empty());
    }
}
