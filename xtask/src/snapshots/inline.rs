//! Proposals for texts that are pinned inside a source file: one JSON object a line, appended by each test process. They
//! are only shown; a person edits the source.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

/// A text inside a source file that a test found different.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Proposal {
    source: String,
    line: u64,
    pub(crate) old: String,
    pub(crate) new: String,
}

impl Proposal {
    /// The source file and line of the assertion.
    pub(crate) fn place(&self) -> String {
        format!("{}:{}", self.source, self.line)
    }
}

pub(crate) fn read(path: &Path) -> Result<Vec<Proposal>> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_prefix('.').unwrap_or(&name);
    let source = path.with_file_name(name.strip_suffix(".pending-snap").unwrap_or(name));
    parse(&text, &source.to_string_lossy()).with_context(|| format!("{} is damaged", path.display()))
}

/// The last word on each line counts: a later pass takes a proposal back.
fn parse(text: &str, source: &str) -> Result<Vec<Proposal>> {
    let mut proposals = BTreeMap::new();
    for row in text.lines().filter(|row| !row.trim().is_empty()) {
        let row: Value = serde_json::from_str(row).context("expected one JSON object a line")?;
        let line = row["line"].as_u64().context("expected a number in `line`")?;
        let snapshot = |member: &str| row[member]["snapshot"].as_str().map(str::to_owned);
        match snapshot("new") {
            Some(new) => {
                let old = snapshot("old").unwrap_or_default();
                proposals.insert(
                    line,
                    Proposal {
                        source: source.to_owned(),
                        line,
                        old,
                        new,
                    },
                );
            }
            None => drop(proposals.remove(&line)),
        }
    }
    Ok(proposals.into_values().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_on_a_line_counts() {
        let text = concat!(
            "{\"run_id\":\"1\",\"line\":7,\"new\":{\"snapshot\":\"b\"},\"old\":{\"snapshot\":\"a\"}}\n",
            "{\"run_id\":\"1\",\"line\":9,\"new\":{\"snapshot\":\"c\"},\"old\":null}\n",
            "{\"run_id\":\"2\",\"line\":9,\"new\":null,\"old\":null}\n",
        );
        let proposals = parse(text, "tests/x.rs").unwrap();
        assert_eq!(proposals.len(), 1);
        assert_eq!(proposals[0].place(), "tests/x.rs:7");
        assert_eq!((proposals[0].old.as_str(), proposals[0].new.as_str()), ("a", "b"));
    }

    #[test]
    fn a_damaged_file_is_an_error() {
        assert!(parse("{", "x").is_err());
        assert!(parse("{}", "x").is_err());
    }
}
