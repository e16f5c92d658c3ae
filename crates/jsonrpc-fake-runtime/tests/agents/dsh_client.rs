//! The client alone: requests, answers, errors.

use std::time::{Duration, Instant};

use jsonrpc_fake_runtime::Script;
use jsonrpc_fake_runtime::dsh_sdk::DshSdkSteps as _;
use serde_json::json;
use subagent_dsh_sdk::client::{ClientError, Delivery, Notification, TurnEnd};

use crate::dsh_support::FakeRuntime;
use crate::support::SOON;

#[tokio::test]
async fn a_session_runs_one_prompt_after_another_on_one_runtime() {
    let turn = |s: Script, text: &str| {
        s.prompt()
            .mark_of("message-{prompt}")
            .running()
            .with(|s| s.respond_to("session/prompt", json!({"messageId": "message-{prompt}"})))
            .delta("…")
            .message(text)
            .completed()
    };
    let script = turn(turn(Script::dsh_sdk().initialize(), "one"), "two").shutdown();
    let runtime = FakeRuntime::running(&script);
    let harness = runtime.harness();
    let info = harness.start().await.unwrap();
    assert_eq!(
        (info.name.as_str(), info.version.as_str()),
        ("deepseek-harness-sdk-runtime", "0.0.0-fake")
    );
    assert_eq!(
        harness.start().await.unwrap(),
        info,
        "a runtime that is up is not started again"
    );
    let session = harness.session().await.unwrap();
    for (prompt, text) in [("1", "one"), ("2", "two")] {
        let mut streamed = Vec::new();
        let run = session
            .run_observed(prompt, |notification| {
                if let Notification::Event(event) = notification {
                    streamed.push(event.kind().unwrap().to_owned());
                }
            })
            .await
            .unwrap();
        assert_eq!((run.text().as_str(), run.end), (text, Some(TurnEnd::Completed)));
        assert_eq!(run.message_id, format!("message-{prompt}"));
        let kinds: Vec<_> = run.events(&session).map(|event| event.kind().unwrap()).collect();
        assert_eq!(
            kinds,
            [
                "agent/inbox/spliced",
                "assistant/chunk",
                "assistant/message",
                "turn/end"
            ]
        );
        assert_eq!(streamed, kinds);
        assert_eq!(run.notifications.len(), kinds.len() + 2, "running and idle");
    }
    harness.close().await.unwrap();
    assert_eq!(
        runtime.methods(),
        ["initialize", "session/prompt", "session/prompt", "shutdown"]
    );
}

#[tokio::test]
async fn the_descendants_of_a_session_belong_to_its_activity_and_do_not_end_it() {
    let runtime = FakeRuntime::scenario("child-session");
    let harness = runtime.harness();
    harness.start().await.unwrap();
    let session = harness.session().await.unwrap();
    let run = session.run("do it").await.unwrap();
    assert_eq!(
        (run.text().as_str(), run.end),
        ("hello", Some(TurnEnd::Completed))
    );
    let of_child = |notification: &Notification| notification.session_id() == Some("session-child");
    assert_eq!(
        run.notifications
            .iter()
            .filter(|notification| of_child(notification))
            .count(),
        4
    );
    assert!(
        run.events(&session)
            .all(|event| event.session_id() == session.id())
    );
    harness.close().await.unwrap();
}

#[tokio::test]
async fn what_a_descendant_says_last_is_no_part_of_the_answer() {
    let foreign = json!({"message": {"content": [{"type": "text", "text": "foreign"}]}});
    let script = Script::dsh_sdk()
        .accepted()
        .notify(
            "subagent.started",
            json!({"parentSessionId": "{sessionId}", "childSessionId": "session-child"}),
        )
        .message("hello")
        .turn_end("completed")
        .event_of("session-child", "assistant/message", foreign)
        .event_of("session-child", "turn/end", json!({"reason": {"kind": "error"}}))
        .idle()
        .shutdown();
    let runtime = FakeRuntime::running(&script);
    let harness = runtime.harness();
    harness.start().await.unwrap();
    let run = harness.session().await.unwrap().run("do it").await.unwrap();
    assert_eq!(
        (run.text().as_str(), run.end),
        ("hello", Some(TurnEnd::Completed))
    );
    harness.close().await.unwrap();
}

