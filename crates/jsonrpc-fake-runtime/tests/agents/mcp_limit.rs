//! A call over MCP that lasts longer than the foreground limit of its tool: it goes on as a job. And when the job tools are
//! there at all.

use jsonrpc_fake_runtime::Script;
use jsonrpc_fake_runtime::acp::AcpSteps as _;
use rmcp::model::{CancelledNotificationParam, RequestId};
use serde_json::{Value, json};

use crate::command_support::Place;
use crate::mcp_support::{Served, answer, background, seen, serve, task};
use crate::support::eventually;

const GOES_ON: &str = "subagent run reached its foreground limit and goes on as background subagent job subagent-1. Read \
                       its output with job_output.";

/// Says something, and answers once the test lets it.
fn patient() -> Script {
    Script::acp()
        .prompted()
        .touch("prompted")
        .wait_for_file("go")
        .chunk("done: {prompt}")
        .end_turn()
}

/// The agent, and a tool `ask` that waits for it no longer than 300 ms and has no other background mode.
fn limited(place: &Place, script: &Script) -> String {
    place.entry(
        "agent",
        script,
        "    disposeEofGraceMs: 300\n    disposeGraceMs: 300\n",
    ) + "- name: tool-subagent\n  config: { provider: agent, toolName: ask, enableRunInBackground: false, \
           foregroundLimitMs: 300 }\n"
}

async fn names(served: &Served<'_>) -> Vec<String> {
    let tools = served.client.list_all_tools().await.unwrap();
    tools.iter().map(|tool| tool.name.to_string()).collect()
}

fn first() -> Value {
    json!({"job_id": "subagent-1", "wait": true})
}

#[tokio::test]
async fn a_call_that_lasts_longer_goes_on_as_a_job_that_is_read_later() {
    let place = Place::new();
    let served = serve(&place, &limited(&place, &patient())).await;
    assert_eq!(
        names(&served).await,
        ["ask", "job_output", "job_list", "job_kill"]
    );
    let answered = served.call("ask", task("hello")).await;
    assert_eq!(seen(&answered), (GOES_ON.to_owned(), false));
    assert_eq!(
        answered.structured_content,
        Some(json!({"kind": "background", "jobId": "subagent-1"}))
    );
    let listed = served.call("job_list", json!({})).await;
    assert_eq!(seen(&listed).0, "subagent-1 [subagent] running — test task");
    place.write("work/go", "");
    let read = served.call("job_output", first()).await;
    assert_eq!(seen(&read).0, "done: hello\n[status: completed]");

    let quick = served.call("ask", task("again")).await;
    assert_eq!(seen(&quick), ("done: again".to_owned(), false));
    assert_eq!(place.living().len(), 1, "only the command is left");
    assert_eq!(served.close().await.0, 0);
}

#[tokio::test]
async fn what_is_listed_tells_that_a_call_may_become_a_job() {
    let place = Place::new();
    let served = serve(&place, &limited(&place, &patient())).await;
    let tools = served.client.list_all_tools().await.unwrap();
    let ask = serde_json::to_value(&tools[0]).unwrap();
    let text = ask["description"].as_str().unwrap();
    assert!(
        text.contains("A task that takes long goes on as a background job"),
        "{text}"
    );
    assert_eq!(ask["inputSchema"]["properties"].get("run_in_background"), None);
    let kinds = ask["outputSchema"]["oneOf"].as_array().unwrap();
    assert_eq!(kinds.len(), 2, "an answer of either kind fits the schema");
    served.close().await;
}

#[tokio::test]
async fn cancelling_an_answered_call_does_not_reach_its_job_and_job_kill_does() {
    let place = Place::new();
    let script = Script::acp().prompted().touch("prompted").hang();
    let served = serve(&place, &limited(&place, &script)).await;
    let call = served.begin("ask", task("hello")).await;
    let id: RequestId = call.id.clone();
    assert_eq!(seen(&answer(call).await.unwrap()).0, GOES_ON);
    let cancelled = CancelledNotificationParam::new(Some(id), Some("too late".to_owned()));
    served.client.notify_cancelled(cancelled).await.unwrap();
    // Whatever comes after a message is answered after it was heeded.
    let waited = json!({"job_id": "subagent-1", "wait": true, "timeout_ms": 200});
    let read = served.call("job_output", waited).await;
    assert_eq!(seen(&read).0, "(no new output)\n[status: running]");
    assert!(place.living().len() > 1, "the agent lives");

    let killed = served.call("job_kill", json!({"job_id": "subagent-1"})).await;
    assert_eq!(seen(&killed).0, "requested cancellation of job subagent-1");
    let read = served.call("job_output", first()).await;
    assert_eq!(seen(&read).0, "(no new output)\n[status: killed]");
    eventually("only the command is left", || place.living().len() == 1).await;
    served.close().await;
}

