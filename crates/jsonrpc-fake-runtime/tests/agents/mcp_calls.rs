//! The tools over MCP: what is offered, what a call answers in each outcome, and what it takes. The client is another's.

use jsonrpc_fake_runtime::Script;
use jsonrpc_fake_runtime::acp::AcpSteps as _;
use jsonrpc_fake_runtime::dsh_sdk::DshSdkSteps as _;
use serde_json::{Value, json};

use crate::command_support::Place;
use crate::mcp_support::{background, seen, serve, task, tool_entry};

fn echo() -> Script {
    Script::acp().prompted().chunk("you said: {prompt}").end_turn()
}

#[tokio::test]
async fn the_tools_are_listed_with_what_they_take_and_answer() {
    let place = Place::new();
    let served = serve(&place, &place.entry("agent", &echo(), "")).await;
    let tools = served.client.list_all_tools().await.unwrap();
    insta::assert_snapshot!(
        "mcp_tools",
        format!("{:#}", serde_json::to_value(&tools).unwrap())
    );
    assert_eq!(served.close().await.0, 0);
}

#[tokio::test]
async fn without_background_there_are_no_job_tools() {
    let place = Place::new();
    let config = place.entry("agent", &echo(), "")
        + "- { name: tool-subagent, config: { provider: agent, toolName: ask, enableRunInBackground: false } }\n";
    let served = serve(&place, &config).await;
    let tools = served.client.list_all_tools().await.unwrap();
    assert_eq!(
        tools.iter().map(|tool| tool.name.as_ref()).collect::<Vec<_>>(),
        ["ask"]
    );
    assert!(!serde_json::to_string(&tools).unwrap().contains("background"));
    let refused = served.call("ask", background("hello")).await;
    assert_eq!(
        seen(&refused),
        (
            "Error: unknown argument run_in_background, expected one of description, prompt, cwd".to_owned(),
            true
        )
    );
    assert_eq!(
        seen(&served.call("ask", task("hello")).await),
        ("you said: hello".to_owned(), false)
    );
    served.close().await;
}

#[tokio::test]
async fn a_foreground_call_answers_with_the_output() {
    let place = Place::new();
    let served = serve(&place, &place.entry("agent", &echo(), "")).await;
    let result = served.call("subagent", task("hello")).await;
    assert_eq!(seen(&result), ("you said: hello".to_owned(), false));
    let mut data = result.structured_content.unwrap();
    let run = data["runId"].take();
    assert_eq!(run.as_str().map(str::len), Some(36), "no UUID: {run}");
    assert_eq!(
        data,
        json!({"kind": "foreground", "runId": null, "output": "you said: hello"})
    );
    served.close().await;
}

#[tokio::test]
async fn an_answer_without_a_word_is_said_to_be_none_and_is_empty_as_data() {
    let place = Place::new();
    let silent = Script::acp().prompted().end_turn();
    let served = serve(&place, &place.entry("agent", &silent, "")).await;
    let result = served.call("subagent", task("hello")).await;
    let text = "(the subagent completed without output)";
    assert_eq!(seen(&result), (text.to_owned(), false));
    assert_eq!(result.structured_content.unwrap()["output"], json!(""));
    served.close().await;
}

/// The data of a result with its times taken out, which must be there and in order.
fn timeless(data: &Value) -> Value {
    let mut data = data.clone();
    let job = data["job"].as_object_mut().unwrap();
    let started = job.remove("startedAt").unwrap().as_u64().unwrap();
    if let Some(finished) = job.remove("finishedAt") {
        assert!(started <= finished.as_u64().unwrap());
    }
    data
}

#[tokio::test]
async fn a_background_call_answers_at_once_and_its_job_is_read_later() {
    let place = Place::new();
    let script = Script::acp()
        .prompted()
        .wait_for_file("go")
        .chunk("done")
        .end_turn();
    let served = serve(&place, &place.entry("agent", &script, "")).await;
    let listed = served.call("job_list", json!({})).await;
    assert_eq!(seen(&listed).0, "(no background jobs)");
    assert_eq!(listed.structured_content, Some(json!({"jobs": []})));

    let started = served.call("subagent", background("hello")).await;
    assert_eq!(seen(&started).0, "started background subagent job subagent-1");
    assert_eq!(
        started.structured_content,
        Some(json!({"kind": "background", "jobId": "subagent-1"}))
    );
    let waiting = served
        .call(
            "job_output",
            json!({"job_id": "subagent-1", "wait": true, "timeout_ms": 1}),
        )
        .await;
    assert_eq!(seen(&waiting).0, "(no new output)\n[status: running]");
    assert_eq!(
        seen(&served.call("job_list", json!({})).await).0,
        "subagent-1 [subagent] running — test task"
    );

    place.write("work/go", "");
    let read = served
        .call("job_output", json!({"job_id": "subagent-1", "wait": true}))
        .await;
    assert_eq!(seen(&read).0, "done\n[status: completed]");
    let job = json!({"id": "subagent-1", "kind": "subagent", "label": "test task", "status": "completed"});
    assert_eq!(
        timeless(&read.structured_content.unwrap()),
        json!({"text": "done\n[status: completed]", "job": job})
    );
    let killed = served.call("job_kill", json!({"job_id": "subagent-1"})).await;
    assert_eq!(
        seen(&killed).0,
        "job subagent-1 had already finished [status: completed]"
    );
    let data = timeless(&killed.structured_content.unwrap());
    assert_eq!(data, json!({"outcome": "already-finished", "job": job}));
    served.close().await;
}

