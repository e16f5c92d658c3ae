//! The schema: pinned whole, and true of the files that the loader takes and of the defaults that it uses.

use crate::json_schema::faults;
use crate::support::{fixtures, host, names};
use serde_json::{Value, json};
use serde_saphyr::NonFiniteFloatPolicy;
use subagent_config::{AcpConfig, DshSdkConfig, JobsEntry, load_str, schema};

fn fixture(directory: &str, name: &str) -> Value {
    let text = std::fs::read_to_string(fixtures(directory).join(name)).unwrap();
    // Another reader than the loader's, which knows nothing of `!env` and reads its argument as text.
    let options = serde_saphyr::options! {
        strict_booleans: true,
        non_finite_float_policy: NonFiniteFloatPolicy::PassThrough,
    };
    serde_saphyr::from_str_with_options(&text, options).unwrap()
}

fn options(kind: &str) -> Value {
    schema()["$defs"][kind]["properties"]["config"]["properties"].clone()
}

#[test]
fn the_schema_is_pinned() {
    insta::assert_snapshot!(format!("{:#}", schema()));
}

#[test]
fn every_valid_file_conforms() {
    for name in names("valid") {
        let mut file = fixture("valid", &name);
        if name == "every-key.yml" {
            // A variable for a number, which plain YAML cannot know.
            file[0]["config"]["idleTimeoutMs"] = json!(2500);
        }
        assert_eq!(faults(&schema(), &file), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn a_file_with_a_fault_that_a_schema_can_see_does_not_conform() {
    for name in [
        "unknown-keys.yml",
        "wrong-types.yml",
        "bounds.yml",
        "missing-keys.yml",
        "kinds.yml",
        "not-a-list.yml",
    ] {
        let file = fixture("broken", name);
        assert!(!faults(&schema(), &file).is_empty(), "{name}");
    }
}

#[test]
fn the_defaults_are_those_of_the_provider() {
    let defaults = AcpConfig::new("gemini");
    let options = options("subagent-acp");
    let millis = |key: &str| u128::from(options[key]["default"].as_u64().unwrap());
    assert_eq!(options["providerName"]["default"], defaults.provider_name);
    assert_eq!(options["args"]["default"], json!([]));
    assert_eq!(options["permission"]["default"], "reject");
    assert_eq!(options["inheritEnv"]["default"], "scrubbed");
    assert_eq!(options["inheritEnv"]["enum"], json!(["scrubbed", "minimal"]));
    assert_eq!(
        millis("disposeEofGraceMs"),
        defaults.dispose_eof_grace.as_millis()
    );
    assert_eq!(millis("disposeGraceMs"), defaults.dispose_grace.as_millis());
    assert_eq!(
        millis("startupTimeoutMs"),
        defaults.startup_timeout.unwrap().as_millis()
    );
    assert_eq!(options["maxFrameBytes"]["default"], defaults.max_frame_bytes);
    assert_eq!(options["maxOutputBytes"]["default"], defaults.max_output_bytes);
    for absent in ["command", "cwd", "runTimeoutMs", "idleTimeoutMs"] {
        assert_eq!(options[absent].get("default"), None, "{absent}");
    }
}

#[test]
fn the_defaults_of_a_runtime_are_those_of_its_provider() {
    let defaults = DshSdkConfig::new("dsh");
    let options = options("subagent-dsh-sdk");
    assert_eq!(options["providerName"]["default"], "dsh-sdk");
    assert_eq!(options["provider"]["default"], defaults.provider);
    assert_eq!(options["model"]["default"], defaults.model);
    assert_eq!(options["inheritEnv"]["default"], "scrubbed");
    assert_eq!(options["shutdownTimeoutMs"]["default"], json!(1000));
    assert_eq!(options["startupTimeoutMs"]["default"], json!(120_000));
    for absent in ["command", "cwd", "maxTokens", "runTimeoutMs", "idleTimeoutMs"] {
        assert_eq!(options[absent].get("default"), None, "{absent}");
    }
    assert_eq!(options.get("permission"), None);
}

#[test]
fn writing_every_default_out_changes_nothing() {
    let host = host(fixtures("valid"));
    let written = |kind: &str, given: Value| {
        let mut config = given;
        for (key, property) in options(kind).as_object().unwrap() {
            if let (Some(default), None) = (property.get("default"), config.get(key)) {
                config[key] = default.clone();
            }
        }
        json!({ "name": kind, "config": config })
    };
    let full = json!([
        written("subagent-acp", json!({ "command": "gemini" })),
        written("tool-subagent", json!({ "provider": "acp" })),
        written("tool-jobs", json!({})),
        written("subagent-dsh-sdk", json!({ "command": "dsh" })),
    ]);
    // JSON is YAML.
    let full = load_str(&full.to_string(), "full", &host).unwrap();
    let short = load_str(
        "[{ name: subagent-acp, config: { command: gemini } }, { name: tool-subagent, config: { provider: acp } }, \
         { name: subagent-dsh-sdk, config: { command: dsh } }]",
        "short",
        &host,
    )
    .unwrap();
    assert_eq!(full.providers()[0].as_acp(), short.providers()[0].as_acp());
    assert_eq!(full.tools(), short.tools());
    assert_eq!(full.jobs(), Some(JobsEntry::default()));
    assert_eq!(short.jobs(), None);
    assert_eq!(short.providers()[0].as_acp(), Some(&AcpConfig::new("gemini")));
    assert_eq!(
        full.providers()[1].as_dsh_sdk(),
        short.providers()[1].as_dsh_sdk()
    );
    assert_eq!(short.providers()[1].as_dsh_sdk(), Some(&DshSdkConfig::new("dsh")));
}
