//! The whole table of what a parent reads about an ACP agent: every stage, every category, every way in which a run
//! ends. Owns the order of the sections; the rows are data, by stage, and played and pinned by `pinned`.

mod permission;
mod prompt;
mod start;
mod teardown;

pub(crate) use crate::pinned::wedge;

use jsonrpc_fake_runtime::Script;
use jsonrpc_fake_runtime::acp::AcpSteps as _;

use crate::pinned::row::launches;
use crate::pinned::{Section, Table};

fn table() -> Table {
    Table {
        kind: "subagent-acp",
        name: "acp",
        child: "an ACP agent",
        sections: vec![
            Section::new("Before the conversation", launches(&Script::acp().ready())),
            Section::new("The handshake", start::handshakes()),
            Section::new("A start that is cancelled", start::cancellations()),
            Section::new("The end of a turn", prompt::turns()),
            Section::new("A prompt that fails", prompt::failures()),
            Section::new("A prompt that is given up", prompt::interruptions()),
            Section::new("Permission decisions", permission::decisions()),
            Section::new("Teardown", teardown::failures()),
        ],
    }
}

mod heavy {
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn every_row_about_an_acp_agent_reads_as_pinned() {
        super::table().check().await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn every_row_about_an_acp_agent_reads_as_pinned_over_mcp() {
        super::table().check_over_mcp().await;
    }
}
