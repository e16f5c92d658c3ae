//! `subagent run`, from the command line to what a shell sees: answers, failures, JSON objects, exit codes.

use std::collections::BTreeMap;
use std::ffi::OsStr;

use jsonrpc_fake_runtime::Script;
use jsonrpc_fake_runtime::acp::AcpSteps as _;
use serde_json::json;
use subagent_acp::AcpConfig;

use crate::acp_table::wedge::{Wedge, Wedged, after_hanging};
use crate::command_support::{Place, command_line};
use crate::support::{FakeAgent, SOON};

const SPAWN_FAILURE: &str =
    "Error: subagent-acp: Subagent failure (provider: ACP; stage: process; category: process-start)";

#[test]
fn the_demo_answers_from_the_prompt() {
    let place = Place::new();
    let demo = place.run(["run", "--demo", "Say hello"]);
    assert_eq!(
        demo.seen(),
        (
            0,
            "This is the bundled demo agent. No model is involved and nothing was done.\n\
             The task begins: Say hello\n\
             It has 2 words, 1 line and 9 characters.\n\
             To delegate to a real agent: subagent run --acp 'COMMAND ARG…' PROMPT\n",
            ""
        )
    );
    let demo = place.run(["run", "--demo", "--format", "json", "Say hello"]);
    assert_eq!((demo.code(), demo.stderr.as_str()), (0, ""));
    let object = demo.json();
    assert_eq!(
        (&object["tool"], &object["provider"]),
        (&json!("subagent"), &json!("acp"))
    );
    assert!(
        object["text"]
            .as_str()
            .unwrap()
            .contains("The task begins: Say hello\n"),
        "{object}"
    );
}

#[test]
fn an_answer_is_all_that_stdout_holds_with_a_newline_at_its_end() {
    for (answer, printed) in [
        ("one, two", "one, two\n"),
        ("one\n", "one\n"),
        ("two\n\n", "two\n\n"),
        ("ä\u{1b}[31m\t\u{7}\r\n end\r", "ä\u{1b}[31m\t\u{7}\r\n end\r\n"),
        (" \n", "(the subagent completed without output)\n"),
    ] {
        let script = Script::acp()
            .prompted()
            .stderr("chatter\n")
            .line("noise")
            .chunk(answer)
            .end_turn();
        assert_eq!(Place::new().run_acp(&script, &["do it"]).seen(), (0, printed, ""));
    }
}

#[test]
fn the_object_of_a_completed_run() {
    let script = Script::acp()
        .prompted()
        .chunk("one, ")
        .chunk("\"two\"\u{1b}\u{9b}")
        .end_turn();
    let run = Place::new().run_acp(&script, &["--format", "json", "count"]);
    assert_eq!((run.code(), run.stderr.as_str()), (0, ""));
    assert_eq!(
        run.redacted_json(),
        r#"{"tool":"subagent","provider":"acp","runId":"[id]","stopReason":"completed","isError":false,"#
            .to_owned()
            + r#""output":[{"type":"text","text":"one, \"two\"\u001b\u009b"}],"diagnostic":null,"#
            + r#""text":"one, \"two\"\u001b\u009b","timingsMs":{"start":[ms],"run":[ms],"dispose":[ms]}}"#
    );
}

#[test]
fn the_object_of_a_failed_run_keeps_its_partial_output() {
    let script = Script::acp()
        .prompted()
        .chunk("partial")
        .respond_error(-32603, "private");
    let run = Place::new().run_acp(&script, &["--format", "json", "count"]);
    assert_eq!((run.code(), run.stderr.as_str()), (1, ""));
    let diagnostic = "Subagent failure (provider: ACP; stage: prompt; category: transport)";
    assert_eq!(
        run.redacted_json(),
        r#"{"tool":"subagent","provider":"acp","runId":"[id]","stopReason":"error","isError":true,"#
            .to_owned()
            + r#""output":[{"type":"text","text":"partial"}],"diagnostic":""#
            + diagnostic
            + r#"","text":"Error: subagent run failed\nDiagnostic: "#
            + diagnostic
            + r#"\nPartial output before the run ended:\npartial","#
            + r#""timingsMs":{"start":[ms],"run":[ms],"dispose":[ms]}}"#
    );
}

