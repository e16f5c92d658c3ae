//! The directory of a call. Owns the rule that it lies inside the session's; whether it will do for a child is the
//! provider's finding.

use std::path::{Path, PathBuf};

/// Why the argument `cwd` was refused. The model reads it, so it tells nothing about the host's directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DirectoryError {
    /// There is nothing that it could lie inside.
    #[error("argument cwd cannot be used, because this session has no working directory")]
    NoSession,
    /// It is not there, or no directory.
    #[error("argument cwd does not name a directory, expected one inside the session's working directory")]
    NotADirectory,
    /// It is somewhere else.
    #[error("argument cwd lies outside of the session's working directory, expected a directory inside it")]
    Outside,
}

/// The directory that `asked` means in a session that works in `session`: absolute, symbolic links resolved.
///
/// Asks the file system and so may block.
pub(crate) fn inside(session: Option<&Path>, asked: &str) -> Result<PathBuf, DirectoryError> {
    let session = session.ok_or(DirectoryError::NoSession)?;
    // An empty path would be the session's directory by accident.
    if asked.is_empty() {
        return Err(DirectoryError::NotADirectory);
    }
    let bounds = session.canonicalize().map_err(|_| DirectoryError::NoSession)?;
    let meant = session.join(asked).canonicalize();
    match meant {
        Ok(meant) if !meant.starts_with(&bounds) => Err(DirectoryError::Outside),
        Ok(meant) if meant.is_dir() => Ok(meant),
        // Whether something is there must not be told about places outside.
        Err(_) if escapes(asked, session) => Err(DirectoryError::Outside),
        Ok(_) | Err(_) => Err(DirectoryError::NotADirectory),
    }
}

/// Whether a path that leads nowhere leads out of the session's directory, as far as its words tell.
fn escapes(asked: &str, session: &Path) -> bool {
    use std::path::Component;

    let path = Path::new(asked);
    if path.is_absolute() {
        return !path.starts_with(session) || path.components().any(|part| part == Component::ParentDir);
    }
    path.components().any(|part| part == Component::ParentDir)
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_directory_inside_is_resolved() {
        let dir = tempfile::tempdir().unwrap();
        let session = dir.path().canonicalize().unwrap();
        fs::create_dir_all(session.join("a/b")).unwrap();
        symlink("a", session.join("link")).unwrap();
        for asked in ["a/b", "a/../a/b", "link/b", session.join("a/b").to_str().unwrap()] {
            assert_eq!(inside(Some(&session), asked), Ok(session.join("a/b")), "{asked}");
        }
        assert_eq!(inside(Some(&session), "."), Ok(session.clone()));
    }

    #[test]
    fn a_directory_outside_is_refused_whichever_way_it_is_reached() {
        let dir = tempfile::tempdir().unwrap();
        let session = dir.path().join("session");
        for name in ["session/a", "session-2", "other"] {
            fs::create_dir_all(dir.path().join(name)).unwrap();
        }
        symlink(dir.path().join("other"), session.join("out")).unwrap();
        let beside = dir.path().join("session-2");
        for asked in [
            "..",
            "a/../..",
            "out",
            "/",
            beside.to_str().unwrap(),
            "../none",
            "/none",
            "out/none/..",
        ] {
            assert_eq!(
                inside(Some(&session), asked),
                Err(DirectoryError::Outside),
                "{asked}"
            );
        }
    }

    #[test]
    fn what_is_no_directory_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("file"), "").unwrap();
        for asked in ["", "none", "file"] {
            assert_eq!(
                inside(Some(dir.path()), asked),
                Err(DirectoryError::NotADirectory),
                "{asked}"
            );
        }
        assert_eq!(inside(None, "a"), Err(DirectoryError::NoSession));
        assert_eq!(
            inside(Some(&dir.path().join("gone")), "a"),
            Err(DirectoryError::NoSession)
        );
    }

    #[test]
    fn a_session_behind_a_link_has_its_directories_inside() {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().canonicalize().unwrap().join("real");
        fs::create_dir_all(real.join("a")).unwrap();
        symlink(&real, dir.path().join("session")).unwrap();
        assert_eq!(inside(Some(&dir.path().join("session")), "a"), Ok(real.join("a")));
    }
}
