//! How `subagent run --jobs` ends early: signals, readers who leave, and lists that cannot be read.

use std::fs;
use std::io::{Write as _, pipe};
use std::process::Stdio;

use jsonrpc_fake_runtime::Script;
use jsonrpc_fake_runtime::acp::AcpSteps as _;
use rustix::process::Signal;

use crate::command_jobs::{echo, obedient, objects, texts};
use crate::command_signals::catches_sigterm;
use crate::command_support::{Place, until};

#[test]
fn a_signal_cancels_what_runs_and_prints_what_there_is_in_order() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let place = Place::new();
        let agent = place.agent(&obedient());
        let list = place.write("prompts.txt", "a\nb\nc\nd\ne\n");
        let mut command = place.command(["run", "--acp", &agent, "--jobs", "2", list.to_str().unwrap()]);
        let started = place.start(&mut command);
        let file = |name: &str| place.work().join(name);
        // The second one completes, the first one does not, and the third one takes its place.
        until("the second one has begun", || file("b.started").exists());
        fs::write(file("b.go"), "").unwrap();
        until("the others have begun", || {
            file("a.started").exists() && file("c.started").exists()
        });
        started.signal(signal);
        let run = started.finish();
        assert_eq!((run.code(), run.stderr.as_str()), (code, ""));
        let cancelled = "Error: subagent run was cancelled";
        assert_eq!(texts(&run), [cancelled, "b", cancelled]);
        assert!(!file("d.started").exists(), "one was started after the signal");
    }
}

#[test]
fn a_second_signal_kills_every_agent_at_once() {
    let place = Place::new();
    let stubborn = Script::acp()
        .ignore_eof()
        .ignore_sigterm()
        .prompted()
        .touch("{prompt}.started")
        .expect("session/cancel")
        .hang();
    let words = place.fake("agent", &stubborn);
    let patient = "    disposeEofGraceMs: 3600000\n    disposeGraceMs: 3600000\n";
    place.write("work/subagents.yml", Place::entry_of("agent", &words, patient));
    let list = place.write("prompts.txt", "a\nb\nc\n");
    let started = place.start(&mut place.command(["run", "--jobs", "2", list.to_str().unwrap()]));
    until("two have begun", || {
        ["a.started", "b.started"]
            .iter()
            .all(|name| place.work().join(name).exists())
    });
    started.signal(Signal::TERM);
    until("the command has heard it", || {
        let methods = place.recording("agent").methods().unwrap();
        methods.contains(&"session/cancel".to_owned())
    });
    started.signal(Signal::TERM);
    let run = started.finish();
    assert_eq!((run.code(), run.stderr.as_str()), (143, ""));
    assert_eq!(objects(&run.stdout).len(), 2);
}

#[test]
fn a_signal_while_the_next_task_is_typed_ends_the_command() {
    let place = Place::new();
    let agent = place.agent(&echo());
    let mut command = place.command(["run", "--acp", &agent, "--jobs", "2"]);
    let mut started = place.start(command.stdin(Stdio::piped()));
    let stdin = started.stdin.take();
    until("the command listens to signals", || catches_sigterm(&place));
    started.signal(Signal::TERM);
    assert_eq!(started.finish().seen(), (143, "", ""));
    drop(stdin);
}

#[test]
fn a_reader_who_has_left_ends_it_before_the_next_task() {
    let place = Place::new();
    let agent = place.agent(&Script::acp().prompted().touch("{prompt}.started").end_turn());
    let list = place.write("prompts.txt", "a\nb\nc\n");
    let (reader, writer) = pipe().unwrap();
    drop(reader);
    let mut command = place.command(["run", "--acp", &agent, "--jobs", "1", list.to_str().unwrap()]);
    let run = place.finish(command.stdout(writer));
    assert_eq!((run.code(), run.stderr.as_str()), (1, ""));
    assert!(place.work().join("a.started").exists());
    assert!(!place.work().join("b.started").exists(), "work for nobody");
}

