//! Which file is read when none is named. Owns the two places and what is said when neither has one.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::error::{ConfigError, ConfigErrors, Place};
use crate::host::HostContext;
use crate::problem::Problem;

const FILE_NAME: &str = "subagents.yml";

/// The shortest file that works.
const EXAMPLE: &str = "- name: subagent-acp\n  config: { command: gemini, args: ['--acp'] }";

/// The files that are tried in order: `./subagents.yml`, then `$XDG_CONFIG_HOME/subagent/subagents.yml`, where
/// `$XDG_CONFIG_HOME` is `~/.config` unless it is set to an absolute path. Without a home directory only the first.
pub fn default_paths(host: &HostContext) -> Vec<PathBuf> {
    let local = PathBuf::from(".").join(FILE_NAME);
    let shared = directory(host.variable("XDG_CONFIG_HOME")).or_else(|| {
        let home = directory(host.variable("HOME"));
        let home = home.or_else(|| directory(host.variable("USERPROFILE").filter(|_| cfg!(windows))));
        Some(home?.join(".config"))
    });
    let shared = shared.map(|base| base.join("subagent").join(FILE_NAME));
    [Some(local), shared].into_iter().flatten().collect()
}

/// The first of the [default paths](default_paths) that exists, to be given to [`load_file`](crate::load_file).
///
/// # Errors
///
/// None exists. The error names each of them, and its hint shows a file that would do.
pub fn find(host: &HostContext) -> Result<PathBuf, ConfigErrors> {
    let paths = default_paths(host);
    // A link that leads nowhere was meant: it is found here, and loading it says what is wrong.
    let exists = |path: &&PathBuf| host.launch_dir().join(path).symlink_metadata().is_ok();
    if let Some(found) = paths.iter().find(exists) {
        return Ok(found.clone());
    }
    let looked_for = paths.iter().map(|path| path.display().to_string()).collect();
    Err(ConfigErrors::from(ConfigError {
        place: Place::default(),
        problem: Problem::NotFound { looked_for },
        hint: Some(format!("two lines are enough:\n{EXAMPLE}")),
    }))
}

/// A directory that a variable names; the specification of these variables has relative ones ignored.
fn directory(value: Option<OsString>) -> Option<PathBuf> {
    value.map(PathBuf::from).filter(|path| path.is_absolute())
}
