//! The options that shape a run: the directory of its session and its deadline.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

use jsonrpc_fake_runtime::Script;
use jsonrpc_fake_runtime::acp::AcpSteps as _;

use crate::command_support::Place;

const NO_DIRECTORY: &str =
    "Error: subagent-acp: Subagent failure (provider: ACP; stage: initialize; category: configuration)\n";

fn echo_cwd() -> Script {
    Script::acp()
        .touch("started")
        .prompted()
        .chunk("{session/new#/params/cwd}")
        .end_turn()
}

#[test]
fn the_session_lives_where_the_command_was_started() {
    let place = Place::new();
    let run = place.run_acp(&echo_cwd(), &["where?"]);
    assert_eq!(
        run.seen(),
        (0, format!("{}\n", place.work().display()).as_str(), "")
    );
}

#[test]
fn a_given_directory_is_resolved_and_otherwise_left_as_it_is() {
    let place = Place::new();
    fs::create_dir(place.path("work/sub")).unwrap();
    let work = place.work().display().to_string();
    for (given, resolved) in [
        ("sub", format!("{work}/sub")),
        ("sub/../sub", format!("{work}/sub/../sub")),
        (".", format!("{work}/.")),
        (&work, work.clone()),
    ] {
        let run = place.run_acp(&echo_cwd(), &["--cwd", given, "where?"]);
        assert_eq!(
            run.stdout.trim_end().trim_end_matches("/."),
            resolved.trim_end_matches("/."),
            "{given}: {run:?}"
        );
        assert_eq!(run.seen(), (0, run.stdout.as_str(), ""));
    }
}

#[test]
fn a_directory_that_will_not_do_is_the_providers_finding() {
    let place = Place::new();
    place.write("work/file", "");
    for given in ["missing", "file", "", "/nowhere/at/all"] {
        let run = place.run_acp(&echo_cwd(), &["--cwd", given, "where?"]);
        assert_eq!(run.seen(), (1, "", NO_DIRECTORY), "{given:?}");
    }
    let agent = place.agent(&echo_cwd());
    fs::create_dir(place.work().join(OsStr::from_bytes(b"caf\xe9"))).unwrap();
    let mut command = place.command(["run", "--acp", &agent, "where?", "--cwd"]);
    let run = place.finish(command.arg(OsStr::from_bytes(b"caf\xe9")));
    assert_eq!(run.seen(), (1, "", NO_DIRECTORY));
    assert!(!place.work().join("started").exists(), "an agent was started");
}

#[test]
fn a_timeout_fails_the_run_and_keeps_its_partial_output() {
    let run = Place::new().run_acp(
        &Script::acp()
            .prompted()
            .chunk("partial")
            .expect("session/cancel")
            .stop("cancelled"),
        &["--timeout", "1500ms", "take your time"],
    );
    assert_eq!(
        run.seen(),
        (
            1,
            "",
            "Error: subagent run failed\n\
             Diagnostic: Subagent failure (provider: ACP; stage: prompt; category: timeout)\n\
             Partial output before the run ended:\npartial\n"
        )
    );
    let run = Place::new().run_acp(&echo_cwd(), &["--timeout", "1h", "where?"]);
    assert_eq!(run.code(), 0);
}
