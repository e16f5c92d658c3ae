//! Rules about pinned texts: each names a test that is there, and no proposal lies about undecided. Whether the texts are
//! right, and whether the test still asks for them, is found by running the tests: `cargo xtask snapshots --check`.

use std::path::{Path, PathBuf};

use super::finding::Finding;
use super::tree::Tree;
use crate::snapshots::file::SnapshotFile;
use crate::snapshots::store::Kind;

const RULE: &str = "snapshots";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.texts()
        .filter_map(|(path, text)| Some(Finding::in_file(path, RULE, fault(tree, path, text)?)))
        .collect()
}

/// Proposals on the disk, which git ignores.
pub(super) fn undecided(paths: &[PathBuf], root: &Path) -> Vec<Finding> {
    let finding = |path: &PathBuf| {
        let path = path
            .strip_prefix(root)
            .unwrap_or(path)
            .to_string_lossy()
            .replace('\\', "/");
        Finding::in_file(
            &path,
            RULE,
            "nobody has decided about this proposal: see `cargo xtask snapshots --review`",
        )
    };
    paths.iter().map(finding).collect()
}

fn fault(tree: &Tree, path: &str, text: &str) -> Option<String> {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    match Kind::of(name)? {
        Kind::Pending | Kind::PendingInline => Some("a proposal must not be tracked".to_owned()),
        Kind::Snapshot => match SnapshotFile::parse(text) {
            Err(error) => Some(format!("not a snapshot: {error}")),
            Ok(file) => match file.source() {
                None => Some("expected a `source` in the header".to_owned()),
                Some(source) if tree.exists(source) => None,
                Some(source) => Some(format!("an orphan: its test `{source}` is not in the repository")),
            },
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> Vec<String> {
        let tree = Tree::of(&[(path, text), ("crates/a/tests/there.rs", "")]);
        check(&tree).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_snapshot_of_a_test_that_is_there_is_fine() {
        assert!(
            findings(
                "a.snap",
                "---\nsource: crates/a/tests/there.rs\nexpression: x\n---\ntext\n"
            )
            .is_empty()
        );
    }

    #[test]
    fn an_orphan_is_found() {
        assert_eq!(
            findings("a.snap", "---\nsource: crates/a/tests/gone.rs\n---\ntext\n"),
            ["a.snap: an orphan: its test `crates/a/tests/gone.rs` is not in the repository [snapshots]"]
        );
    }

    #[test]
    fn a_damaged_snapshot_is_found() {
        assert_eq!(
            findings("a.snap", "text\n"),
            ["a.snap: not a snapshot: expected `---` in the first line [snapshots]"]
        );
        assert_eq!(
            findings("a.snap", "---\n---\ntext\n"),
            ["a.snap: expected a `source` in the header [snapshots]"]
        );
    }

    #[test]
    fn a_tracked_proposal_is_found() {
        assert_eq!(
            findings("b/a.snap.new", "---\n---\n"),
            ["b/a.snap.new: a proposal must not be tracked [snapshots]"]
        );
        assert_eq!(findings(".a.rs.pending-snap", "{}").len(), 1);
    }

    #[test]
    fn a_proposal_on_the_disk_is_found() {
        let found = undecided(&[Path::new("r").join("a").join("b.snap.new")], Path::new("r"));
        assert_eq!(
            found[0].to_string(),
            "a/b.snap.new: nobody has decided about this proposal: see `cargo xtask snapshots --review` [snapshots]"
        );
    }
}
