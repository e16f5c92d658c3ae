//! From a configuration to registered providers, and the ways to a configuration besides a named file.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use crate::support::{fixtures, host};
use subagent_config::{
    CommandLine, Config, HostContext, MaxDepth, PermissionPolicy, default_paths, find, load_file, load_str,
};
use subagent_seam::HostReporter;

fn acp(command: &str) -> Config {
    Config::from_command(CommandLine::Acp {
        command: command.into(),
        args: vec!["--acp".into()],
        permission: PermissionPolicy::Allow,
    })
}

/// A host with nothing but these variables.
fn bare_host(launch_dir: &Path, variables: &[(&'static str, &Path)]) -> HostContext {
    let variables: Vec<_> = variables
        .iter()
        .map(|(name, path)| (*name, OsString::from(path)))
        .collect();
    HostContext::new(launch_dir, move |name| {
        let found = variables.iter().find(|(known, _)| *known == name)?;
        Some(found.1.clone())
    })
}

#[test]
fn a_deployment_has_the_providers_in_order_and_the_tools_by_name() {
    let config = load_file("several.yml", &host(fixtures("valid"))).unwrap();
    let deployment = config.deploy(&HostReporter::default()).unwrap();
    assert_eq!(deployment.registry().names(), ["acp", "other"]);
    assert_eq!(deployment.tools().len(), 2);
    let tool = deployment.tool("second_opinion").unwrap();
    assert_eq!(
        (tool.id.as_str(), tool.provider.as_str()),
        ("second-opinion", "other")
    );
    assert_eq!(tool.max_depth, MaxDepth::ProviderManaged);
    assert_eq!(deployment.tool("old"), None);
    let jobs = deployment.jobs().expect("the file has the entry");
    assert_eq!(jobs.max_wait_timeout, Duration::from_secs(10));
}

#[test]
fn the_providers_go_when_the_deployment_goes() {
    let deployment = acp("gemini").deploy(&HostReporter::default()).unwrap();
    let registry = deployment.registry().clone();
    assert_eq!(registry.names(), ["acp"]);
    drop(deployment);
    assert_eq!(registry.names(), [""; 0]);
}

#[test]
fn what_a_provider_refuses_is_told_with_the_option_that_it_came_from() {
    let errors = acp("").deploy(&HostReporter::default()).unwrap_err();
    assert_eq!(
        errors.to_string(),
        "--acp: key command: subagent-acp: command must not be empty"
    );
}

#[test]
fn a_command_line_makes_one_provider_and_its_default_tool() {
    let config = acp("gemini");
    let provider = config.providers()[0].as_acp().unwrap();
    assert_eq!(provider.command, "gemini");
    assert_eq!(provider.args, ["--acp"]);
    assert_eq!(provider.permission, PermissionPolicy::Allow);
    let [tool] = config.tools() else {
        panic!("expected one tool, found {:?}", config.tools());
    };
    assert_eq!(
        (tool.tool_name.as_str(), tool.provider.as_str()),
        ("subagent", "acp")
    );
}

#[test]
fn a_run_timeout_is_set_on_every_provider() {
    let mut config = load_file("several.yml", &host(fixtures("valid"))).unwrap();
    config.set_run_timeout(Duration::from_secs(7));
    for provider in config.providers() {
        assert_eq!(
            provider.as_acp().unwrap().run_timeout,
            Some(Duration::from_secs(7))
        );
    }
}

#[test]
fn the_local_file_is_found_before_the_shared_one() {
    let home = tempfile::tempdir().unwrap();
    let launch_dir = tempfile::tempdir().unwrap();
    let host = bare_host(launch_dir.path(), &[("HOME", home.path())]);
    let shared = home.path().join(".config/subagent");
    std::fs::create_dir_all(&shared).unwrap();
    std::fs::write(shared.join("subagents.yml"), "[]").unwrap();
    assert_eq!(find(&host).unwrap(), shared.join("subagents.yml"));

    std::fs::write(launch_dir.path().join("subagents.yml"), "- name: tool\n").unwrap();
    let found = find(&host).unwrap();
    assert_eq!(found, Path::new("./subagents.yml"));
    let errors = load_file(found, &host).unwrap_err();
    assert!(
        errors
            .to_string()
            .starts_with("./subagents.yml:1:9: entry tool, key name: "),
        "{errors}"
    );
}

#[test]
fn the_shared_file_lies_where_the_variables_say() {
    let absolute = if cfg!(windows) {
        Path::new(r"C:\x")
    } else {
        Path::new("/x")
    };
    let home = absolute.join("home");
    let local = Path::new("./subagents.yml").to_path_buf();
    let shared = |base: &Path| base.join("subagent").join("subagents.yml");
    let paths = |variables: &[(&'static str, &Path)]| default_paths(&bare_host(absolute, variables));

    assert_eq!(paths(&[]), std::slice::from_ref(&local));
    assert_eq!(
        paths(&[("HOME", &home)]),
        [local.clone(), shared(&home.join(".config"))]
    );
    let both = [("HOME", &*home), ("XDG_CONFIG_HOME", absolute)];
    assert_eq!(paths(&both), [local.clone(), shared(absolute)]);
    for ignored in ["", "relative"] {
        let both = [("HOME", &*home), ("XDG_CONFIG_HOME", Path::new(ignored))];
        assert_eq!(paths(&both), [local.clone(), shared(&home.join(".config"))]);
    }
}

#[cfg(unix)]
#[test]
fn without_a_file_both_places_are_named_and_an_example_is_shown_that_works() {
    let errors = find(&bare_host(Path::new("/x"), &[("HOME", Path::new("/x/me"))])).unwrap_err();
    insta::assert_snapshot!(errors);
    let hint = errors.iter().next().unwrap().hint.clone().unwrap();
    let (_, example) = hint.split_once('\n').unwrap();
    assert_eq!(example.lines().count(), 2);
    let config = load_str(example, "example", &host("/x")).unwrap();
    assert_eq!(config.tools().len(), 1);
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let errors = load_file("none.yml", &host(fixtures("valid"))).unwrap_err();
    assert!(
        errors.to_string().starts_with("none.yml: cannot be read: "),
        "{errors}"
    );
}

#[test]
fn a_file_longer_than_a_configuration_is_not_read_to_its_end() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("long.yml");
    std::fs::File::create(&file).unwrap().set_len(1 << 40).unwrap();
    let errors = load_file("long.yml", &host(directory.path())).unwrap_err();
    assert_eq!(errors.to_string(), "long.yml: is longer than 1048576 bytes");
}
