//! The bundled demo agent: a small ACP agent without a model, for trying the command out. Owns what it says, and how the
//! command starts itself as one; speaking the protocol is `jsonrpc-fake-runtime`'s.

use std::env;
use std::io::{self, Read, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use jsonrpc_fake_runtime::acp::AcpSteps as _;
use jsonrpc_fake_runtime::{Received, Runtime, Script, Split, Stdio};
use serde::Deserialize;
use serde_json::json;
use subagent_config::{CommandLine, PermissionPolicy};
use subagent_seam::Chain;

use crate::error::CliError;
use crate::exit::Exit;
use crate::terminal::escaped;

/// The hidden subcommand that runs the agent on this process's own streams.
pub(crate) const SUBCOMMAND: &str = "demo-agent";

/// More turns than anybody takes in one session; the agent stops answering after them.
const MAX_TURNS: u64 = 10_000;

/// A day: the agent ends when its client closes the pipe, long before that.
const LIFETIME_MS: u64 = 24 * 60 * 60 * 1000;

/// The longest part of the task's first line that is repeated, in characters.
const MAX_QUOTED: usize = 120;

/// The command line that starts this very program as the demo agent.
pub(crate) fn command_line() -> Result<CommandLine, CliError> {
    let program = env::current_exe().map_err(|source| CliError::System {
        what: "the path of this program is unknown, so it cannot start itself as the demo agent",
        source,
    })?;
    Ok(CommandLine::Acp {
        command: program.into(),
        args: vec![SUBCOMMAND.into()],
        permission: PermissionPolicy::default(),
    })
}

/// Runs the agent until its client closes standard input.
pub(crate) fn serve() -> Exit {
    let cancelled = Arc::new(AtomicBool::new(false));
    let served = watched(io::stdin(), Arc::clone(&cancelled)).and_then(|input| {
        let stdio = Stdio::of(input, io::stdout(), io::stderr());
        let outcome = agent(cancelled).run(stdio).map_err(io::Error::other)?;
        Ok(outcome.exit_code())
    });
    match served {
        Ok(0) => Exit::Success,
        Ok(_) => Exit::Failure,
        Err(error) => {
            // An agent whose stderr is closed has nowhere else to say it.
            drop(writeln!(io::stderr(), "demo agent: {}", Chain(&error)));
            Exit::Failure
        }
    }
}

/// The agent, as a script whose answers are computed from what it receives.
fn agent(cancelled: Arc<AtomicBool>) -> Runtime {
    let about = json!({
        "protocolVersion": 1,
        "agentCapabilities": {},
        "agentInfo": {"name": "subagent-demo", "version": env!("CARGO_PKG_VERSION")},
    });
    let script = Script::acp()
        .lifetime_ms(LIFETIME_MS)
        .initialize_with(about)
        .new_session()
        .repeat(MAX_TURNS, |turn| {
            turn.prompt()
                .each_part("{answer}", Split::Lines, |part| part.chunk("{part}"))
                .stop("{stopReason}")
        });
    Runtime::new(script)
        .value("answer", |received: &Received| {
            answer(&received.prompt().unwrap_or_default())
        })
        .value("stopReason", move |_| {
            let reason = if cancelled.swap(false, Ordering::SeqCst) {
                "cancelled"
            } else {
                "end_turn"
            };
            reason.to_owned()
        })
}

/// What the agent says to a task: everything in it can be checked by looking.
fn answer(prompt: &str) -> String {
    let first = prompt
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default()
        .trim();
    let mut quoted: String = first.chars().take(MAX_QUOTED).collect();
    if quoted.len() < first.len() {
        quoted.push('…');
    }
    format!(
        "This is the bundled demo agent. No model is involved and nothing was done.\n\
         The task begins: {}\n\
         It has {}, {} and {}.\n\
         To delegate to a real agent: subagent run --acp 'COMMAND ARG…' PROMPT\n",
        escaped(&quoted),
        count(prompt.split_whitespace().count(), "word"),
        count(prompt.lines().count(), "line"),
        count(prompt.chars().count(), "character"),
    )
}

fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// The input, read ahead by a thread that notices a `session/cancel` before the script gets to it: the script is busy
/// with the turn that the cancellation means.
fn watched(mut input: impl Read + Send + 'static, cancelled: Arc<AtomicBool>) -> io::Result<io::PipeReader> {
    let (reader, mut writer) = io::pipe()?;
    thread::Builder::new().spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        let mut line = Vec::new();
        // The end of the input, and a script that has ended, both end this thread and close the pipe.
        while let Ok(length @ 1..) = input.read(&mut buffer) {
            for part in buffer[..length].split_inclusive(|byte| *byte == b'\n') {
                line.extend_from_slice(part);
                if line.ends_with(b"\n") {
                    notice(&line, &cancelled);
                    line.clear();
                }
            }
            if writer.write_all(&buffer[..length]).is_err() {
                break;
            }
        }
    })?;
    Ok(reader)
}

