//! The tools over MCP on the wire: protocol versions of every age, messages that are none, and what stdout carries.

use std::io::Write as _;
use std::process::Stdio;
use std::thread;

use jsonrpc_fake_runtime::Script;
use jsonrpc_fake_runtime::acp::AcpSteps as _;
use rmcp::model::ProtocolVersion;
use rmcp::service::ClientLifecycleMode;
use serde_json::{Value, json};

use crate::command_process::Finished;
use crate::command_support::{Place, until};
use crate::mcp_support::{Client, seen, serve_to, task};

fn echo() -> Script {
    Script::acp().prompted().chunk("{prompt}").end_turn()
}

fn request(id: u64, method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string() + "\n"
}

fn initialize(version: &str) -> String {
    let info = json!({"name": "raw", "version": "1"});
    let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": info});
    request(1, "initialize", &params)
}

/// Writes `lines` to the command and closes its stdin; what it wrote, as messages.
fn spoken(place: &Place, lines: &[&[u8]]) -> (Finished, Vec<Value>) {
    place.write("work/subagents.yml", place.entry("agent", &echo(), ""));
    let mut command = place.command(["mcp"]);
    let mut started = place.start(command.stdin(Stdio::piped()));
    let mut stdin = started.stdin.take().unwrap();
    let lines = lines.concat();
    let writing = thread::spawn(move || stdin.write_all(&lines).unwrap());
    let finished = started.finish();
    writing.join().unwrap();
    let messages = finished
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let messages = messages.collect();
    (finished, messages)
}

#[test]
fn the_version_that_a_client_asks_for_is_spoken_if_it_is_known() {
    for (asked, spoken_version) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
        ("1.0", "2025-11-25"),
    ] {
        let place = Place::new();
        let list = request(2, "tools/list", &json!({}));
        let (finished, messages) = spoken(&place, &[initialize(asked).as_bytes(), list.as_bytes()]);
        assert_eq!((finished.code(), finished.stderr.as_str()), (0, ""));
        assert_eq!(
            messages[0]["result"]["protocolVersion"], spoken_version,
            "{asked}"
        );
        assert_eq!(
            messages[1]["result"]["tools"].as_array().unwrap().len(),
            4,
            "{asked}"
        );
        assert_eq!(messages.len(), 2);
    }
}

#[tokio::test]
async fn a_client_of_the_newest_version_needs_no_beginning() {
    let place = Place::new();
    let lifecycle = ClientLifecycleMode::Discover {
        preferred_versions: vec![ProtocolVersion::LATEST],
    };
    let config = place.entry("agent", &echo(), "");
    let served = serve_to(&place, &config, Client::default(), lifecycle, &[]).await;
    assert_eq!(
        seen(&served.call("subagent", task("hello")).await),
        ("hello".to_owned(), false)
    );
    assert_eq!(served.close().await.0, 0);
}

#[test]
fn what_is_no_message_costs_nothing_but_itself() {
    let place = Place::new();
    let long = [
        b"{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"".as_slice(),
        &vec![b'x'; 20 << 20],
        b"\"}\n",
    ]
    .concat();
    let begin = initialize("2025-06-18");
    let (list, unheard) = (
        request(2, "tools/list", &json!({})),
        request(3, "unheard/of", &json!({})),
    );
    let lines: &[&[u8]] = &[
        b"not json\n",
        b"\n",
        b"\xff\xfe\n",
        b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}\n",
        begin.as_bytes(),
        b"[1]\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":5}\n",
        b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/unheard_of\"}\n",
        b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":12345}}\n",
        &long,
        list.as_bytes(),
        unheard.as_bytes(),
        b"{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tools/li",
    ];
    let (finished, messages) = spoken(&place, lines);
    assert_eq!((finished.code(), finished.stderr.as_str()), (0, ""));
    let of = |id: u64| {
        messages
            .iter()
            .find(|message| message["id"] == id)
            .unwrap_or(&Value::Null)
    };
    assert_eq!(of(1)["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(of(2)["result"]["tools"].as_array().map(Vec::len), Some(4));
    assert_eq!(of(3)["error"]["code"], -32601);
    assert!(
        of(4).is_null() && of(9).is_null() && of(77).is_null(),
        "{messages:?}"
    );
}

#[test]
fn a_client_that_does_not_read_cannot_hold_up_the_end() {
    let place = Place::new();
    place.write("work/subagents.yml", place.entry("agent", &echo(), ""));
    let mut child = place.command(["mcp"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(initialize("2025-06-18").as_bytes()).unwrap();
    // Far more than the pipe holds, which nobody empties.
    for id in 2..200 {
        let list = request(id, "tools/list", &json!({}));
        stdin.write_all(list.as_bytes()).unwrap();
    }
    drop(stdin);
    let mut ended = None;
    until("the command has ended", || {
        ended = child.try_wait().unwrap();
        ended.is_some()
    });
    assert_eq!(ended.unwrap().code(), Some(0));
    place.assert_nothing_left();
}

#[test]
fn a_client_that_never_begins_is_no_error() {
    for lines in [&[][..], &[b"not json\n".as_slice()]] {
        let place = Place::new();
        let (finished, messages) = spoken(&place, lines);
        assert_eq!(finished.seen(), (0, "", ""));
        assert!(messages.is_empty());
    }
}

#[test]
fn a_configuration_that_will_not_do_is_told_on_stderr() {
    let place = Place::new();
    let run = place.run(["mcp", "--config", "none.yml"]);
    assert_eq!((run.code(), run.stdout.as_str()), (2, ""));
    assert!(run.stderr.contains("none.yml"), "{run:?}");
    let entry = place
        .entry("agent", &echo(), "")
        .replacen("  name:", "  disabled: true\n  name:", 1);
    place.write("work/subagents.yml", entry);
    let run = place.run(["mcp"]);
    assert_eq!(
        run.seen(),
        (
            2,
            "",
            "error: the configuration has no tool, expected a tool-subagent entry\n"
        )
    );
}
