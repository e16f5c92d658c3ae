//! A snapshot in a file of its own: a header between two lines of dashes, and the text. It reads what the library wrote
//! and writes it back without what only a proposal holds.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

/// A snapshot or a proposal for one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SnapshotFile {
    /// The lines of the header, as they are.
    header: Vec<String>,
    /// What is pinned.
    pub(crate) text: String,
}

impl SnapshotFile {
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        Self::parse(&text).with_context(|| format!("{} is not a snapshot", path.display()))
    }

    pub(crate) fn parse(text: &str) -> Result<Self> {
        let mut lines = text.split_inclusive('\n');
        if lines.next().map(str::trim_end) != Some("---") {
            bail!("expected `---` in the first line");
        }
        let mut header = Vec::new();
        for line in lines.by_ref() {
            if line.trim_end() == "---" {
                return Ok(Self {
                    header,
                    text: lines.collect(),
                });
            }
            header.push(line.trim_end().to_owned());
        }
        bail!("expected `---` after the header")
    }

    /// The test source that made it, relative to the root of the workspace.
    pub(crate) fn source(&self) -> Option<&str> {
        self.field("source").map(|source| source.trim_matches('"'))
    }

    /// Where it comes from, for a person.
    pub(crate) fn place(&self) -> String {
        let source = self.source().unwrap_or("unknown source");
        let line = self
            .field("assertion_line")
            .map(|line| format!(":{line}"))
            .unwrap_or_default();
        let expression = self
            .field("expression")
            .map(|text| format!(", {text}"))
            .unwrap_or_default();
        format!("{source}{line}{expression}")
    }

    /// Writes it as a decided snapshot: without the line number, which would change with every edit above it.
    pub(crate) fn pin(&self, path: &Path) -> Result<()> {
        if self.field("snapshot_kind") == Some("binary") {
            bail!("{} is a binary snapshot, expected text", path.display());
        }
        fs::write(path, self.pinned()).with_context(|| format!("cannot write {}", path.display()))
    }

    fn pinned(&self) -> String {
        let mut file = String::from("---\n");
        for line in self
            .header
            .iter()
            .filter(|line| !line.starts_with("assertion_line:"))
        {
            file.push_str(line);
            file.push('\n');
        }
        file.push_str("---\n");
        file.push_str(&self.text);
        file
    }

    fn field(&self, name: &str) -> Option<&str> {
        let mut values = self
            .header
            .iter()
            .filter_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        values.next().map(str::trim)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROPOSAL: &str =
        "---\nsource: crates/a/tests/b.rs\nassertion_line: 12\nexpression: text\n---\none\n---\ntwo\n";

    #[test]
    fn the_text_begins_behind_the_second_dashes() {
        let file = SnapshotFile::parse(PROPOSAL).unwrap();
        assert_eq!(file.text, "one\n---\ntwo\n");
        assert_eq!(file.source(), Some("crates/a/tests/b.rs"));
        assert_eq!(file.place(), "crates/a/tests/b.rs:12, text");
    }

    #[test]
    fn a_decided_snapshot_has_no_line_number() {
        let pinned = SnapshotFile::parse(PROPOSAL).unwrap().pinned();
        assert_eq!(
            pinned,
            "---\nsource: crates/a/tests/b.rs\nexpression: text\n---\none\n---\ntwo\n"
        );
    }

    #[test]
    fn what_is_not_a_snapshot_is_refused() {
        let message = |text| SnapshotFile::parse(text).unwrap_err().to_string();
        assert_eq!(message("text\n"), "expected `---` in the first line");
        assert_eq!(message("---\nsource: a\n"), "expected `---` after the header");
    }

    #[test]
    fn a_binary_snapshot_is_not_written() {
        let file =
            SnapshotFile::parse("---\nsource: a\nextension: bin\nsnapshot_kind: binary\n---\n").unwrap();
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("never-written.snap");
        assert!(
            file.pin(&path)
                .unwrap_err()
                .to_string()
                .ends_with("is a binary snapshot, expected text")
        );
        assert!(!path.exists());
    }
}
