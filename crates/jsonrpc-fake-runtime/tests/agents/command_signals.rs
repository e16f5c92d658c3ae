//! SIGINT and SIGTERM to the command, at every moment of a run: what ends, how fast, and what is still printed.

use std::os::unix::process::ExitStatusExt as _;
use std::time::Duration;

use jsonrpc_fake_runtime::acp::AcpSteps as _;
use jsonrpc_fake_runtime::{Condition, Descendant, Script};
use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat, open};
use rustix::process::Signal;
use serde_json::json;

use crate::command_process::{Finished, Started};
use crate::command_support::{Place, until};

/// How long the prompt may stay open after a cancellation.
const OPEN_PROMPT: Duration = Duration::from_millis(500);

/// The window after the end of the input, once a signal has come.
const HURRIED: Duration = Duration::from_secs(2);

/// The window after SIGTERM.
const GRACE: Duration = Duration::from_secs(3);

/// The first window of the ladder without a signal.
const UNHURRIED: Duration = Duration::from_secs(6);

const ABORTED: &str = "Error: subagent request was aborted before the ACP child started";

/// Never answers its prompt, and only SIGKILL ends it.
fn stubborn() -> Script {
    Script::acp()
        .ignore_eof()
        .ignore_sigterm()
        .prompted()
        .then(partial)
        .hang()
}

/// Says something, and gives its sign once that has certainly been read: what came after it is answered.
fn partial(script: Script) -> Script {
    script
        .chunk("partial")
        .request(9, "test/ping", json!({}))
        .expect_answer(9)
        .touch("prompted")
}

/// Starts `script` under the command, and waits until the fake has made the file `sign`.
fn started<'a>(place: &'a Place, script: &Script, sign: &str, args: &[&str]) -> Started<'a> {
    let agent = place.agent(script);
    let mut command = place.command([&["run", "--acp", &agent], args].concat());
    let started = place.start(&mut command);
    until("the agent gives its sign", || place.work().join(sign).exists());
    started
}

fn interrupted(script: &Script, signals: &[Signal], args: &[&str]) -> Finished {
    let place = Place::new();
    let started = started(&place, script, "prompted", args);
    for signal in signals {
        started.signal(*signal);
        if signals.len() > 1 {
            // Signals of one kind that arrive together are one.
            until("the command has heard it", || {
                place
                    .recording("agent")
                    .methods()
                    .unwrap()
                    .contains(&"session/cancel".to_owned())
            });
        }
    }
    started.finish()
}

#[test]
fn a_signal_walks_the_whole_ladder_and_leaves_nothing() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130)] {
        let run = interrupted(&stubborn(), &[signal], &["--format", "json", "never"]);
        assert_eq!((run.code(), run.stderr.as_str()), (code, ""));
        assert!(
            run.time >= OPEN_PROMPT + HURRIED + GRACE,
            "the ladder was cut short: {:?}",
            run.time
        );
        let dispose = run.json()["timingsMs"]["dispose"].as_f64().unwrap();
        assert!(
            dispose < 500.0 + 6000.0 + 3000.0,
            "the first window is two seconds after a signal: {run:?}"
        );
        assert_eq!(
            run.redacted_json(),
            r#"{"tool":"subagent","provider":"acp","runId":"[id]","stopReason":"aborted","isError":true,"#
                .to_owned()
                + r#""output":[{"type":"text","text":"partial"}],"diagnostic":null,"#
                + r#""text":"Error: subagent run was cancelled\nPartial output before the run ended:\npartial","#
                + r#""timingsMs":{"start":[ms],"run":[ms],"dispose":[ms]}}"#
        );
    }
}

#[test]
fn a_signal_is_told_as_text_too() {
    let run = interrupted(&Script::acp().prompted().then(partial), &[Signal::INT], &["wait"]);
    assert_eq!(
        run.seen(),
        (
            130,
            "",
            "Error: subagent run was cancelled\nPartial output before the run ended:\npartial\n"
        )
    );
}

