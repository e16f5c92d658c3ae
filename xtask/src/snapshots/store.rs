//! Where snapshots and proposals lie in the workspace. It walks directories; it opens no file but the proposals for
//! inline snapshots, of which only the content tells whether anything is proposed.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::inline;
use crate::workspace::Workspace;

/// The files of the workspace that belong to snapshots, tracked by git or not, in the order of their paths.
#[derive(Debug, Default)]
pub(crate) struct Store {
    /// `*.snap`
    pub(crate) snapshots: Vec<PathBuf>,
    /// `*.snap.new`: proposals for a file.
    pub(crate) pending: Vec<PathBuf>,
    /// `.*.pending-snap`: proposals for texts inside a source file.
    pub(crate) pending_inline: Vec<PathBuf>,
}

impl Store {
    pub(crate) fn find(workspace: &Workspace) -> Result<Self> {
        let mut store = Self::default();
        for member in &workspace.members {
            store.walk(&workspace.root.join(&member.directory), &workspace.target)?;
        }
        for paths in [
            &mut store.snapshots,
            &mut store.pending,
            &mut store.pending_inline,
        ] {
            paths.sort();
            paths.dedup();
        }
        Ok(store)
    }

    /// The proposals that still say something.
    pub(crate) fn undecided(&self) -> Result<Vec<PathBuf>> {
        let mut undecided = self.pending.clone();
        for path in &self.pending_inline {
            if !inline::read(path)?.is_empty() {
                undecided.push(path.clone());
            }
        }
        Ok(undecided)
    }

    fn walk(&mut self, directory: &Path, target: &Path) -> Result<()> {
        let cannot_read = || format!("cannot read the directory {}", directory.display());
        for entry in fs::read_dir(directory).with_context(cannot_read)? {
            let entry = entry.with_context(cannot_read)?;
            let (path, kind) = (entry.path(), entry.file_type().with_context(cannot_read)?);
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if kind.is_dir() {
                if path != target && !name.starts_with('.') {
                    self.walk(&path, target)?;
                }
            } else if let Some(kind) = Kind::of(&name) {
                match kind {
                    Kind::Snapshot => self.snapshots.push(path),
                    Kind::Pending => self.pending.push(path),
                    Kind::PendingInline => self.pending_inline.push(path),
                }
            }
        }
        Ok(())
    }
}

/// What a file name says about a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Snapshot,
    Pending,
    PendingInline,
}

impl Kind {
    pub(crate) fn of(name: &str) -> Option<Self> {
        let (_, extension) = name.rsplit_once('.')?;
        match extension {
            "snap" => Some(Self::Snapshot),
            "pending-snap" => Some(Self::PendingInline),
            "new" if name.ends_with(".snap.new") => Some(Self::Pending),
            _ => None,
        }
    }
}

/// The snapshot that a proposal is for.
pub(crate) fn decided(pending: &Path) -> PathBuf {
    pending.with_extension("")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Member;

    #[test]
    fn the_name_tells_the_kind() {
        assert_eq!(Kind::of("a.snap"), Some(Kind::Snapshot));
        assert_eq!(Kind::of("a.snap.new"), Some(Kind::Pending));
        assert_eq!(Kind::of(".a.rs.pending-snap"), Some(Kind::PendingInline));
        assert_eq!(Kind::of("a.new"), None);
        assert_eq!(Kind::of("snap"), None);
        assert_eq!(decided(Path::new("x/a.b.snap.new")), Path::new("x/a.b.snap"));
    }

    #[test]
    fn snapshots_are_found_wherever_they_lie_in_a_member() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().to_owned();
        let target = root.join("one/target");
        for path in [
            "one/tests/snapshots/a.snap",
            "one/src/x/b.snap.new",
            "one/target/c.snap",
            "two/d.snap",
        ] {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let member = Member {
            directory: "one".into(),
            ..Member::default()
        };
        let store = Store::find(&Workspace {
            root: root.clone(),
            target,
            members: vec![member],
        })
        .unwrap();
        assert_eq!(store.snapshots, [root.join("one/tests/snapshots/a.snap")]);
        assert_eq!(store.pending, [root.join("one/src/x/b.snap.new")]);
    }
}
