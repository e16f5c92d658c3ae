//! What a child sees under the minimal environment policy, from inside the child: nothing that a command-line program
//! does not need, and all that it was given on purpose. The rules name by name are unit tests of the policy.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use jsonrpc_fake_runtime::acp::AcpSteps as _;
use jsonrpc_fake_runtime::{Facts, Script, Step};
use subagent_acp::{ConfigDirSource, EnvPolicy, EnvVars};

use crate::command_support::Place;
use crate::custody::both_ways;
use crate::dsh_support::FakeRuntime;
use crate::lifecycle_host::in_a_host_of_its_own;
use crate::support::FakeAgent;

both_ways! {
    a process of its own:
        an_acp_agent_sees_what_a_program_needs_and_what_it_was_given,
        a_runtime_sees_what_a_program_needs_and_what_it_was_given;
}

const INHERITED: [(&str, &str); 12] = [
    ("PATH", "/usr/bin:/bin"),
    ("HOME", "/srv/somebody"),
    ("USER", "somebody"),
    ("LOGNAME", "somebody"),
    ("SHELL", "/bin/sh"),
    ("TERM", "dumb"),
    ("TMPDIR", "/tmp"),
    ("LANG", "de_DE.UTF-8"),
    ("LC_ALL", "C.UTF-8"),
    ("XDG_CONFIG_HOME", "/srv/somebody/settings"),
    ("no_proxy", ""),
    // What a rule about names cannot catch.
    ("HTTPS_PROXY", "http://user:hunter2@proxy:3128"),
];

const KEPT_FROM_THE_CHILD: [&str; 8] = [
    "DATABASE_URL",
    "PASSWD",
    "SSH_AUTH_SOCK",
    "EDITOR",
    "LD_PRELOAD_OF_OURS",
    "LC_API_KEY",
    "XDG_TOKEN",
    "GITHUB_TOKEN",
];

fn known_environment(command: &mut Command) {
    command
        .env_clear()
        .envs(KEPT_FROM_THE_CHILD.map(|name| (name, "do-not-show")))
        .envs(INHERITED);
}

/// Over the inherited ones: a name that the policy knows, one that it does not know, and one that looks like a secret.
fn given() -> EnvVars {
    EnvVars::from_iter([
        ("LANG", "replaced"),
        ("EDITOR", "given on purpose"),
        ("GITHUB_TOKEN", "given on purpose"),
    ])
}

/// Exactly what the child shall see, but for the configuration directory of its own, which is taken out.
fn assert_minimal(mut facts: Facts) {
    let dir = facts.env.remove("AGENT_HOME").unwrap();
    assert!(Path::new(&dir).is_absolute(), "{dir}");
    let given = [
        ("LANG", "replaced"),
        ("EDITOR", "given on purpose"),
        ("GITHUB_TOKEN", "given on purpose"),
    ];
    let expected: BTreeMap<_, _> = INHERITED.into_iter().chain(given).collect();
    let seen: BTreeMap<_, _> = facts
        .env
        .iter()
        .map(|(name, value)| (&**name, &**value))
        .collect();
    assert_eq!(seen, expected);
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Runtime::new().unwrap().block_on(work)
}

fn an_acp_agent_sees_what_a_program_needs_and_what_it_was_given(test: &str) {
    if !in_a_host_of_its_own(test, known_environment) {
        return;
    }
    let script = Script::acp().step(Step::WriteFacts {
        path: "facts.json".into(),
    });
    let agent = FakeAgent::running(&script.prompted().chunk("hello").end_turn()).with(|config| {
        config.inherit_env = EnvPolicy::Minimal;
        config.env = given();
        config.isolated_config_dirs = vec![("AGENT_HOME".into(), ConfigDirSource::Fresh)];
    });
    assert_eq!(block_on(agent.delegate("do it")).text, "hello");
    assert_minimal(Facts::read(agent.dir().join("facts.json")).unwrap());
}

fn a_runtime_sees_what_a_program_needs_and_what_it_was_given(test: &str) {
    if !in_a_host_of_its_own(test, known_environment) {
        return;
    }
    let runtime = FakeRuntime::scenario("facts").with(|config| {
        config.inherit_env = EnvPolicy::Minimal;
        config.env = given();
        config.isolated_config_dirs = vec![("AGENT_HOME".into(), ConfigDirSource::Fresh)];
    });
    assert_eq!(block_on(runtime.delegate("do it")).text, "hello");
    assert_minimal(Facts::read(runtime.dir().join("facts.json")).unwrap());
}

/// The command under a supervisor, whose own environment is emptier still.
#[test]
fn what_the_command_itself_tells_an_agent_survives_the_policy() {
    let place = Place::new();
    let script = Script::acp()
        .step(Step::WriteFacts {
            path: "facts.json".to_owned(),
        })
        .then(|script| script.prompted().chunk("done").end_turn());
    let more = "    inheritEnv: minimal\n    env: { CREDENTIAL: !env AGENT_API_KEY, PLAIN: text }\n    \
                isolatedConfigDirs: { AGENT_HOME: fresh }\n";
    place.write("work/subagents.yml", place.entry("agent", &script, more));
    let mut command = place.command(["run", "p"]);
    command
        .env("AGENT_API_KEY", "canary-value")
        .env("NOT_NEEDED", "x")
        .env("SUBAGENT_DEPTH", "1");
    assert_eq!(place.finish(&mut command).seen(), (0, "done\n", ""));
    let mut env = Facts::read(place.work().join("facts.json")).unwrap().env;
    assert!(Path::new(&env.remove("AGENT_HOME").unwrap()).starts_with(place.path("tmp")));
    let path = std::env::var("PATH").unwrap_or_default();
    let (home, tmp) = (place.path("home"), place.path("tmp"));
    let expected = [
        ("PATH", path.as_str()),
        ("HOME", home.to_str().unwrap()),
        ("TMPDIR", tmp.to_str().unwrap()),
        ("CREDENTIAL", "canary-value"),
        ("PLAIN", "text"),
        ("SUBAGENT_DEPTH", "2"),
    ];
    let seen: BTreeMap<_, _> = env.iter().map(|(name, value)| (&**name, &**value)).collect();
    assert_eq!(seen, BTreeMap::from(expected));
}
