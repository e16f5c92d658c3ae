//! The command as a process: running, and what it came to. Owns the waiting for its end and the reading of what it writes.

use std::io::{Read, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ChildStdin, Command, ExitStatus};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::command_support::{Place, until_within};

/// How long a command may take that waits for nothing longer.
const PATIENCE: Duration = Duration::from_mins(1);

/// A command that is running.
pub(crate) struct Started<'a> {
    place: &'a Place,
    child: Child,
    begun: Instant,
    pub(crate) stdin: Option<ChildStdin>,
    stdout: Option<JoinHandle<Vec<u8>>>,
    stderr: Option<JoinHandle<Vec<u8>>>,
}

impl<'a> Started<'a> {
    /// Starts a prepared command.
    pub(crate) fn new(place: &'a Place, command: &mut Command) -> Self {
        let begun = Instant::now();
        let mut child = command.spawn().unwrap();
        Self {
            place,
            begun,
            stdin: child.stdin.take(),
            stdout: child.stdout.take().map(reading),
            stderr: child.stderr.take().map(reading),
            child,
        }
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        kill(self.child.id(), signal);
    }

    /// Whether it has not ended yet.
    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Writes to its standard input and closes that.
    pub(crate) fn write(&mut self, text: impl AsRef<[u8]>) {
        self.stdin.take().unwrap().write_all(text.as_ref()).unwrap();
    }

    /// Waits for its end, and fails unless nothing is left then.
    pub(crate) fn finish(self) -> Finished {
        let place = self.place;
        let finished = self.finish_whatever_is_left();
        place.assert_nothing_left();
        finished
    }

    /// Waits for its end.
    pub(crate) fn finish_whatever_is_left(mut self) -> Finished {
        let mut ended = None;
        until_within(PATIENCE, "the command has ended", || {
            ended = self.child.try_wait().unwrap();
            ended.is_some()
        });
        let time = self.begun.elapsed();
        let text = |reader: Option<JoinHandle<Vec<u8>>>| {
            let bytes = reader.map(|reader| reader.join().unwrap()).unwrap_or_default();
            String::from_utf8(bytes).unwrap()
        };
        let (stdout, stderr) = (text(self.stdout.take()), text(self.stderr.take()));
        assert!(!stderr.contains("panicked"), "{stderr}");
        Finished {
            status: ended.unwrap(),
            stdout,
            stderr,
            time,
        }
    }
}

/// A command that has ended by itself.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) time: Duration,
}

impl Finished {
    /// The exit code.
    pub(crate) fn code(&self) -> i32 {
        let signal = self.status.signal();
        self.status
            .code()
            .unwrap_or_else(|| panic!("died of signal {signal:?}: {self:?}"))
    }

    /// Exit code, stdout and stderr: everything that a shell sees.
    pub(crate) fn seen(&self) -> (i32, &str, &str) {
        (self.code(), &self.stdout, &self.stderr)
    }

    /// The JSON object on stdout, which holds nothing else.
    pub(crate) fn json(&self) -> Value {
        let line = self
            .stdout
            .strip_suffix('\n')
            .unwrap_or_else(|| panic!("no line: {self:?}"));
        assert!(!line.contains('\n'), "more than a line: {self:?}");
        serde_json::from_str(line).unwrap()
    }

    /// The JSON object with what differs from run to run replaced: the run's id, which must be a UUID, and the times, which
    /// must add up to no more than the command's own.
    pub(crate) fn redacted_json(&self) -> String {
        let object = self.json();
        let times: Vec<f64> = object["timingsMs"]
            .as_object()
            .unwrap()
            .values()
            .filter_map(Value::as_f64)
            .collect();
        let sum: f64 = times.iter().sum();
        assert!(
            times.iter().all(|time| *time >= 0.0) && sum <= self.time.as_secs_f64() * 1000.0 + 1.0,
            "{self:?}"
        );
        let (head, times) = self.stdout.split_once("\"timingsMs\":").unwrap();
        let mut redacted = match object["runId"].as_str() {
            Some(id) => {
                assert!(id.len() == 36 && id.split('-').count() == 5, "no UUID: {id}");
                head.replace(id, "[id]")
            }
            None => head.to_owned(),
        };
        redacted += "\"timingsMs\":";
        let mut in_number = false;
        for c in times.trim_end().chars() {
            let belongs = c.is_ascii_digit() || c == '.';
            match (belongs, in_number) {
                (true, false) => redacted += "[ms]",
                (true, true) => {}
                (false, _) => redacted.push(c),
            }
            in_number = belongs;
        }
        redacted
    }
}

/// Sends a signal to a process of a test.
pub(crate) fn kill(pid: u32, signal: Signal) {
    // A process that has just ended needs no signal.
    let _ = kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), signal);
}

/// Reads a stream to its end, so that whoever writes it never waits.
fn reading(mut stream: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        bytes
    })
}
