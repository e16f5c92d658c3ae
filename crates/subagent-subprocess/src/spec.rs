//! What is to be spawned. Owns how a command is found; spawning it is `spawn`'s.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::{ChildEnv, Error};

/// Where commands are searched for when the child has no `PATH`.
#[cfg(unix)]
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// An executable, as far as it can be told before a child's environment is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// A bare name, to be searched in the child's `PATH`.
    Bare(OsString),
    /// A path.
    Path(PathBuf),
}

impl Program {
    /// Reads a command: a bare name is kept; a relative path is resolved against `launch_dir`, the directory that the
    /// host was launched in.
    ///
    /// # Errors
    ///
    /// The command is empty.
    pub fn new(command: &OsStr, launch_dir: &Path) -> Result<Self, Error> {
        if command.is_empty() {
            return Err(Error::EmptyCommand);
        }
        let is_bare =
            Path::new(command).components().count() == 1 && Path::new(command).file_name() == Some(command);
        Ok(if is_bare {
            Self::Bare(command.to_owned())
        } else {
            Self::Path(launch_dir.join(command))
        })
    }

    /// The file to execute in a child with the environment `env`. Relative directories in its `PATH` are passed over:
    /// they would be looked up in the child's working directory, where anybody may have put anything.
    ///
    /// # Errors
    ///
    /// A bare name stands in no directory of the `PATH`.
    pub fn locate(&self, env: &ChildEnv) -> Result<PathBuf, Error> {
        match self {
            Self::Path(path) => Ok(path.clone()),
            Self::Bare(name) => search(name, env).ok_or_else(|| Error::CommandNotFound {
                command: name.clone(),
            }),
        }
    }
}

#[cfg(unix)]
fn search(name: &OsStr, env: &ChildEnv) -> Option<PathBuf> {
    let path = env.get("PATH").unwrap_or(DEFAULT_PATH.as_ref());
    std::env::split_paths(path)
        .filter(|dir| dir.is_absolute())
        .map(|dir| dir.join(name))
        .find(|file| {
            file.is_file() && rustix::fs::access(file.as_path(), rustix::fs::Access::EXEC_OK).is_ok()
        })
}

/// Elsewhere the system's own search applies: extensions such as `.exe` are its business.
#[cfg(not(unix))]
#[expect(
    clippy::unnecessary_wraps,
    reason = "the signature is the one of the other platforms"
)]
fn search(name: &OsStr, _env: &ChildEnv) -> Option<PathBuf> {
    Some(name.into())
}

/// Everything that decides how one child is spawned.
#[derive(Clone, Debug)]
pub struct ChildSpec {
    /// What to execute.
    pub program: Program,
    /// Its arguments, without the program's own name.
    pub args: Vec<OsString>,
    /// Its working directory: absolute and checked, see [`session_cwd`](crate::session_cwd).
    pub cwd: PathBuf,
    /// Its whole environment.
    pub env: ChildEnv,
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn executable(path: &Path, mode: u32) {
        std::fs::write(path, "").unwrap();
        std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn only_a_name_without_a_separator_is_bare() {
        let launch = Path::new("/launch");
        let read = |command: &str| Program::new(command.as_ref(), launch).unwrap();
        assert_eq!(read("agent"), Program::Bare("agent".into()));
        assert_eq!(read("./agent"), Program::Path("/launch/./agent".into()));
        assert_eq!(read("bin/agent"), Program::Path("/launch/bin/agent".into()));
        assert_eq!(read("/bin/agent"), Program::Path("/bin/agent".into()));
        assert_eq!(read(".."), Program::Path("/launch/..".into()));
        assert_eq!(read("agent/"), Program::Path("/launch/agent/".into()));
        assert!(matches!(
            Program::new("".as_ref(), launch),
            Err(Error::EmptyCommand)
        ));
    }

    #[test]
    fn a_bare_name_is_searched_in_the_childs_path_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let (first, second) = (dir.path().join("first"), dir.path().join("second"));
        std::fs::create_dir(&first).unwrap();
        std::fs::create_dir(&second).unwrap();
        executable(&first.join("agent"), 0o644);
        executable(&second.join("agent"), 0o755);
        let mut env = ChildEnv::default();
        env.set(
            "PATH",
            format!("relative:{}::{}", first.display(), second.display()),
        );
        let program = Program::new("agent".as_ref(), dir.path()).unwrap();
        assert_eq!(program.locate(&env).unwrap(), second.join("agent"));
        env.set("PATH", first.as_os_str());
        let error = program.locate(&env).unwrap_err();
        assert_eq!(
            error.to_string(),
            "command \"agent\" is not an executable file in any directory of the child's PATH"
        );
    }
}
