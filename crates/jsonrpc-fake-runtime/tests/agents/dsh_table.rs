//! The whole table of what a parent reads about a DSH SDK runtime: every stage, every category, every way in which a run
//! ends. Owns the order of the sections; the rows are data, by stage, and played and pinned by `pinned`.

mod failure;
mod start;
mod teardown;
mod turn;

use jsonrpc_fake_runtime::dsh_sdk::DshSdkSteps as _;
use jsonrpc_fake_runtime::{Protocol, Script, scenarios};

use crate::pinned::row::launches;
use crate::pinned::{Section, Table};

fn table() -> Table {
    Table {
        kind: "subagent-dsh-sdk",
        name: "dsh_sdk",
        child: "a DSH SDK runtime",
        sections: vec![
            Section::new(
                "Before the conversation",
                launches(&Script::dsh_sdk().initialize()),
            ),
            Section::new("The handshake", start::handshakes()),
            Section::new("A start that is cancelled", start::cancellations()),
            Section::new("The end of a turn", turn::ends()),
            Section::new("A run that fails", failure::failures()),
            Section::new("A run that is given up", failure::interruptions()),
            Section::new("The protocol's shutdown", teardown::shutdowns()),
            Section::new("Teardown", teardown::failures()),
        ],
    }
}

/// The ready-made scenario of that name.
fn scenario(name: &str) -> Script {
    let all = scenarios(Protocol::DshSdk);
    let found = all.iter().find(|scenario| scenario.name() == name);
    found.unwrap_or_else(|| panic!("no scenario {name}")).script()
}

mod heavy {
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn every_row_about_a_dsh_sdk_runtime_reads_as_pinned() {
        super::table().check().await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn every_row_about_a_dsh_sdk_runtime_reads_as_pinned_over_mcp() {
        super::table().check_over_mcp().await;
    }
}
