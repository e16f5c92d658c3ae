//! What is left of a run or of many: processes, open files, threads, memory, read from `/proc`. Judges nothing.

use std::ffi::OsStr;
use std::fs::{read_dir, read_link, read_to_string};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// Living processes whose working directory is `place` or below it: agents and all that they started, since a
/// working directory is inherited by everybody.
pub(crate) fn living_in(place: &Path) -> Vec<String> {
    processes()
        .filter(|pid| read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| is_in(&cwd, place)))
        .filter_map(|pid| {
            let stat = Stat::of(pid)?;
            let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let words = String::from_utf8_lossy(&words).replace('\0', " ");
            (!stat.is_zombie).then(|| format!("{pid} (parent {}): {words}", stat.parent))
        })
        .collect()
}

/// A directory that has been removed is shown with a remark behind its name.
fn is_in(cwd: &Path, place: &Path) -> bool {
    let name = cwd.as_os_str().as_encoded_bytes();
    let name = name.strip_suffix(b" (deleted)").unwrap_or(name);
    Path::new(OsStr::from_bytes(name)).starts_with(place)
}

/// The children of this process, zombies included.
pub(crate) fn children() -> Vec<u32> {
    let own = std::process::id();
    let is_own = |pid: &u32| Stat::of(*pid).is_some_and(|stat| stat.parent == own);
    processes().filter(is_own).collect()
}

pub(crate) fn open_files() -> usize {
    // The listing itself is one.
    read_dir("/proc/self/fd")
        .map_or(0, Iterator::count)
        .saturating_sub(1)
}

pub(crate) fn threads() -> usize {
    read_dir("/proc/self/task").map_or(0, Iterator::count)
}

/// Resident memory of this process in KiB.
pub(crate) fn resident_kib() -> u64 {
    let status = read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_ascii_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}

struct Stat {
    parent: u32,
    is_zombie: bool,
}

impl Stat {
    fn of(pid: u32) -> Option<Self> {
        let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
        let stat = String::from_utf8_lossy(&stat);
        // `pid (name) state ppid …`, and the name may hold anything.
        let mut fields = stat.rsplit(')').next()?.split_ascii_whitespace();
        let is_zombie = matches!(fields.next()?, "Z" | "X");
        let parent = fields.next()?.parse().ok()?;
        Some(Self { parent, is_zombie })
    }
}

fn processes() -> impl Iterator<Item = u32> {
    let names = read_dir("/proc").into_iter().flatten();
    names.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}
