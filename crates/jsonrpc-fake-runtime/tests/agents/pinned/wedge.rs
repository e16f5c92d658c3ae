//! Children that no signal ends, for the failures of a teardown: they hang in the kernel, as on a network mount whose
//! server has gone. Owns how that is brought about and undone; Linux only, no privilege needed.
//!
//! A thread splices from a pipe into a socket that is full, and the kernel keeps the pipe locked meanwhile. Whoever
//! opens that pipe waits for the lock, and that wait hears no signal, `SIGKILL` included.

use std::fs::{read_link, read_to_string, write};
use std::io::{Read as _, Write as _, pipe};
use std::os::fd::AsRawFd as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::mpsc::channel;
use std::thread::{JoinHandle, spawn};
use std::time::{Duration, Instant};

use jsonrpc_fake_runtime::Script;
use rustix::pipe::{SpliceFlags, splice};
use subagent_acp::AcpConfig;

use crate::support::{SOON, eventually, file, is_alive};

/// Which process of the child's group hangs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wedged {
    /// The one that was spawned. The fake is its child.
    Leader,
    /// A child of the one that was spawned, which is the fake.
    Rest,
}

impl Wedged {
    /// A shell script that becomes or starts the command line in its arguments.
    fn launcher(self) -> &'static str {
        match self {
            Self::Leader => LEADER,
            Self::Rest => REST,
        }
    }
}

/// The file that is there once the process hangs.
const HANGS: &str = "hangs";

const PID_FILE: &str = "wedged.pid";

/// Starts the fake as its own child and hangs. Neither keeps a pipe of the other one open.
const LEADER: &str = "exec 3<&0
\"$@\" <&3 3<&- &
exec 3<&- </dev/null >/dev/null
echo $$ > wedged.pid
: < \"$WEDGE\"
";

/// Starts a child that hangs and becomes the fake.
const REST: &str = "exec 3<&0
(exec 3<&- </dev/null >/dev/null; : < \"$WEDGE\") &
echo $! > wedged.pid
exec \"$@\" <&3 3<&-
";

/// The script, begun only once the process hangs.
pub(crate) fn after_hanging(script: Script) -> Script {
    let mut steps = Script::new().wait_for_file(HANGS).steps;
    steps.extend(script.steps);
    Script { steps, ..script }
}

/// A pipe that hangs whoever opens it, until this is dropped.
#[derive(Debug)]
pub(crate) struct Wedge {
    path: String,
    drain: UnixStream,
    holder: Option<JoinHandle<()>>,
}

impl Wedge {
    /// A pipe that is locked by the time this returns.
    pub(crate) fn locked() -> Self {
        let (reader, mut writer) = pipe().unwrap();
        writer.write_all(b"x").unwrap();
        let path = format!("/proc/{}/fd/{}", std::process::id(), reader.as_raw_fd());
        let (mut full, drain) = UnixStream::pair().unwrap();
        full.set_nonblocking(true).unwrap();
        while full.write(&[0; 4096]).is_ok() {}
        full.set_nonblocking(false).unwrap();
        let (about_to_hang, tells) = channel();
        let holder = spawn(move || {
            about_to_hang
                .send(read_link("/proc/thread-self").unwrap())
                .unwrap();
            splice(&reader, None, &full, None, 1, SpliceFlags::empty()).unwrap();
            drop(writer);
        });
        // From here on the one thing that thread can sleep in is the splice.
        let stat = Path::new("/proc")
            .join(tells.recv_timeout(SOON).unwrap())
            .join("stat");
        let begun = Instant::now();
        while state(&stat) != Some('S') {
            assert!(
                begun.elapsed() < SOON,
                "the splice should be waiting for the full socket"
            );
            std::thread::yield_now();
        }
        Self {
            path,
            drain,
            holder: Some(holder),
        }
    }

    /// Lets the process that `wedged` says hang in this pipe.
    pub(crate) fn applied(&self, wedged: Wedged, config: &mut AcpConfig) {
        let fake = std::mem::replace(&mut config.command, "/bin/sh".into());
        let args = ["-c".into(), wedged.launcher().into(), "launcher".into(), fake];
        config.args.splice(0..0, args);
        config.env.push("WEDGE", &self.path);
    }

    /// The same for a command line, which is replaced by another one. It needs this variable.
    pub(crate) fn launching(&self, wedged: Wedged, command: &mut Vec<String>) -> (&'static str, &str) {
        let launcher = ["/bin/sh", "-c", wedged.launcher(), "launcher"].map(str::to_owned);
        command.splice(0..0, launcher);
        ("WEDGE", &self.path)
    }

    /// Waits until the process hangs, tells the fake so, and gives its number.
    pub(crate) async fn hanging(&self, dir: &Path) -> u32 {
        let pid = file(&dir.join(PID_FILE)).await.trim().to_owned();
        let process = Path::new("/proc").join(&pid);
        eventually("the process hangs in the kernel", || hangs(&process)).await;
        write(dir.join(HANGS), "").unwrap();
        pid.parse().unwrap()
    }

    /// Lets go, and waits until the process, which has been killed long since, is gone.
    pub(crate) async fn undo(self, pid: u32) {
        assert!(is_alive(pid), "process {pid} should have survived its teardown");
        drop(self);
        eventually("the process that hung is gone", || !is_alive(pid)).await;
    }
}

impl Drop for Wedge {
    fn drop(&mut self) {
        let mut bytes = [0; 4096];
        self.drain
            .set_read_timeout(Some(Duration::from_millis(10)))
            .unwrap();
        let Some(holder) = self.holder.take() else { return };
        while !holder.is_finished() {
            let _ = self.drain.read(&mut bytes);
        }
        let _ = holder.join();
    }
}

/// Whether a process waits for the lock of the pipe, and not, for a moment, for a disk.
fn hangs(process: &Path) -> bool {
    let place = read_to_string(process.join("wchan")).unwrap_or_default();
    // Kernels that keep their places to themselves write a zero.
    let at_the_pipe = matches!(&*place, "" | "0") || place.contains("fifo") || place.contains("pipe");
    at_the_pipe && state(&process.join("stat")) == Some('D')
}

/// The state in a `stat` file of a process or thread: `pid (name) state …`, the name holding anything.
fn state(stat: &Path) -> Option<char> {
    read_to_string(stat)
        .ok()?
        .rsplit(')')
        .next()?
        .trim_start()
        .chars()
        .next()
}
