//! `subagent run --background`: one task as a job, waited for to its very end.

use std::fs;
use std::process::Stdio;

use jsonrpc_fake_runtime::Script;
use jsonrpc_fake_runtime::acp::AcpSteps as _;
use rustix::process::Signal;

use crate::command_process::Finished;
use crate::command_signals::catches_sigterm;
use crate::command_support::{Place, until};

/// The object, with what differs from run to run replaced. The redaction takes every number behind the times.
fn redacted(run: &Finished) -> String {
    run.redacted_json().replace("subagent-[ms]", "subagent-1")
}

fn in_background(script: &Script, more: &[&str]) -> Finished {
    Place::new().run_acp(script, &[&["--background"], more, &["count"]].concat())
}

fn object(facts: &str, job: &str) -> String {
    format!(
        r#"{{"tool":"subagent","provider":"acp",{facts},"started":"started background subagent job subagent-1","job":{job}}}"#
    )
}

const TIMES: &str = r#""timingsMs":{"start":[ms],"run":[ms],"dispose":[ms]}"#;

#[test]
fn the_object_of_a_completed_job() {
    let script = Script::acp().prompted().chunk("one, ").chunk("two").end_turn();
    let run = in_background(&script, &["--format", "json"]);
    assert_eq!((run.code(), run.stderr.as_str()), (0, ""));
    let facts = r#""runId":"[id]","stopReason":"completed","isError":false,"output":[{"type":"text","text":"one, two"}],"#
        .to_owned()
        + r#""diagnostic":null,"text":"one, two\n[status: completed]","#
        + TIMES;
    let job = r#"{"id":"subagent-1","status":"completed","detail":null}"#;
    assert_eq!(redacted(&run), object(&facts, job));
}