#[test]
fn the_object_of_a_run_that_did_not_start() {
    let run = Place::new().run(["run", "--acp", "no-such-agent --acp", "--format", "json", "count"]);
    assert_eq!((run.code(), run.stderr.as_str()), (1, ""));
    assert_eq!(
        run.redacted_json(),
        r#"{"tool":"subagent","provider":"acp","runId":null,"stopReason":null,"isError":true,"output":[],"#
            .to_owned()
            + r#""diagnostic":null,"text":""#
            + SPAWN_FAILURE
            + r#"","timingsMs":{"start":[ms],"run":null,"dispose":null}}"#
    );
}

#[test]
fn a_run_that_did_not_start_is_told_on_stderr() {
    let run = Place::new().run(["run", "--acp", "no-such-agent", "count"]);
    assert_eq!(run.seen(), (1, "", format!("{SPAWN_FAILURE}\n").as_str()));
}

#[tokio::test]
async fn after_a_failed_teardown_the_results_members_stay_and_the_call_is_an_error() {
    let place = Place::new();
    let script = after_hanging(Script::acp().prompted().chunk("the answer").end_turn());
    let words = place.fake("agent", &script);
    let mut config = AcpConfig::new(&words[0]);
    config.args = words[1..].iter().map(Into::into).collect();
    let wedge = Wedge::locked();
    wedge.applied(Wedged::Leader, &mut config);

    let text = |text: &OsStr| text.to_str().unwrap().to_owned();
    let words: Vec<_> = [&config.command]
        .into_iter()
        .chain(&config.args)
        .map(|word| text(word))
        .collect();
    let env: BTreeMap<_, _> = config
        .env
        .iter()
        .map(|(name, value)| (text(name), text(value)))
        .collect();
    let more = format!(
        "    env: {}\n    disposeEofGraceMs: 200\n    disposeGraceMs: 200\n",
        serde_json::to_string(&env).unwrap()
    );
    place.write("work/subagents.yml", Place::entry_of("agent", &words, &more));

    let started = place.start(&mut place.command(["run", "--format", "json", "count"]));
    let pid = wedge.hanging(&place.work()).await;
    let run = started.finish_whatever_is_left();
    wedge.undo(pid).await;
    place.assert_nothing_left();
    assert_eq!((run.code(), run.stderr.as_str()), (1, ""));
    assert_eq!(
        run.redacted_json(),
        r#"{"tool":"subagent","provider":"agent","runId":"[id]","stopReason":"completed","isError":true,"#
            .to_owned()
            + r#""output":[{"type":"text","text":"the answer"}],"diagnostic":null,"text":"Error: "#
            + "subagent-acp: Subagent failure (provider: ACP; stage: teardown; category: unknown)"
            + r#"","timingsMs":{"start":[ms],"run":[ms],"dispose":[ms]}}"#
    );
}

#[test]
fn every_outcome_has_its_exit_code_and_its_text_on_stderr() {
    let partial = "\nPartial output before the run ended:\npartial";
    let failed = "Error: subagent run failed\nDiagnostic: Subagent failure (provider: ACP; stage: ";
    let mid_prompt = || Script::acp().prompted().chunk("partial");
    for (script, text) in [
        (
            mid_prompt().stop("max_tokens"),
            "Error: subagent run hit its token limit before finishing".to_owned(),
        ),
        (
            mid_prompt().stop("refusal"),
            "Error: subagent declined the task".to_owned(),
        ),
        (
            mid_prompt().stop("cancelled"),
            "Error: subagent run was cancelled".to_owned(),
        ),
        (
            mid_prompt().stop("max_turn_requests"),
            format!("{failed}prompt; category: remote-limit; stop reason: max_turn_requests)"),
        ),
        (
            mid_prompt().exit(7),
            format!("{failed}process; category: process-exit; exit code: 7)"),
        ),
    ] {
        let run = Place::new().run_acp(&script, &["do it"]);
        assert_eq!(run.seen(), (1, "", format!("{text}{partial}\n").as_str()));
    }
}

