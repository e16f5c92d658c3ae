//! What a child sees of the host's environment, from inside the child, and the configuration directories of its own.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use jsonrpc_fake_runtime::acp::AcpSteps as _;
use jsonrpc_fake_runtime::{Facts, Script, Step};
use subagent_acp::ConfigDirSource;

use crate::custody::both_ways;
use crate::lifecycle_host::{ROLE, in_a_host_of_its_own};
use crate::support::{FakeAgent, is_alive, note_pid};

both_ways! {
    one thread:
        a_fresh_directory_is_private_told_to_the_child_and_removed_after_dispose,
        each_run_has_a_fresh_directory_of_its_own,
        a_fresh_directory_goes_when_the_start_fails,
        a_fresh_directory_goes_when_the_last_handle_is_dropped,
        a_fresh_directory_that_the_child_has_removed_is_no_failure,
        a_pinned_directory_is_neither_created_nor_removed;
    a process of its own:
        a_child_sees_the_hosts_environment_without_its_secrets_and_what_it_was_given;
}

/// Writes down what it sees, then answers.
fn looking_around() -> Script {
    facts(Script::acp()).prompted().chunk("hello").end_turn()
}

fn facts(script: Script) -> Script {
    script.step(note_pid()).step(Step::WriteFacts {
        path: "facts.json".into(),
    })
}

fn seen_by(agent: &FakeAgent) -> Facts {
    Facts::read(agent.dir().join("facts.json")).unwrap()
}

const KEPT_FROM_THE_CHILD: [&str; 16] = [
    "APP_JWT_SIGNING_KEY",
    "GITHUB_TOKEN",
    "AWS_SECRET_ACCESS_KEY",
    "PGPASSWORD",
    "app_jwt_signing_key",
    "github_token",
    "aws_secret_access_key",
    "pgpassword",
    "Github_Token",
    "OPENAI_API_KEY",
    "KEYBOARD",
    "MONKEY",
    "DSH_HOME",
    "dsh_anything",
    "Dsh_",
    "TOKENS",
];

const GIVEN_TO_THE_CHILD: [(&str, &str); 12] = [
    ("PATH", "/usr/bin:/bin"),
    ("HOME", "/srv/somebody"),
    ("TMPDIR", "/tmp"),
    ("LANG", "de_DE.UTF-8"),
    ("LC_ALL", "C.UTF-8"),
    ("https_proxy", "http://proxy:3128"),
    ("NO_PROXY", "localhost"),
    ("PASSWD", "a name that the rule does not know"),
    ("MY_DSH_HOME", "the prefix in the middle"),
    ("DSH", "without the underscore"),
    ("EMPTY", ""),
    // What a rule about names cannot catch.
    ("DATABASE_URL", "postgres://user:hunter2@db/prod"),
];

/// In a process of its own, whose whole environment is known.
fn a_child_sees_the_hosts_environment_without_its_secrets_and_what_it_was_given(test: &str) {
    let odd_name = OsStr::from_bytes(b"ODD_\xff_NAME");
    let odd_value = OsStr::from_bytes(b"odd \xfe value");
    if !in_a_host_of_its_own(test, |command| {
        command
            .env_clear()
            .envs(KEPT_FROM_THE_CHILD.map(|name| (name, "do-not-show")))
            .envs(GIVEN_TO_THE_CHILD)
            .env(odd_name, "a name that is not UTF-8")
            .env("ODD_VALUE", odd_value)
            .env(OsStr::from_bytes(b"SECRET_\xff"), "do-not-show")
            .env("ODD_TOKEN", odd_value);
    }) {
        return;
    }
    let agent = FakeAgent::running(&looking_around()).with(|config| {
        config.env = vec![
            ("GITHUB_TOKEN".into(), "given on purpose".into()),
            ("LANG".into(), "replaced".into()),
            ("ADDED".into(), odd_value.into()),
        ]
        .into();
    });
    let outcome = tokio::runtime::Runtime::new()
        .unwrap()
        .block_on(agent.delegate("do it"));
    assert_eq!(outcome.text, "hello");

    let expected: BTreeMap<String, String> = GIVEN_TO_THE_CHILD
        .into_iter()
        .chain([
            ("GITHUB_TOKEN", "given on purpose"),
            ("LANG", "replaced"),
            (ROLE, test),
        ])
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let mut facts = seen_by(&agent);
    assert_eq!(facts.env, expected);
    facts.env_not_utf8.sort();
    assert_eq!(
        facts.env_not_utf8,
        [
            b"ADDED=odd \xfe value".to_vec(),
            b"ODD_VALUE=odd \xfe value".to_vec(),
            b"ODD_\xff_NAME=a name that is not UTF-8".to_vec()
        ]
    );
}

