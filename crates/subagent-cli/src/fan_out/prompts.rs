//! The list of tasks: one prompt a line. Owns the reading of it, line by line as they are wanted, and the rules for what
//! counts as one.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::str::Utf8Error;

use tokio::sync::mpsc;

use crate::prompt::MAX_BYTES;
use crate::thread;

/// Why there are no more prompts, or none at all.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PromptsError {
    /// The file cannot be opened.
    #[error("{name}: the prompts cannot be read")]
    Open {
        /// The file.
        name: String,
        /// What the operating system says.
        #[source]
        source: io::Error,
    },
    /// The system has no thread to spare for the reading.
    #[error("the prompts cannot be read, no thread could be started")]
    NoThread {
        /// What the operating system says.
        #[source]
        source: io::Error,
    },
    /// Reading broke off.
    #[error("{name}:{line}: the prompts cannot be read any further")]
    Read {
        /// The file, or `stdin`.
        name: String,
        /// The line, from 1.
        line: u64,
        /// What the operating system says.
        #[source]
        source: io::Error,
    },
    /// A line is longer than any prompt.
    #[error("{name}:{line}: the prompt is longer than {limit} bytes")]
    TooLong {
        /// The file, or `stdin`.
        name: String,
        /// The line, from 1.
        line: u64,
        /// The most it may have.
        limit: usize,
    },
    /// A line is not text.
    #[error("{name}:{line}: the prompt is not valid UTF-8")]
    NotUtf8 {
        /// The file, or `stdin`.
        name: String,
        /// The line, from 1.
        line: u64,
        /// Where.
        #[source]
        source: Utf8Error,
    },
    /// There is no line with a prompt.
    #[error("{name}: no prompt, expected one a line")]
    Empty {
        /// The file, or `stdin`.
        name: String,
    },
}

impl PromptsError {
    /// Whether whoever called the command can be told to do it better.
    pub(crate) const fn is_usage(&self) -> bool {
        !matches!(self, Self::Read { .. } | Self::NoThread { .. })
    }
}

/// The prompts, as they are read. A line that is blank is none; any other is passed on as it is, without its end.
#[derive(Debug)]
pub(super) struct Prompts(mpsc::Receiver<Result<String, PromptsError>>);

impl Prompts {
    /// Those in a file; without one, or if it is `-`, those on standard input. A thread of its own does the reading: it
    /// holds one prompt more than have been taken.
    pub(super) fn open(source: Option<String>) -> Self {
        let (send, receive) = mpsc::channel(1);
        let to = send.clone();
        let reading = thread::start(move || {
            if let Err(error) = read(source.filter(|source| source != "-"), &to) {
                // Nobody may want to know it any more.
                drop(to.blocking_send(Err(error)));
            }
        });
        if let Err((source, _)) = reading {
            // There is room: nothing has been sent.
            drop(send.try_send(Err(PromptsError::NoThread { source })));
        }
        Self(receive)
    }

    /// The next prompt; `None` at the end. After an error there is none. Cancel-safe. Waits for the input, unbounded.
    pub(super) async fn next(&mut self) -> Option<Result<String, PromptsError>> {
        self.0.recv().await
    }
}

fn read(file: Option<String>, to: &mpsc::Sender<Result<String, PromptsError>>) -> Result<(), PromptsError> {
    let Some(name) = file else {
        return lines("stdin", io::stdin().lock(), to);
    };
    match File::open(&name) {
        Ok(file) => lines(&name, BufReader::new(file), to),
        Err(source) => Err(PromptsError::Open { name, source }),
    }
}

fn lines(
    name: &str,
    mut input: impl BufRead,
    to: &mpsc::Sender<Result<String, PromptsError>>,
) -> Result<(), PromptsError> {
    // One byte more than there may be, and the end of the line.
    let most = MAX_BYTES as u64 + 3;
    let mut any = false;
    for line in 1_u64.. {
        let name = || name.to_owned();
        let mut bytes = Vec::new();
        match (&mut input).take(most).read_until(b'\n', &mut bytes) {
            Ok(0) if any => break,
            Ok(0) => return Err(PromptsError::Empty { name: name() }),
            Ok(_) => {}
            Err(source) => {
                let name = name();
                return Err(PromptsError::Read { name, line, source });
            }
        }
        if bytes.last() == Some(&b'\n') {
            bytes.pop();
            if bytes.last() == Some(&b'\r') {
                bytes.pop();
            }
        }
        if bytes.len() > MAX_BYTES {
            return Err(PromptsError::TooLong {
                name: name(),
                line,
                limit: MAX_BYTES,
            });
        }
        let text = String::from_utf8(bytes).map_err(|error| PromptsError::NotUtf8 {
            name: name(),
            line,
            source: error.utf8_error(),
        })?;
        if text.trim().is_empty() {
            continue;
        }
        any = true;
        if to.blocking_send(Ok(text)).is_err() {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All prompts of an input, and how it ended.
    fn read_all(input: &[u8]) -> (Vec<String>, Result<(), String>) {
        let (send, mut receive) = mpsc::channel(16);
        let end = lines("list", input, &send).map_err(|error| error.to_string());
        drop(send);
        let prompts = std::iter::from_fn(|| receive.blocking_recv());
        (prompts.map(Result::unwrap).collect(), end)
    }

    #[test]
    fn a_line_is_a_prompt_unless_it_is_blank() {
        let (prompts, end) = read_all(b"one\n\n  two \r\n \t\nthree");
        assert_eq!(prompts, ["one", "  two ", "three"]);
        assert_eq!(end, Ok(()));
    }

    #[test]
    fn a_list_without_a_prompt_is_an_error() {
        for none in [&b""[..], b"\n \n"] {
            assert_eq!(
                read_all(none),
                (Vec::new(), Err("list: no prompt, expected one a line".to_owned()))
            );
        }
    }

    #[test]
    fn a_line_that_is_no_prompt_ends_the_list_and_is_named() {
        assert_eq!(
            read_all(b"one\ncaf\xe9\nthree\n"),
            (
                vec!["one".to_owned()],
                Err("list:2: the prompt is not valid UTF-8".to_owned())
            )
        );
    }

    #[test]
    fn a_line_may_be_as_long_as_a_prompt_and_no_longer() {
        let mut line = vec![b'x'; MAX_BYTES];
        line.extend(b"\r\nnext");
        let (prompts, end) = read_all(&line);
        assert_eq!(
            (prompts[0].len(), prompts[1].as_str(), end),
            (MAX_BYTES, "next", Ok(()))
        );
        line.insert(0, b'x');
        let (prompts, end) = read_all(&line);
        assert_eq!(
            (prompts.len(), end),
            (
                0,
                Err("list:1: the prompt is longer than 16777216 bytes".to_owned())
            )
        );
    }
}
