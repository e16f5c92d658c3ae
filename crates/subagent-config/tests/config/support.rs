//! What the tests of files share: where the fixtures lie, and a host with a known environment.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use subagent_config::HostContext;

/// A directory of the fixtures.
pub(crate) fn fixtures(directory: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/configs")
        .join(directory)
}

/// The files in a directory of the fixtures, sorted.
pub(crate) fn names(directory: &str) -> Vec<String> {
    let entries = fixtures(directory).read_dir().unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// A host that was launched in `launch_dir`, with a few variables and no more.
pub(crate) fn host(launch_dir: impl Into<PathBuf>) -> HostContext {
    HostContext::new(launch_dir, |name| {
        let value = match name {
            "GEMINI_API_KEY" => "key-of-the-host",
            "DATA_DIR" => "/srv/data",
            "IDLE_MS" => "2500",
            _ => return None,
        };
        Some(OsString::from(value))
    })
}
