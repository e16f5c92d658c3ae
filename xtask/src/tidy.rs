//! `tidy`: the rules of this workspace that neither the compiler nor clippy knows. This file names the rules and reports
//! what they found; each rule is a pure function in a file of its own.

mod arrows;
mod code;
mod finding;
mod links;
mod manifests;
mod places;
mod snapshot_files;
mod sources;
mod tree;

use anyhow::{Result, bail};

use self::finding::Finding;
use self::tree::Tree;
use crate::console::{count, say};
use crate::snapshots::store::Store;
use crate::workspace::Workspace;

/// Prints every finding, not only the first.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let tree = Tree::tracked(&workspace.root)?;
    let store = Store::find(workspace)?;
    let mut findings = Vec::new();
    findings.extend(sources::check(&tree));
    findings.extend(arrows::check(workspace));
    findings.extend(manifests::check(&tree, workspace));
    findings.extend(places::check(&tree));
    findings.extend(links::check(&tree));
    findings.extend(snapshot_files::check(&tree));
    findings.extend(snapshot_files::undecided(&store.undecided()?, &workspace.root));
    report(findings, tree.len())
}

fn report(mut findings: Vec<Finding>, files: usize) -> Result<()> {
    findings.sort();
    findings.dedup();
    for finding in &findings {
        say(finding);
    }
    let files = count(files, "tracked file");
    if findings.is_empty() {
        say(format_args!("tidy: {files}, nothing found"));
        return Ok(());
    }
    bail!("tidy: {} in {files}", count(findings.len(), "finding"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_finding_fails_it() {
        report(Vec::new(), 3).unwrap();
        let finding = Finding::in_file("a.rs", "rule", "something");
        let error = report(vec![finding], 3).unwrap_err().to_string();
        assert_eq!(error, "tidy: 1 finding in 3 tracked files");
    }

    /// The text of every finding of every file rule, for the tests of one rule to stay honest about the others.
    #[test]
    fn a_clean_tree_has_no_findings() {
        let tree = Tree::of(&[
            (
                "README.md",
                "# It\n\nSee [the guide](docs/guide.md) and `docs/guide.md`.\n",
            ),
            ("docs/guide.md", "Back to the [top](../README.md#it).\n"),
            ("crates/a/src/lib.rs", "//! Owns a.\n\nfn a() {}\n"),
        ]);
        let findings: Vec<_> = [sources::check(&tree), places::check(&tree), links::check(&tree)]
            .into_iter()
            .flatten()
            .chain(snapshot_files::check(&tree))
            .map(|finding| finding.to_string())
            .collect();
        assert_eq!(findings, Vec::<String>::new());
    }
}
