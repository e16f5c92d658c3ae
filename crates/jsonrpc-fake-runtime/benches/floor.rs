//! What a run costs above the least that any host could pay. Owns the measurement: the same fake child, driven by the
//! real provider and by hand-written blocking code, in turn, in one process.
//!
//! The floor spawns the binary, writes the same three requests, reads the same answers, closes the child's input and
//! waits for it. It checks nothing, bounds nothing and ends nothing by force.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench reports by panicking and printing"
)]

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use jsonrpc_fake_runtime::acp::AcpSteps as _;
use jsonrpc_fake_runtime::{Prepared, Script};
use subagent_acp::{AcpConfig, AcpProvider};
use subagent_seam::{HostReporter, Parent, Provider as _, StartRequest, text_of};

const PAIRS: usize = 400;
const ANSWER: &str = "forty-two";

fn main() {
    let fake = env!("CARGO_BIN_EXE_jsonrpc-fake-runtime");
    let script = Script::acp().prompted().chunk(ANSWER).end_turn();
    // No record: the fake is to do as little as it can.
    let prepared = Prepared::in_temp_dir(&script).unwrap();
    let args = ["--script".into(), prepared.script_file().into_os_string()];

    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let mut config = AcpConfig::new(fake);
    config.args = args.to_vec();
    let provider = AcpProvider::new(config, HostReporter::default()).unwrap();
    let env: Vec<_> = std::env::vars_os().collect();

    let (mut floors, mut runs) = (Vec::with_capacity(PAIRS), Vec::with_capacity(PAIRS));
    // The first tenth warms up and is thrown away.
    for pair in 0..PAIRS + PAIRS / 10 {
        let floor = timed(|| by_hand(fake, &args, &env, prepared.dir()));
        let run = timed(|| runtime.block_on(by_provider(&provider, prepared.dir())));
        if pair >= PAIRS / 10 {
            floors.push(floor);
            runs.push(run);
        }
    }
    let (floor, run) = (median(floors), median(runs));
    println!("floor  {:>8.0} µs (median of {PAIRS})", micros(floor));
    println!("run    {:>8.0} µs", micros(run));
    println!("ratio  {:>8.3}", run.as_secs_f64() / floor.as_secs_f64());
}

async fn by_provider(provider: &AcpProvider, cwd: &Path) {
    let parent = Parent {
        session_id: "bench".to_owned(),
        cwd: Some(cwd.to_owned()),
        depth: 0,
    };
    let run = provider
        .start(StartRequest::text("what is it?", parent))
        .await
        .unwrap();
    let result = run.result().await;
    run.dispose().await.unwrap();
    assert_eq!(text_of(&result.output), ANSWER);
}

#[expect(
    clippy::disallowed_methods,
    reason = "the floor is written without the product"
)]
fn by_hand(
    fake: &str,
    args: &[std::ffi::OsString],
    env: &[(std::ffi::OsString, std::ffi::OsString)],
    cwd: &Path,
) {
    let mut child = Command::new(fake)
        .args(args)
        .env_clear()
        .envs(env.iter().cloned())
        .current_dir(cwd)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    let mut ask = |request: String, answers: usize| {
        stdin.write_all(request.as_bytes()).unwrap();
        for _ in 0..answers {
            line.clear();
            stdout.read_line(&mut line).unwrap();
        }
    };
    ask(
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":1,\
         \"clientCapabilities\":{},\"clientInfo\":{\"name\":\"floor\",\"version\":\"0\"}}}\n"
            .to_owned(),
        1,
    );
    let cwd = serde_json::to_string(cwd).unwrap();
    ask(
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/new\",\"params\":{{\"cwd\":{cwd},\"mcpServers\":[]}}}}\n"
        ),
        1,
    );
    ask(
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"session/prompt\",\"params\":{\"sessionId\":\"session-1\",\
         \"prompt\":[{\"type\":\"text\",\"text\":\"what is it?\"}]}}\n"
            .to_owned(),
        2,
    );
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

fn timed(work: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    work();
    begun.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
