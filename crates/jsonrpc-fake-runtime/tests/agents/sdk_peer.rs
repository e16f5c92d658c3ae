//! The provider against an agent that was built on the official SDK of the protocol: nothing in it was written with this
//! provider in mind.

use subagent_acp::PermissionPolicy;
use subagent_tool::Context;

use crate::support::{FakeAgent, eventually};

#[tokio::test]
async fn it_completes_and_is_told_its_directory() {
    let peer = FakeAgent::example("sdk_agent");
    let outcome = peer.delegate("answer me, please").await;
    assert_eq!(
        outcome.text,
        format!("answer me, please (in {})", peer.dir().display())
    );
    assert!(!outcome.is_error);
    assert_eq!(peer.host_reports(), [""; 0]);
}

#[tokio::test]
async fn its_permission_requests_are_answered_by_policy() {
    for (policy, told) in [
        (PermissionPolicy::Reject, "cancelled"),
        (PermissionPolicy::Decline, "selected no"),
        (PermissionPolicy::Allow, "selected once"),
    ] {
        let peer = FakeAgent::example("sdk_agent").with(|config| config.permission = policy);
        assert_eq!(peer.delegate("permission").await.text, told);
    }
}

#[tokio::test]
async fn it_hears_of_a_cancellation_and_settles_its_turn() {
    let peer = FakeAgent::example("sdk_agent");
    let context = Context::default();
    let (cancel, progress) = (context.cancel.clone(), context.progress.clone());
    let cancelling = async {
        // Two answers and one chunk: the prompt is under way.
        eventually("the prompt is open", || {
            progress.stage().is_some_and(|stage| stage.as_str() == "prompt") && progress.received_bytes() > 0
        })
        .await;
        cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(peer.delegate_with("wait", context), cancelling);
    assert!(
        outcome.text.starts_with("Error: subagent run was cancelled"),
        "{}",
        outcome.text
    );
    assert!(outcome.dispose_error.is_none());
}

#[tokio::test]
async fn its_failures_are_told_in_our_words() {
    let peer = FakeAgent::example("sdk_agent");
    assert_eq!(
        peer.delegate("fail").await.text,
        "Error: subagent run failed\n\
         Diagnostic: Subagent failure (provider: ACP; stage: prompt; category: transport)"
    );
    assert!(
        peer.host_reports()[0].contains("Internal error"),
        "{:?}",
        peer.host_reports()
    );
    assert_eq!(
        peer.delegate("die").await.text,
        "Error: subagent run failed\n\
         Diagnostic: Subagent failure (provider: ACP; stage: process; category: process-exit; exit code: 9)"
    );
    assert_eq!(
        peer.delegate("refuse").await.text,
        "Error: subagent declined the task"
    );
}