#[tokio::test]
async fn an_error_answer_is_told_with_code_and_data() {
    let script =
        Script::dsh_sdk()
            .initialize()
            .expect("vendor/ask")
            .step(jsonrpc_fake_runtime::Step::RespondError {
                to: None,
                code: -32001,
                message: "no".to_owned(),
                data: Some(json!({"why": 7})),
            });
    let runtime = FakeRuntime::running(&script);
    let client = runtime.client().await;
    let error = client
        .request("vendor/ask", json!({"a": 1}), SOON)
        .await
        .unwrap_err();
    let ClientError::Response { method, error } = error else {
        panic!("expected an error answer, not {error:?}")
    };
    assert_eq!(
        (method.as_str(), error.code, error.message.as_str()),
        ("vendor/ask", -32001, "no")
    );
    assert_eq!(error.data.unwrap().get(), r#"{"why":7}"#);
    client.close().await.unwrap();
}

#[tokio::test]
async fn a_request_that_timed_out_leaves_no_state_behind() {
    let script = Script::dsh_sdk()
        .initialize()
        .expect("vendor/slow")
        .wait_for_file("go")
        .respond(json!("late"))
        .expect("vendor/quick")
        .respond(json!("in time"));
    let runtime = FakeRuntime::running(&script);
    let client = runtime.client().await;
    let within = Duration::from_millis(200);
    let error = client
        .request("vendor/slow", json!({}), within)
        .await
        .unwrap_err();
    assert!(
        matches!(&error, ClientError::RequestTimeout { method, after } if method == "vendor/slow" && *after == within)
    );
    assert_eq!(error.to_string(), "vendor/slow was not answered within 200 ms");
    runtime.go("go");
    let answer = client.request("vendor/quick", json!({}), SOON).await.unwrap();
    assert_eq!(answer.get(), "\"in time\"");
    client.close().await.unwrap();
}

#[tokio::test]
async fn a_dead_runtime_fails_what_is_open_and_what_comes_at_once() {
    let script = Script::dsh_sdk()
        .initialize()
        .expect("vendor/ask")
        .event_of("session-1", "assistant/message", json!({}))
        .event_of("session-1", "turn/end", json!({}))
        .stderr("last words")
        .exit(7);
    let runtime = FakeRuntime::running(&script);
    let client = runtime.client().await;
    let mut news = client.subscribe(|_| true);
    let open = client
        .request("vendor/ask", json!({}), Duration::from_mins(10))
        .await;
    let begun = Instant::now();
    let later = client
        .request("vendor/more", json!({}), Duration::from_mins(10))
        .await;
    let prompt = client.prompt("session-2", "do it").await.map(String::into_bytes);
    for error in [
        open.unwrap_err(),
        later.unwrap_err(),
        prompt.unwrap_err(),
        client.ended().unwrap(),
    ] {
        let closed = error
            .transport()
            .unwrap_or_else(|| panic!("not a closed transport: {error:?}"));
        assert_eq!(closed.exit.unwrap().code, Some(7));
        assert_eq!(closed.stderr_tail, b"last words");
        assert_eq!(error.to_string(), "the runtime cannot be talked to: exit code 7");
    }
    assert!(begun.elapsed() < Duration::from_secs(5));
    let mut kinds = Vec::new();
    while let Some(Delivery::Notification(notification)) = news.next().await {
        if let Notification::Event(event) = &*notification {
            kinds.push(event.kind().unwrap().to_owned());
        }
    }
    assert_eq!(
        kinds,
        ["assistant/message", "turn/end"],
        "what was delivered can still be taken"
    );
    assert!(client.subscribe(|_| true).next().await.is_none());
    client.close().await.unwrap();
    client.close().await.unwrap();
    let closed = client.request("vendor/more", json!({}), SOON).await.unwrap_err();
    assert!(matches!(closed, ClientError::ClientClosed));
}

#[tokio::test]
async fn a_request_that_cannot_be_written_learns_of_the_end_and_the_last_words_are_delivered() {
    let script = Script::dsh_sdk()
        .initialize()
        .step(jsonrpc_fake_runtime::Step::CloseStdin)
        .touch("closed")
        .wait_for_file("go")
        .event_of("session-1", "turn/end", json!({}))
        .exit(7);
    let runtime = FakeRuntime::running(&script);
    let client = runtime.client().await;
    let mut news = client.subscribe(|_| true);
    runtime.reached("closed").await;
    let (asked, ()) = tokio::join!(client.request("vendor/ask", json!({}), SOON), async {
        runtime.go("go");
    });
    let error = asked.unwrap_err();
    assert_eq!(error.to_string(), "the runtime cannot be talked to: exit code 7");
    assert!(matches!(news.next().await, Some(Delivery::Notification(_))));
    assert!(news.next().await.is_none());
    client.close().await.unwrap();
}

#[tokio::test]
async fn many_requests_that_are_open_all_fail_with_the_runtime() {
    let runtime = FakeRuntime::running(&Script::dsh_sdk().initialize().wait_for_file("go").exit(0));
    let client = runtime.client().await;
    let mut open = tokio::task::JoinSet::new();
    for _ in 0..200 {
        let client = client.clone();
        open.spawn(async move {
            client
                .request("vendor/ask", json!({}), Duration::from_mins(10))
                .await
        });
    }
    tokio::task::yield_now().await;
    runtime.go("go");
    while let Some(ended) = tokio::time::timeout(SOON, open.join_next()).await.unwrap() {
        assert!(ended.unwrap().unwrap_err().transport().is_some());
    }
}
