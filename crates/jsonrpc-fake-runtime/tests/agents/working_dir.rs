//! The directory that a child works in: what is refused before anything is spawned, and what is passed on as given.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use jsonrpc_fake_runtime::acp::AcpSteps as _;
use jsonrpc_fake_runtime::{Facts, Script, Step};
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
use subagent_acp::{AcpConfig, AcpProvider};
use subagent_seam::HostReporter;
use tempfile::TempDir;

use crate::custody::{both_ways, kept};
use crate::support::{FakeAgent, fake_program};

both_ways! {
    one thread:
        a_session_directory_that_is_relative_is_refused,
        a_session_without_a_directory_is_refused,
        a_session_directory_that_is_missing_or_no_directory_is_refused,
        a_session_directory_that_may_not_be_entered_is_refused,
        a_session_directory_that_is_not_utf8_is_refused,
        a_session_directory_is_the_childs_and_is_passed_on_as_given,
        a_configured_directory_replaces_the_sessions_and_a_relative_one_starts_at_the_launch_directory,
        a_configured_directory_that_is_not_utf8_fails_the_start;
}

const REFUSED: &str =
    "Error: subagent-acp: Subagent failure (provider: ACP; stage: initialize; category: configuration)";

/// Runs `body` on a thread for which the modes of directories count. For the superuser they do not, so the thread gives
/// up what makes it one in this respect; for everybody else that changes nothing.
fn bound_by_modes<T: Send>(body: impl FnOnce() -> T + Send) -> T {
    let bound = || {
        let overrides = CapabilitySet::DAC_OVERRIDE | CapabilitySet::DAC_READ_SEARCH;
        let mut sets = capabilities(None).unwrap();
        sets.effective.remove(overrides);
        sets.permitted.remove(overrides);
        sets.inheritable.remove(overrides);
        set_capabilities(None, sets).unwrap();
        body()
    };
    std::thread::scope(|scope| scope.spawn(bound).join())
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// A directory with this mode, below one that everybody may enter.
struct OfMode(TempDir);

impl OfMode {
    fn new(mode: u32) -> Self {
        let parent = tempfile::tempdir().unwrap();
        std::fs::create_dir(parent.path().join("odd")).unwrap();
        let of_mode = Self(parent);
        of_mode.set(mode);
        of_mode
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("odd")
    }

    fn set(&self, mode: u32) {
        std::fs::set_permissions(self.path(), std::fs::Permissions::from_mode(mode)).unwrap();
    }
}

impl Drop for OfMode {
    fn drop(&mut self) {
        // So that it can be removed.
        self.set(0o700);
    }
}

/// An agent that leaves a trace as soon as it is spawned.
fn traceable() -> FakeAgent {
    let agent = FakeAgent::running(&Script::acp());
    let script = Script::acp().touch(agent.dir().join("spawned").to_str().unwrap());
    script.save(&agent.dir().join("script.json")).unwrap();
    agent
}

async fn is_refused_before_anything_is_spawned(cwd: Option<&Path>) -> String {
    let agent = traceable();
    let outcome = agent.delegate_from(cwd, "do it").await;
    assert_eq!(outcome.text, REFUSED, "{cwd:?}");
    assert!(!agent.dir().join("spawned").exists(), "{cwd:?}");
    let mut reports = agent.host_reports();
    assert_eq!(reports.len(), 1, "{cwd:?}");
    let cause = reports.remove(0);
    let begin = "initialize: the run has no usable working directory: ";
    cause
        .strip_prefix(begin)
        .unwrap_or_else(|| panic!("{cause}"))
        .to_owned()
}

async fn a_session_directory_that_is_relative_is_refused() {
    for relative in ["~", "~/project", ".", "", "some/where", "./x", ".."] {
        let told = is_refused_before_anything_is_spawned(Some(Path::new(relative))).await;
        assert_eq!(told, format!("working directory {relative:?} must be absolute"));
    }
}

async fn a_session_without_a_directory_is_refused() {
    assert_eq!(
        is_refused_before_anything_is_spawned(None).await,
        "no working directory: neither the provider nor the parent session has one"
    );
}

async fn a_session_directory_that_is_missing_or_no_directory_is_refused() {
    let parent = tempfile::tempdir().unwrap();
    let file = parent.path().join("file");
    std::fs::write(&file, "").unwrap();
    for (path, why) in [
        (
            parent.path().join("missing"),
            "No such file or directory (os error 2)",
        ),
        (
            parent.path().join("nl\nmissing"),
            "No such file or directory (os error 2)",
        ),
        (file.clone(), "not a directory"),
        (file.join(""), "Not a directory (os error 20)"),
    ] {
        let told = is_refused_before_anything_is_spawned(Some(&path)).await;
        assert_eq!(
            told,
            format!("working directory {path:?} must be an existing directory that may be entered: {why}")
        );
    }
}

async fn a_session_directory_that_may_not_be_entered_is_refused() {
    for mode in [0o000, 0o600] {
        let dir = OfMode::new(mode);
        let path = dir.path();
        let start = kept(is_refused_before_anything_is_spawned(Some(&path)));
        let told = bound_by_modes(|| {
            // On this very thread, which is the one that is bound by modes.
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(start)
        });
        let why = "must be an existing directory that may be entered: Permission denied (os error 13)";
        assert_eq!(told, format!("working directory {path:?} {why}"), "{mode:o}");
    }
}

async fn a_session_directory_that_is_not_utf8_is_refused() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join(OsStr::from_bytes(b"odd-\xff"));
    std::fs::create_dir(&path).unwrap();
    let told = is_refused_before_anything_is_spawned(Some(&path)).await;
    assert_eq!(
        told,
        format!("working directory {path:?} is not UTF-8 and cannot be told to the child")
    );
}

