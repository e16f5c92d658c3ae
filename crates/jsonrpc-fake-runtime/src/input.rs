//! Reading lines on demand: nothing is read before a step asks for it, so that a fake can stop reading, and a closed
//! stdin is really closed.
//!
//! Owns the two ways of waiting for a line with a bound: `poll` on a file, and a thread for anything else.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Instant;

/// What came of asking for a line.
#[derive(Debug)]
pub(crate) enum Next {
    /// A line without its newline. A last line that had none counts as well.
    Line(Vec<u8>),
    /// The stream has ended.
    End,
    /// The deadline passed first.
    Late,
}

/// A source of lines.
#[derive(Debug)]
pub(crate) enum Input {
    /// Read by a thread that reads one line whenever it is asked.
    Threaded(Threaded),
    /// A file or pipe of this process, polled.
    #[cfg(unix)]
    Polled(polled::Polled),
    /// Closed by a step: it ends at once.
    Closed,
}

impl Input {
    pub(crate) fn threaded(reader: impl Read + Send + 'static) -> Self {
        Self::Threaded(Threaded::start(reader))
    }

    /// Reads a line, waiting for it until `deadline` at most.
    pub(crate) fn next_line(&mut self, deadline: Instant) -> io::Result<Next> {
        match self {
            Self::Threaded(input) => input.next_line(deadline),
            #[cfg(unix)]
            Self::Polled(input) => input.next_line(deadline),
            Self::Closed => Ok(Next::End),
        }
    }
}

/// The thread, seen from the outside.
#[derive(Debug)]
pub(crate) struct Threaded {
    ask: Sender<()>,
    lines: Receiver<io::Result<Next>>,
    asked: bool,
}

impl Threaded {
    fn start(reader: impl Read + Send + 'static) -> Self {
        let (ask, asked) = mpsc::channel::<()>();
        let (send, lines) = mpsc::channel();
        let without_a_thread = send.clone();
        let started = thread::Builder::new().spawn(move || {
            let mut reader = BufReader::new(reader);
            for () in asked {
                let mut line = Vec::new();
                let next = reader.read_until(b'\n', &mut line).map(|read| match read {
                    0 => Next::End,
                    _ => Next::Line(without_newline(line)),
                });
                if send.send(next).is_err() {
                    break;
                }
            }
        });
        if let Err(error) = started {
            // The first answer, and the last.
            drop(without_a_thread.send(Err(error)));
        }
        Self {
            ask,
            lines,
            asked: false,
        }
    }

    fn next_line(&mut self, deadline: Instant) -> io::Result<Next> {
        if !self.asked {
            // A thread that has gone shows itself below.
            self.asked = self.ask.send(()).is_ok();
        }
        match self
            .lines
            .recv_timeout(deadline.saturating_duration_since(Instant::now()))
        {
            Ok(next) => {
                self.asked = false;
                next
            }
            Err(RecvTimeoutError::Timeout) => Ok(Next::Late),
            Err(RecvTimeoutError::Disconnected) => Ok(Next::End),
        }
    }
}

fn without_newline(mut line: Vec<u8>) -> Vec<u8> {
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    line
}

#[cfg(unix)]
pub(crate) mod polled {
    //! Lines of a file, without a thread.

    use std::fs::File;
    use std::io::{self, Read};
    use std::time::Instant;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::io::Errno;

    use super::Next;

    /// Bytes read at once. Small, so that a fake that stops reading leaves the rest in the pipe.
    const BLOCK: usize = 8192;

    /// A file, and what was read beyond the last line that was handed out.
    #[derive(Debug)]
    pub(crate) struct Polled {
        file: File,
        ahead: Vec<u8>,
        /// Bytes of `ahead` that are known to hold no newline.
        searched: usize,
    }

    impl Polled {
        pub(crate) fn new(file: File) -> Self {
            Self {
                file,
                ahead: Vec::new(),
                searched: 0,
            }
        }

        pub(crate) fn next_line(&mut self, deadline: Instant) -> io::Result<Next> {
            loop {
                if let Some(found) = self.ahead[self.searched..].iter().position(|&byte| byte == b'\n') {
                    let end = self.searched + found;
                    let rest = self.ahead.split_off(end + 1);
                    let mut line = std::mem::replace(&mut self.ahead, rest);
                    line.pop();
                    self.searched = 0;
                    return Ok(Next::Line(line));
                }
                self.searched = self.ahead.len();
                if !self.readable(deadline)? {
                    return Ok(Next::Late);
                }
                let mut block = [0; BLOCK];
                match self.file.read(&mut block) {
                    Ok(0) if self.ahead.is_empty() => return Ok(Next::End),
                    Ok(0) => {
                        self.searched = 0;
                        return Ok(Next::Line(std::mem::take(&mut self.ahead)));
                    }
                    Ok(read) => self.ahead.extend_from_slice(&block[..read]),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
        }

        fn readable(&self, deadline: Instant) -> io::Result<bool> {
            loop {
                let left = deadline.saturating_duration_since(Instant::now());
                let timeout = Timespec::try_from(left).ok();
                match poll(&mut [PollFd::new(&self.file, PollFlags::IN)], timeout.as_ref()) {
                    Ok(ready) => return Ok(ready > 0),
                    Err(Errno::INTR) => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::time::Duration;

    use super::*;

    fn lines(mut input: Input) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            match input.next_line(Instant::now() + Duration::from_secs(10)).unwrap() {
                Next::Line(line) => lines.push(String::from_utf8(line).unwrap()),
                Next::End => return lines,
                Next::Late => panic!("no line within 10 s after {lines:?}"),
            }
        }
    }

    const TEXT: &str = "one\n\ntwo\nlast without newline";

    #[test]
    fn a_thread_hands_out_line_after_line() {
        assert_eq!(
            lines(Input::threaded(TEXT.as_bytes())),
            ["one", "", "two", "last without newline"]
        );
    }

    #[test]
    fn a_line_that_does_not_come_is_late_and_can_be_asked_for_again() {
        let (reader, mut writer) = io::pipe().unwrap();
        let mut input = Input::threaded(reader);
        assert!(matches!(input.next_line(Instant::now()).unwrap(), Next::Late));
        writer.write_all(b"there\n").unwrap();
        drop(writer);
        assert_eq!(lines(input), ["there"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_polled_pipe_hands_out_line_after_line() {
        let (reader, mut writer) = io::pipe().unwrap();
        let file = std::fs::File::from(std::os::fd::OwnedFd::from(reader));
        let mut input = Input::Polled(polled::Polled::new(file));
        assert!(matches!(input.next_line(Instant::now()).unwrap(), Next::Late));
        let long = "x".repeat(50_000);
        writer.write_all(format!("{TEXT}\n{long}\n").as_bytes()).unwrap();
        drop(writer);
        assert_eq!(lines(input), ["one", "", "two", "last without newline", &long]);
    }
}
