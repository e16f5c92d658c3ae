//! `snapshots`: the pinned texts of the tests. Proposes, compares, shows and writes them; which text is right is decided
//! by a person. The format of the files belongs to `file` and `inline`, where they lie to `store`, running the tests to
//! `test_run`.

pub(crate) mod file;
pub(crate) mod store;

mod diff;
mod inline;
mod test_run;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use self::file::SnapshotFile;
use self::store::Store;
use crate::console::{count, say};
use crate::workspace::Workspace;

/// What is done with the snapshots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Run the tests; keep what differs beside the snapshots.
    Propose,
    /// Run the tests; write nothing; fail on whatever is not as pinned.
    Check,
    /// Show the proposals.
    Review,
    /// Write the proposals, and what the documentation shows of them.
    Accept,
}

pub(crate) fn run(workspace: &Workspace, mode: Mode) -> Result<()> {
    let store = Store::find(workspace)?;
    match mode {
        Mode::Review => review(workspace, &store),
        Mode::Accept => {
            accept(workspace, &store)?;
            test_run::document(workspace)
        }
        Mode::Propose | Mode::Check => {
            let packages = test_run::packages(workspace, &store);
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

fn propose(workspace: &Workspace, packages: &[&str], store: &Store) -> Result<()> {
    // Whatever an earlier run proposed is proposed again if it still holds.
    for path in store.pending.iter().chain(&store.pending_inline) {
        fs::remove_file(path).with_context(|| format!("cannot remove the proposal {}", path.display()))?;
    }
    let referenced = test_run::propose(workspace, packages)?;
    let store = Store::find(workspace)?;
    let orphans = test_run::orphans(&store, &referenced);
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
    let tested = test_run::compare(workspace, packages);
    let referenced = test_run::read_references(workspace)?;
    let store = Store::find(workspace)?;
    let undecided = store.undecided()?;
    // A test that failed early may not have reached its snapshots: who is an orphan cannot be told then.
    let orphans = if tested.is_ok() {
        test_run::orphans(&store, &referenced)
    } else {
        Vec::new()
    };
    list(workspace, "orphaned, no test asks for it", &orphans);
    list(workspace, "proposed and not decided", &undecided);
    // Tests of another platform do not run here, so only the reference platform can tell an orphan.
    let blamed = if cfg!(target_os = "linux") {
        orphans.len()
    } else {
        0
    };
    let faults = faults(tested.err(), blamed, undecided.len());
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

fn faults(failure: Option<anyhow::Error>, orphans: usize, undecided: usize) -> Vec<String> {
    let mut faults = Vec::new();
    if let Some(failure) = failure {
        faults.push(format!("{failure:#}, see above"));
    }
    if orphans > 0 {
        faults.push(format!("{} orphaned", count(orphans, "snapshot")));
    }
    if undecided > 0 {
        faults.push(format!("{} not decided", count(undecided, "proposal")));
    }
    faults
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fault_fails_the_check() {
        assert!(faults(None, 0, 0).is_empty());
        let failure = anyhow::anyhow!("`cargo test` failed");
        assert_eq!(faults(Some(failure), 0, 0), ["`cargo test` failed, see above"]);
        assert_eq!(
            faults(None, 1, 2),
            ["1 snapshot orphaned", "2 proposals not decided"]
        );
    }

    #[test]
    fn a_written_proposal_becomes_the_snapshot() {
        let directory = tempfile::tempdir().unwrap();
        let pending = directory.path().join("a.snap.new");
        fs::write(&pending, "---\nsource: a.rs\nassertion_line: 3\n---\nnew\n").unwrap();
        let store = Store {
            pending: vec![pending.clone()],
            ..Store::default()
        };
        accept(&Workspace::default(), &store).unwrap();
        assert!(!pending.exists());
        let pinned = fs::read_to_string(directory.path().join("a.snap")).unwrap();
        assert_eq!(pinned, "---\nsource: a.rs\n---\nnew\n");
    }

    #[test]
    fn an_inline_proposal_is_not_written_but_named() {
        let directory = tempfile::tempdir().unwrap();
        let pending = directory.path().join(".a.rs.pending-snap");
        fs::write(
            &pending,
            "{\"line\":3,\"new\":{\"snapshot\":\"x\"},\"old\":null}\n",
        )
        .unwrap();
        let workspace = Workspace {
            root: directory.path().to_owned(),
            ..Workspace::default()
        };
        let store = Store {
            pending_inline: vec![pending],
            ..Store::default()
        };
        let error = accept(&workspace, &store).unwrap_err().to_string();
        assert_eq!(error, "inline snapshots are edited by hand, in: a.rs:3");
    }
}
