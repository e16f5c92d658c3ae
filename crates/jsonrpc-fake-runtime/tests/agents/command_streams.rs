//! Where the command's texts go: a reader that leaves or does not read, a full disk, raw causes and who may see them.

use std::fs::File;
use std::io::Read as _;

use jsonrpc_fake_runtime::acp::AcpSteps as _;
use jsonrpc_fake_runtime::{Protocol, Script, scenarios};
use rustix::process::Signal;
use serde_json::Value;

use crate::command_support::{Place, until};

const CANARY: &str = "canary-4711-do-not-show";

fn fails_privately() -> Script {
    Script::acp()
        .prompted()
        .stderr(format!("{CANARY} on stderr\n"))
        .respond_error(-32603, format!("{CANARY}\u{1b}[2J"))
}

const TOLD: &str = "Error: subagent run failed\n\
                    Diagnostic: Subagent failure (provider: ACP; stage: prompt; category: transport)\n";

#[test]
fn a_reader_that_has_left_is_no_reason_to_fail_or_panic() {
    let place = Place::new();
    let agent = place.agent(&Script::acp().prompted().chunk(&"x".repeat(1 << 20)).end_turn());
    let failing = place.fake("failing", &Script::acp().prompted().exit(3));
    let failing = crate::command_support::command_line(&failing);
    for (args, code) in [
        (&["run", "--acp", &agent, "p"][..], 0),
        (&["run", "--acp", &agent, "--format", "json", "p"], 0),
        (&["run", "--acp", &failing, "--format", "json", "p"], 1),
        (&["schema"], 0),
        (&["completions", "bash"], 0),
        (&["run", "--help"], 0),
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let run = place.finish(place.command(args).stdout(writer));
        assert_eq!(run.seen(), (code, "", ""), "{args:?}");
    }
}

#[test]
fn a_stderr_that_nobody_reads_any_more_changes_nothing() {
    let place = Place::new();
    for args in [
        &["run", "--acp", "no-such-agent", "p"][..],
        &["run", "--acp", "no-such-agent", "--log", "trace", "p"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        assert_eq!(
            place.finish(place.command(args).stderr(writer)).seen(),
            (1, "", "")
        );
    }
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    assert_eq!(
        place
            .finish(place.command(["run", "--nonsense"]).stderr(writer))
            .code(),
        2
    );
}

#[test]
fn an_answer_that_cannot_be_written_is_a_failure() {
    let place = Place::new();
    for args in [
        &["run", "--demo", "p"][..],
        &["run", "--demo", "--format", "json", "p"],
        &["schema"],
    ] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let run = place.finish(place.command(args).stdout(full));
        assert_eq!(
            run.seen(),
            (
                1,
                "",
                "error: stdout could not be written: No space left on device (os error 28)\n"
            ),
            "{args:?}"
        );
    }
}

#[test]
fn a_reader_that_does_not_read_cannot_hold_the_command_against_a_signal() {
    let place = Place::new();
    let agent = place.agent(&Script::acp().prompted().chunk(&"x".repeat(1 << 20)).end_turn());
    let (mut reader, writer) = std::io::pipe().unwrap();
    let mut command = place.command(["run", "--acp", &agent, "p"]);
    let started = place.start(command.stdout(writer));
    drop(command);
    // The first byte: the run is over and the command is printing.
    reader.read_exact(&mut [0]).unwrap();
    until("the agent is gone", || place.living().len() == 1);
    started.signal(Signal::TERM);
    assert_eq!(started.finish().code(), 143);
}

#[test]
fn the_same_holds_for_the_reader_of_a_failure() {
    let place = Place::new();
    let agent = place.agent(&Script::acp().prompted().chunk(&"x".repeat(1 << 20)).exit(1));
    let (mut reader, writer) = std::io::pipe().unwrap();
    let mut command = place.command(["run", "--acp", &agent, "p"]);
    let started = place.start(command.stderr(writer));
    drop(command);
    reader.read_exact(&mut [0]).unwrap();
    started.signal(Signal::INT);
    assert_eq!(started.finish().code(), 130);
}

#[test]
fn raw_causes_are_not_on_a_stderr_that_is_no_terminal() {
    let run = Place::new().run_acp(&fails_privately(), &["p"]);
    assert_eq!(run.seen(), (1, "", TOLD));
}

#[test]
fn raw_causes_are_logged_when_that_is_asked_for() {
    let place = Place::new();
    let run = place.run_acp(&fails_privately(), &["--log", "warn", "p"]);
    let (log, told) = run.stderr.split_at(run.stderr.len() - TOLD.len());
    assert_eq!((run.code(), run.stdout.as_str(), told), (1, "", TOLD));
    assert_eq!(log.lines().count(), 1, "one failure, one line: {log}");
    for part in [
        "WARN",
        "subagent failure",
        "provider=\"acp\"",
        "stage=prompt",
        CANARY,
        "\\u001b[2J",
    ] {
        assert!(log.contains(part), "{part}: {log}");
    }
    assert!(log.contains(&format!("stderr={CANARY} on stderr\\n")), "{log}");

    let agent = place.agent(&fails_privately());
    let mut command = place.command(["run", "--acp", &agent, "p"]);
    let run = place.finish(command.env("SUBAGENT_LOG", "subagent_seam=warn"));
    assert!(
        run.stderr.contains(CANARY) && run.stderr.ends_with(TOLD),
        "{run:?}"
    );
    let mut command = place.command(["run", "--acp", &agent, "--log", "off", "p"]);
    let run = place.finish(command.env("SUBAGENT_LOG", "trace"));
    assert_eq!(run.seen(), (1, "", TOLD), "the option wins over the variable");
}

#[test]
fn log_lines_can_be_objects() {
    let run = Place::new().run_acp(
        &fails_privately(),
        &["--log", "debug", "--log-format", "json", "p"],
    );
    let log = run.stderr.strip_suffix(TOLD).unwrap();
    let events: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let failures: Vec<_> = events.iter().filter(|event| event["level"] == "WARN").collect();
    let [failure] = failures[..] else {
        panic!("{events:?}")
    };
    assert_eq!(failure["fields"]["stage"], "prompt");
    assert!(
        failure["fields"]["error"]
            .as_str()
            .unwrap()
            .ends_with(&format!("{CANARY}\u{1b}[2J")),
        "{failure}"
    );
}

#[test]
fn nothing_that_a_child_controls_but_its_answer_is_shown() {
    let canaries = scenarios(Protocol::Acp).into_iter().filter(|scenario| {
        // Those that stay silent would need a deadline; what they say before is the same.
        scenario.name().starts_with("canary-") && !scenario.name().contains("silent")
    });
    let mut seen = 0;
    for scenario in canaries {
        for format in ["text", "json"] {
            let place = Place::new();
            let run = place.run_acp(&scenario.script(), &["--format", format, "p"]);
            assert!(
                !run.stdout.contains("canary") && !run.stderr.contains("canary"),
                "{}: {run:?}",
                scenario.name()
            );
            seen += 1;
        }
    }
    assert!(seen >= 20, "{seen}");
}
