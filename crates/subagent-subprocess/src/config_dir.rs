//! Configuration directories that a child is pointed at instead of the user's own. Owns their life; which variable
//! carries the path is the caller's business.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::Error;

/// A directory for the configuration of one child.
#[derive(Debug)]
pub struct IsolatedConfigDir {
    place: Place,
}

#[derive(Debug)]
enum Place {
    Fresh(TempDir),
    Pinned(PathBuf),
    Removed(PathBuf),
}

impl IsolatedConfigDir {
    /// A new, empty directory that only this user may enter, named with `prefix` in the system's temporary directory.
    /// It is removed by [`remove`](Self::remove), or else on drop.
    ///
    /// # Errors
    ///
    /// It cannot be created.
    pub fn fresh(prefix: &str) -> Result<Self, Error> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(prefix);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        builder
            .tempdir()
            .map(|dir| Self {
                place: Place::Fresh(dir),
            })
            .map_err(Error::ConfigDir)
    }

    /// `path` as it is: it is never created, checked or removed.
    pub fn pinned(path: impl Into<PathBuf>) -> Self {
        Self {
            place: Place::Pinned(path.into()),
        }
    }

    /// The directory's path, also after its removal.
    pub fn path(&self) -> &Path {
        match &self.place {
            Place::Fresh(dir) => dir.path(),
            Place::Pinned(path) | Place::Removed(path) => path,
        }
    }

    /// Removes a fresh directory with all that is in it, as far as that is possible. Idempotent, and never an error: what
    /// cannot be removed is logged and left. Blocks for as long as the file system takes.
    pub fn remove(&mut self) {
        if let Place::Fresh(_) = self.place {
            let removed = Place::Removed(self.path().to_owned());
            if let Place::Fresh(dir) = std::mem::replace(&mut self.place, removed) {
                let path = dir.path().to_owned();
                if let Err(error) = dir.close() {
                    tracing::debug!(?path, %error, "a private configuration directory was not removed");
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_fresh_directory_is_private_and_goes_with_all_that_is_in_it() {
        use std::os::unix::fs::PermissionsExt as _;
        let mut dir = IsolatedConfigDir::fresh("isolated-").unwrap();
        let path = dir.path().to_owned();
        assert_eq!(
            std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o700
        );
        std::fs::create_dir(path.join("nested")).unwrap();
        std::fs::write(path.join("nested/file"), "x").unwrap();
        dir.remove();
        dir.remove();
        assert!(!path.exists());
        assert_eq!(dir.path(), path);
    }

    #[test]
    fn a_fresh_directory_that_is_already_gone_is_no_error() {
        let mut dir = IsolatedConfigDir::fresh("isolated-").unwrap();
        std::fs::remove_dir_all(dir.path()).unwrap();
        dir.remove();
    }

    #[test]
    fn a_pinned_directory_is_neither_created_nor_removed() {
        let parent = tempfile::tempdir().unwrap();
        let mut missing = IsolatedConfigDir::pinned(parent.path().join("missing"));
        assert!(!missing.path().exists());
        missing.remove();
        let mut present = IsolatedConfigDir::pinned(parent.path());
        present.remove();
        drop(present);
        assert!(parent.path().exists());
    }
}
