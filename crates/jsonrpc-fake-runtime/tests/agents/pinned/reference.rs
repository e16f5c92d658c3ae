//! The rows in the documentation: made of the snapshots, between two marks in `docs/diagnostics.md`. Owns their form, and
//! that they are written only when that is asked for by name.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Set to `1`, it lets the test write the documentation instead of comparing it. `cargo xtask snapshots --accept` does.
const WRITE: &str = "WRITE_DOCUMENTED_ROWS";

const TABLES: [&str; 2] = ["acp", "dsh_sdk"];

/// A row of a snapshot.
#[derive(Debug, PartialEq, Eq)]
struct Read<'a> {
    section: &'a str,
    name: &'a str,
    text: &'a str,
}

#[test]
fn the_documentation_shows_every_row_as_it_is_pinned() {
    let path = root().join("docs/diagnostics.md");
    let page = fs::read_to_string(&path).unwrap();
    let mut expected = page.clone();
    for table in TABLES {
        let snapshots = ["foreground", "background"].map(|mode| snapshot(table, mode));
        // A table whose texts are only proposed so far has no rows before they are accepted.
        let rows = match &snapshots {
            [Some(foreground), Some(background)] => rendered(&rows(foreground), &rows(background)),
            _ => String::new(),
        };
        expected = placed(&expected, table, &rows);
    }
    if std::env::var_os(WRITE).is_some_and(|word| word == "1") {
        fs::write(path, expected).unwrap();
        return;
    }
    let lines = expected.lines().zip(page.lines());
    let differing = lines.enumerate().find(|(_, (expected, found))| expected != found);
    assert!(
        expected == page,
        "the rows in docs/diagnostics.md are not as pinned, first at {differing:?}; \
         `cargo xtask snapshots --accept` writes them"
    );
}

/// The pinned texts of one table and one way of delegating, by row.
pub(super) fn pinned(table: &str, mode: &str) -> BTreeMap<String, String> {
    let file = snapshot(table, mode).expect("the texts are pinned");
    let rows = rows(&file);
    rows.iter()
        .map(|row| (row.name.to_owned(), row.text.to_owned()))
        .collect()
}

fn snapshot(table: &str, mode: &str) -> Option<String> {
    let name = format!("tests/agents/snapshots/{table}_{mode}.snap");
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).ok()
}

fn root() -> PathBuf {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    crates.parent().unwrap().to_owned()
}

/// The rows of a snapshot file, in order.
fn rows(file: &str) -> Vec<Read<'_>> {
    let pinned = file.splitn(3, "---\n").nth(2).unwrap_or_default();
    let (mut all, mut section) = (Vec::new(), "");
    for block in pinned.split("\n# ").flat_map(|block| block.split("\n## ")) {
        let (heading, text) = block.split_once('\n').unwrap_or((block, ""));
        let heading = heading.trim_start_matches(['#', ' ']);
        match text.trim_matches('\n') {
            "" => section = heading,
            text => all.push(Read {
                section,
                name: heading,
                text,
            }),
        }
    }
    all
}

/// A table for each section.
fn rendered(foreground: &[Read<'_>], background: &[Read<'_>]) -> String {
    let (mut page, mut section) = (String::new(), "");
    assert_eq!(foreground.len(), background.len(), "one row for each");
    for (front, back) in foreground.iter().zip(background) {
        assert_eq!((front.section, front.name), (back.section, back.name));
        if front.section != section {
            section = front.section;
            let head = "| observed | in the foreground | in the background |\n|---|---|---|";
            writeln!(page, "\n**{section}**\n\n{head}").unwrap();
        }
        let (name, front, back) = (escaped(front.name), cell(front.text), cell(back.text));
        writeln!(page, "| {name} | {front} | {back} |").unwrap();
    }
    page
}

/// A text word for word, on one line.
fn cell(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(|line| format!("`{}`", escaped(line))).collect();
    lines.join("<br>")
}

fn escaped(text: &str) -> String {
    text.replace('|', "\\|")
}

/// The page with `rows` between the two marks of the table.
fn placed(page: &str, table: &str, rows: &str) -> String {
    let (open, close) = (
        format!("<!-- rows: {table} -->\n"),
        format!("\n<!-- end of rows: {table} -->"),
    );
    let (before, rest) = page
        .split_once(&open)
        .unwrap_or_else(|| panic!("no mark {open:?}"));
    let (_, after) = rest
        .split_once(&close)
        .unwrap_or_else(|| panic!("no mark {close:?}"));
    format!("{before}{open}{rows}{close}{after}")
}

#[test]
fn the_rows_of_a_snapshot_are_told_apart() {
    let file = "---\nsource: a.rs\n---\n# One\n\n## first\na\nb\n\n## second\nc\n\n# Two\n\n## third\n[d]";
    let row = |section, name, text| Read { section, name, text };
    let found = rows(file);
    assert_eq!(
        found,
        [
            row("One", "first", "a\nb"),
            row("One", "second", "c"),
            row("Two", "third", "[d]")
        ]
    );
    let head = "| observed | in the foreground | in the background |\n|---|---|---|\n";
    let page = format!(
        "\n**One**\n\n{head}| first | `a`<br>`b` | `a`<br>`b` |\n| second | `c` | `c` |\n\n**Two**\n\n{head}\
         | third | `[d]` | `[d]` |\n"
    );
    assert_eq!(rendered(&found, &found), page);
}

#[test]
fn only_what_stands_between_its_own_marks_is_replaced() {
    let page = "a\n<!-- rows: x -->\nold\n\n<!-- end of rows: x -->\nb\n<!-- rows: y -->\n\n<!-- end of rows: y -->\n";
    let page = placed(page, "x", "new\n");
    assert_eq!(
        page,
        "a\n<!-- rows: x -->\nnew\n\n<!-- end of rows: x -->\nb\n<!-- rows: y -->\n\n<!-- end of rows: y -->\n"
    );
    assert_eq!(placed(&page, "x", "new\n"), page);
}
