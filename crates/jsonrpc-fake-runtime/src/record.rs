//! The record: one line for every line that a fake received, written before the fake acts on it, and its reader.
//!
//! Owns the file format. A received frame is kept byte by byte as it came; a line that is not JSON becomes a JSON string
//! (invalid UTF-8 replaced), so that every line of a record is JSON.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// Writes a record.
#[derive(Debug)]
pub(crate) struct Recorder {
    file: File,
}

impl Recorder {
    /// Opens `path` for appending, so that several fakes may share a record.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self {
            file: OpenOptions::new().create(true).append(true).open(path)?,
        })
    }

    /// Adds a received line, which has no newline, in one write.
    pub(crate) fn add(&mut self, line: &[u8], is_json: bool) -> io::Result<()> {
        let mut entry = if is_json {
            line.to_vec()
        } else {
            Value::from(String::from_utf8_lossy(line))
                .to_string()
                .into_bytes()
        };
        entry.push(b'\n');
        self.file.write_all(&entry)
    }
}

/// Reads the record of a fake, while it runs or afterwards.
///
/// ```
/// use jsonrpc_fake_runtime::Recording;
///
/// # let path = std::env::temp_dir().join(format!("recording-{}.jsonl", std::process::id()));
/// std::fs::write(&path, "{\"id\":0,\"method\":\"initialize\"}\n\"not JSON\"\n")?;
/// let recording = Recording::at(&path);
/// assert_eq!(recording.methods()?, ["initialize"]);
/// assert_eq!(recording.frames()?.len(), 2);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Recording {
    path: PathBuf,
}

impl Recording {
    /// The record in the file `path`, which need not exist yet.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Everything received so far, in order: frames as they came, other lines as strings. Empty while there is no file.
    pub fn frames(&self) -> io::Result<Vec<Value>> {
        let text = match std::fs::read(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        // A line without its newline is still being written.
        let complete = text
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |end| end + 1);
        text[..complete]
            .split(|&byte| byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_slice(line).map_err(io::Error::from))
            .collect()
    }

    /// The methods of the received requests and notifications, in order.
    pub fn methods(&self) -> io::Result<Vec<String>> {
        let method = |frame: &Value| Some(frame.get("method")?.as_str()?.to_owned());
        Ok(self.frames()?.iter().filter_map(method).collect())
    }

    /// Waits until a frame fulfils `wanted` and returns it, or says after `bound` what there was instead.
    pub fn wait_for(&self, bound: Duration, wanted: impl Fn(&Value) -> bool) -> io::Result<Value> {
        let start = Instant::now();
        loop {
            let frames = self.frames()?;
            if let Some(frame) = frames.iter().find(|frame| wanted(frame)) {
                return Ok(frame.clone());
            }
            if start.elapsed() >= bound {
                let what = format!("no such frame within {bound:?} among {frames:?}");
                return Err(io::Error::new(io::ErrorKind::TimedOut, what));
            }
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Waits until a request or notification of `method` was received.
    pub fn wait_for_method(&self, bound: Duration, method: &str) -> io::Result<Value> {
        self.wait_for(bound, |frame| {
            frame.get("method").and_then(Value::as_str) == Some(method)
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_line_of_a_record_is_json_and_frames_are_kept_byte_by_byte() {
        let path = std::env::temp_dir().join(format!("fake-record-{}.jsonl", std::process::id()));
        let mut recorder = Recorder::open(&path).unwrap();
        recorder.add(br#"{"b": 1,  "a":2}"#, true).unwrap();
        recorder.add(b"say \"\xff\"", false).unwrap();
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            "{\"b\": 1,  \"a\":2}\n\"say \\\"\u{fffd}\\\"\"\n"
        );
        let recording = Recording::at(&path);
        assert_eq!(
            recording.frames().unwrap(),
            [json!({"b": 1, "a": 2}), json!("say \"\u{fffd}\"")]
        );
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_wait_that_fails_says_what_there_was() {
        let recording = Recording::at("/nonexistent/record");
        let error = recording.wait_for_method(Duration::ZERO, "x").unwrap_err();
        assert_eq!(error.to_string(), "no such frame within 0ns among []");
    }
}
