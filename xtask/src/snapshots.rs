//! `snapshots`: the pinned texts of the tests. Proposes, compares, shows and writes them; which text is right is decided
//! by a person. The format of the files belongs to `file` and `inline`, where they lie to `store`.

pub(crate) mod file;
pub(crate) mod store;

mod diff;
mod inline;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use self::file::SnapshotFile;
use self::store::Store;
use crate::console::{count, say};
use crate::runner::{self, Choice, Profile, Runner};
use crate::workspace::Workspace;

/// The crate that the tests use. Who depends on it has snapshot tests, with or without a snapshot so far.
const LIBRARY: &str = "insta";

/// What is done with the snapshots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Run the tests; keep what differs beside the snapshots.
    Propose,
    /// Run the tests; write nothing; fail on whatever is not as pinned.
    Check,
    /// Show the proposals.
    Review,
    /// Write the proposals.
    Accept,
}

pub(crate) fn run(workspace: &Workspace, mode: Mode) -> Result<()> {
    let store = Store::find(workspace)?;
    match mode {
        Mode::Review => review(workspace, &store),
        Mode::Accept => accept(workspace, &store),
        Mode::Propose | Mode::Check => {
            let packages = packages(workspace, &store);
            if packages.is_empty() {
                say("no crate has snapshot tests yet: none depends on insta, and there is no *.snap file");
                return Ok(());
            }
            if mode == Mode::Check {
                check(workspace, &packages)
            } else {
                propose(workspace, &packages, &store)
            }
        }
    }
}

/// The members that have snapshot tests.
fn packages<'a>(workspace: &'a Workspace, store: &Store) -> Vec<&'a str> {
    let has_tests = |directory: &str| {
        let directory = workspace.root.join(directory);
        store.snapshots.iter().any(|path| path.starts_with(&directory))
    };
    let members = workspace.members.iter();
    let members = members.filter(|member| member.uses(LIBRARY) || has_tests(&member.directory));
    members.map(|member| member.name.as_str()).collect()
}

fn propose(workspace: &Workspace, packages: &[&str], store: &Store) -> Result<()> {
    // Whatever an earlier run proposed is proposed again if it still holds.
    for path in store.pending.iter().chain(&store.pending_inline) {
        fs::remove_file(path).with_context(|| format!("cannot remove the proposal {}", path.display()))?;
    }
    let referenced = run_tests(workspace, packages, "new")?;
    let store = Store::find(workspace)?;
    let orphans = orphans(&store, &referenced);
    let undecided = store.undecided()?;
    say(format_args!(
        "\n{} in use, {} proposed, {} orphaned",
        count(referenced.len(), "snapshot"),
        undecided.len(),
        orphans.len()
    ));
    list(workspace, "proposed", &undecided);
    list(workspace, "orphaned, no test asks for it", &orphans);
    if !undecided.is_empty() {
        say("look at the proposals with `cargo xtask snapshots --review`, write them with `--accept`");
    }
    Ok(())
}

fn check(workspace: &Workspace, packages: &[&str]) -> Result<()> {
    let tested = run_tests_in_place(workspace, packages);
    let referenced = read_references(workspace)?;
    let store = Store::find(workspace)?;
    let undecided = store.undecided()?;
    let mut faults = Vec::new();
    let orphans = orphans(&store, &referenced);
    if tested.is_err() {
        // A test that failed early may not have reached its snapshots: who is an orphan cannot be told.
        faults.push("a snapshot test failed, see above".to_owned());
    } else if !orphans.is_empty() {
        list(workspace, "orphaned, no test asks for it", &orphans);
        // Tests of another platform do not run here, so only the reference platform can tell an orphan.
        if cfg!(target_os = "linux") {
            faults.push(format!("{} orphaned", count(orphans.len(), "snapshot")));
        }
    }
    if !undecided.is_empty() {
        list(workspace, "proposed and not decided", &undecided);
        faults.push(format!("{} not decided", count(undecided.len(), "proposal")));
    }
    if faults.is_empty() {
        say(format_args!(
            "\n{} as pinned",
            count(referenced.len(), "snapshot")
        ));
        return Ok(());
    }
    bail!(
        "snapshots: {}; `cargo xtask snapshots` proposes what the tests say now",
        faults.join(", ")
    )
}