#[test]
fn a_reader_who_has_left_cancels_what_runs() {
    let place = Place::new();
    let agent = place.agent(&obedient());
    let list = place.write("prompts.txt", "a\nb\n");
    let (reader, writer) = pipe().unwrap();
    drop(reader);
    let mut command = place.command(["run", "--acp", &agent, "--jobs", "2", list.to_str().unwrap()]);
    let started = place.start(command.stdout(writer));
    // Nobody ever lets the second one go on.
    until("both have begun", || {
        ["a.started", "b.started"]
            .iter()
            .all(|name| place.work().join(name).exists())
    });
    fs::write(place.work().join("a.go"), "").unwrap();
    assert_eq!(started.finish().seen(), (1, "", ""));
}

#[test]
fn a_reader_who_does_not_read_cannot_hold_it_against_a_signal() {
    let place = Place::new();
    // More than a pipe holds.
    let agent = place.agent(
        &Script::acp()
            .prompted()
            .chunk(&"x".repeat(1 << 20))
            .end_turn()
            .touch("done"),
    );
    let list = place.write("prompts.txt", "a\nb\n");
    let (reader, writer) = pipe().unwrap();
    let mut command = place.command(["run", "--acp", &agent, "--jobs", "1", list.to_str().unwrap()]);
    let started = place.start(command.stdout(writer));
    drop(command);
    until("there is something to print", || {
        place.work().join("done").exists()
    });
    started.signal(Signal::TERM);
    let run = started.finish();
    drop(reader);
    assert_eq!((run.code(), run.stderr.as_str()), (143, ""));
}

#[test]
fn a_line_that_is_no_prompt_ends_the_list_after_what_came_before_it() {
    let place = Place::new();
    let agent = place.agent(&echo());
    let list = place.write("work/prompts.txt", b"one\ntwo\ncaf\xe9\nfour\n");
    assert!(list.exists());
    let run = place.run(["run", "--acp", &agent, "--jobs", "2", "prompts.txt"]);
    assert_eq!(run.code(), 2);
    assert_eq!(texts(&run), ["one", "two"]);
    assert!(
        run.stderr
            .starts_with("error: prompts.txt:3: the prompt is not valid UTF-8: "),
        "{run:?}"
    );
}

#[test]
fn a_list_that_is_not_there_or_empty_is_refused() {
    let place = Place::new();
    place.write("work/empty.txt", "\n\n");
    for (list, told) in [
        (
            "none.txt",
            "error: none.txt: the prompts cannot be read: No such file or directory (os error 2)\n",
        ),
        ("empty.txt", "error: empty.txt: no prompt, expected one a line\n"),
        ("-", "error: stdin: no prompt, expected one a line\n"),
    ] {
        let run = place.run(["run", "--demo", "--jobs", "2", list]);
        assert_eq!(run.seen(), (2, "", told));
    }
}

#[test]
fn what_makes_no_sense_for_many_tasks_is_refused() {
    let place = Place::new();
    let run = place.run(["run", "--demo", "--jobs", "2", "--format", "text"]);
    assert_eq!(
        run.seen(),
        (
            2,
            "",
            "error: --jobs prints JSON objects, expected no --format text\n"
        )
    );
    for (args, named) in [
        (
            &["run", "--demo", "--jobs", "2", "--background"][..],
            "'--jobs <N>' cannot be used with '--background'",
        ),
        (&["run", "--demo", "--jobs", "0"], "0 is not in 1..=65535"),
    ] {
        let run = place.run(args);
        assert_eq!((run.code(), run.stdout.as_str()), (2, ""));
        assert!(run.stderr.contains(named), "{run:?}");
    }
}

#[test]
fn a_task_begins_before_the_list_has_ended() {
    let place = Place::new();
    let agent = place.agent(&obedient());
    let mut command = place.command(["run", "--acp", &agent, "--jobs", "1"]);
    let mut started = place.start(command.stdin(Stdio::piped()));
    let mut stdin = started.stdin.take().unwrap();
    writeln!(stdin, "a").unwrap();
    until("it has begun before the list has ended", || {
        place.work().join("a.started").exists()
    });
    fs::write(place.work().join("a.go"), "").unwrap();
    drop(stdin);
    assert_eq!(texts(&started.finish()), ["a"]);
}
