//! Descendants: processes that a fake leaves behind, in every relation that makes them hard to find.
//!
//! Owns both sides: starting one, and being one (the same program again, with one hidden argument). A descendant does
//! nothing but exist, and only for its lifetime.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use std::{fs, io};

use serde::{Deserialize, Serialize};

use crate::error::StepError;
use crate::process::Sigterm;
use crate::stdio::Output;

/// The hidden argument before the order of a descendant.
pub(crate) const FLAG: &str = "--descendant";

/// Milliseconds that a descendant lives at most unless its script says otherwise.
const DEFAULT_LIFETIME_MS: u64 = 120_000;

/// How long the fake waits for the pid file of a descendant.
const START: Duration = Duration::from_secs(10);

/// A process that a fake starts and leaves running.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of its own in a script"
)]
pub struct Descendant {
    /// The file that it writes its process id into, one line a process; relative to the fake's working directory.
    pub pid_file: String,
    /// Where it lives.
    #[serde(default)]
    pub place: Place,
    /// Whether its parent exits at once, so that it belongs to nobody (a double fork).
    #[serde(default)]
    pub orphaned: bool,
    /// Whether it survives SIGTERM.
    #[serde(default)]
    pub ignores_sigterm: bool,
    /// Which of the fake's streams it holds open.
    #[serde(default)]
    pub holds: Holds,
    /// Whether it starts another like itself and exits, again and again, for its whole lifetime.
    #[serde(default)]
    pub multiplies: bool,
    /// Whether it has no environment at all.
    #[serde(default)]
    pub without_environment: bool,
    /// After so many milliseconds it exits.
    #[serde(default = "default_lifetime")]
    pub lifetime_ms: u64,
}

/// The process group and session of a descendant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// The group of the fake.
    #[default]
    SameGroup,
    /// A group of its own in the session of the fake.
    OwnGroup,
    /// A session of its own (`setsid`), so also a group.
    OwnSession,
}

/// Streams that stay open in a descendant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Holds {
    /// None.
    #[default]
    Nothing,
    /// The stdout of the fake.
    Stdout,
    /// The stderr of the fake.
    Stderr,
    /// Both.
    Both,
}

impl Descendant {
    /// An ordinary child that writes its pid into `pid_file`.
    pub fn new(pid_file: impl Into<String>) -> Self {
        Self {
            pid_file: pid_file.into(),
            place: Place::default(),
            orphaned: false,
            ignores_sigterm: false,
            holds: Holds::default(),
            multiplies: false,
            without_environment: false,
            lifetime_ms: DEFAULT_LIFETIME_MS,
        }
    }

    /// Places it elsewhere.
    #[must_use]
    pub fn place(mut self, place: Place) -> Self {
        self.place = place;
        self
    }

    /// Lets its parent exit at once.
    #[must_use]
    pub fn orphaned(mut self) -> Self {
        self.orphaned = true;
        self
    }

    /// Makes it survive SIGTERM.
    #[must_use]
    pub fn ignores_sigterm(mut self) -> Self {
        self.ignores_sigterm = true;
        self
    }

    /// Lets it hold streams open.
    #[must_use]
    pub fn holds(mut self, holds: Holds) -> Self {
        self.holds = holds;
        self
    }

    /// Makes it start another like itself and exit, again and again.
    #[must_use]
    pub fn multiplies(mut self) -> Self {
        self.multiplies = true;
        self
    }

    /// Starts it with no environment at all.
    #[must_use]
    pub fn without_environment(mut self) -> Self {
        self.without_environment = true;
        self
    }

    /// Bounds its life.
    #[must_use]
    pub fn lifetime_ms(mut self, ms: u64) -> Self {
        self.lifetime_ms = ms;
        self
    }

    fn holds_stdout(&self) -> bool {
        matches!(self.holds, Holds::Stdout | Holds::Both)
    }

    fn holds_stderr(&self) -> bool {
        matches!(self.holds, Holds::Stderr | Holds::Both)
    }
}

/// What a descendant is told on its command line.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Order {
    descendant: Descendant,
    /// When it is over, in milliseconds since 1970.
    until_ms: u128,
}

