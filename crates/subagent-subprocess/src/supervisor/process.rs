//! The supervisor process itself, from its start to its end. Owns its one loop: what it waits for, and that it ends when
//! nobody is left and not earlier. What it decides is `custody`'s, whom it reaches is `tree`'s.
//!
//! It has one thread, sleeps unless something happens, and touches no byte between host and agent.

use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Access, access};
use rustix::process::{Pid, PidfdFlags, getpid, pidfd_open, set_child_subreaper};
use signal_hook::consts::{SIGALRM, SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

use super::channel::{self, Word};
use super::custody::Custody;
use super::order::Order;
use super::report::Report;
use super::tree::Tree;
use crate::os::Blow;
use crate::spawn::command;

/// How it ends when nobody is left: the proof that the host waits for.
pub(super) const NOBODY_LEFT: i32 = 0;

/// How it ends when it could not begin.
const NOT_BEGUN: i32 = 70;

/// How long somebody who was killed may take to die before everybody is looked for again; twice as long each time.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
const LOOK_AGAIN_AT_LAST: Duration = Duration::from_secs(1);

/// How long the tree is killed one generation after another. What is left then may multiply faster than it dies.
const ONE_BY_ONE: Duration = Duration::from_millis(50);
/// How often everybody is looked for from then on, and not for more than half of the time. In between the killing goes on:
/// who forks and leaves is caught by being quick, and to look through all processes is slow.
const SWEEP_EVERY: Duration = Duration::from_millis(20);

/// The whole life of a supervisor; what it returns is the exit code.
pub(super) fn run() -> i32 {
    let (Ok(deaths), Some((order, streams))) = (prepare(), channel::receive_order(io::stdin())) else {
        return NOT_BEGUN;
    };
    match start(&order, streams) {
        Ok(agent) => {
            // Nobody else reaps it, so the number means it.
            let descriptor = pidfd_open(agent, PidfdFlags::NONBLOCK).ok();
            let started = Report::Started(agent.as_raw_pid());
            // A host that cannot be told has gone, and that is seen next.
            let _ = channel::send_report(io::stdin(), started, descriptor.as_ref());
            drop(descriptor);
            keep(&Tree::new(agent), Custody::new(order.windows), deaths);
        }
        Err(error) => {
            let failed = Report::Failed(error.raw_os_error().unwrap_or_default());
            let _ = channel::send_report(io::stdin(), failed, None);
        }
    }
    NOBODY_LEFT
}

/// Takes in orphans, hears of deaths, and survives what a terminal, a careless neighbour or the agent sends. Handlers and
/// not ignored signals: those would stay ignored in the agent.
fn prepare() -> io::Result<UnixStream> {
    let (deaths, death) = UnixStream::pair()?;
    deaths.set_nonblocking(true)?;
    signal_hook::low_level::pipe::register(SIGCHLD, death)?;
    for signal in [SIGALRM, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2] {
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    }
    set_child_subreaper(Some(getpid()))?;
    // Where no process can be seen, none could be ended.
    access(c"/proc/self/stat", Access::READ_OK)?;
    // What a list of processes shows; nothing depends on it.
    let _ = rustix::thread::set_name(c"subagent-superv");
    Ok(deaths)
}

fn start(order: &Order, streams: channel::Stdio<OwnedFd>) -> io::Result<Pid> {
    let [stdin, stdout, stderr] = streams.map(Stdio::from);
    let mut command = command(&order.spec, &order.located);
    let child = command.stdin(stdin).stdout(stdout).stderr(stderr).spawn()?;
    // The command goes here, and with it the pipes' ends: nobody but the agent has them.
    Ok(Pid::from_child(&child))
}

/// Keeps the tree until nobody is left.
fn keep(tree: &Tree, mut custody: Custody, mut deaths: UnixStream) {
    let mut host_is_there = true;
    let mut patience = LOOK_AGAIN;
    let mut next_sweep = None;
    loop {
        let reaped = tree.reap();
        if let Some(facts) = reaped.agent {
            let _ = channel::send_report(io::stdin(), Report::Ended(facts), None);
            strike(tree, custody.agent_ended(Instant::now()));
        }
        if reaped.nobody_left {
            return;
        }
        while host_is_there && let Some(word) = channel::receive_word(io::stdin()) {
            host_is_there = word != Word::Gone;
            strike(tree, custody.heard(word, Instant::now()));
        }
        strike(tree, custody.passed(Instant::now()));
        if custody.is_killing() {
            let due = next_sweep.get_or_insert_with(|| Instant::now() + ONE_BY_ONE);
            if Instant::now() < *due {
                tree.kill();
            } else {
                let begun = Instant::now();
                tree.stop_and_kill_all();
                *due = Instant::now() + SWEEP_EVERY.max(begun.elapsed());
            }
        }
        let timeout = if reaped.more {
            Some(Duration::ZERO)
        } else if custody.is_killing() {
            Some(patience)
        } else {
            custody
                .deadline()
                .map(|deadline| deadline.saturating_duration_since(Instant::now()))
        };
        let something_happened = sleep(&mut deaths, host_is_there, timeout);
        if something_happened || reaped.more {
            patience = LOOK_AGAIN;
        } else if custody.is_killing() {
            tree.kill_all();
            patience = LOOK_AGAIN_AT_LAST.min(patience * 2);
        }
    }
}

/// Asks the tree to end if that is what was decided; killing is a state, not a deed.
fn strike(tree: &Tree, blow: Option<Blow>) {
    if blow == Some(Blow::Terminate) {
        tree.terminate();
    }
}

/// Waits for a death, a word of the host's or the time; says whether it was not the time.
fn sleep(deaths: &mut UnixStream, host_is_there: bool, timeout: Option<Duration>) -> bool {
    let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
    let control = io::stdin();
    let mut waited_for = vec![PollFd::new(&*deaths, PollFlags::IN)];
    if host_is_there {
        waited_for.push(PollFd::new(&control, PollFlags::IN));
    }
    // Interrupted by a signal, it is worth a look as well.
    let something_happened = poll(&mut waited_for, timeout.as_ref()) != Ok(0);
    // Emptied before the dead are reaped, so that no death falls between the two.
    let mut noticed = [0; 64];
    while matches!(deaths.read(&mut noticed), Ok(count) if count == noticed.len()) {}
    something_happened
}
