//! What the tests of the command share: a place of its own for each test, the command started in it, and the proof that
//! nothing stays behind. Owns no expectation about the command.

use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use jsonrpc_fake_runtime::{Prepared, Recording, Script};
use rustix::process::Signal;

use crate::command_process::{Finished, Started, kill};
use crate::support::{SOON, fake_program};

/// In the environment of every process of a test, and so of all its descendants: the directory of its place.
const MARK: &str = "COMMAND_TEST_PLACE";

/// The program under test.
pub(crate) fn program() -> PathBuf {
    jsonrpc_fake_runtime::example_program("subagent").unwrap()
}

/// The directory of one test. The command is started in `work`, with `home` as its home and `tmp` for temporary files.
pub(crate) struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in ["work", "home", "tmp"] {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        Self { dir }
    }

    /// A path in the place.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The directory in which the command is started. Scripts may name files relative to it: it is also the session's.
    pub(crate) fn work(&self) -> PathBuf {
        self.path("work")
    }

    /// Writes a file and says where.
    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// A fake that runs `script`, as the words of its command line.
    pub(crate) fn fake(&self, name: &str, script: &Script) -> Vec<String> {
        let dir = self.path(name);
        fs::create_dir_all(&dir).unwrap();
        let prepared = Prepared::in_dir(dir, script).unwrap();
        let args = prepared.args().into_iter().map(|arg| arg.into_string().unwrap());
        std::iter::once(fake_program().to_str().unwrap().to_owned())
            .chain(args)
            .collect()
    }

    /// A fake that runs `script`, as one command line for a shell.
    pub(crate) fn agent(&self, script: &Script) -> String {
        command_line(&self.fake("agent", script))
    }

    /// A fake that runs `script`, as the entry of a configuration file for a provider of the same name; `more` are further
    /// lines of its configuration.
    pub(crate) fn entry(&self, name: &str, script: &Script, more: &str) -> String {
        Self::entry_of(name, &self.fake(name, script), more)
    }

    /// The same for the words of any command line.
    pub(crate) fn entry_of(name: &str, words: &[String], more: &str) -> String {
        format!(
            "- id: {name}\n  name: subagent-acp\n  config:\n    providerName: {name}\n    command: {}\n    args: {}\n{more}",
            words[0],
            serde_json::to_string(&words[1..]).unwrap()
        )
    }

    /// What the fake called `name` has received.
    pub(crate) fn recording(&self, name: &str) -> Recording {
        Recording::at(self.path(name).join("record.jsonl"))
    }

    /// The command with its arguments, not yet started.
    pub(crate) fn command(&self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
        #[expect(
            clippy::disallowed_methods,
            reason = "this is the one place where these tests start the command"
        )]
        let mut command = Command::new(program());
        command
            .args(args)
            .current_dir(self.work())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path("home"))
            .env("TMPDIR", self.path("tmp"))
            .env(MARK, self.dir.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Starts the command and waits for its end.
    pub(crate) fn run(&self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Finished {
        self.finish(&mut self.command(args))
    }

    /// `run --acp AGENT` with more arguments.
    pub(crate) fn run_acp(&self, script: &Script, args: &[&str]) -> Finished {
        let agent = self.agent(script);
        self.run([&["run", "--acp", &agent], args].concat())
    }

    /// Starts a prepared command and waits for its end.
    pub(crate) fn finish(&self, command: &mut Command) -> Finished {
        self.start(command).finish()
    }

    /// Starts a prepared command.
    pub(crate) fn start(&self, command: &mut Command) -> Started<'_> {
        Started::new(self, command)
    }

    /// The processes that were started in this place and still live.
    pub(crate) fn living(&self) -> Vec<u32> {
        let mark = [
            MARK.as_bytes(),
            b"=",
            self.dir.path().as_os_str().as_encoded_bytes(),
        ]
        .concat();
        let processes = fs::read_dir("/proc").unwrap().flatten();
        processes
            .filter_map(|process| {
                let pid = process.file_name().to_str()?.parse().ok()?;
                // A process that has ended, zombies included, has no environment any more.
                let environment = fs::read(process.path().join("environ")).ok()?;
                environment
                    .split(|byte| *byte == 0)
                    .any(|variable| variable == mark)
                    .then_some(pid)
            })
            .collect()
    }

    /// Fails unless every process is gone, and every temporary file with it.
    pub(crate) fn assert_nothing_left(&self) {
        assert_eq!(self.living(), [0; 0], "processes are left");
        let files: Vec<_> = fs::read_dir(self.path("tmp")).unwrap().flatten().collect();
        assert!(files.is_empty(), "temporary files are left: {files:?}");
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // Only after a failure is anything left; it must not disturb other tests.
        for pid in self.living() {
            kill(pid, Signal::KILL);
        }
    }
}

/// The words as a command line for a shell.
pub(crate) fn command_line(words: &[String]) -> String {
    let quoted: Vec<_> = words
        .iter()
        .map(|word| format!("'{}'", word.replace('\'', "'\\''")))
        .collect();
    quoted.join(" ")
}

/// Waits until `condition` holds, and fails loudly when it does not come to hold soon.
pub(crate) fn until(what: &str, condition: impl FnMut() -> bool) {
    until_within(SOON, what, condition);
}

/// The same with another bound.
pub(crate) fn until_within(bound: Duration, what: &str, mut condition: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < bound, "{what}: still not so after {bound:?}");
        thread::sleep(Duration::from_millis(1));
    }
}
