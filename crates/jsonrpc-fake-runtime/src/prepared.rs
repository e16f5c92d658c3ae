//! A script on disk, ready to be started by the program under test.
//!
//! Owns the file names and the arguments that belong to them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::{fs, io};

use crate::record::Recording;
use crate::script::{Script, ScriptError};

/// A script file and the place of its record.
///
/// ```
/// use jsonrpc_fake_runtime::{Prepared, Script};
///
/// let prepared = Prepared::in_temp_dir(&Script::new().exit(3))?;
/// assert_eq!(prepared.args().len(), 4); // --script FILE --record FILE
/// assert_eq!(Script::load(&prepared.script_file())?, Script::new().exit(3));
/// # Ok::<(), jsonrpc_fake_runtime::ScriptError>(())
/// ```
#[derive(Debug)]
pub struct Prepared {
    dir: PathBuf,
    owned: bool,
}

impl Prepared {
    /// Writes `script.json` into an existing directory; the record will be `record.jsonl` beside it.
    pub fn in_dir(dir: impl Into<PathBuf>, script: &Script) -> Result<Self, ScriptError> {
        let prepared = Self {
            dir: dir.into(),
            owned: false,
        };
        script.save(&prepared.script_file())?;
        Ok(prepared)
    }

    /// The same in a new directory for temporary files, removed when this value is dropped.
    pub fn in_temp_dir(script: &Script) -> Result<Self, ScriptError> {
        let dir = fresh_dir().map_err(|(path, source)| ScriptError::File {
            path: path.display().to_string(),
            source,
        })?;
        let prepared = Self { dir, owned: true };
        script.save(&prepared.script_file())?;
        Ok(prepared)
    }

    /// The arguments with which the binary runs the script and records what it receives.
    pub fn args(&self) -> Vec<OsString> {
        vec![
            "--script".into(),
            self.script_file().into(),
            "--record".into(),
            self.record_file().into(),
        ]
    }

    /// The directory: a good place for the files that scripts and tests signal each other with.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The script file.
    pub fn script_file(&self) -> PathBuf {
        self.dir.join("script.json")
    }

    /// The record file, whether it exists yet or not.
    pub fn record_file(&self) -> PathBuf {
        self.dir.join("record.jsonl")
    }

    /// A reader of the record.
    pub fn recording(&self) -> Recording {
        Recording::at(self.record_file())
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        if self.owned {
            // Best effort: a fake that still runs may be writing into it.
            drop(fs::remove_dir_all(&self.dir));
        }
    }
}

/// The program of an example of the package whose test is running, built by `cargo test` beside the tests.
///
/// With `fn main() -> ExitCode { jsonrpc_fake_runtime::main() }` in `examples/fake_agent.rs`, the test of any package has a
/// fake at `example_program("fake_agent")`. It is an error if the file is not there: a test target picked with
/// `cargo test --test NAME` is built without the examples, until `--examples` is added.
pub fn example_program(name: &str) -> io::Result<PathBuf> {
    let test = std::env::current_exe()?;
    // Tests are in `<profile>/deps`, examples in `<profile>/examples`.
    let profile = test.parent().and_then(Path::parent).unwrap_or(&test);
    let program = profile
        .join("examples")
        .join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    if program.is_file() {
        return Ok(program);
    }
    let what = format!(
        "example `{name}` is not built: expected {}, from `cargo build --examples`",
        program.display()
    );
    Err(io::Error::new(io::ErrorKind::NotFound, what))
}

fn fresh_dir() -> Result<PathBuf, (PathBuf, io::Error)> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    loop {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("jsonrpc-fake-runtime-{}-{number}", std::process::id()));
        match fs::create_dir(&dir) {
            Ok(()) => return Ok(dir),
            // Left behind by an earlier process with this number.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err((dir, error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_temporary_directory_goes_with_its_value() {
        let first = Prepared::in_temp_dir(&Script::new()).unwrap();
        let second = Prepared::in_temp_dir(&Script::new()).unwrap();
        assert_ne!(first.dir(), second.dir());
        let dir = first.dir().to_owned();
        assert!(dir.join("script.json").is_file());
        drop(first);
        assert!(!dir.exists());
    }

    #[test]
    fn an_example_that_was_not_built_is_named_with_its_place() {
        let error = example_program("nonesuch").unwrap_err().to_string();
        assert!(
            error.starts_with("example `nonesuch` is not built: expected "),
            "{error}"
        );
    }

    #[test]
    fn a_given_directory_stays() {
        let outer = Prepared::in_temp_dir(&Script::new()).unwrap();
        drop(Prepared::in_dir(outer.dir(), &Script::new().exit(1)).unwrap());
        assert_eq!(Script::load(&outer.script_file()).unwrap(), Script::new().exit(1));
    }
}
