//! Many sessions and many subscribers on one runtime.

use std::time::Duration;

use jsonrpc_fake_runtime::Script;
use jsonrpc_fake_runtime::dsh_sdk::DshSdkSteps as _;
use serde_json::json;
use subagent_dsh_sdk::client::{ClientError, Delivery, HarnessClient, HarnessPlan, Notification, TurnEnd};
use tokio::task::JoinSet;

use crate::dsh_support::FakeRuntime;
use crate::support::SOON;

const SESSIONS: u64 = 100;

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_sessions_at_once_keep_their_events_apart() {
    let chunk = |text: &str| json!({"chunk": {"type": "text-delta", "text": text}});
    let mark = json!({"inserted": [{"id": "message-session-{index}"}]});
    let idle = json!({"sessionId": "session-{index}", "status": "idle"});
    let each = |s: Script, kind: &str, data: serde_json::Value| {
        s.repeat(SESSIONS, |s| s.event_of("session-{index}", kind, data))
    };
    let mut script = Script::dsh_sdk().initialize().repeat(SESSIONS, |s| {
        s.expect("session/prompt")
            .respond(json!({"messageId": "message-{sessionId}"}))
    });
    script = each(script, "agent/inbox/spliced", mark);
    for part in ["I am ", "session-{index}", ", and nobody else"] {
        script = each(script, "assistant/chunk", chunk(part));
    }
    script = each(script, "turn/end", json!({"reason": {"kind": "completed"}}));
    let script = script
        .repeat(SESSIONS, |s| s.notify("session.status", idle))
        .shutdown();
    let runtime = FakeRuntime::running(&script);
    let harness = runtime.harness();
    harness.start().await.unwrap();
    let mut runs = JoinSet::new();
    for number in 0..SESSIONS {
        let session = harness
            .session_with_id(format!("session-{number}"))
            .await
            .unwrap();
        runs.spawn(async move {
            let run = session.run("who are you?").await.unwrap();
            assert_eq!(run.text(), format!("I am session-{number}, and nobody else"));
            assert_eq!((run.notifications.len(), run.end), (6, Some(TurnEnd::Completed)));
        });
    }
    while let Some(ended) = tokio::time::timeout(SOON, runs.join_next()).await.unwrap() {
        ended.unwrap();
    }
    harness.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn more_prompts_at_once_than_may_be_queued_all_arrive() {
    const PROMPTS: u64 = 40;
    let script = Script::dsh_sdk().initialize().repeat(PROMPTS, |s| {
        s.expect("session/prompt")
            .respond(json!({"messageId": "message-{sessionId}"}))
    });
    let runtime = FakeRuntime::running(&script);
    let client = runtime.client().await;
    let text = "x".repeat(256 * 1024);
    let mut prompts = JoinSet::new();
    for number in 0..PROMPTS {
        let (client, text) = (client.clone(), text.clone());
        prompts.spawn(async move {
            let session = format!("session-{number}");
            assert_eq!(
                client.prompt(&session, &text).await.unwrap(),
                format!("message-{session}")
            );
        });
    }
    while let Some(ended) = tokio::time::timeout(SOON, prompts.join_next()).await.unwrap() {
        ended.unwrap();
    }
    client.close().await.unwrap();
}

/// A runtime that tells of 20,000 small events and then answers.
fn flooding() -> FakeRuntime {
    let script = Script::dsh_sdk()
        .initialize()
        .expect("vendor/flood")
        .repeat(20_000, |s| {
            s.event_of("session-1", "step/start", json!({"number": "{index}"}))
        })
        .respond(json!("done"))
        .shutdown();
    FakeRuntime::running(&script)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscriber_that_does_not_read_stalls_nobody_and_learns_what_it_lost() {
    let runtime = flooding();
    let mut config = runtime.harness_config();
    config.subscription_bytes = 16 * 1024;
    let client = HarnessClient::spawn(&HarnessPlan::new(config).unwrap()).unwrap();
    client.initialize().await.unwrap();
    let mut slow = client.subscribe(|_| true);
    let mut one = client.subscribe(|notification| {
        matches!(notification, Notification::Event(event) if event.raw().get().contains("\"19999\""))
    });
    let answer = client.request("vendor/flood", json!({}), SOON).await.unwrap();
    assert_eq!(answer.get(), "\"done\"");
    assert!(
        matches!(one.next().await, Some(Delivery::Notification(_))),
        "the others are served"
    );
    client.close().await.unwrap();

    let (mut taken, mut lost) = (0, 0);
    while let Some(delivery) = slow.next().await {
        match delivery {
            Delivery::Notification(notification) => {
                let Notification::Event(event) = &*notification else {
                    panic!("unexpected {notification:?}")
                };
                let number = format!("{{\"number\":\"{}\"}}", taken + lost);
                assert!(
                    event.raw().get().contains(&number),
                    "in wire order: {}",
                    event.raw().get()
                );
                taken += 1;
            }
            Delivery::Lost(count) => lost += count,
        }
    }
    assert!(taken > 10 && lost > 10_000, "{taken} taken, {lost} lost");
    assert_eq!(taken + lost, 20_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscriber_that_reads_gets_everything_in_wire_order() {
    let runtime = flooding();
    let mut config = runtime.harness_config();
    config.subscription_bytes = 64 * 1024 * 1024;
    let client = HarnessClient::spawn(&HarnessPlan::new(config).unwrap()).unwrap();
    client.initialize().await.unwrap();
    let mut news = client.subscribe_session_tree("session-1");
    client.request("vendor/flood", json!({}), SOON).await.unwrap();
    for number in 0..20_000 {
        let Some(Delivery::Notification(notification)) = news.next().await else {
            panic!("nothing at {number}")
        };
        let Notification::Event(event) = &*notification else {
            panic!("unexpected {notification:?}")
        };
        assert!(
            event
                .raw()
                .get()
                .contains(&format!("{{\"number\":\"{number}\"}}")),
            "{number}"
        );
    }
    client.close().await.unwrap();
}

#[tokio::test]
async fn an_activity_that_tells_more_than_may_be_kept_fails_its_run_alone() {
    let script = Script::dsh_sdk()
        .accepted()
        // Slower than the reader: nothing is lost unread, it is what is kept that passes the bound.
        .repeat(200, |s| s.delta(&"x".repeat(1000)).sleep_ms(2))
        .completed()
        .expect("vendor/ask")
        .respond(json!("still here"))
        .shutdown();
    let runtime = FakeRuntime::running(&script);
    let mut config = runtime.harness_config();
    config.max_activity_bytes = 100_000;
    let client = subagent_dsh_sdk::client::Harness::new(HarnessPlan::new(config).unwrap());
    client.start().await.unwrap();
    let error = client.session().await.unwrap().run("do it").await.unwrap_err();
    let ClientError::TransportClosed(closed) = &error else {
        panic!("expected a closed transport, not {error:?}")
    };
    assert_eq!(
        closed.failure.to_string(),
        "the session tells more than 100000 bytes, which is all that is kept of it"
    );
    let answer = client
        .client()
        .await
        .unwrap()
        .request("vendor/ask", json!({}), SOON)
        .await;
    assert_eq!(answer.unwrap().get(), "\"still here\"");
    client.close().await.unwrap();
}

#[tokio::test]
async fn a_run_that_is_dropped_leaves_the_runtime_to_the_others() {
    let script = Script::dsh_sdk()
        .initialize()
        .prompt()
        .mark()
        .receipt()
        .touch("taken")
        .prompt()
        .mark()
        .receipt()
        .message("hello")
        .completed()
        .shutdown();
    let runtime = FakeRuntime::running(&script);
    let harness = runtime.harness();
    harness.start().await.unwrap();
    let first = harness.session().await.unwrap();
    tokio::select! {
        _ = first.run("never ends") => panic!("it ended"),
        () = runtime.reached("taken") => {}
    }
    let second = harness.session().await.unwrap();
    let run = tokio::time::timeout(SOON, second.run("do it"))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(run.text(), "hello");
    tokio::time::timeout(Duration::from_secs(10), harness.close())
        .await
        .unwrap()
        .unwrap();
}
