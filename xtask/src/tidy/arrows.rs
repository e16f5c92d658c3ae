//! Which crate may depend on which, as data, and the check of what the manifests say against it. The reasons stand in
//! the architecture page.

use super::finding::Finding;
use crate::workspace::{Dependency, Member, Workspace};

const RULE: &str = "arrows";

/// A crate and what of this workspace it may depend on, for the product and for its tests. A crate that is not in the
/// table may not be in the workspace; crates that are planned may stand here before they exist.
const ARROWS: &[(&str, &[&str])] = &[
    ("subagent-seam", &[]),
    ("subagent-subprocess", &[]),
    ("subagent-acp", &["subagent-seam", "subagent-subprocess"]),
    ("subagent-dsh-sdk", &["subagent-seam", "subagent-subprocess"]),
    ("subagent-tool", &["subagent-seam"]),
    (
        "subagent-config",
        &[
            "subagent-seam",
            "subagent-tool",
            "subagent-acp",
            "subagent-dsh-sdk",
        ],
    ),
    (
        "subagent-mcp",
        &["subagent-seam", "subagent-tool", "subagent-config"],
    ),
    (
        "subagent-cli",
        &[
            "subagent-config",
            "subagent-tool",
            "subagent-mcp",
            "subagent-seam",
            "subagent-subprocess",
            "jsonrpc-fake-runtime",
        ],
    ),
    (
        "subagent-properties",
        &[
            "subagent-seam",
            "subagent-subprocess",
            "subagent-acp",
            "subagent-dsh-sdk",
            "subagent-tool",
            "subagent-config",
        ],
    ),
    ("jsonrpc-fake-runtime", &[]),
    ("xtask", &[]),
];

/// Its tests drive the whole product against its own binary, so its tests alone may depend on everything.
const DRIVES_EVERYTHING: &str = "jsonrpc-fake-runtime";

/// Crates from outside that only some members may use, or none but for tests and examples.
const RESERVED: &[(&str, &[&str])] = &[
    // Libraries have typed errors.
    ("anyhow", &["xtask"]),
    // The product speaks the protocol with its own tolerant types; these prove that the others understand it.
    ("agent-client-protocol", &[]),
    ("agent-client-protocol-schema", &[]),
    // Tools of tests.
    ("assert_cmd", &[]),
    ("insta", &[]),
    ("proptest", &[]),
    ("trybuild", &[]),
];

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    workspace
        .members
        .iter()
        .flat_map(|member| check_member(member, workspace))
        .collect()
}

fn check_member(member: &Member, workspace: &Workspace) -> Vec<Finding> {
    let manifest = if member.directory.is_empty() {
        "Cargo.toml".to_owned()
    } else {
        format!("{}/Cargo.toml", member.directory)
    };
    let Some(allowed) = lookup(ARROWS, &member.name) else {
        let message = format!("`{}` is not in the table of crates", member.name);
        return vec![Finding::in_file(&manifest, RULE, message)];
    };
    let mut findings = Vec::new();
    for dependency in &member.dependencies {
        if let Some(message) = fault(member, dependency, allowed, workspace) {
            findings.push(Finding::in_file(&manifest, RULE, message));
        }
    }
    findings
}

fn fault(
    member: &Member,
    dependency: &Dependency,
    allowed: &[&str],
    workspace: &Workspace,
) -> Option<String> {
    let (from, to) = (member.name.as_str(), dependency.name.as_str());
    let is_member = workspace.members.iter().any(|member| member.name == to);
    if dependency.local && !is_member {
        return Some(format!(
            "`{from}` depends on `{to}` by path, which is no member of the workspace"
        ));
    }
    if is_member {
        let exempt = dependency.dev && from == DRIVES_EVERYTHING;
        return (!exempt && !allowed.contains(&to)).then(|| {
            format!(
                "`{from}` must not depend on `{to}`, expected {}",
                expected(allowed)
            )
        });
    }
    let users = lookup(RESERVED, to)?;
    (!dependency.dev && !users.contains(&from)).then(|| {
        format!(
            "`{from}` must not depend on `{to}` outside of tests, expected {}",
            expected(users)
        )
    })
}