fn review(workspace: &Workspace, store: &Store) -> Result<()> {
    let mut shown = 0;
    for path in &store.pending {
        let proposed = SnapshotFile::read(path)?;
        let pinned = store::decided(path);
        let old = if pinned.exists() {
            Some(SnapshotFile::read(&pinned)?)
        } else {
            None
        };
        let title = if old.is_some() { "changed" } else { "new" };
        say(format_args!("\n==> {title}: {}", relative(workspace, &pinned)));
        say(format_args!("    {}", proposed.place()));
        let old = old.as_ref().map_or("", |old| old.text.as_str());
        say(diff::lines(old, &proposed.text));
        shown += 1;
    }
    for path in &store.pending_inline {
        for proposal in inline::read(path)? {
            say(format_args!(
                "\n==> inline, to be edited by hand: {}",
                proposal.place()
            ));
            say(diff::lines(&proposal.old, &proposal.new));
            shown += 1;
        }
    }
    if shown == 0 {
        say("no proposal is waiting; `cargo xtask snapshots` makes them");
    } else {
        say(format_args!(
            "\n{}; `cargo xtask snapshots --accept` writes all",
            count(shown, "proposal")
        ));
    }
    Ok(())
}

fn accept(workspace: &Workspace, store: &Store) -> Result<()> {
    for path in &store.pending {
        let pinned = store::decided(path);
        SnapshotFile::read(path)?.pin(&pinned)?;
        fs::remove_file(path).with_context(|| format!("cannot remove the proposal {}", path.display()))?;
        say(format_args!("written: {}", relative(workspace, &pinned)));
    }
    let mut by_hand = Vec::new();
    for path in &store.pending_inline {
        by_hand.extend(
            inline::read(path)?
                .iter()
                .map(|proposal| place(workspace, proposal)),
        );
    }
    if by_hand.is_empty() {
        say(format_args!("{} written", count(store.pending.len(), "snapshot")));
        return Ok(());
    }
    bail!("inline snapshots are edited by hand, in: {}", by_hand.join(", "))
}

/// Runs the tests so that a difference does not fail them but becomes a proposal.
fn run_tests(workspace: &Workspace, packages: &[&str], update: &str) -> Result<Vec<PathBuf>> {
    prepare_references(workspace)?;
    runner::examples(workspace).run()?;
    snapshot_tests(workspace, packages, update)?
        .env("INSTA_FORCE_PASS", "1")
        .env("INSTA_OUTPUT", "none")
        .run()
        .context("a test failed for another reason than a snapshot, so nothing is proposed for what it did not reach")?;
    read_references(workspace)
}

/// Runs the tests so that a difference fails them and nothing is written.
fn run_tests_in_place(workspace: &Workspace, packages: &[&str]) -> Result<()> {
    prepare_references(workspace)?;
    runner::examples(workspace).run()?;
    snapshot_tests(workspace, packages, "no")?
        .env("INSTA_FORCE_PASS", "0")
        .env("INSTA_OUTPUT", "diff")
        .run()
}

fn snapshot_tests(workspace: &Workspace, packages: &[&str], update: &str) -> Result<crate::tool::Tool> {
    let runner = Runner::choose(workspace, Choice::Auto, Profile::Ci)?;
    // The other variables of the library could send proposals elsewhere or accept them.
    let tool = [
        "INSTA_PENDING_DIR",
        "INSTA_FORCE_UPDATE",
        "INSTA_FORCE_UPDATE_SNAPSHOTS",
        "INSTA_REQUIRE_FULL_MATCH",
    ]
    .into_iter()
    .fold(
        runner.tests_of(workspace, packages),
        crate::tool::Tool::env_remove,
    );
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
fn read_references(workspace: &Workspace) -> Result<Vec<PathBuf>> {
    let path = references_file(workspace);
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut paths: Vec<_> = text.lines().map(|line| canonical(Path::new(line))).collect();
    paths.sort();
    paths.dedup();
    Ok(paths)
}

fn orphans(store: &Store, referenced: &[PathBuf]) -> Vec<PathBuf> {
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

fn list(workspace: &Workspace, title: &str, paths: &[PathBuf]) {
    for path in paths {
        say(format_args!("  {title}: {}", relative(workspace, path)));
    }
}

fn place(workspace: &Workspace, proposal: &inline::Proposal) -> String {
    relative(workspace, Path::new(&proposal.place()))
}

fn relative(workspace: &Workspace, path: &Path) -> String {
    path.strip_prefix(&workspace.root)
        .unwrap_or(path)
        .display()
        .to_string()
}
