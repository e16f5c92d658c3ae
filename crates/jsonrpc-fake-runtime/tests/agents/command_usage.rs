//! The command line: what is refused and how, and the commands that start nothing.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;

use jsonrpc_fake_runtime::Script;
use jsonrpc_fake_runtime::acp::AcpSteps as _;
use serde_json::Value;

use crate::command_support::Place;

/// Exit code and stderr of a command line that is refused; stdout stays empty.
fn refused(args: &[&str]) -> String {
    let run = Place::new().run(args);
    assert_eq!((run.code(), run.stdout.as_str()), (2, ""), "{args:?}: {run:?}");
    run.stderr
}

#[test]
fn what_is_no_command_line_is_refused_with_a_reason() {
    for (args, reason) in [
        (&["run", "--demo", ""][..], "error: the prompt is empty\n"),
        (&["run", "--demo", " \n\t"], "error: the prompt is empty\n"),
        (&["run", "--demo", "-"], "error: the prompt is empty\n"),
        (
            &["run", "--acp", "agent 'open", "p"],
            "error: --acp \"agent 'open\": missing closing quote\n",
        ),
        (
            &["run", "--acp", " ", "p"],
            "error: --acp: expected a command, for example 'gemini --acp'\n",
        ),
        (
            &["--log", "a=loud", "run", "--demo", "p"],
            "error: --log: \"a=loud\" is not a log filter, expected for example warn or subagent_acp=debug\n",
        ),
        (
            &["run", "--demo", "--tool", "other", "p"],
            "error: no tool is named other, the configuration has: subagent\n",
        ),
    ] {
        assert_eq!(refused(args), reason, "{args:?}");
    }
}

#[test]
fn options_that_exclude_each_other_or_make_no_sense_are_refused() {
    for (args, named) in [
        (
            &["run", "--demo", "--acp", "a", "p"][..],
            "'--demo' cannot be used with '--acp <COMMAND>'",
        ),
        (
            &["run", "--config", "f", "--acp", "a", "p"],
            "'--config <FILE>' cannot be used with '--acp <COMMAND>'",
        ),
        (
            &["run", "--demo", "--permission", "allow", "p"],
            "'--demo' cannot be used with '--permission <POLICY>'",
        ),
        (&["run", "--permission", "allow", "p"], "--acp <COMMAND>"),
        (
            &["run", "--acp", "a", "--permission", "ask", "p"],
            "[possible values: reject, decline, allow]",
        ),
        (
            &["run", "--demo", "--format", "xml", "p"],
            "[possible values: text, json]",
        ),
        (&["run", "--demo"], "<PROMPT>"),
        (&["run", "--demo", "one", "two"], "unexpected argument 'two'"),
        (
            &["run", "--demo", "--timeout", "soon", "p"],
            "expected a number with a unit, for example 500ms, 30s, 2m or 1h",
        ),
        (
            &["run", "--demo", "--timeout", "5d", "p"],
            "unknown unit \"d\", expected ms, s, m or h",
        ),
        (&["run", "--demo", "--timeout", "0", "p"], "expected at least 1ms"),
        (
            &["run", "--demo", "--timeout", "-1s", "p"],
            "unexpected argument '-1'",
        ),
        (
            &["run", "--demo", "--colour", "p"],
            "unexpected argument '--colour'",
        ),
        (&["check", "--demo"], "unexpected argument '--demo'"),
        (&["completions", "basic"], "[possible values:"),
        (&["delegate"], "unrecognized subcommand 'delegate'"),
        (&[], "Usage: subagent"),
    ] {
        let told = refused(args);
        assert!(told.contains(named), "{args:?}: {told}");
    }
}

#[test]
fn an_argument_that_is_not_utf8_is_refused() {
    let place = Place::new();
    let mut command = place.command(["run", "--demo"]);
    let run = place.finish(command.arg(OsStr::from_bytes(b"caf\xe9")));
    assert_eq!((run.code(), run.stdout.as_str()), (2, ""));
    assert!(run.stderr.contains("invalid UTF-8"), "{run:?}");
}

