//! What the loader may know of the host: its environment variables and the directory that it was launched in. Asks the
//! process only in `from_process`, so that a test needs to change neither.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

type Lookup = Box<dyn Fn(&str) -> Option<OsString> + Send + Sync>;

/// The host as the loader sees it.
pub struct HostContext {
    launch_dir: PathBuf,
    lookup: Lookup,
}

impl HostContext {
    /// A host that was launched in `launch_dir` and whose environment `lookup` answers for.
    pub fn new(
        launch_dir: impl Into<PathBuf>,
        lookup: impl Fn(&str) -> Option<OsString> + Send + Sync + 'static,
    ) -> Self {
        Self {
            launch_dir: launch_dir.into(),
            lookup: Box::new(lookup),
        }
    }

    /// This process: its environment and its current directory.
    ///
    /// # Errors
    ///
    /// The current directory is gone or cannot be read.
    pub fn from_process() -> io::Result<Self> {
        Ok(Self::new(std::env::current_dir()?, |name| std::env::var_os(name)))
    }

    /// The directory that relative paths of configuration files start from.
    pub fn launch_dir(&self) -> &Path {
        &self.launch_dir
    }

    /// The value of an environment variable, if it is set.
    pub fn variable(&self, name: &str) -> Option<OsString> {
        (self.lookup)(name)
    }
}

impl fmt::Debug for HostContext {
    /// Without the environment: it holds secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostContext")
            .field("launch_dir", &self.launch_dir)
            .finish_non_exhaustive()
    }
}
