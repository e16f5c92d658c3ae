//! Every broken file of the fixtures, with the whole text that an operator reads.

use crate::support::{fixtures, host, names};
use subagent_config::{load_file, load_str};

/// What its errors say depends on the host, so its test is not like the others.
const CONSTRUCTOR: &str = "constructor.yml";

/// One test for each file, and one that none is forgotten.
macro_rules! broken {
    ($($test:ident: $file:literal,)+) => {
        $(#[test]
        fn $test() {
            let errors = load_file($file, &host(fixtures("broken"))).unwrap_err();
            insta::assert_snapshot!(errors);
        })+

        #[test]
        fn every_broken_file_is_tested() {
            let mut tested = vec![CONSTRUCTOR.to_owned(), $($file.to_owned()),+];
            tested.sort();
            assert_eq!(tested, names("broken"));
        }
    };
}

broken! {
    unknown_keys_suggest_the_nearest: "unknown-keys.yml",
    options_beside_config_are_told_where_they_belong: "misplaced-keys.yml",
    a_wrong_type_says_what_was_expected: "wrong-types.yml",
    bounds_of_numbers_are_told_with_the_kind_and_the_key: "bounds.yml",
    whatever_stands_twice_names_the_first_line: "duplicates.yml",
    missing_keys_say_what_they_are_for: "missing-keys.yml",
    an_unknown_kind_lists_the_known_ones: "kinds.yml",
    a_tool_needs_a_provider_that_is_there: "references.yml",
    a_tool_without_any_provider_is_told_what_to_add: "no-provider.yml",
    words_and_names_have_rules: "words.yml",
    variables_are_named_and_expressions_refused: "variables.yml",
    no_value_of_env_is_shown: "secrets.yml",
    a_mapping_is_no_list_of_entries: "not-a-list.yml",
    an_empty_file_is_no_configuration: "empty.yml",
    a_second_document_is_refused: "two-documents.yml",
    a_syntax_error_has_its_place: "not-yaml.yml",
    notation_that_cannot_be_used_is_told_at_its_place: "notation.yml",
    bytes_that_are_no_text_have_a_place: "not-utf8.yml",
}

#[test]
fn no_error_of_a_broken_env_holds_its_value() {
    let errors = load_file("secrets.yml", &host(fixtures("broken"))).unwrap_err();
    assert_eq!(errors.iter().count(), 11, "{errors}");
    for text in [errors.to_string(), format!("{errors:?}")] {
        assert!(!text.contains("canary") && !text.contains("7777777"), "{text}");
    }
}

#[cfg(unix)]
#[test]
fn the_constructor_is_heard_in_the_same_report() {
    let errors = load_file(CONSTRUCTOR, &host(fixtures("broken"))).unwrap_err();
    let launch_dir = std::env::current_dir().unwrap();
    let text = errors
        .to_string()
        .replace(launch_dir.to_str().unwrap(), "<launch directory>");
    insta::assert_snapshot!(text);
}

#[test]
fn a_file_cut_anywhere_is_read_or_refused() {
    for directory in ["broken", "valid"] {
        for name in names(directory) {
            let text = std::fs::read(fixtures(directory).join(&name)).unwrap();
            let text = String::from_utf8_lossy(&text);
            for (end, _) in text.char_indices() {
                // Both are right; a panic or an error without a place is not.
                if let Err(errors) = load_str(&text[..end], &name, &host(fixtures(directory))) {
                    assert!(
                        errors.iter().all(|error| error.place.position.is_some()),
                        "{name}, {end}: {errors}"
                    );
                }
            }
        }
    }
}
