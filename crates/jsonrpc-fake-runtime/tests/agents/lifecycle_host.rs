//! A test once more, in a process of its own: for what a test cannot have in a process that it shares, such as another
//! environment. Owns the second start of the test binary; what is different about it is the test's business.

use std::io::{Read as _, Seek as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The variable that tells the second process which test it is. Its name reaches the children of that process.
pub(crate) const ROLE: &str = "SUBAGENT_TEST_HOST";

/// How long the second process may take.
const BOUND: Duration = Duration::from_secs(50);

/// Whether this is the process of its own. If not, `test`, which must be the full name of the calling test, is run in
/// one that is started as `prepare` wants, and has passed there.
pub(crate) fn in_a_host_of_its_own(test: &str, prepare: impl FnOnce(&mut Command)) -> bool {
    if is_the_host_of(test) {
        return true;
    }
    let mut printed = tempfile::tempfile().unwrap();
    let mut host = started(test, |command| {
        command
            .stdout(printed.try_clone().unwrap())
            .stderr(printed.try_clone().unwrap());
        prepare(command);
    });
    let begun = Instant::now();
    let ended = loop {
        match host.try_wait().unwrap() {
            Some(status) => break Some(status),
            None if begun.elapsed() > BOUND => break None,
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    if ended.is_none() {
        host.kill().unwrap();
        host.wait().unwrap();
    }
    printed.rewind().unwrap();
    let mut output = Vec::new();
    printed.read_to_end(&mut output).unwrap();
    let output = String::from_utf8_lossy(&output);
    assert!(
        ended.is_some_and(|status| status.success()) && output.contains("test result: ok. 1 passed"),
        "{test} in a process of its own: {ended:?}\n{output}"
    );
    false
}

/// The process of its own, which is the caller's to end, or nothing if this is it.
pub(crate) fn a_host_of_its_own(test: &str, prepare: impl FnOnce(&mut Command)) -> Option<Child> {
    let output = |command: &mut Command| {
        command.stdout(Stdio::null()).stderr(Stdio::null());
        prepare(command);
    };
    (!is_the_host_of(test)).then(|| started(test, output))
}

fn is_the_host_of(test: &str) -> bool {
    std::env::var_os(ROLE).is_some_and(|role| role == test)
}

fn started(test: &str, prepare: impl FnOnce(&mut Command)) -> Child {
    #[expect(
        clippy::disallowed_methods,
        reason = "this starts the test itself, not an agent"
    )]
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .stdin(Stdio::null())
        .args([test, "--exact", "--nocapture", "--test-threads=1"]);
    prepare(&mut command);
    command.env(ROLE, test).spawn().unwrap()
}