#[test]
fn a_second_signal_kills_at_once_and_the_first_one_decides() {
    let script = Script::acp()
        .ignore_eof()
        .ignore_sigterm()
        .spawn(Descendant::new("descendant.pid").ignores_sigterm())
        .prompted()
        .then(partial)
        .wait_for(Condition::Frame {
            method: "session/cancel".to_owned(),
        })
        .hang();
    for (signals, code) in [
        ([Signal::INT, Signal::INT], 130),
        ([Signal::TERM, Signal::INT], 143),
        ([Signal::INT, Signal::TERM], 130),
    ] {
        let run = interrupted(&script, &signals, &["--format", "json", "never"]);
        assert_eq!((run.code(), run.stderr.as_str()), (code, ""));
        assert_eq!(run.json()["stopReason"], "aborted");
        // The ladder would take longer than this, and the prompt's own window half of it.
        let dispose = run.json()["timingsMs"]["dispose"].as_f64().unwrap();
        assert!(dispose < 2000.0, "the second signal did not kill: {run:?}");
    }
}

#[test]
fn a_second_signal_also_ends_the_wait_after_sigterm() {
    let place = Place::new();
    let script = Script::acp()
        .ignore_eof()
        .ignore_sigterm()
        .prompted()
        .touch("prompted")
        .wait_for(Condition::Sigterm)
        .touch("terminated")
        .hang();
    let started = started(&place, &script, "prompted", &["--format", "json", "never"]);
    started.signal(Signal::TERM);
    until("the ladder has come to SIGTERM", || {
        place.work().join("terminated").exists()
    });
    started.signal(Signal::TERM);
    let run = started.finish();
    assert_eq!(run.code(), 143);
    assert!(
        run.time < OPEN_PROMPT + HURRIED + GRACE,
        "the second signal did not kill: {run:?}"
    );
}

#[test]
fn a_signal_while_the_prompt_is_being_typed_ends_the_command_before_anything_starts() {
    for (format, stdout, stderr) in [
        ("text", String::new(), format!("{ABORTED}\n")),
        (
            "json",
            r#"{"tool":"subagent","provider":"acp","runId":null,"stopReason":null,"isError":true,"output":[],"#.to_owned()
                + r#""diagnostic":null,"text":""#
                + ABORTED
                + r#"","timingsMs":{"start":[ms],"run":null,"dispose":null}}"#,
            String::new(),
        ),
    ] {
        let place = Place::new();
        let agent = place.agent(&Script::acp().touch("started").prompted().end_turn());
        let mut command = place.command(["run", "--acp", &agent, "--format", format, "-"]);
        let mut started = place.start(command.stdin(std::process::Stdio::piped()));
        // Once it catches the signal it is past everything that it would die in.
        until("the command listens to signals", || catches_sigterm(&place));
        assert!(started.is_running());
        started.signal(Signal::TERM);
        // Standard input stays open: nothing waits for it any longer.
        let stdin = started.stdin.take();
        let run = started.finish();
        drop(stdin);
        let printed = if format == "json" { run.redacted_json() } else { run.stdout.clone() };
        assert_eq!((run.code(), printed, run.stderr), (143, stdout, stderr));
        assert!(!place.work().join("started").exists(), "an agent was started");
    }
}

/// Whether the only process of the place has a handler for SIGTERM.
pub(crate) fn catches_sigterm(place: &Place) -> bool {
    place.living().iter().any(|pid| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        caught.is_some_and(|mask| u64::from_str_radix(mask.trim(), 16).unwrap() & (1 << (15 - 1)) != 0)
    })
}

#[test]
fn a_signal_during_the_handshake_rolls_the_start_back() {
    for script in [
        Script::acp().expect("initialize").touch("prompted").hang(),
        Script::acp()
            .initialize()
            .expect("session/new")
            .touch("prompted")
            .hang(),
        // Nobody reads, so that the end of the input is never seen.
        Script::acp().touch("prompted").hang(),
    ] {
        let run = interrupted(&script, &[Signal::INT], &["never"]);
        assert_eq!(run.seen(), (130, "", format!("{ABORTED}\n").as_str()));
        assert!(
            run.time < UNHURRIED,
            "the first window is two seconds after a signal: {:?}",
            run.time
        );
    }
}