#[test]
fn a_prompt_on_stdin_that_is_not_utf8_is_refused_before_anything_starts() {
    let place = Place::new();
    let agent = place.agent(&Script::acp().touch("started").prompted().end_turn());
    let mut command = place.command(["run", "--acp", &agent, "-"]);
    let mut started = place.start(command.stdin(std::process::Stdio::piped()));
    started.write(b"caf\xe9");
    let run = started.finish();
    assert_eq!((run.code(), run.stdout.as_str()), (2, ""));
    assert!(
        run.stderr
            .starts_with("error: the prompt on stdin is not valid UTF-8"),
        "{run:?}"
    );
    assert!(!place.work().join("started").exists(), "an agent was started");
}

#[test]
fn a_prompt_on_stdin_without_an_end_is_refused() {
    let place = Place::new();
    let endless = File::open("/dev/zero").unwrap();
    let run = place.finish(place.command(["run", "--demo", "-"]).stdin(endless));
    assert_eq!(
        run.seen(),
        (
            2,
            "",
            "error: the prompt on stdin is longer than 16777216 bytes\n"
        )
    );
}

#[test]
fn without_a_configuration_both_places_are_named_with_an_example() {
    let place = Place::new();
    for args in [&["run", "p"][..], &["check"]] {
        let run = place.finish(place.command(args).env("XDG_CONFIG_HOME", "/nowhere/config"));
        assert_eq!(
            run.seen(),
            (
                2,
                "",
                "error: no configuration file: there is no ./subagents.yml or \
                 /nowhere/config/subagent/subagents.yml\n  \
                 hint: two lines are enough:\n        \
                 - name: subagent-acp\n          \
                 config: { command: gemini, args: ['--acp'] }\n"
            )
        );
    }
    let run = place.run(["run", "p"]);
    let home = place.path("home/.config/subagent/subagents.yml");
    assert!(run.stderr.contains(home.to_str().unwrap()), "{run:?}");
}

#[test]
fn the_schema_is_json_and_knows_every_key_of_the_files_it_describes() {
    let place = Place::new();
    let schema = place.run(["schema"]);
    assert_eq!(schema.seen(), (0, schema.stdout.as_str(), ""));
    assert_eq!(place.run(["schema"]).stdout, schema.stdout);
    let parsed: Value = serde_json::from_str(&schema.stdout).unwrap();
    assert_eq!(parsed["type"], "array", "a file is a list of entries");
    for key in [
        "subagent-acp",
        "tool-subagent",
        "tool-jobs",
        "permission",
        "inheritEnv",
        "isolatedConfigDirs",
        "maxDepth",
    ] {
        assert!(schema.stdout.contains(&format!("\"{key}\"")), "{key}");
    }
}

#[test]
fn completions_know_the_commands_and_their_options() {
    for shell in ["bash", "zsh", "fish"] {
        let script = Place::new().run(["completions", shell]);
        assert_eq!(script.seen(), (0, script.stdout.as_str(), ""));
        for word in [
            "run",
            "check",
            "schema",
            "completions",
            "acp",
            "timeout",
            "permission",
        ] {
            assert!(script.stdout.contains(word), "{shell}: {word}");
        }
        assert!(
            !script.stdout.contains("demo-agent"),
            "a hidden command is completed by {shell}"
        );
    }
}

#[test]
fn help_goes_to_stdout_and_names_the_exit_codes() {
    let help = Place::new().run(["run", "--help"]);
    assert_eq!(help.seen(), (0, help.stdout.as_str(), ""));
    for word in [
        "130",
        "143",
        "wrong command line or configuration",
        "--timeout <DURATION>",
    ] {
        assert!(help.stdout.contains(word), "{word}: {}", help.stdout);
    }
    let version = Place::new().run(["--version"]);
    assert_eq!(
        version.seen(),
        (
            0,
            format!("subagent {}\n", env!("CARGO_PKG_VERSION")).as_str(),
            ""
        )
    );
}
