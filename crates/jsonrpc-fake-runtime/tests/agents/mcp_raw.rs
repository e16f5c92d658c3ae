//! The tools over MCP for a client that writes its lines by hand: what is answered and what is not, what a huge message
//! costs, and what becomes of a client of which only a half is left.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use jsonrpc_fake_runtime::Script;
use jsonrpc_fake_runtime::acp::AcpSteps as _;
use serde_json::{Value, json};

use crate::command_support::{Place, until};

/// A client that has begun its session.
struct Raw<'a> {
    place: &'a Place,
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Option<Lines<BufReader<ChildStdout>>>,
}

impl<'a> Raw<'a> {
    fn of(place: &'a Place, config: &str) -> Self {
        place.write("work/subagents.yml", config);
        let mut child = place.command(["mcp"]).stdin(Stdio::piped()).spawn().unwrap();
        let stdout = child.stdout.take().map(|stdout| BufReader::new(stdout).lines());
        let stdin = child.stdin.take();
        let mut raw = Self {
            place,
            child,
            stdin,
            stdout,
        };
        let info = json!({"name": "raw", "version": "1"});
        raw.request(
            1,
            "initialize",
            &json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info}),
        );
        assert_eq!(raw.read()["id"], 1);
        raw.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        raw
    }

    fn send(&mut self, message: &Value) {
        self.write(format!("{message}\n").as_bytes());
    }

    fn write(&mut self, bytes: &[u8]) {
        self.stdin.as_mut().unwrap().write_all(bytes).unwrap();
    }

    fn request(&mut self, id: u64, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    }

    fn call(&mut self, id: u64, tool: &str, prompt: &str) {
        let arguments = json!({"description": "raw", "prompt": prompt});
        self.request(id, "tools/call", &json!({"name": tool, "arguments": arguments}));
    }

    fn read(&mut self) -> Value {
        let line = self.stdout.as_mut().unwrap().next().unwrap();
        serde_json::from_str(&line.unwrap()).unwrap()
    }

    /// A line of what the kernel tells about the server's memory, in KiB.
    fn memory(&self, line: &str) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let found = status.lines().find_map(|text| text.strip_prefix(line)).unwrap();
        found.trim_matches([':', ' ', '\t', 'k', 'B']).parse().unwrap()
    }

    /// Waits for the end of the command, and fails unless nothing is left then.
    fn ended(mut self) -> i32 {
        let mut ended = None;
        until("the command has ended", || {
            ended = self.child.try_wait().unwrap();
            ended.is_some()
        });
        self.place.assert_nothing_left();
        ended.unwrap().code().unwrap()
    }

    /// Closes the client's side; the exit code, and whatever was still written.
    fn close(mut self) -> (i32, Vec<Value>) {
        self.stdin = None;
        let rest = self
            .stdout
            .take()
            .into_iter()
            .flatten()
            .map(|line| serde_json::from_str(&line.unwrap()).unwrap());
        let rest = rest.collect();
        (self.ended(), rest)
    }
}

fn hanging(place: &Place) -> String {
    let script = Script::acp().prompted().touch("{prompt}").hang();
    let echo = Script::acp().prompted().chunk("{prompt}").end_turn();
    let mut config = String::new();
    for (name, script) in [("hang", script), ("echo", echo)] {
        config += &place.entry(
            name,
            &script,
            "    disposeEofGraceMs: 300\n    disposeGraceMs: 300\n",
        );
        writeln!(
            config,
            "- {{ id: t-{name}, name: tool-subagent, config: {{ provider: {name}, toolName: {name} }} }}"
        )
        .unwrap();
    }
    config
}

#[test]
fn a_cancelled_call_is_never_answered() {
    let place = Place::new();
    let mut raw = Raw::of(&place, &hanging(&place));
    raw.call(2, "hang", "one");
    let sign = place.work().join("one");
    until("the agent was prompted", || sign.exists());
    raw.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}));
    until("only the command is left", || place.living().len() == 1);
    raw.call(3, "echo", "later");
    let answer = raw.read();
    assert_eq!(
        (&answer["id"], &answer["result"]["content"][0]["text"]),
        (&json!(3), &json!("later"))
    );
    assert_eq!(raw.close(), (0, vec![]));
}

#[test]
fn a_call_that_is_not_formed_as_one_is_answered_with_a_result_that_says_why() {
    let place = Place::new();
    let mut raw = Raw::of(&place, &hanging(&place));
    for (id, params, text) in [
        (
            2,
            json!({"name": "echo", "arguments": [1]}),
            "Error: arguments is an array, expected an object",
        ),
        (
            3,
            json!({"arguments": {}}),
            "Error: name is missing, expected a string",
        ),
        (
            4,
            json!({"name": 5}),
            "Error: name is a number, expected a string",
        ),
        (
            5,
            json!({"name": "echo", "arguments": null}),
            "Error: argument description is missing, expected a string",
        ),
    ] {
        raw.request(id, "tools/call", &params);
        let answer = raw.read();
        assert_eq!(answer["id"], id);
        assert_eq!(
            answer["result"],
            json!({"content": [{"type": "text", "text": text}], "isError": true})
        );
    }
    assert_eq!(raw.close(), (0, vec![]));
}

#[test]
fn a_client_that_reads_no_more_is_gone_although_it_could_still_write() {
    let place = Place::new();
    let mut raw = Raw::of(&place, &hanging(&place));
    raw.call(2, "hang", "one");
    let arguments = json!({"description": "raw", "prompt": "job", "run_in_background": true});
    raw.request(3, "tools/call", &json!({"name": "hang", "arguments": arguments}));
    assert_eq!(raw.read()["id"], 3);
    for sign in ["one", "job"] {
        let sign = place.work().join(sign);
        until("the agent was prompted", || sign.exists());
    }
    raw.stdout = None;
    // Nothing has to be written for it to be noticed.
    assert_eq!(raw.ended(), 0);
}

mod heavy {
    use super::*;

    /// What a server may need at most, in KiB: four times the longest message that is heard, and itself.
    const AT_MOST: u64 = (4 * 16 + 40) << 10;

    #[test]
    fn a_message_of_any_length_costs_no_more_than_the_longest_that_is_heard() {
        let place = Place::new();
        let mut raw = Raw::of(&place, &hanging(&place));
        raw.request(2, "ping", &json!({}));
        assert_eq!(raw.read()["id"], 2);
        let before = raw.memory("VmRSS");

        // 400 MiB on one line, in an argument.
        raw.write(b"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"");
        let block = vec![b'x'; 1 << 20];
        for _ in 0..400 {
            raw.write(&block);
        }
        raw.write(b"\"}}\n");
        raw.request(4, "ping", &json!({}));
        assert_eq!(raw.read()["id"], 4, "the long one is not answered");
        let peak = raw.memory("VmHWM");
        assert!(peak < AT_MOST, "{peak} KiB at the peak, {before} KiB before");

        // And one that is as long as may be, and is heard, but names no tool.
        let name = "y".repeat((16 << 20) - 200);
        raw.request(5, "tools/call", &json!({"name": name}));
        let answer = raw.read();
        assert_eq!(answer["id"], 5);
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.len() < 200, "{} bytes are given back", text.len());
        let peak = raw.memory("VmHWM");
        assert!(peak < AT_MOST, "{peak} KiB at the peak, {before} KiB before");
        assert_eq!(raw.close(), (0, vec![]));
    }
}
