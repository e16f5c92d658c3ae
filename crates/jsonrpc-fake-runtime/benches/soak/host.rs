//! Hosts that are killed: this program once more, as a host of several runs under supervision, ended by `SIGKILL` at a
//! random moment. What it started has to end by itself.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::judge::Verdict;
use crate::leftovers::living_in;

/// How long the trees of a killed host may take: three windows of at most two seconds each, on a busy machine.
const BOUND: Duration = Duration::from_secs(26);

/// Starts a host in a directory of its own, kills it after a while, and waits until nothing of it is left.
pub(crate) async fn killed(first: u64, after: Duration, at_once: usize) -> Verdict {
    let place = tempfile::tempdir().map_err(|error| format!("no directory: {error}"))?;
    let mut host = start(place.path(), first, at_once).map_err(|error| format!("no host: {error}"))?;
    let early = tokio::time::timeout(after, host.wait()).await;
    if let Ok(ended) = early {
        return Err(format!("the host ended by itself: {ended:?}"));
    }
    host.kill()
        .await
        .map_err(|error| format!("cannot kill the host: {error}"))?;
    let begun = Instant::now();
    loop {
        let left = living_in(place.path());
        if left.is_empty() {
            return Ok("nothing left");
        }
        if begun.elapsed() > BOUND {
            return Err(format!("left behind by a killed host: {}", left.join("; ")));
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The host works in its directory, and so do its supervisors and agents.
#[expect(clippy::disallowed_methods, reason = "this starts a host, not an agent")]
fn start(place: &Path, first: u64, at_once: usize) -> std::io::Result<tokio::process::Child> {
    let mut command = std::process::Command::new(std::env::current_exe()?);
    command
        .args(["--host".to_owned(), first.to_string(), at_once.to_string()])
        .current_dir(place)
        .env("TMPDIR", place)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    tokio::process::Command::from(command).kill_on_drop(true).spawn()
}