/// A cancellation means the turn before it, so a prompt forgets it.
fn notice(line: &[u8], cancelled: &AtomicBool) {
    #[derive(Deserialize)]
    struct Frame<'a> {
        #[serde(borrow)]
        method: Option<&'a str>,
    }
    match serde_json::from_slice::<Frame<'_>>(line)
        .ok()
        .and_then(|frame| frame.method)
    {
        Some("session/cancel") => cancelled.store(true, Ordering::SeqCst),
        Some("session/prompt") => cancelled.store(false, Ordering::SeqCst),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    /// The frames that the agent sends when it gets `input` at once and then the end of its stdin.
    fn spoken(input: &[Value]) -> Vec<Value> {
        let mut bytes = Vec::new();
        for frame in input {
            bytes.extend(format!("{frame}\n").into_bytes());
        }
        let cancelled = Arc::new(AtomicBool::new(false));
        let input = watched(io::Cursor::new(bytes), Arc::clone(&cancelled)).unwrap();
        let (mut output, writer) = io::pipe().unwrap();
        let reading = thread::spawn(move || {
            let mut text = String::new();
            output.read_to_string(&mut text).unwrap();
            text
        });
        let outcome = agent(cancelled)
            .run(Stdio::of(input, writer, io::sink()))
            .unwrap();
        assert_eq!(outcome.exit_code(), 0);
        let text = reading.join().unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    fn request(id: u32, method: &str, params: &Value) -> Value {
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
    }

    fn session(turns: &[Value]) -> Vec<Value> {
        let mut input = vec![
            request(0, "initialize", &json!({"protocolVersion": 1})),
            request(1, "session/new", &json!({"cwd": "/", "mcpServers": []})),
        ];
        input.extend_from_slice(turns);
        spoken(&input)
    }

    fn prompt(id: u32, text: &str) -> Value {
        let blocks = json!([{"type": "text", "text": text}]);
        request(
            id,
            "session/prompt",
            &json!({"sessionId": "session-1", "prompt": blocks}),
        )
    }

    fn said(frames: &[Value]) -> Vec<&str> {
        frames
            .iter()
            .filter_map(|frame| frame.pointer("/params/update/content/text")?.as_str())
            .collect()
    }

    #[test]
    fn a_turn_is_several_chunks_and_an_end() {
        let frames = session(&[prompt(2, "Say hello\nto everybody")]);
        assert_eq!(frames[0]["result"]["protocolVersion"], 1);
        assert_eq!(frames[1]["result"], json!({"sessionId": "session-1"}));
        assert_eq!(
            said(&frames).concat(),
            "This is the bundled demo agent. No model is involved and nothing was done.\n\
             The task begins: Say hello\n\
             It has 4 words, 2 lines and 22 characters.\n\
             To delegate to a real agent: subagent run --acp 'COMMAND ARG…' PROMPT\n"
        );
        assert_eq!(said(&frames).len(), 4);
        let end = json!({"jsonrpc": "2.0", "id": 2, "result": {"stopReason": "end_turn"}});
        assert_eq!(frames.last(), Some(&end));
    }

    #[test]
    fn a_cancelled_turn_ends_as_cancelled_and_the_next_one_does_not() {
        let cancel =
            json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "session-1"}});
        let frames = session(&[prompt(2, "one"), cancel.clone()]);
        assert_eq!(frames.last().unwrap()["result"]["stopReason"], "cancelled");

        let frames = session(&[cancel, prompt(2, "one")]);
        assert_eq!(frames.last().unwrap()["result"]["stopReason"], "end_turn");
    }

    #[test]
    fn a_client_that_leaves_early_ends_the_agent() {
        assert_eq!(spoken(&[]), Vec::<Value>::new());
        assert_eq!(session(&[]).len(), 2);
    }

    #[test]
    fn the_quoted_line_is_short_and_harmless() {
        let long = answer(&format!("\n\u{1b}[31m{}", "ä".repeat(200)));
        let line = long.lines().nth(1).unwrap();
        assert_eq!(line, format!("The task begins: \\u001b[31m{}…", "ä".repeat(115)));
    }
}