#[tokio::test]
async fn text_is_what_the_tool_gives_to_a_model() {
    for script in [
        Script::acp().prompted().chunk("fine").end_turn(),
        Script::acp().prompted().end_turn(),
        Script::acp()
            .prompted()
            .ask_permission(7, "edit", &[("yes", "allow_once")])
            .expect_answer(7)
            .stop("refusal"),
        Script::acp().prompted().chunk("half ").exit(3),
        Script::acp()
            .initialize()
            .expect("session/new")
            .respond_error(-32000, "log in"),
        Script::acp().exit(1),
    ] {
        let model = FakeAgent::running(&script).delegate("do it").await;
        let run = Place::new().run_acp(&script, &["--format", "json", "do it"]);
        assert_eq!(run.json()["text"], model.text);
        assert_eq!(run.json()["isError"], model.is_error);
        let run = Place::new().run_acp(&script, &["do it"]);
        let shown = if model.is_error { &run.stderr } else { &run.stdout };
        assert_eq!(*shown, format!("{}\n", model.text));
    }
}

#[test]
fn a_dash_reads_the_prompt_from_stdin_as_it_is() {
    let prompt = format!("first line\n\tä 🦀 \"quoted\" \\n\r\n{}\n", "x".repeat(1 << 20));
    let place = Place::new();
    let agent = place.agent(&Script::acp().prompted().chunk("read").end_turn());
    let mut command = place.command(["run", "--acp", &agent, "-"]);
    let mut started = place.start(command.stdin(std::process::Stdio::piped()));
    started.write(&prompt);
    assert_eq!(started.finish().seen(), (0, "read\n", ""));
    let asked = place
        .recording("agent")
        .wait_for_method(SOON, "session/prompt")
        .unwrap();
    assert_eq!(
        asked["params"]["prompt"],
        json!([{"type": "text", "text": prompt}])
    );
}

#[test]
fn an_agents_words_are_split_as_a_shell_does_and_it_gets_the_session() {
    let place = Place::new();
    let script = Script::acp()
        .prompted()
        .chunk("{session/new#/params/cwd} {prompt}")
        .end_turn();
    let mut words = place.fake("an agent with 'quotes' and spaces", &script);
    words.extend([
        "--".to_owned(),
        String::new(),
        "it's \"two\" $HOME words".to_owned(),
    ]);
    let run = place.run(["run", "--acp", &command_line(&words), "-- not an option"]);
    assert_eq!(
        run.seen(),
        (2, "", run.stderr.as_str()),
        "a prompt that looks like an option needs `--`"
    );
    let run = place.run(["run", "--acp", &command_line(&words), "--", "-- not an option"]);
    assert_eq!(
        run.seen(),
        (
            0,
            format!("{} -- not an option\n", place.work().display()).as_str(),
            ""
        )
    );
}

#[test]
fn permissions_follow_the_option() {
    let script = Script::acp()
        .prompted()
        .ask_permission(7, "edit", &[("yes", "allow_once"), ("no", "reject_once")])
        .expect_answer(7)
        .end_turn();
    for (args, answered) in [
        (&[][..], json!({"outcome": "cancelled"})),
        (&["--permission", "reject"], json!({"outcome": "cancelled"})),
        (
            &["--permission", "decline"],
            json!({"outcome": "selected", "optionId": "no"}),
        ),
        (
            &["--permission", "allow"],
            json!({"outcome": "selected", "optionId": "yes"}),
        ),
    ] {
        let place = Place::new();
        assert_eq!(place.run_acp(&script, &[args, &["do it"]].concat()).code(), 0);
        let answer = place
            .recording("agent")
            .wait_for(SOON, |frame| frame["id"] == 7)
            .unwrap();
        assert_eq!(answer["result"]["outcome"], answered, "{args:?}");
    }
}