/// An agent with one variable that points at a configuration directory.
fn pointed_at(source: ConfigDirSource, script: &Script) -> FakeAgent {
    FakeAgent::running(script).with(|config| {
        config.isolated_config_dirs = vec![("AGENT_HOME".into(), source)];
    })
}

/// The directory that the child of a run was told.
async fn told_to(agent: &FakeAgent) -> PathBuf {
    agent.reached("facts.json").await;
    seen_by(agent).env["AGENT_HOME"].clone().into()
}

fn is_private_and_empty(dir: &Path) -> bool {
    let mode = std::fs::metadata(dir).unwrap().permissions().mode();
    mode & 0o7777 == 0o700 && std::fs::read_dir(dir).unwrap().next().is_none()
}

async fn a_fresh_directory_is_private_told_to_the_child_and_removed_after_dispose() {
    let agent = pointed_at(ConfigDirSource::Fresh, &looking_around());
    let run = agent.start("do it").await.unwrap();
    let dir = told_to(&agent).await;
    assert!(dir.is_absolute());
    assert!(is_private_and_empty(&dir));
    std::fs::create_dir(dir.join("cache")).unwrap();
    std::fs::write(dir.join("cache/file"), "of the child").unwrap();
    run.result().await;
    assert!(dir.exists(), "it lives as long as the child");
    run.dispose().await.unwrap();
    assert!(!dir.exists());
    run.dispose().await.unwrap();
}

async fn each_run_has_a_fresh_directory_of_its_own() {
    let agent = pointed_at(ConfigDirSource::Fresh, &looking_around());
    let first = agent.start("do it").await.unwrap();
    let of_first = told_to(&agent).await;
    std::fs::remove_file(agent.dir().join("facts.json")).unwrap();
    let second = agent.start("do it").await.unwrap();
    let of_second = told_to(&agent).await;
    assert_ne!(of_first, of_second);
    first.dispose().await.unwrap();
    assert!(!of_first.exists() && of_second.exists());
    second.dispose().await.unwrap();
    assert!(!of_second.exists());
}

async fn a_fresh_directory_goes_when_the_start_fails() {
    let script = facts(Script::acp()).initialize().expect("session/new").exit(4);
    let agent = pointed_at(ConfigDirSource::Fresh, &script);
    assert!(agent.start("do it").await.is_err());
    assert!(!told_to(&agent).await.exists());
}

async fn a_fresh_directory_goes_when_the_last_handle_is_dropped() {
    let agent = pointed_at(ConfigDirSource::Fresh, &looking_around());
    let run = agent.start("do it").await.unwrap();
    let (dir, pid) = (told_to(&agent).await, agent.pid("pid").await);
    drop(run);
    crate::support::eventually("the directory is gone", || !dir.exists()).await;
    assert!(!is_alive(pid));
}

async fn a_fresh_directory_that_the_child_has_removed_is_no_failure() {
    let agent = pointed_at(ConfigDirSource::Fresh, &looking_around());
    let run = agent.start("do it").await.unwrap();
    std::fs::remove_dir(told_to(&agent).await).unwrap();
    run.dispose().await.unwrap();
}

async fn a_pinned_directory_is_neither_created_nor_removed() {
    let parent = tempfile::tempdir().unwrap();
    let (missing, present) = (parent.path().join("missing"), parent.path().join("present"));
    std::fs::create_dir(&present).unwrap();
    std::fs::write(present.join("settings"), "of the deployment").unwrap();
    for pinned in [&missing, &present] {
        let agent = pointed_at(ConfigDirSource::Pinned(pinned.clone()), &looking_around());
        let outcome = agent.delegate("do it").await;
        assert_eq!(outcome.text, "hello");
        assert_eq!(&told_to(&agent).await, pinned);
    }
    assert!(!missing.exists());
    assert_eq!(
        std::fs::read_to_string(present.join("settings")).unwrap(),
        "of the deployment"
    );
}
