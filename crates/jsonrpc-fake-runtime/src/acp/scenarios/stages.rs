//! Scenarios about something that goes wrong at a stage of the run.

use serde_json::{Value, json};

use crate::acp::{AcpSteps, Stage};
use crate::misbehave::{self, Spot};
use crate::scenario::Scenario;
use crate::script::Script;

const SPOTS: [Spot; 6] = [
    Spot {
        name: "start",
        place: "before reading anything",
        script: Script::acp,
    },
    Spot {
        name: "initialize",
        place: "instead of answering initialize",
        script: || at(Stage::Initialize),
    },
    Spot {
        name: "new-session",
        place: "instead of answering session/new",
        script: || at(Stage::NewSession),
    },
    Spot {
        name: "prompt",
        place: "instead of answering the prompt",
        script: || at(Stage::Prompt),
    },
    Spot {
        name: "mid-prompt",
        place: "after a first chunk",
        script: || at(Stage::MidPrompt),
    },
    Spot {
        name: "after-turn",
        place: "after the end of the turn",
        script: || at(Stage::AfterTurn),
    },
];

pub(super) fn scenarios() -> Vec<Scenario> {
    let mut list = misbehave::faults(&SPOTS);
    list.extend(misbehave::errors(&SPOTS[1..5], |s| s));
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

fn at(stage: Stage) -> Script {
    Script::acp().up_to(stage)
}
