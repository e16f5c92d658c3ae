//! Bounds, order and ends of subscriptions.

use serde_json::json;
use serde_json::value::to_raw_value;

use super::*;

fn status(session_id: &str, status: &str) -> Notification {
    let params = to_raw_value(&json!({"sessionId": session_id, "status": status})).unwrap();
    Notification::read("session.status", Some(&params))
}

fn family(method: &str, parent: &str, child: &str) -> Notification {
    let params = to_raw_value(&json!({"parentSessionId": parent, "childSessionId": child})).unwrap();
    Notification::read(method, Some(&params))
}

fn everything() -> Filter {
    Filter::Own(Box::new(|_| true))
}

/// What is there, a word for each delivery.
fn drained(subscription: &mut Subscription) -> Vec<String> {
    std::iter::from_fn(|| subscription.try_next())
        .map(|delivery| match delivery {
            Delivery::Lost(count) => format!("lost {count}"),
            Delivery::Notification(notification) => match &*notification {
                Notification::Status { session_id, status } => format!("{session_id} {status}"),
                other => other.session_id().unwrap_or("-").to_owned(),
            },
        })
        .collect()
}

#[test]
fn a_subscriber_that_does_not_read_loses_and_learns_where_and_how_much() {
    let subscribers = Subscribers::default();
    let size = status("s", "0").size();
    let mut slow = subscribers.add(everything(), 2 * size);
    let mut quick = subscribers.add(everything(), 2 * size);
    let mut all = Vec::new();
    for number in 0..5 {
        subscribers.deliver(status("s", &number.to_string()));
        all.extend(drained(&mut quick));
    }
    assert_eq!(all, ["s 0", "s 1", "s 2", "s 3", "s 4"]);
    assert!(matches!(slow.try_next(), Some(Delivery::Notification(_))));
    subscribers.deliver(status("s", "5"));
    subscribers.deliver(status("s", "6"));
    assert_eq!(drained(&mut slow), ["s 1", "lost 3", "s 5", "lost 1"]);
    subscribers.deliver(status("s", "7"));
    assert_eq!(drained(&mut slow), ["s 7"]);
}

#[test]
fn an_empty_mailbox_takes_a_notification_of_any_size() {
    let subscribers = Subscribers::default();
    let mut subscription = subscribers.add(everything(), 1);
    for number in 0..2 {
        subscribers.deliver(status("s", &number.to_string()));
    }
    assert_eq!(drained(&mut subscription), ["s 0", "lost 1"]);
}

#[tokio::test]
async fn what_was_delivered_can_be_taken_after_the_end() {
    let subscribers = Subscribers::default();
    let mut subscription = subscribers.add(everything(), 1000);
    subscribers.deliver(status("s", "idle"));
    subscribers.end();
    subscribers.deliver(status("s", "late"));
    assert!(matches!(
        subscription.next().await,
        Some(Delivery::Notification(_))
    ));
    assert!(subscription.next().await.is_none());
    assert!(subscription.next().await.is_none());
    assert!(subscribers.add(everything(), 1000).next().await.is_none());
}

#[tokio::test]
async fn a_waiting_subscriber_wakes_for_news_and_for_the_end() {
    let subscribers = Arc::new(Subscribers::default());
    let mut subscription = subscribers.add(everything(), 1000);
    let waiter = tokio::spawn(async move {
        let first = subscription.next().await;
        (first.is_some(), subscription.next().await.is_none())
    });
    tokio::task::yield_now().await;
    subscribers.deliver(status("s", "idle"));
    tokio::task::yield_now().await;
    subscribers.end();
    assert_eq!(waiter.await.unwrap(), (true, true));
}

#[test]
fn a_tree_grows_with_each_start_and_shrinks_with_each_end() {
    let subscribers = Subscribers::default();
    let mut tree = subscribers.add(Filter::tree("root"), 10_000);
    for notification in [
        status("other", "0"),
        status("child", "before its start"),
        family("subagent.started", "root", "child"),
        family("subagent.started", "other", "stranger"),
        family("subagent.started", "child", "grandchild"),
        status("stranger", "1"),
        status("grandchild", "2"),
        status("root", "3"),
        family("subagent.finished", "root", "child"),
        status("child", "after its end"),
        status("grandchild", "4"),
        family("subagent.started", "child", "late"),
    ] {
        subscribers.deliver(notification);
    }
    assert_eq!(
        drained(&mut tree),
        ["root", "child", "grandchild 2", "root 3", "root", "grandchild 4"]
    );
}

#[test]
fn a_filter_that_panics_costs_its_own_subscription_alone() {
    let subscribers = Subscribers::default();
    let panics = Filter::Own(Box::new(|_| panic!("a filter that panics on purpose")));
    let bad = subscribers.add(panics, 1000);
    let mut good = subscribers.add(everything(), 1000);
    subscribers.deliver(status("s", "0"));
    subscribers.deliver(status("s", "1"));
    assert_eq!(drained(&mut good), ["s 0", "s 1"]);
    assert!(bad.mailbox.lock().ended);
}

#[test]
fn a_dropped_subscription_is_forgotten() {
    let subscribers = Subscribers::default();
    drop(subscribers.add(everything(), 1000));
    assert!(!subscribers.is_empty());
    subscribers.deliver(status("s", "0"));
    assert!(subscribers.is_empty());
}
