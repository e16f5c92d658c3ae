//! Scenarios about something that goes wrong at a stage of the run.

use serde_json::{Value, json};

use crate::acp::{AcpSteps, Stage};
use crate::scenario::Scenario;
use crate::script::Script;
use crate::step::{Signal, Step};

type Add = fn(Script) -> Script;

/// What can go wrong at every stage.
const FAULTS: [(&str, &str, Add); 10] = [
    ("exit-0", "exits with code 0", |s| s.exit(0)),
    ("exit-7", "exits with code 7", |s| s.exit(7)),
    ("sigkill", "kills itself with SIGKILL", |s| {
        s.kill_self(Signal::Kill)
    }),
    ("sigsegv", "kills itself with SIGSEGV", |s| {
        s.kill_self(Signal::Segv)
    }),
    ("sigabrt", "kills itself with SIGABRT", |s| {
        s.kill_self(Signal::Abrt)
    }),
    ("sigterm", "kills itself with SIGTERM", |s| {
        s.kill_self(Signal::Term)
    }),
    ("closed-stdout", "closes stdout and reads on", |s| {
        s.step(Step::CloseStdout)
    }),
    ("closed-pipes", "closes stdin and stdout and stays alive", |s| {
        s.step(Step::CloseStdout).step(Step::CloseStdin).hang()
    }),
    ("silent", "reads on and says nothing more", |s| s),
    ("deaf", "neither reads nor says anything more", Script::hang),
];

pub(super) fn scenarios() -> Vec<Scenario> {
    let mut list = Vec::new();
    for (name, about, add) in FAULTS {
        for stage in Stage::ALL {
            list.push(Scenario::new(
                format!("{name}-at-{}", stage.name()),
                format!("{about} {}", place(stage)),
                move || Script::acp().up_to(stage).then(add),
            ));
        }
    }
    for stage in [
        Stage::Initialize,
        Stage::NewSession,
        Stage::Prompt,
        Stage::MidPrompt,
    ] {
        list.push(Scenario::new(
            format!("error-at-{}", stage.name()),
            format!("answers with a JSON-RPC error {}", place(stage)),
            move || Script::acp().up_to(stage).respond_error(-32603, "internal error"),
        ));
    }
    list.push(Scenario::new(
        "auth-required",
        "answers session/new with error -32000 and a message that holds {secret}",
        || {
            let message = "Authentication required: the credential {secret} has expired";
            Script::acp()
                .var("secret", "fake-credential-4711")
                .up_to(Stage::NewSession)
                .respond_error(-32000, message)
        },
    ));
    list.extend(handshakes());
    list
}

fn handshakes() -> Vec<Scenario> {
    let versions = [
        ("2", json!({"protocolVersion": 2})),
        ("0", json!({"protocolVersion": 0})),
        ("65536", json!({"protocolVersion": 65536})),
        ("absent", json!({"agentCapabilities": {}})),
        ("string", json!({"protocolVersion": "1"})),
        ("float", json!({"protocolVersion": 1.5})),
        ("null", json!({"protocolVersion": null})),
        ("no-object", json!(1)),
    ];
    let sessions = [
        ("number", json!({"sessionId": 42})),
        ("missing", json!({"modes": null})),
        ("null", json!({"sessionId": null})),
        ("no-object", json!("session-1")),
        ("empty", json!({"sessionId": ""})),
    ];
    let mut list = Vec::new();
    for (name, result) in versions {
        list.push(Scenario::new(
            format!("version-{name}"),
            format!("answers initialize with {result}"),
            move || Script::acp().initialize_with(result.clone()).then(finish),
        ));
    }
    for (name, result) in sessions {
        list.push(Scenario::new(
            format!("session-id-{name}"),
            format!("answers session/new with {result}"),
            move || session(&result).prompt().chunk("hello").end_turn(),
        ));
    }
    list
}

/// A client that accepts the version gets its answer, so that a test sees that it went on.
fn finish(script: Script) -> Script {
    script.new_session().prompt().chunk("hello").end_turn()
}

fn session(result: &Value) -> Script {
    let script = Script::acp().initialize().new_session_with(result.clone());
    // The updates belong to the session that was announced, also when its id is empty.
    if result["sessionId"] == "" {
        script.var("sessionId", "")
    } else {
        script
    }
}

fn place(stage: Stage) -> &'static str {
    match stage {
        Stage::Start => "before reading anything",
        Stage::Initialize => "instead of answering initialize",
        Stage::NewSession => "instead of answering session/new",
        Stage::Prompt => "instead of answering the prompt",
        Stage::MidPrompt => "after a first chunk",
        Stage::AfterTurn => "after the end of the turn",
    }
}
