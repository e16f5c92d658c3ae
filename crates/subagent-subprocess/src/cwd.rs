//! The working directory of a child. Owns its two checks: when a provider is built, and when a run starts.

use std::io;
use std::path::{Path, PathBuf};

use crate::Error;

/// Checks a configured directory: a relative one is resolved against `launch_dir`, the directory that the host was
/// launched in.
///
/// # Errors
///
/// It is empty, or not an existing directory that may be entered.
pub fn configured_cwd(cwd: &Path, launch_dir: &Path) -> Result<PathBuf, Error> {
    if cwd.as_os_str().is_empty() {
        return Err(Error::EmptyCwd);
    }
    enterable(launch_dir.join(cwd))
}

/// Checks the directory of a parent session. Nothing is normalised: what passes is what was given.
///
/// # Errors
///
/// There is none, or it is relative, or not an existing directory that may be entered.
pub fn session_cwd(cwd: Option<&Path>) -> Result<PathBuf, Error> {
    let cwd = cwd.ok_or(Error::NoCwd)?;
    if cwd.is_absolute() {
        enterable(cwd.to_owned())
    } else {
        Err(Error::RelativeCwd { path: cwd.to_owned() })
    }
}

/// The directory as text, for a frame of the child's protocol.
///
/// # Errors
///
/// It is not UTF-8.
pub fn cwd_text(cwd: &Path) -> Result<&str, Error> {
    cwd.to_str()
        .ok_or_else(|| Error::CwdNotUtf8 { path: cwd.to_owned() })
}

fn enterable(path: PathBuf) -> Result<PathBuf, Error> {
    match may_enter(&path) {
        Ok(()) => Ok(path),
        Err(source) => Err(Error::UnusableCwd { path, source }),
    }
}

fn may_enter(path: &Path) -> io::Result<()> {
    if !std::fs::metadata(path)?.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    #[cfg(unix)]
    rustix::fs::access(path, rustix::fs::Access::EXEC_OK)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_configured_directory_is_resolved_against_the_launch_directory() {
        let launch = tempfile::tempdir().unwrap();
        std::fs::create_dir(launch.path().join("sub")).unwrap();
        assert_eq!(
            configured_cwd(Path::new("sub"), launch.path()).unwrap(),
            launch.path().join("sub")
        );
        assert_eq!(
            configured_cwd(Path::new("."), launch.path()).unwrap(),
            launch.path().join(".")
        );
        let up = configured_cwd(Path::new("sub/.."), launch.path()).unwrap();
        assert_eq!(up, launch.path().join("sub/.."));
    }

    #[test]
    fn an_empty_configured_directory_is_told_apart() {
        let error = configured_cwd(Path::new(""), Path::new("/")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "cwd must not be empty: omit it to use the session's directory"
        );
    }

    #[test]
    fn a_tilde_is_a_name_like_any_other() {
        let launch = tempfile::tempdir().unwrap();
        assert!(matches!(
            configured_cwd(Path::new("~"), launch.path()),
            Err(Error::UnusableCwd { .. })
        ));
    }

    #[test]
    fn a_session_directory_is_passed_on_as_given() {
        let parent = tempfile::tempdir().unwrap();
        let odd = parent.path().join("with\nnewline");
        std::fs::create_dir(&odd).unwrap();
        for given in [odd.clone(), odd.join(""), odd.join("../with\nnewline")] {
            assert_eq!(session_cwd(Some(&given)).unwrap().as_os_str(), given.as_os_str());
        }
    }

    #[test]
    fn a_session_directory_must_be_there_absolute_and_a_directory() {
        let parent = tempfile::tempdir().unwrap();
        let file = parent.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert!(matches!(session_cwd(None), Err(Error::NoCwd)));
        for relative in ["", ".", "~", "a/b"] {
            assert!(
                matches!(
                    session_cwd(Some(Path::new(relative))),
                    Err(Error::RelativeCwd { .. })
                ),
                "{relative:?}"
            );
        }
        for unusable in [file.clone(), file.join("below"), parent.path().join("missing")] {
            assert!(
                matches!(session_cwd(Some(&unusable)), Err(Error::UnusableCwd { .. })),
                "{unusable:?}"
            );
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_directory_that_is_not_utf8_is_usable_but_cannot_be_told() {
        use std::os::unix::ffi::OsStrExt as _;
        let parent = tempfile::tempdir().unwrap();
        let odd = parent.path().join(std::ffi::OsStr::from_bytes(b"odd-\xff"));
        std::fs::create_dir(&odd).unwrap();
        let cwd = session_cwd(Some(&odd)).unwrap();
        assert!(matches!(cwd_text(&cwd), Err(Error::CwdNotUtf8 { .. })));
    }
}
