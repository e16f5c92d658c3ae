//! Every valid file of the fixtures: what it is read as, and that the schema describes it.

use std::fmt::Write as _;

use crate::support::{fixtures, host, names};
use subagent_config::{Config, load_file};

/// Everything that a configuration says.
fn told(config: &Config) -> String {
    let mut told = String::new();
    for provider in config.providers() {
        let (options, env) = match (provider.as_acp(), provider.as_dsh_sdk()) {
            (Some(config), None) => (format!("{config:#?}"), &config.env),
            (None, Some(config)) => (format!("{config:#?}"), &config.env),
            other => panic!("one kind of options, not {other:?}"),
        };
        writeln!(told, "{} {}: {options}", provider.kind(), provider.id()).unwrap();
        // A printed configuration keeps the values of variables to itself.
        for (name, value) in env.iter() {
            writeln!(told, "{} = {}", name.display(), value.display()).unwrap();
        }
    }
    for tool in config.tools() {
        writeln!(told, "{tool:#?}").unwrap();
    }
    writeln!(told, "{:#?}", config.jobs()).unwrap();
    told
}

/// One test for each file, and one that none is forgotten.
macro_rules! valid {
    ($($test:ident: $file:literal,)+) => {
        $(#[test]
        fn $test() {
            let config = load_file($file, &host(fixtures("valid"))).unwrap();
            insta::assert_snapshot!(told(&config));
        })+

        #[test]
        fn every_valid_file_is_tested() {
            let mut tested = vec![$($file.to_owned()),+];
            tested.sort();
            assert_eq!(tested, names("valid"));
        }
    };
}

valid! {
    two_lines_make_a_provider_and_its_default_tool: "minimal.yml",
    a_provider_and_a_tool_are_read: "provider-and-tool.yml",
    every_key_reaches_its_option: "every-key.yml",
    entries_of_a_harness_deployment_work_as_they_stand: "harness.yml",
    disabled_entries_are_skipped_and_leave_their_names: "several.yml",
    a_disabled_tool_is_not_replaced: "no-tool.yml",
    a_list_without_entries_is_an_empty_configuration: "no-entries.yml",
}