#[test]
fn a_second_signal_also_ends_a_rollback() {
    let place = Place::new();
    let script = Script::acp()
        .ignore_eof()
        .ignore_sigterm()
        .expect("initialize")
        .touch("asked")
        .wait_for(Condition::StdinEof)
        .touch("eof")
        .hang();
    let started = started(&place, &script, "asked", &["--format", "json", "never"]);
    started.signal(Signal::INT);
    until("the rollback has begun", || place.work().join("eof").exists());
    started.signal(Signal::INT);
    let run = started.finish();
    assert_eq!((run.code(), run.json()["text"].as_str()), (130, Some(ABORTED)));
    assert!(
        run.time < HURRIED + GRACE,
        "the second signal did not kill: {run:?}"
    );
}

#[test]
fn a_signal_while_the_configuration_blocks_ends_the_command_there_and_then() {
    for command in [
        &["run", "--config", "pipe", "p"][..],
        &["check", "--config", "pipe"],
    ] {
        let place = Place::new();
        let pipe = place.work().join("pipe");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let started = place.start(&mut place.command(command));
        // It cannot be opened before the command has opened it too, which then waits for what is never written.
        let mut writer = None;
        until("the command reads its configuration", || {
            writer = open(&pipe, OFlags::WRONLY | OFlags::NONBLOCK, Mode::empty()).ok();
            writer.is_some()
        });
        started.signal(Signal::TERM);
        let ended = started.finish();
        drop(writer);
        assert_eq!(ended.status.signal(), Some(Signal::TERM.as_raw()), "{ended:?}");
        assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("", ""));
    }
}

#[test]
fn a_signal_during_the_teardown_hurries_it_and_decides_the_exit_code() {
    let place = Place::new();
    let script = Script::acp()
        .ignore_eof()
        .prompted()
        .chunk("the answer")
        .end_turn()
        .wait_for(Condition::StdinEof)
        .touch("prompted")
        .hang();
    let started = started(&place, &script, "prompted", &["--format", "json", "count"]);
    started.signal(Signal::TERM);
    let run = started.finish();
    assert_eq!((run.code(), run.stderr.as_str()), (143, ""));
    // The result had been decided: it stays.
    assert_eq!(
        run.redacted_json(),
        r#"{"tool":"subagent","provider":"acp","runId":"[id]","stopReason":"completed","isError":false,"#
            .to_owned()
            + r#""output":[{"type":"text","text":"the answer"}],"diagnostic":null,"text":"the answer","#
            + r#""timingsMs":{"start":[ms],"run":[ms],"dispose":[ms]}}"#
    );
    let dispose = run.json()["timingsMs"]["dispose"].as_f64().unwrap();
    assert!(
        (1990.0..6000.0).contains(&dispose),
        "the window is two seconds, not six: {run:?}"
    );
}

#[test]
fn an_agent_that_settles_its_turn_ends_long_before_the_windows() {
    let script = Script::acp()
        .prompted()
        .touch("prompted")
        .expect("session/cancel")
        .chunk(" bye")
        .stop("cancelled");
    let run = interrupted(&script, &[Signal::INT], &["--format", "json", "wait"]);
    assert_eq!(run.code(), 130);
    let dispose = run.json()["timingsMs"]["dispose"].as_f64().unwrap();
    assert!(dispose < 2000.0, "{run:?}");
}

#[test]
fn a_signal_ends_a_check_too() {
    let place = Place::new();
    let script = Script::acp().expect("initialize").touch("asked").hang();
    place.write("work/subagents.yml", place.entry("agent", &script, ""));
    let started = place.start(&mut place.command(["check", "--format", "json"]));
    until("the agent is asked", || place.work().join("asked").exists());
    started.signal(Signal::TERM);
    let check = started.finish();
    assert_eq!((check.code(), check.stderr.as_str()), (143, ""));
    assert_eq!(check.json()["ok"], false);
}