fn lookup<'a>(table: &[(&str, &'a [&'a str])], name: &str) -> Option<&'a [&'a str]> {
    table
        .iter()
        .find(|(crate_name, _)| *crate_name == name)
        .map(|(_, others)| *others)
}

fn expected(names: &[&str]) -> String {
    if names.is_empty() {
        "none".to_owned()
    } else {
        format!("at most {}", names.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str, dependencies: &[(&str, bool)]) -> Member {
        let dependencies = dependencies.iter().map(|&(name, dev)| Dependency {
            name: name.to_owned(),
            dev,
            local: name.starts_with("subagent-"),
        });
        Member {
            name: name.to_owned(),
            directory: format!("crates/{name}"),
            dependencies: dependencies.collect(),
            ..Member::default()
        }
    }

    fn findings(members: Vec<Member>) -> Vec<String> {
        let workspace = Workspace {
            members,
            ..Workspace::default()
        };
        check(&workspace).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_arrow_of_the_table_is_fine_and_any_other_is_found() {
        let acp = member(
            "subagent-acp",
            &[("subagent-seam", false), ("subagent-tool", false)],
        );
        assert_eq!(
            findings(vec![
                acp,
                member("subagent-seam", &[]),
                member("subagent-tool", &[])
            ]),
            [
                "crates/subagent-acp/Cargo.toml: `subagent-acp` must not depend on `subagent-tool`, \
              expected at most subagent-seam, subagent-subprocess [arrows]"
            ]
        );
    }

    #[test]
    fn a_crate_that_nobody_planned_is_found() {
        assert_eq!(
            findings(vec![member("subagent-extra", &[])]),
            ["crates/subagent-extra/Cargo.toml: `subagent-extra` is not in the table of crates [arrows]"]
        );
    }

    #[test]
    fn only_the_tests_of_the_fake_runtime_may_drive_everything() {
        let everything = |dev| member("jsonrpc-fake-runtime", &[("subagent-cli", dev)]);
        let cli = || member("subagent-cli", &[]);
        assert!(findings(vec![everything(true), cli()]).is_empty());
        assert_eq!(findings(vec![everything(false), cli()]).len(), 1);
        let others = member("subagent-seam", &[("subagent-cli", true)]);
        assert_eq!(
            findings(vec![others, cli()]).len(),
            1,
            "the tests of another crate follow the table"
        );
    }

    #[test]
    fn a_path_out_of_the_workspace_is_found() {
        assert_eq!(
            findings(vec![member("subagent-tool", &[("subagent-elsewhere", false)])]),
            [
                "crates/subagent-tool/Cargo.toml: `subagent-tool` depends on `subagent-elsewhere` by path, \
              which is no member of the workspace [arrows]"
            ]
        );
    }

    #[test]
    fn what_is_for_tests_stays_in_tests() {
        assert!(
            findings(vec![member(
                "subagent-acp",
                &[("agent-client-protocol-schema", true)]
            )])
            .is_empty()
        );
        assert_eq!(
            findings(vec![member(
                "subagent-acp",
                &[("agent-client-protocol-schema", false), ("anyhow", false)]
            )]),
            [
                "crates/subagent-acp/Cargo.toml: `subagent-acp` must not depend on `agent-client-protocol-schema` \
                 outside of tests, expected none [arrows]",
                "crates/subagent-acp/Cargo.toml: `subagent-acp` must not depend on `anyhow` outside of tests, \
                 expected at most xtask [arrows]",
            ]
        );
    }

    #[test]
    fn the_table_names_only_crates_that_stand_in_it() {
        for (name, others) in ARROWS {
            for other in *others {
                assert!(lookup(ARROWS, other).is_some(), "{name} → {other}");
            }
        }
    }
}
