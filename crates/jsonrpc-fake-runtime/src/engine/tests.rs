//! Scripts carried out in memory: what is sent, what is recorded, and how they end.

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::acp::AcpSteps;
use crate::{
    AnswerId, Condition, Outcome, Prepared, Recording, RunError, Runtime, Script, Split, Stdio, Step,
};

/// Runs a script against everything a peer writes at once before it closes; returns the outcome and what it read.
fn run(script: Script, input: &'static str) -> (Result<Outcome, RunError>, String) {
    let (mut reader, writer) = io::pipe().unwrap();
    let output = thread::spawn(move || {
        let mut text = String::new();
        reader.read_to_string(&mut text).map(|_| text)
    });
    let outcome = Runtime::new(script).run(Stdio::of(input.as_bytes(), writer, io::sink()));
    (outcome, output.join().unwrap().unwrap())
}

/// What was sent, line by line. The order of members is not the fake's to promise.
fn frames(sent: &str) -> Vec<serde_json::Value> {
    sent.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

const PROMPT: &str = "{\"id\":0,\"method\":\"initialize\"}\n{\"id\":1,\"method\":\"session/new\"}\n\
    {\"id\":2,\"method\":\"session/prompt\",\"params\":{\"sessionId\":\"session-1\",\"prompt\":\
    [{\"type\":\"text\",\"text\":\"tell me\"}]}}\n";

#[test]
fn an_agent_answers_a_prompt_and_ends_with_its_stdin() {
    let script = Script::acp()
        .prompted()
        .each_part("{prompt}", Split::Words, |s| s.chunk("{part}"))
        .end_turn();
    let (outcome, sent) = run(script, PROMPT);
    assert_eq!(outcome.unwrap(), Outcome::Finished);
    let chunk = |text: &str| {
        json!({"jsonrpc": "2.0", "method": "session/update", "params": {
            "sessionId": "session-1",
            "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}},
        }})
    };
    assert_eq!(
        frames(&sent)[1..],
        [
            json!({"jsonrpc": "2.0", "id": 1, "result": {"sessionId": "session-1"}}),
            chunk("tell "),
            chunk("me"),
            json!({"jsonrpc": "2.0", "id": 2, "result": {"stopReason": "end_turn"}}),
        ]
    );
}

#[test]
fn frames_that_come_early_wait_for_their_step() {
    let script = Script::new()
        .expect("b")
        .respond(json!("b"))
        .expect("a")
        .respond(json!("a"))
        .respond_as(AnswerId::AsString, json!("again"));
    let (outcome, sent) = run(
        script,
        "{\"id\":1,\"method\":\"a\"}\nnoise\n{\"id\":2,\"method\":\"b\"}\n",
    );
    assert_eq!(outcome.unwrap(), Outcome::Finished);
    let answer = |id: serde_json::Value, result: &str| json!({"jsonrpc": "2.0", "id": id, "result": result});
    assert_eq!(
        frames(&sent),
        [
            answer(json!(2), "b"),
            answer(json!(1), "a"),
            answer(json!("1"), "again")
        ]
    );
}

#[test]
fn a_peer_that_leaves_ends_the_script() {
    let (outcome, sent) = run(
        Script::new().expect("never").raw("not reached"),
        "{\"method\":\"other\"}\n",
    );
    assert_eq!((outcome.unwrap(), sent.as_str()), (Outcome::PeerClosed, ""));
}

#[test]
fn exit_ends_the_script_with_its_code() {
    let (outcome, sent) = run(Script::new().raw("a").exit(9).raw("b"), "");
    assert_eq!((outcome.unwrap(), sent.as_str()), (Outcome::Exited(9), "a"));
    assert_eq!(Outcome::Exited(9).exit_code(), 9);
}

#[test]
fn a_lifetime_bounds_every_wait() {
    let waits: [fn(Script) -> Script; 5] = [
        Script::hang,
        |s| s.wait_for_file("/nonexistent/file"),
        |s| s.sleep_ms(60_000),
        |s| s.ignore_eof().expect("never"),
        Script::ignore_eof,
    ];
    for wait in waits {
        let (outcome, _) = run(wait(Script::new().lifetime_ms(20)), "");
        assert_eq!(outcome.unwrap(), Outcome::LifetimeOver);
    }
    assert_eq!(Outcome::LifetimeOver.exit_code(), 124);
}

#[test]
fn an_error_names_the_step_and_the_reason() {
    let errors = [
        Script::new().raw("a").respond(json!(1)),
        Script::new().step(Step::CloseStdout).raw("a"),
        Script::new().step(Step::CloseStdin).expect("a"),
        Script::new().byte_by_byte(|s| s.exit(1)),
    ]
    .map(|script| match run(script, "").0.unwrap_err() {
        RunError::Step { number, name, source } => format!("{number} {name}: {source}"),
        other => panic!("{other:?}"),
    });
    assert_eq!(
        errors,
        [
            "2 respond: there is no request to answer: expected any request to have been received",
            "2 raw: the stream was closed by an earlier step",
            "2 expect: the stream was closed by an earlier step",
            "1 byte_by_byte: `exit` sends nothing: expected only sending steps here",
        ]
    );
}

#[test]
fn a_loop_ends_with_the_frame_it_waits_for() {
    let (input, mut to_script) = io::pipe().unwrap();
    let (mut from_script, output) = io::pipe().unwrap();
    let script = Script::new()
        .until_frame("stop", 1, |s| s.raw("."))
        .expect("stop")
        .raw("stopped {stop#/params/why}")
        .exit(0);
    let (done, outcome) = mpsc::channel();
    thread::spawn(move || done.send(Runtime::new(script).run(Stdio::of(input, output, io::sink()))));
    let mut dots = [0; 3];
    from_script.read_exact(&mut dots).unwrap();
    assert_eq!(&dots, b"...");
    to_script
        .write_all(b"{\"method\":\"stop\",\"params\":{\"why\":\"enough\"}}\n")
        .unwrap();
    let outcome = outcome
        .recv_timeout(Duration::from_secs(20))
        .expect("the loop ends within 20 s");
    assert_eq!(outcome.unwrap(), Outcome::Exited(0));
    let mut rest = String::new();
    from_script.read_to_string(&mut rest).unwrap();
    assert_eq!(rest.trim_start_matches('.'), "stopped enough");
}

#[test]
fn what_is_written_together_is_one_write_and_what_is_repeated_is_few() {
    struct Writes(mpsc::Sender<usize>);
    impl Write for Writes {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.send(bytes.len()).map_err(io::Error::other)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let sizes = |script: Script| {
        let (send, sizes) = mpsc::channel();
        Runtime::new(script)
            .run(Stdio::of(io::empty(), Writes(send), io::sink()))
            .unwrap();
        sizes.iter().collect::<Vec<_>>()
    };
    assert_eq!(
        sizes(Script::new().together(|s| s.line("ab").line("c")).raw("d")),
        [5, 1]
    );
    assert_eq!(sizes(Script::new().byte_by_byte(|s| s.raw("abc"))), [1, 1, 1]);
    let repeated = sizes(Script::new().repeat(1_000_000, |s| s.line("x")));
    assert_eq!(repeated.iter().sum::<usize>(), 2_000_000);
    assert!(repeated.len() < 10, "{repeated:?}");
    let counted = sizes(Script::new().repeat(1000, |s| s.raw("{index}")));
    assert_eq!(counted, [10 + 90 * 2 + 900 * 3]);
}

#[test]
fn stderr_gets_exactly_the_bytes_asked_for() {
    for (bytes, last) in [(65_537, b'.'), (64, b'.'), (1_000_000, b'.')] {
        let (mut reader, writer) = io::pipe().unwrap();
        let read = thread::spawn(move || {
            let mut all = Vec::new();
            reader.read_to_end(&mut all).map(|_| all)
        });
        let script = Script::new().step(Step::StderrFlood {
            bytes,
            final_newline: false,
        });
        Runtime::new(script)
            .run(Stdio::of(io::empty(), io::sink(), writer))
            .unwrap();
        let all = read.join().unwrap().unwrap();
        assert_eq!(
            (u64::try_from(all.len()).unwrap(), *all.last().unwrap()),
            (bytes, last)
        );
    }
}

#[test]
fn everything_received_is_recorded_also_after_the_last_step() {
    let prepared = Prepared::in_temp_dir(&Script::new()).unwrap();
    let script = Script::new()
        .expect("a")
        .wait_for(Condition::StdinEof)
        .touch(file(&prepared, "ended"));
    let input = "{\"method\":\"a\"}\nnoise\n{\"id\":1,\"result\":{}}";
    let outcome = Runtime::new(script).record(prepared.record_file()).run(Stdio::of(
        input.as_bytes(),
        io::sink(),
        io::sink(),
    ));
    assert_eq!(outcome.unwrap(), Outcome::Finished);
    let recording: Recording = prepared.recording();
    assert_eq!(
        recording.frames().unwrap(),
        [
            json!({"method": "a"}),
            json!("noise"),
            json!({"id": 1, "result": {}})
        ]
    );
    assert!(PathBuf::from(file(&prepared, "ended")).exists());
}

#[test]
fn a_script_run_in_process_starts_no_descendants() {
    let script = Script::new().spawn(crate::Descendant::new("never.pid"));
    let RunError::Step { source, .. } = run(script, "").0.unwrap_err() else {
        panic!("another error")
    };
    assert_eq!(
        source.to_string(),
        "unsupported here: descendants of a script run in-process"
    );
}

fn file(prepared: &Prepared, name: &str) -> String {
    prepared.dir().join(name).to_str().unwrap().to_owned()
}