#[test]
fn the_object_of_a_failed_job_has_no_output() {
    let script = Script::acp()
        .prompted()
        .chunk("partial")
        .respond_error(-32603, "private");
    let run = in_background(&script, &["--format", "json"]);
    assert_eq!((run.code(), run.stderr.as_str()), (1, ""));
    let diagnostic = "Subagent failure (provider: ACP; stage: prompt; category: transport)";
    let detail = format!("error; diagnostic: {diagnostic}");
    let facts = format!(
        r#""runId":"[id]","stopReason":"error","isError":true,"output":[],"diagnostic":"{diagnostic}","#
    ) + &format!(r#""text":"(no new output)\n[status: failed, {detail}]","#)
        + TIMES;
    let job = format!(r#"{{"id":"subagent-1","status":"failed","detail":"{detail}"}}"#);
    assert_eq!(redacted(&run), object(&facts, &job));
}

#[test]
fn the_object_of_a_job_that_did_not_start_its_agent() {
    let place = Place::new();
    let run = place.run([
        "run",
        "--acp",
        "no-such-agent",
        "--background",
        "--format",
        "json",
        "p",
    ]);
    assert_eq!((run.code(), run.stderr.as_str()), (1, ""));
    let detail = "subagent-acp: Subagent failure (provider: ACP; stage: process; category: process-start)";
    let facts = r#""runId":null,"stopReason":null,"isError":true,"output":[],"diagnostic":null,"#.to_owned()
        + &format!(r#""text":"(no new output)\n[status: failed, {detail}]","#)
        + r#""timingsMs":{"start":[ms],"run":null,"dispose":null}"#;
    let job = format!(r#"{{"id":"subagent-1","status":"failed","detail":"{detail}"}}"#);
    assert_eq!(redacted(&run), object(&facts, &job));
}

#[test]
fn as_text_there_is_the_answer_alone_or_what_the_job_came_to() {
    let answers = Script::acp().prompted().chunk("the answer").end_turn();
    assert_eq!(in_background(&answers, &[]).seen(), (0, "the answer\n", ""));
    let refuses = Script::acp().prompted().chunk("partial").stop("refusal");
    assert_eq!(
        in_background(&refuses, &[]).seen(),
        (1, "", "(no new output)\n[status: failed, refusal]\n")
    );
}

#[test]
fn a_tool_that_does_not_run_in_the_background_is_refused_before_anything_starts() {
    let place = Place::new();
    let script = Script::acp().touch("started").prompted().end_turn();
    let tool =
        "- name: tool-subagent\n  config: { provider: agent, toolName: ask, enableRunInBackground: false }\n";
    place.write("work/subagents.yml", place.entry("agent", &script, "") + tool);
    let run = place.run(["run", "--background", "--format", "json", "p"]);
    assert_eq!(
        run.seen(),
        (
            2,
            "",
            "error: --background: tool ask has enableRunInBackground: false\n"
        )
    );
    assert!(!place.work().join("started").exists(), "an agent was started");
    assert_eq!(place.run(["run", "p"]).code(), 0, "in the foreground it runs");
}

#[test]
fn it_waits_longer_than_the_job_tools_do() {
    let place = Place::new();
    let script = Script::acp()
        .prompted()
        .touch("prompted")
        .wait_for_file("go")
        .chunk("late")
        .end_turn();
    let jobs = "- name: tool-jobs\n  config: { waitTimeoutMs: 1, maxWaitTimeoutMs: 1 }\n";
    place.write("work/subagents.yml", place.entry("agent", &script, "") + jobs);
    let mut started = place.start(&mut place.command(["run", "--background", "p"]));
    until("the agent has its task", || {
        place.work().join("prompted").exists()
    });
    assert!(started.is_running());
    fs::write(place.work().join("go"), "").unwrap();
    assert_eq!(started.finish().seen(), (0, "late\n", ""));
}

#[test]
fn a_signal_kills_the_job_and_its_object_is_still_printed() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let place = Place::new();
        let agent = place.agent(&Script::acp().prompted().chunk("partial").touch("prompted"));
        let mut command = place.command(["run", "--acp", &agent, "--background", "--format", "json", "p"]);
        let started = place.start(&mut command);
        until("the agent has its task", || {
            place.work().join("prompted").exists()
        });
        started.signal(signal);
        let run = started.finish();
        assert_eq!((run.code(), run.stderr.as_str()), (code, ""));
        let facts = r#""runId":"[id]","stopReason":"aborted","isError":true,"output":[],"diagnostic":null,"#
            .to_owned()
            + r#""text":"(no new output)\n[status: killed]","#
            + TIMES;
        let job = r#"{"id":"subagent-1","status":"killed","detail":null}"#;
        assert_eq!(redacted(&run), object(&facts, job));
    }
}

#[test]
fn a_second_signal_kills_a_stubborn_agent_at_once() {
    let place = Place::new();
    let stubborn = Script::acp()
        .ignore_eof()
        .ignore_sigterm()
        .prompted()
        .touch("prompted")
        .expect("session/cancel")
        .hang();
    let words = place.fake("agent", &stubborn);
    let patient = "    disposeEofGraceMs: 3600000\n    disposeGraceMs: 3600000\n";
    place.write("work/subagents.yml", Place::entry_of("agent", &words, patient));
    let started = place.start(&mut place.command(["run", "--background", "p"]));
    until("the agent has its task", || {
        place.work().join("prompted").exists()
    });
    started.signal(Signal::TERM);
    until("the command has heard it", || {
        let methods = place.recording("agent").methods().unwrap();
        methods.contains(&"session/cancel".to_owned())
    });
    started.signal(Signal::INT);
    assert_eq!(
        started.finish().seen(),
        (143, "", "(no new output)\n[status: killed]\n")
    );
}

#[test]
fn a_signal_while_the_prompt_is_typed_starts_nothing() {
    let place = Place::new();
    let agent = place.agent(&Script::acp().touch("started").prompted().end_turn());
    let mut command = place.command(["run", "--acp", &agent, "--background", "--format", "json", "-"]);
    let mut started = place.start(command.stdin(Stdio::piped()));
    let stdin = started.stdin.take();
    until("the command listens to signals", || catches_sigterm(&place));
    started.signal(Signal::INT);
    let run = started.finish();
    drop(stdin);
    assert_eq!((run.code(), run.stderr.as_str()), (130, ""));
    assert_eq!(
        run.stdout,
        r#"{"tool":"subagent","provider":"acp","runId":null,"stopReason":null,"isError":true,"output":[],"#
            .to_owned()
            + r#""diagnostic":null,"text":"Error: subagent request was aborted before the background job started","#
            + r#""timingsMs":{"start":null,"run":null,"dispose":null},"started":null,"job":null}"#
            + "\n"
    );
    assert!(!place.work().join("started").exists(), "an agent was started");
}
