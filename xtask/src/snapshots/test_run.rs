//! Running the snapshot tests: which packages have some, what the library is told by its variables, and which snapshots
//! the tests compared with. What follows from that is decided by the command.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::store::Store;
use crate::runner::{self, Choice, Profile, Runner};
use crate::tool::Tool;
use crate::workspace::Workspace;

/// The crate that the tests use. Who depends on it has snapshot tests, with or without a snapshot so far.
const LIBRARY: &str = "insta";

/// The package, the target and the name of the test that compares the documentation with the snapshots.
const DOCUMENTING: (&str, &str, &str) = (
    "jsonrpc-fake-runtime",
    "agents",
    "pinned::reference::the_documentation_shows_every_row_as_it_is_pinned",
);

/// The members that have snapshot tests.
pub(super) fn packages<'a>(workspace: &'a Workspace, store: &Store) -> Vec<&'a str> {
    let has_tests = |directory: &str| {
        let directory = workspace.root.join(directory);
        store.snapshots.iter().any(|path| path.starts_with(&directory))
    };
    let members = workspace.members.iter();
    let members = members.filter(|member| member.uses(LIBRARY) || has_tests(&member.directory));
    members.map(|member| member.name.as_str()).collect()
}

/// Runs the tests so that a difference does not fail them but becomes a proposal. Returns the snapshots that they
/// compared with.
pub(super) fn propose(workspace: &Workspace, packages: &[&str]) -> Result<Vec<PathBuf>> {
    prepare_references(workspace)?;
    runner::examples(workspace).run()?;
    snapshot_tests(workspace, packages, "new")?
        .env("INSTA_FORCE_PASS", "1")
        .env("INSTA_OUTPUT", "none")
        .run()
        .context("a test failed for another reason than a snapshot, so nothing is proposed for what it did not reach")?;
    read_references(workspace)
}

/// Runs the tests so that a difference fails them and nothing is written.
pub(super) fn compare(workspace: &Workspace, packages: &[&str]) -> Result<()> {
    prepare_references(workspace)?;
    runner::examples(workspace).run()?;
    snapshot_tests(workspace, packages, "no")?
        .env("INSTA_FORCE_PASS", "0")
        .env("INSTA_OUTPUT", "diff")
        .run()
}

/// Lets the documentation show the snapshots as they are now: by the test that fails when it does not.
pub(super) fn document(workspace: &Workspace) -> Result<()> {
    let (package, target, test) = DOCUMENTING;
    if !workspace.members.iter().any(|member| member.name == package) {
        return Ok(());
    }
    Tool::cargo(&workspace.root)
        .args(["test", "--quiet", "--package", package, "--test", target])
        .args(["--", "--exact", test])
        .env("WRITE_DOCUMENTED_ROWS", "1")
        .run()
        .context("the snapshots are written, and the documentation of their rows is not")
}

fn snapshot_tests(workspace: &Workspace, packages: &[&str], update: &str) -> Result<Tool> {
    let runner = Runner::choose(workspace, Choice::Auto, Profile::Ci)?;
    // The other variables of the library could send proposals elsewhere or accept them.
    let tool = [
        "INSTA_PENDING_DIR",
        "INSTA_FORCE_UPDATE",
        "INSTA_FORCE_UPDATE_SNAPSHOTS",
        "INSTA_REQUIRE_FULL_MATCH",
    ]
    .into_iter()
    .fold(runner.tests_of(workspace, packages), Tool::env_remove);
    Ok(tool
        .env("INSTA_UPDATE", update)
        .env("INSTA_WORKSPACE_ROOT", &workspace.root)
        .env("INSTA_SNAPSHOT_REFERENCES_FILE", references_file(workspace)))
}

/// Every test process appends here the path of each snapshot that it compared with.
fn references_file(workspace: &Workspace) -> PathBuf {
    workspace.target.join("xtask").join("snapshot-references.txt")
}

fn prepare_references(workspace: &Workspace) -> Result<()> {
    let path = references_file(workspace);
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
    }
    fs::write(&path, "").with_context(|| format!("cannot write {}", path.display()))
}

/// The snapshots that the last run compared with, each once.
pub(super) fn read_references(workspace: &Workspace) -> Result<Vec<PathBuf>> {
    let path = references_file(workspace);
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut paths: Vec<_> = text.lines().map(|line| canonical(Path::new(line))).collect();
    paths.sort();
    paths.dedup();
    Ok(paths)
}

pub(super) fn orphans(store: &Store, referenced: &[PathBuf]) -> Vec<PathBuf> {
    let snapshots = store.snapshots.iter();
    snapshots
        .filter(|path| !referenced.contains(&canonical(path)))
        .cloned()
        .collect()
}

/// One spelling for each file; a file that is not there keeps the spelling that it has.
fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::{Dependency, Member};

    #[test]
    fn a_crate_has_snapshot_tests_by_its_dependency_or_by_a_snapshot() {
        let member = |name: &str, uses: &[&str]| Member {
            name: name.to_owned(),
            directory: format!("crates/{name}"),
            dependencies: uses
                .iter()
                .map(|name| Dependency {
                    name: (*name).to_owned(),
                    dev: true,
                    local: false,
                })
                .collect(),
            ..Member::default()
        };
        let members = vec![
            member("one", &["insta"]),
            member("two", &[]),
            member("three", &["serde"]),
        ];
        let workspace = Workspace {
            root: "root".into(),
            members,
            ..Workspace::default()
        };
        let snapshot = Path::new("root")
            .join("crates")
            .join("two")
            .join("src")
            .join("a.snap");
        let store = Store {
            snapshots: vec![snapshot],
            ..Store::default()
        };
        assert_eq!(packages(&workspace, &store), ["one", "two"]);
        assert_eq!(packages(&workspace, &Store::default()), ["one"]);
    }

    #[test]
    fn a_snapshot_that_no_test_asked_for_is_an_orphan_however_its_path_is_spelt() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("target");
        let workspace = Workspace {
            root: directory.path().to_owned(),
            target,
            ..Workspace::default()
        };
        let (asked, orphan) = (directory.path().join("a.snap"), directory.path().join("b.snap"));
        fs::write(&asked, "").unwrap();
        fs::write(&orphan, "").unwrap();
        prepare_references(&workspace).unwrap();
        // What the library writes: joined from parts, and once for each comparison.
        let spelt = directory
            .path()
            .join(".")
            .join("target")
            .join("..")
            .join("a.snap");
        fs::write(
            references_file(&workspace),
            format!("{0}\n{0}\n", spelt.display()),
        )
        .unwrap();
        let referenced = read_references(&workspace).unwrap();
        assert_eq!(referenced.len(), 1);
        let store = Store {
            snapshots: vec![asked, orphan.clone()],
            ..Store::default()
        };
        assert_eq!(orphans(&store, &referenced), [orphan]);
    }

    #[test]
    fn a_new_run_forgets_what_the_last_one_asked_for() {
        let directory = tempfile::tempdir().unwrap();
        let workspace = Workspace {
            target: directory.path().to_owned(),
            ..Workspace::default()
        };
        prepare_references(&workspace).unwrap();
        fs::write(references_file(&workspace), "a.snap\n").unwrap();
        prepare_references(&workspace).unwrap();
        assert!(read_references(&workspace).unwrap().is_empty());
    }
}