#[tokio::test]
async fn a_job_is_killed_and_tells_so() {
    let place = Place::new();
    let script = Script::acp().prompted().touch("prompted").hang();
    let served = serve(&place, &place.entry("agent", &script, "")).await;
    served.call("subagent", background("hello")).await;
    let killed = served
        .call("job_kill", json!({"job_id": "subagent-1", "reason": "no need"}))
        .await;
    assert_eq!(seen(&killed).0, "requested cancellation of job subagent-1");
    let read = served
        .call("job_output", json!({"job_id": "subagent-1", "wait": true}))
        .await;
    assert_eq!(seen(&read).0, "(no new output)\n[status: killed]");
    served.close().await;
}

#[tokio::test]
async fn whatever_a_child_does_is_a_result() {
    let place = Place::new();
    let said = || Script::acp().prompted().chunk("partial");
    let mut config = String::new();
    let mut expected = Vec::new();
    let failure = "Error: subagent run failed\nDiagnostic: Subagent failure";
    let partial = "\nPartial output before the run ended:\npartial";
    for (name, script, text) in [
        (
            "tokens",
            said().stop("max_tokens"),
            "Error: subagent run hit its token limit before finishing{partial}",
        ),
        (
            "refusal",
            said().stop("refusal"),
            "Error: subagent declined the task{partial}",
        ),
        (
            "exit",
            said().exit(7),
            "{failure} (provider: ACP; stage: process; category: process-exit; exit code: 7){partial}",
        ),
        (
            "start",
            Script::acp().expect("initialize").respond_error(-1, "no"),
            "Error: subagent-acp: Subagent failure (provider: ACP; stage: initialize; category: transport)",
        ),
        (
            "nothing",
            Script::acp().prompted().end_turn(),
            "(the subagent completed without output)",
        ),
    ] {
        config += &place.entry(name, &script, "");
        config += &tool_entry(name);
        expected.push((
            name,
            text.replace("{failure}", failure).replace("{partial}", partial),
        ));
    }
    let words = place.fake(
        "dsh",
        &Script::dsh_sdk()
            .accepted()
            .message("partial")
            .turn_end("error")
            .idle(),
    );
    let args = serde_json::to_string(&words[1..]).unwrap();
    let command = &words[0];
    let runtime = format!(
        "- name: subagent-dsh-sdk\n  config: {{ providerName: dsh, command: {command}, args: {args} }}\n"
    );
    config += &runtime;
    config += &tool_entry("dsh");
    expected.push((
        "dsh",
        format!("{failure} (provider: DSH SDK; stage: session-run; category: child-error){partial}"),
    ));
    let served = serve(&place, &config).await;
    for (tool, text) in expected {
        let result = served.call(tool, task("hello")).await;
        assert_eq!(seen(&result), (text, tool != "nothing"), "{tool}");
    }
    served.close().await;
}

#[tokio::test]
async fn a_call_that_cannot_be_made_says_why() {
    let place = Place::new();
    let served = serve(&place, &place.entry("agent", &echo().touch("started"), "")).await;
    for (tool, arguments, text) in [
        (
            "subagent",
            json!({"description": "d"}),
            "Error: argument prompt is missing, expected a string",
        ),
        (
            "subagent",
            json!({"description": "d", "prompt": 1}),
            "Error: argument prompt is a number, expected a string",
        ),
        (
            "subagent",
            task(" \n"),
            "Error: prompt must not be empty, expected the complete task",
        ),
        (
            "job_output",
            json!({"job_id": "subagent-1"}),
            "unknown job subagent-1",
        ),
        ("job_kill", json!({"job_id": "x"}), "unknown job x"),
        (
            "job_kill",
            json!({}),
            "Error: argument job_id is missing, expected a string",
        ),
        (
            "job_list",
            json!({"all": true}),
            "Error: unknown argument all, expected no arguments",
        ),
        ("none", json!({}), "Error: unknown tool none"),
    ] {
        let result = served.call(tool, arguments).await;
        assert_eq!(seen(&result), (text.to_owned(), true), "{tool}");
    }
    assert!(!place.work().join("started").exists(), "an agent was started");
    served.close().await;
}