/// Writes down where it is.
fn looking_around(agent: &FakeAgent) {
    let script = Script::acp()
        .step(Step::WriteFacts {
            path: agent.dir().join("facts.json").to_str().unwrap().into(),
        })
        .prompted()
        .chunk("hello")
        .end_turn();
    script.save(&agent.dir().join("script.json")).unwrap();
}

/// What the child was told, and where it is.
fn told_and_real(agent: &FakeAgent) -> (PathBuf, PathBuf) {
    let frames = agent.recording().frames().unwrap();
    let told = frames
        .iter()
        .find(|frame| frame["method"] == "session/new")
        .unwrap();
    let told = told["params"]["cwd"].as_str().unwrap().into();
    let real = Facts::read(agent.dir().join("facts.json")).unwrap().cwd.into();
    (told, real)
}

async fn a_session_directory_is_the_childs_and_is_passed_on_as_given() {
    let parent = tempfile::tempdir().unwrap();
    let parent = parent.path().canonicalize().unwrap();
    let real = parent.join("with\nnewline and ä");
    std::fs::create_dir_all(real.join("below")).unwrap();
    std::os::unix::fs::symlink(&real, parent.join("link")).unwrap();
    for given in [
        real.clone(),
        real.join(""),
        real.join("below/.."),
        real.join("."),
        parent.join("link"),
    ] {
        let agent = FakeAgent::running(&Script::acp());
        looking_around(&agent);
        let outcome = agent.delegate_from(Some(&given), "do it").await;
        assert_eq!(outcome.text, "hello");
        let (told, is) = told_and_real(&agent);
        assert_eq!(told.as_os_str(), given.as_os_str());
        assert_eq!(is, real);
    }
}

async fn a_configured_directory_replaces_the_sessions_and_a_relative_one_starts_at_the_launch_directory() {
    let launch_dir = std::env::current_dir().unwrap();
    let absolute = tempfile::tempdir().unwrap();
    for (configured, told) in [
        (absolute.path().to_owned(), absolute.path().to_owned()),
        (".".into(), launch_dir.join(".")),
        ("src/..".into(), launch_dir.join("src/..")),
        ("src/".into(), launch_dir.join("src/")),
    ] {
        let agent = FakeAgent::running(&Script::acp()).with(|config| config.cwd = Some(configured));
        looking_around(&agent);
        // Not even a session directory that is unusable matters then.
        let outcome = agent.delegate_from(Some(Path::new("~")), "do it").await;
        assert_eq!(outcome.text, "hello");
        let (was_told, is) = told_and_real(&agent);
        assert_eq!(was_told.as_os_str(), told.as_os_str());
        assert_eq!(is, told.canonicalize().unwrap());
    }
}

fn refusal_of(cwd: &Path) -> String {
    let mut config = AcpConfig::new(fake_program());
    config.cwd = Some(cwd.to_owned());
    AcpProvider::new(config, HostReporter::default())
        .unwrap_err()
        .to_string()
}

#[test]
fn a_configured_directory_that_cannot_be_used_is_refused_when_the_provider_is_built() {
    assert_eq!(
        refusal_of(Path::new("")),
        "subagent-acp: config cwd must not be empty: omit the key to use the parent session's directory"
    );
    let parent = tempfile::tempdir().unwrap();
    let file = parent.path().join("file");
    std::fs::write(&file, "").unwrap();
    let launch_dir = std::env::current_dir().unwrap();
    let unusable = |path: &Path| {
        format!("subagent-acp: config cwd {path:?} must be an existing directory that may be entered")
    };
    for (configured, resolved) in [
        (PathBuf::from("~"), launch_dir.join("~")),
        ("no/such/place".into(), launch_dir.join("no/such/place")),
        (parent.path().join("missing"), parent.path().join("missing")),
        (file.clone(), file),
    ] {
        assert_eq!(refusal_of(&configured), unusable(&resolved));
    }
    for mode in [0o000, 0o600] {
        let dir = OfMode::new(mode);
        let path = dir.path();
        assert_eq!(bound_by_modes(|| refusal_of(&path)), unusable(&path), "{mode:o}");
    }
}

async fn a_configured_directory_that_is_not_utf8_fails_the_start() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join(OsStr::from_bytes(b"odd-\xff"));
    std::fs::create_dir(&path).unwrap();
    let agent = traceable().with(|config| config.cwd = Some(path));
    assert_eq!(agent.delegate("do it").await.text, REFUSED);
    assert!(!agent.dir().join("spawned").exists());
}