#[tokio::test]
async fn a_call_that_became_a_job_ends_with_its_client() {
    let place = Place::new();
    let script = Script::acp().ignore_eof().ignore_sigterm().prompted().hang();
    let served = serve(&place, &limited(&place, &script)).await;
    assert_eq!(seen(&served.call("ask", task("hello")).await).0, GOES_ON);
    assert_eq!(served.close().await.0, 0);
}

#[tokio::test]
async fn a_call_cancelled_before_its_limit_becomes_no_job() {
    let place = Place::new();
    let script = Script::acp()
        .ignore_eof()
        .ignore_sigterm()
        .prompted()
        .touch("prompted")
        .hang();
    let config = limited(&place, &script).replace("foregroundLimitMs: 300", "foregroundLimitMs: 1000");
    let served = serve(&place, &config).await;
    let call = served.begin("ask", task("hello")).await;
    let prompted = place.work().join("prompted");
    eventually("the agent was prompted", || prompted.exists()).await;
    call.cancel(None).await.unwrap();
    eventually("only the command is left", || place.living().len() == 1).await;
    let listed = served.call("job_list", json!({})).await;
    assert_eq!(seen(&listed).0, "(no background jobs)");
    served.close().await;
}

#[tokio::test]
async fn the_command_run_waits_whatever_the_limit_is() {
    let place = Place::new();
    let script = Script::acp().prompted().chunk("done").end_turn();
    let config = limited(&place, &script).replace("foregroundLimitMs: 300", "foregroundLimitMs: 0.001");
    place.write("work/subagents.yml", config);
    assert_eq!(place.run(["run", "hello"]).seen(), (0, "done\n", ""));
}

#[tokio::test]
async fn an_entry_for_the_job_tools_is_enough_for_them_to_be_there() {
    let place = Place::new();
    let config = place.entry("agent", &patient(), "")
        + "- { name: tool-subagent, config: { provider: agent, toolName: ask, enableRunInBackground: false } }\n";
    for (entry, tools) in [
        ("", &["ask"][..]),
        ("- { name: tool-jobs, disabled: true }\n", &["ask"]),
        (
            "- name: tool-jobs\n",
            &["ask", "job_output", "job_list", "job_kill"],
        ),
    ] {
        let served = serve(&place, &format!("{config}{entry}")).await;
        assert_eq!(names(&served).await, tools);
        if tools.len() > 1 {
            let listed = served.call("job_list", json!({})).await;
            assert_eq!(seen(&listed).0, "(no background jobs)");
        }
        served.close().await;
    }
}

mod heavy {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_call_without_a_place_for_its_job_stays_in_the_foreground() {
        let place = Place::new();
        let config = limited(&place, &patient()).replace("enableRunInBackground: false, ", "");
        let served = serve(&place, &config).await;
        for _ in 0..10 {
            assert!(!seen(&served.call("ask", background("wait")).await).1);
        }
        let refused = served.call("ask", background("wait")).await;
        let text = "Error: background job limit of 10 reached; wait for a running job with job_output or stop one with \
                    job_kill";
        assert_eq!(seen(&refused), (text.to_owned(), true));
        let call = served.begin("ask", task("hello")).await;
        let waited = json!({"job_id": "subagent-1", "wait": true, "timeout_ms": 1000});
        let read = served.call("job_output", waited).await;
        assert_eq!(seen(&read).0, "(no new output)\n[status: running]");
        place.write("work/go", "");
        assert_eq!(
            seen(&answer(call).await.unwrap()),
            ("done: hello".to_owned(), false)
        );
        assert_eq!(served.close().await.0, 0);
    }
}
