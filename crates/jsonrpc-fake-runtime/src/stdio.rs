//! The three streams of a fake: those of the process, or any others for running a script in-process.
//!
//! Owns closing them for real. Reading lines is `input`.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};

use crate::error::StepError;
use crate::input::Input;

/// The streams that a script reads and writes.
#[derive(Debug)]
pub struct Stdio {
    pub(crate) input: Input,
    pub(crate) output: Output,
    pub(crate) errors: Output,
}

impl Stdio {
    /// The streams of this process. On Unix stdin and stdout are taken over: their numbers point to `/dev/null`
    /// afterwards, so that nothing else can write into the protocol and a step can close them for real.
    pub fn process() -> io::Result<Self> {
        #[cfg(unix)]
        {
            use std::os::fd::AsFd;

            use rustix::stdio::{dup2_stdin, dup2_stdout};

            let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
            let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
            let null = File::options().read(true).write(true).open("/dev/null")?;
            dup2_stdin(&null)?;
            dup2_stdout(&null)?;
            Ok(Self {
                input: Input::Polled(crate::input::polled::Polled::new(input)),
                output: Output::File(output),
                errors: Output::Stderr,
            })
        }
        #[cfg(not(unix))]
        Ok(Self {
            input: Input::threaded(io::stdin()),
            output: Output::Writer(Box::new(io::stdout())),
            errors: Output::Stderr,
        })
    }

    /// Any streams. A step that closes one drops it.
    pub fn of(
        input: impl Read + Send + 'static,
        output: impl Write + 'static,
        errors: impl Write + 'static,
    ) -> Self {
        Self {
            input: Input::threaded(input),
            output: Output::Writer(Box::new(output)),
            errors: Output::Writer(Box::new(errors)),
        }
    }
}

/// Where bytes go. Never buffers: each call is one write, as far as the system takes it whole.
pub(crate) enum Output {
    /// A file or pipe of this process.
    #[cfg_attr(not(unix), expect(dead_code, reason = "only Unix takes the pipes over"))]
    File(File),
    /// The standard error of this process.
    Stderr,
    /// Anything else.
    Writer(Box<dyn Write>),
    /// Closed by a step.
    Closed,
}

impl Output {
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<io::Result<()>, StepError> {
        Ok(match self {
            Self::File(file) => file.write_all(bytes),
            Self::Stderr => io::stderr().write_all(bytes),
            Self::Writer(writer) => writer.write_all(bytes).and_then(|()| writer.flush()),
            Self::Closed => return Err(StepError::Closed),
        })
    }

    pub(crate) fn close(&mut self) -> Result<(), StepError> {
        match self {
            Self::Closed => return Err(StepError::Closed),
            #[cfg(unix)]
            Self::Stderr => {
                let null = File::options().write(true).open("/dev/null");
                null.and_then(|null| Ok(rustix::stdio::dup2_stderr(null)?))
                    .map_err(StepError::io("stderr"))?;
            }
            #[cfg(not(unix))]
            Self::Stderr => {
                return Err(StepError::Unsupported {
                    what: "closing the process's own stderr",
                });
            }
            Self::File(_) | Self::Writer(_) => {}
        }
        *self = Self::Closed;
        Ok(())
    }
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::File(_) => "File",
            Self::Stderr => "Stderr",
            Self::Writer(_) => "Writer",
            Self::Closed => "Closed",
        })
    }
}
