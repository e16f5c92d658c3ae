//! The tracked files of the repository and their text. Rules read it instead of the disk, so that what only lies about
//! on one machine cannot make them pass, and their tests need no disk.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::tool::Tool;

/// The tracked files by their path from the root, with `/` between the parts.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    /// Without a text: not UTF-8, a symbolic link, or deleted and not committed yet.
    files: BTreeMap<String, Option<String>>,
}

impl Tree {
    /// What git tracks, as it lies on the disk now.
    pub(crate) fn tracked(root: &Path) -> Result<Self> {
        let list = Tool::git(root)
            .args(["ls-files", "-z"])
            .capture()
            .context("the tracked files are wanted from git; is this a clone?")?;
        let mut files = BTreeMap::new();
        for path in list.split_terminator('\0') {
            let absolute = root.join(path);
            let Ok(kind) = fs::symlink_metadata(&absolute) else {
                continue;
            };
            let text = if kind.is_file() {
                let bytes = fs::read(&absolute).with_context(|| format!("cannot read {path}"))?;
                String::from_utf8(bytes).ok()
            } else {
                None
            };
            files.insert(path.to_owned(), text);
        }
        Ok(Self { files })
    }

    /// A tree for a test.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let files = files
            .iter()
            .map(|(path, text)| ((*path).to_owned(), Some((*text).to_owned())));
        Self {
            files: files.collect(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.files.len()
    }

    /// The files that hold text.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files
            .iter()
            .filter_map(|(path, text)| Some((path.as_str(), text.as_deref()?)))
    }

    /// The files that hold text and whose name ends so.
    pub(crate) fn texts_named(&self, end: &str) -> impl Iterator<Item = (&str, &str)> {
        self.texts().filter(move |(path, _)| path.ends_with(end))
    }

    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path)?.as_deref()
    }

    /// Whether it is a tracked file, or a directory that holds one. The root is there.
    pub(crate) fn exists(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        if path.is_empty() || self.files.contains_key(path) {
            return true;
        }
        let inside = format!("{path}/");
        self.files
            .range(inside.clone()..)
            .next()
            .is_some_and(|(first, _)| first.starts_with(&inside))
    }

    /// The directories of the root.
    pub(crate) fn has_top_directory(&self, name: &str) -> bool {
        self.exists(name) && !self.files.contains_key(name)
    }
}

/// Where a relative path leads that stands in the file `from`; nothing if it leaves the repository.
pub(crate) fn resolve(from: &str, path: &str) -> Option<String> {
    let directory = from.rsplit_once('/').map_or("", |(directory, _)| directory);
    let mut parts: Vec<&str> = directory.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_path_is_followed_from_its_file() {
        assert_eq!(resolve("docs/a.md", "b.md").as_deref(), Some("docs/b.md"));
        assert_eq!(resolve("docs/a.md", "../README.md").as_deref(), Some("README.md"));
        assert_eq!(resolve("a.md", "./x/").as_deref(), Some("x"));
        assert_eq!(resolve("docs/a.md", "../../x"), None);
        assert_eq!(resolve("a.md", "../x"), None);
    }

    #[test]
    fn a_directory_exists_by_what_it_holds() {
        let tree = Tree::of(&[("docs/a.md", ""), ("docs-old", "")]);
        assert!(tree.exists("docs") && tree.exists("docs/") && tree.exists("docs/a.md"));
        assert!(!tree.exists("doc") && !tree.exists("docs/b.md"));
        assert!(tree.has_top_directory("docs") && !tree.has_top_directory("docs-old"));
    }

    #[test]
    fn the_tracked_files_of_this_repository_are_found() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let tree = Tree::tracked(root).unwrap();
        assert!(
            tree.text("Cargo.toml")
                .is_some_and(|text| text.contains("[workspace]"))
        );
        assert!(!tree.exists("target"));
    }
}
