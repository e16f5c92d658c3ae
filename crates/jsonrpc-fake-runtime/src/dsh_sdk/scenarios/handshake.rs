//! Scenarios about the answers to `initialize`, `session/prompt` and `shutdown`.

use serde_json::{Value, json};

use crate::dsh_sdk::DshSdkSteps;
use crate::scenario::Scenario;
use crate::script::Script;

pub(super) fn scenarios() -> Vec<Scenario> {
    let infos = [
        ("missing", json!({})),
        ("null", json!({"serverInfo": null})),
        ("no-object", json!("deepseek-harness-sdk-runtime")),
        ("name-missing", json!({"serverInfo": {"version": "1"}})),
        ("name-number", json!({"serverInfo": {"name": 7, "version": "1"}})),
        (
            "version-missing",
            json!({"serverInfo": {"name": "deepseek-harness-sdk-runtime"}}),
        ),
        (
            "version-number",
            json!({"serverInfo": {"name": "deepseek-harness-sdk-runtime", "version": 1}}),
        ),
        (
            "other-name",
            json!({"serverInfo": {"name": "another-runtime", "version": "1"}}),
        ),
    ];
    let receipts = [
        ("missing", json!({})),
        ("null", Value::Null),
        ("number", json!({"messageId": 7})),
        ("no-object", json!("message-1")),
    ];
    let mut list = Vec::new();
    for (name, result) in infos {
        list.push(Scenario::new(
            format!("server-info-{name}"),
            format!("answers initialize with {result}"),
            move || {
                let script = Script::dsh_sdk()
                    .initialize_with(result.clone())
                    .prompt()
                    .mark()
                    .receipt();
                script.message("hello").completed().shutdown()
            },
        ));
    }
    for (name, result) in receipts {
        list.push(Scenario::new(
            format!("receipt-{name}"),
            format!("answers the prompt with {result}"),
            move || {
                let script = Script::dsh_sdk().initialize().prompt().mark();
                script
                    .respond(result.clone())
                    .message("hello")
                    .completed()
                    .shutdown()
            },
        ));
    }
    list.extend(refusals());
    list
}

fn refusals() -> Vec<Scenario> {
    vec![
        Scenario::new(
            "auth-required",
            "answers initialize with an error whose message holds {secret}",
            || {
                let message = "not ready: the credential {secret} has expired";
                Script::dsh_sdk()
                    .var("secret", "fake-credential-4711")
                    .expect("initialize")
                    .respond_error(-32000, message)
            },
        ),
        Scenario::new("shutdown-slow", "answers shutdown after 300 ms", || {
            let script = Script::dsh_sdk().accepted().message("hello").completed();
            script.expect("shutdown").sleep_ms(300).respond(json!({}))
        }),
        Scenario::new("shutdown-exits", "answers shutdown and exits at once", || {
            Script::dsh_sdk().answered("hello").exit(0)
        }),
        Scenario::new(
            "shutdown-chatty",
            "sends events between shutdown and its answer, noise after it",
            || {
                let script = Script::dsh_sdk().accepted().message("hello").completed();
                script
                    .expect("shutdown")
                    .event("session/closing", json!({}))
                    .status("idle")
                    .respond(json!({}))
                    .line("bye")
            },
        ),
    ]
}
