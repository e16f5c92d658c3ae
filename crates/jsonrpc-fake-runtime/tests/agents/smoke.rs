//! First light.

use jsonrpc_fake_runtime::Script;
use jsonrpc_fake_runtime::acp::AcpSteps as _;

use crate::support::FakeAgent;

#[tokio::test]
async fn an_answer_comes_back_whole() {
    let agent = FakeAgent::running(&Script::acp().prompted().chunk("one, ").chunk("two").end_turn());
    let outcome = agent.delegate("count").await;
    assert_eq!(outcome.text, "one, two");
    assert!(!outcome.is_error);
    println!("{:?} {:?}", outcome.timings, agent.host_reports());
}

#[tokio::test]
async fn a_death_is_told() {
    let agent = FakeAgent::running(&Script::acp().prompted().chunk("one, ").exit(3));
    let outcome = agent.delegate("count").await;
    println!("{} {:?} {:?}", outcome.text, outcome.timings, agent.host_reports());
}
