//! The system's table of processes on Linux, read from `/proc`. Owns reading it; what an entry means is its readers'.

use std::io;

use rustix::process::Pid;

/// One process of the table, as it was when it was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) pid: i32,
    pub(crate) parent: i32,
    pub(crate) group: i32,
    pub(crate) session: i32,
    /// When it was started, in ticks: together with its number, this means one process for ever.
    pub(crate) started: u64,
    /// Whether it has not ended. A zombie has.
    pub(crate) is_living: bool,
    /// Whether it has been stopped by a signal, and does nothing.
    pub(crate) is_stopped: bool,
}

/// All processes that can be seen. One that comes or goes meanwhile may or may not be among them.
pub(crate) fn entries() -> io::Result<impl Iterator<Item = Entry>> {
    Ok(std::fs::read_dir("/proc")?
        .flatten()
        .filter_map(|process| process.file_name().to_str()?.parse().ok())
        .filter_map(entry))
}

/// The process of this number, if there is one.
pub(crate) fn entry(pid: i32) -> Option<Entry> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    parse(pid, &stat)
}

/// The children of this thread, from the kernel's own list. Not all of them if one ends
/// meanwhile; `None` if the kernel keeps no such list.
pub(crate) fn own_children() -> Option<Vec<Pid>> {
    let list = std::fs::read_to_string("/proc/thread-self/children").ok()?;
    Some(
        list.split_ascii_whitespace()
            .filter_map(|pid| Pid::from_raw(pid.parse().ok()?))
            .collect(),
    )
}

/// The session of this process: 0 if its leader is outside of this process namespace, as for a command that is run in a
/// container that was there before. (The system call says 0 too, which `rustix` does not expect of it.)
pub(crate) fn own_session() -> i32 {
    entry(rustix::process::getpid().as_raw_pid()).map_or(0, |own| own.session)
}

/// The text of `/proc/PID/stat`: `pid (name) state ppid pgrp session … starttime …`. The name may hold anything, a closing
/// parenthesis included.
fn parse(pid: i32, stat: &[u8]) -> Option<Entry> {
    let after_name = memchr::memrchr(b')', stat)? + 1;
    let mut fields = std::str::from_utf8(&stat[after_name..])
        .ok()?
        .split_ascii_whitespace();
    let state = *fields.next()?.as_bytes().first()?;
    Some(Entry {
        pid,
        parent: fields.next()?.parse().ok()?,
        group: fields.next()?.parse().ok()?,
        session: fields.next()?.parse().ok()?,
        started: fields.nth(15)?.parse().ok()?,
        is_living: !matches!(state, b'Z' | b'X'),
        is_stopped: state == b'T',
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const REST: &str = "12 0 -1 4194560 100 0 0 0 1 2 3 4 20 0 1 0 98765 11 22";

    #[test]
    fn an_entry_is_found_behind_any_name() {
        let sleeper = format!("12 (a) b) (c) S 1 34 {REST}");
        let entry = parse(12, sleeper.as_bytes()).unwrap();
        let expected = Entry {
            pid: 12,
            parent: 1,
            group: 34,
            session: 12,
            started: 98765,
            is_living: true,
            is_stopped: false,
        };
        assert_eq!(entry, expected);
        let zombie = [b"12 (\xff\xfe) Z 1 7 ", REST.as_bytes()].concat();
        let entry = parse(12, &zombie).unwrap();
        assert_eq!((entry.group, entry.is_living), (7, false));
        let stopped = parse(12, format!("12 (a) T 1 34 {REST}").as_bytes()).unwrap();
        assert!(stopped.is_living && stopped.is_stopped);
        assert_eq!(parse(12, b"12 (cut"), None);
        assert_eq!(parse(12, b"12 (cut) S 1 2 3"), None);
    }

    #[test]
    fn this_process_stands_in_the_table() {
        let own = rustix::process::getpid().as_raw_pid();
        let found = entries().unwrap().find(|entry| entry.pid == own).unwrap();
        let parent = rustix::process::getppid().map_or(0, Pid::as_raw_pid);
        assert_eq!((found.parent, found.is_living), (parent, true));
        assert_eq!(found.session, own_session());
        assert_eq!(entry(own).unwrap().started, found.started);
    }
}
