//! Arguments and environment, and the words of usage errors.

use super::*;
use crate::Prepared;

fn parsed(args: &[&str], env: &[(&str, &str)]) -> Result<Command, String> {
    let args = args.iter().map(|&arg| arg.to_owned());
    let find = |name: &str| {
        env.iter()
            .find(|pair| pair.0 == name)
            .map(|pair| pair.1.to_owned())
    };
    parse(args, find).map_err(|error| error.to_string())
}

fn script_of(command: Result<Command, String>) -> (Script, Option<PathBuf>) {
    match command {
        Ok(Command::Run { script, record }) => (script, record),
        other => panic!("expected a script to run, got {other:?}"),
    }
}

#[test]
fn a_scenario_comes_from_arguments_or_from_the_environment() {
    let args = [
        "--protocol",
        "acp",
        "--scenario",
        "ok",
        "--record",
        "r",
        "--set",
        "a=b=c",
        "--",
        "--odd",
    ];
    let (script, record) = script_of(parsed(&args, &[("FAKE_RUNTIME_SCRIPT", "ignored")]));
    assert_eq!(script.vars["a"], "b=c");
    assert_eq!(record, Some(PathBuf::from("r")));
    let env = [
        ("FAKE_RUNTIME_PROTOCOL", "acp"),
        ("FAKE_RUNTIME_SCENARIO", "ok"),
        ("FAKE_RUNTIME_RECORD", "r"),
        ("FAKE_RUNTIME_SET", "a=b=c\n"),
    ];
    assert_eq!(script_of(parsed(&["--", "--acp"], &env)), (script, record));
}

#[test]
fn a_script_file_is_loaded_and_its_variables_are_set() {
    let prepared = Prepared::in_temp_dir(&Script::new().var("a", "1").exit(3)).unwrap();
    let file = prepared.script_file();
    let (script, record) = script_of(parsed(&["--script", file.to_str().unwrap(), "--set", "a=2"], &[]));
    assert_eq!((script, record), (Script::new().var("a", "2").exit(3), None));
}

#[test]
fn a_usage_error_says_what_was_expected() {
    let cases: [(&[&str], &str); 8] = [
        (&[], "nothing to do: expected --script, --scenario or --list"),
        (&["--scrip", "x"], "unknown argument `--scrip`"),
        (&["--script"], "`--script` expects a value after it"),
        (
            &["--record", "a", "--record", "b"],
            "`--record` stands twice, expected it once",
        ),
        (
            &["--script", "a", "--scenario", "b"],
            "both a script and a scenario, expected one of them",
        ),
        (&["--scenario", "ok"], "a scenario needs --protocol beside it"),
        (
            &["--protocol", "acp", "--scenario", "fine"],
            "unknown scenario `fine` of protocol acp, expected one of --list",
        ),
        (
            &["--protocol", "acp", "--scenario", "ok", "--set", "x"],
            "`--set x`: expected NAME=VALUE",
        ),
    ];
    for (args, message) in cases {
        assert_eq!(parsed(args, &[]).unwrap_err(), message);
    }
}

#[test]
fn a_broken_script_is_refused_with_line_and_key() {
    let prepared = Prepared::in_temp_dir(&Script::new()).unwrap();
    let file = prepared.script_file();
    std::fs::write(&file, "{\"steps\": [\n  {\"expect\": {\"methd\": \"x\"}}\n]}").unwrap();
    let error = load(file).unwrap_err();
    let invalid = error.source().unwrap();
    assert_eq!(invalid.to_string(), "not a valid script");
    assert_eq!(
        invalid.source().unwrap().to_string(),
        "unknown field `methd`, expected `method` at line 2 column 21"
    );
}

#[test]
fn the_list_holds_every_scenario_with_its_description() {
    let list = list();
    for &protocol in Protocol::ALL {
        for scenario in scenarios(protocol) {
            let stands = |line: &str| {
                line.split_whitespace().next() == Some(scenario.name()) && line.ends_with(scenario.about())
            };
            assert!(list.lines().any(stands), "{scenario:?}");
        }
    }
}
