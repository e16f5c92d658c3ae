//! Rules about the manifests: each crate inherits the lints of the workspace and has a README, and every path that a
//! manifest names is there.

use super::finding::Finding;
use super::tree::{Tree, resolve};
use crate::workspace::Workspace;

pub(super) fn check(tree: &Tree, workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    for member in workspace
        .members
        .iter()
        .filter(|member| !member.directory.is_empty())
    {
        findings.extend(check_member(tree, &member.directory));
    }
    for (path, text) in tree.texts().filter(|(path, _)| is_manifest(path)) {
        findings.extend(check_paths(tree, path, text));
    }
    findings
}

fn is_manifest(path: &str) -> bool {
    path == "Cargo.toml" || path.ends_with("/Cargo.toml")
}

fn check_member(tree: &Tree, directory: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let manifest = format!("{directory}/Cargo.toml");
    if !tree.text(&manifest).is_some_and(inherits_lints) {
        let message = "expected the lints of the workspace: `[lints]` with `workspace = true`";
        findings.push(Finding::in_file(&manifest, "lints", message));
    }
    let readme = format!("{directory}/README.md");
    if tree.text(&readme).is_none_or(|text| text.trim().is_empty()) {
        findings.push(Finding::in_file(
            &readme,
            "readme",
            "expected a README of the crate",
        ));
    }
    findings
}

fn inherits_lints(manifest: &str) -> bool {
    let mut section = "";
    for line in manifest.lines().map(|line| without_comment(line).trim()) {
        if line.starts_with('[') {
            section = line;
            continue;
        }
        let line: String = line.split_whitespace().collect();
        if (section == "[lints]" && line == "workspace=true")
            || (section.is_empty() && line == "lints.workspace=true")
        {
            return true;
        }
    }
    false
}

fn check_paths(tree: &Tree, manifest: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = without_comment(line);
        for key in ["path", "readme", "license-file", "build"] {
            for value in values(line, key) {
                let there = resolve(manifest, value).is_some_and(|path| tree.exists(&path));
                if !there {
                    let message = format!("`{key}` names `{value}`, which is not in the repository");
                    findings.push(Finding::at(manifest, index + 1, "manifest paths", message));
                }
            }
        }
    }
    findings
}

/// The strings that are given to a key on one line, also inside of an inline table.
fn values<'a>(line: &'a str, key: &str) -> Vec<&'a str> {
    let is_key = |character: char| character.is_alphanumeric() || matches!(character, '-' | '_' | '.' | '"');
    let value = |(at, _)| {
        let (before, after): (&str, &str) = (&line[..at], &line[at + key.len()..]);
        let value = after
            .trim_start()
            .strip_prefix('=')?
            .trim_start()
            .strip_prefix('"')?;
        (!before.ends_with(is_key)).then(|| value.split('"').next())?
    };
    line.match_indices(key).filter_map(value).collect()
}

/// The line up to a `#` that stands in no string.
fn without_comment(line: &str) -> &str {
    let mut quoted = false;
    for (at, character) in line.char_indices() {
        match character {
            '"' => quoted = !quoted,
            '#' if !quoted => return &line[..at],
            _ => {}
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Member;

    const GOOD: &str = "[package]\nname = \"a\"\nreadme = \"README.md\"\n\n[lints]\nworkspace = true # all\n";

    fn findings(files: &[(&str, &str)]) -> Vec<String> {
        let member = Member {
            name: "a".into(),
            directory: "crates/a".into(),
            ..Member::default()
        };
        let workspace = Workspace {
            members: vec![member],
            ..Workspace::default()
        };
        check(&Tree::of(files), &workspace)
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn a_crate_with_lints_and_readme_is_fine() {
        assert!(findings(&[("crates/a/Cargo.toml", GOOD), ("crates/a/README.md", "# a\n")]).is_empty());
    }

    #[test]
    fn a_crate_without_a_readme_is_found() {
        let expected = "crates/a/README.md: expected a README of the crate [readme]";
        assert!(findings(&[("crates/a/Cargo.toml", GOOD)]).contains(&expected.to_owned()));
        assert_eq!(
            findings(&[("crates/a/Cargo.toml", GOOD), ("crates/a/README.md", " \n")]),
            [expected]
        );
    }

    #[test]
    fn a_crate_with_lints_of_its_own_is_found() {
        for lints in [
            "",
            "[lints]\nworkspace = false\n",
            "[lints.rust]\nworkspace = true\n",
            "[x]\nworkspace = true\n",
        ] {
            assert_eq!(
                findings(&[("crates/a/Cargo.toml", lints), ("crates/a/README.md", "# a\n")]),
                [
                    "crates/a/Cargo.toml: expected the lints of the workspace: `[lints]` with `workspace = true` [lints]"
                ],
                "{lints}"
            );
        }
        assert!(inherits_lints("lints.workspace = true\n[package]\n"));
    }

    #[test]
    fn a_path_that_leaves_or_leads_nowhere_is_found() {
        let root = "[workspace.dependencies]\na = { path = \"crates/a\", version = \"1\" }\nb = { path = \"../b\" }\n\
                    # path = \"no\"\n[[bench]]\npath = \"benches/c.rs\"\n";
        assert_eq!(
            findings(&[
                ("Cargo.toml", root),
                ("crates/a/Cargo.toml", GOOD),
                ("crates/a/README.md", "# a\n")
            ]),
            [
                "Cargo.toml:3: `path` names `../b`, which is not in the repository [manifest paths]",
                "Cargo.toml:6: `path` names `benches/c.rs`, which is not in the repository [manifest paths]",
            ]
        );
    }

    #[test]
    fn only_whole_keys_count() {
        assert_eq!(
            values("a = { path = \"x\", subpath = \"y\", path.z = \"w\" }", "path"),
            ["x"]
        );
    }
}