/// Starts a descendant and waits until it exists. `program` must be one that hands its arguments to [`crate::main`].
pub(crate) fn start(program: &Path, descendant: Descendant, output: &Output) -> Result<(), StepError> {
    let what = format!("starting a descendant with pid file `{}`", descendant.pid_file);
    let pid_file = PathBuf::from(&descendant.pid_file);
    let outcome = (|| {
        if pid_file.exists() {
            fs::remove_file(&pid_file)?;
        }
        let stdout = match output {
            Output::File(file) if descendant.holds_stdout() => Stdio::from(file.try_clone()?),
            _ => Stdio::null(),
        };
        let order = Order {
            until_ms: now_ms() + u128::from(descendant.lifetime_ms),
            descendant,
        };
        let mut child = order.command(program)?.stdout(stdout).spawn()?;
        if order.descendant.orphaned {
            child.wait()?;
        }
        let start = Instant::now();
        while !pid_file.exists() {
            if start.elapsed() > START {
                return Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    format!("no pid file within {START:?}"),
                ));
            }
            thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    })();
    outcome.map_err(StepError::io(what))
}

impl Order {
    fn command(&self, program: &Path) -> io::Result<Command> {
        #[expect(
            clippy::disallowed_methods,
            reason = "the fake is a test tool of its own and shares no code"
        )]
        let mut command = Command::new(program);
        if self.descendant.without_environment {
            command.env_clear();
        }
        command
            .arg(FLAG)
            .arg(serde_json::to_string(self)?)
            .stdin(Stdio::null());
        command.stdout(if self.descendant.holds_stdout() {
            Stdio::inherit()
        } else {
            Stdio::null()
        });
        command.stderr(if self.descendant.holds_stderr() {
            Stdio::inherit()
        } else {
            Stdio::null()
        });
        Ok(command)
    }

    /// Is the descendant. Its stdout and stderr are already what they should be.
    pub(crate) fn carry_out(mut self) -> Result<(), StepError> {
        let program = std::env::current_exe().map_err(StepError::io("finding the own program"))?;
        if self.descendant.orphaned {
            self.descendant.orphaned = false;
            return self.spawn(&program);
        }
        settle(self.descendant.place)?;
        let mut sigterm = Sigterm::default();
        if self.descendant.ignores_sigterm {
            sigterm.ignore()?;
        }
        self.sign()?;
        if self.descendant.multiplies && now_ms() < self.until_ms {
            return self.spawn(&program);
        }
        let left = self.until_ms.saturating_sub(now_ms());
        thread::sleep(Duration::from_millis(
            u64::try_from(left).unwrap_or(DEFAULT_LIFETIME_MS),
        ));
        Ok(())
    }

    fn spawn(&self, program: &Path) -> Result<(), StepError> {
        let spawned = self.command(program).and_then(|mut command| command.spawn());
        spawned
            .map(drop)
            .map_err(StepError::io("starting the next process"))
    }

    fn sign(&self) -> Result<(), StepError> {
        use io::Write;

        let path = &self.descendant.pid_file;
        let line = format!("{}\n", std::process::id());
        if !self.descendant.multiplies {
            return crate::process::write_whole(path, line.as_bytes());
        }
        let file = fs::OpenOptions::new().create(true).append(true).open(path);
        file.and_then(|mut file| file.write_all(line.as_bytes()))
            .map_err(StepError::io("noting the pid"))
    }
}

#[cfg(unix)]
fn settle(place: Place) -> Result<(), StepError> {
    use rustix::process::{setpgid, setsid};

    match place {
        Place::SameGroup => Ok(()),
        Place::OwnGroup => setpgid(None, None),
        Place::OwnSession => setsid().map(drop),
    }
    .map_err(|error| StepError::io("leaving the group")(error.into()))
}

#[cfg(not(unix))]
fn settle(place: Place) -> Result<(), StepError> {
    match place {
        Place::SameGroup => Ok(()),
        _ => Err(StepError::Unsupported {
            what: "process groups",
        }),
    }
}

fn now_ms() -> u128 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_millis()
}

fn default_lifetime() -> u64 {
    DEFAULT_LIFETIME_MS
}
