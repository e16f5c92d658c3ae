//! What a fake knows about and does to its own process: facts and signals.
//!
//! Owns the one place that differs by platform, streams and descendants excepted.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{env, fs, io};

use serde::{Deserialize, Serialize};

use crate::error::StepError;
use crate::step::Signal;

/// What the step `write_facts` writes down, as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// The arguments, the program's name first; what is not UTF-8 in them is replaced.
    pub args: Vec<String>,
    /// The working directory.
    pub cwd: String,
    /// The environment, as far as it is UTF-8.
    pub env: BTreeMap<String, String>,
    /// Variables whose name or value is not UTF-8, as `NAME=value` in bytes.
    pub env_not_utf8: Vec<Vec<u8>>,
    /// The process id.
    pub pid: u32,
    /// The process group; 0 if it was made outside of the process namespace. (Unix.)
    pub pgid: Option<u32>,
    /// The session; 0 if it was begun outside of the process namespace. (Unix.)
    pub sid: Option<u32>,
}

impl Facts {
    /// The facts of this process.
    pub fn gather() -> io::Result<Self> {
        let mut facts = Self {
            args: env::args_os()
                .map(|arg| arg.to_string_lossy().into_owned())
                .collect(),
            cwd: env::current_dir()?.to_string_lossy().into_owned(),
            env: BTreeMap::new(),
            env_not_utf8: Vec::new(),
            pid: std::process::id(),
            pgid: group(),
            sid: session(),
        };
        for (name, value) in env::vars_os() {
            match (name.into_string(), value.into_string()) {
                (Ok(name), Ok(value)) => {
                    facts.env.insert(name, value);
                }
                (name, value) => {
                    let name = name.map_or_else(OsString::into_encoded_bytes, String::into_bytes);
                    let value = value.map_or_else(OsString::into_encoded_bytes, String::into_bytes);
                    facts.env_not_utf8.push([name, b"=".to_vec(), value].concat());
                }
            }
        }
        Ok(facts)
    }

    /// Reads what a fake wrote.
    pub fn read(path: impl AsRef<Path>) -> io::Result<Self> {
        Ok(serde_json::from_slice(&fs::read(path)?)?)
    }
}

/// Writes a file so that whoever sees it sees all of it.
pub(crate) fn write_whole(path: &str, text: &[u8]) -> Result<(), StepError> {
    let draft = format!("{path}.{}.draft", std::process::id());
    fs::write(&draft, text)
        .and_then(|()| fs::rename(&draft, path))
        .map_err(StepError::io(format!("writing `{path}`")))
}

/// What has been arranged for SIGTERM.
#[derive(Debug, Default)]
pub(crate) struct Sigterm {
    noted: Option<Arc<AtomicBool>>,
}

#[cfg(unix)]
impl Sigterm {
    /// Notes SIGTERM instead of dying of it.
    pub(crate) fn ignore(&mut self) -> Result<(), StepError> {
        if self.noted.is_none() {
            let noted = Arc::new(AtomicBool::new(false));
            signal_hook::flag::register(signal_hook::consts::SIGTERM, Arc::clone(&noted))
                .map_err(StepError::io("taking SIGTERM over"))?;
            self.noted = Some(noted);
        }
        Ok(())
    }

    /// Exits with `code` inside the signal handler.
    pub(crate) fn exit_with(code: u8) -> Result<(), StepError> {
        let always = Arc::new(AtomicBool::new(true));
        signal_hook::flag::register_conditional_shutdown(
            signal_hook::consts::SIGTERM,
            i32::from(code),
            always,
        )
        .map(drop)
        .map_err(StepError::io("taking SIGTERM over"))
    }
}

#[cfg(not(unix))]
impl Sigterm {
    pub(crate) fn ignore(&mut self) -> Result<(), StepError> {
        Err(StepError::Unsupported { what: "SIGTERM" })
    }

    pub(crate) fn exit_with(_code: u8) -> Result<(), StepError> {
        Err(StepError::Unsupported { what: "SIGTERM" })
    }
}

impl Sigterm {
    /// Whether one has arrived since `ignore`.
    pub(crate) fn arrived(&self) -> bool {
        self.noted
            .as_ref()
            .is_some_and(|noted| noted.load(Ordering::SeqCst))
    }
}

/// Sends a signal to this process. Returns if it did not die of it at once.
#[cfg(unix)]
pub(crate) fn signal_self(signal: Signal) -> Result<(), StepError> {
    use rustix::process::{Signal as Number, getpid, kill_process};

    let number = match signal {
        Signal::Hup => Number::HUP,
        Signal::Int => Number::INT,
        Signal::Quit => Number::QUIT,
        Signal::Abrt => Number::ABORT,
        Signal::Kill => Number::KILL,
        Signal::Segv => Number::SEGV,
        Signal::Term => Number::TERM,
        Signal::Usr1 => Number::USR1,
    };
    kill_process(getpid(), number).map_err(|error| StepError::io("signalling itself")(error.into()))
}

#[cfg(not(unix))]
pub(crate) fn signal_self(_signal: Signal) -> Result<(), StepError> {
    Err(StepError::Unsupported { what: "signals" })
}

/// A field of `/proc/self/stat`, counted from behind the name. The system calls would say the same, but 0, for something
/// outside of this process namespace, is a number that `rustix` does not expect of them.
#[cfg(target_os = "linux")]
fn stat_field(number: usize) -> Option<u32> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_ascii_whitespace().nth(number)?.parse().ok()
}

#[cfg(target_os = "linux")]
fn group() -> Option<u32> {
    stat_field(2)
}

#[cfg(target_os = "linux")]
fn session() -> Option<u32> {
    stat_field(3)
}

#[cfg(all(unix, not(target_os = "linux")))]
fn group() -> Option<u32> {
    u32::try_from(rustix::process::getpgrp().as_raw_nonzero().get()).ok()
}

#[cfg(all(unix, not(target_os = "linux")))]
fn session() -> Option<u32> {
    rustix::process::getsid(None)
        .ok()
        .and_then(|id| u32::try_from(id.as_raw_nonzero().get()).ok())
}

#[cfg(not(unix))]
fn group() -> Option<u32> {
    None
}

#[cfg(not(unix))]
fn session() -> Option<u32> {
    None
}
