//! The order of a soak: warm up, go on until the time is over, wait until all is quiet, compare. Owns the command line
//! and the exit code.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use crate::host;
use crate::judge::Verdict;
use crate::leftovers::{children, living_in, open_files, resident_kib, threads};
use crate::plan::{Catalogue, Plan};
use crate::run::drive;
use crate::tally::Tally;

/// How much the resident memory may grow from the end of the first quarter to the end, both at rest: what an allocator
/// keeps varies by about that much, and one leaked buffer of every run would be far more.
const GROWTH_KIB: u64 = 16 << 10;
/// How long the last processes may take to be reaped after the last run has ended.
const QUIET: Duration = Duration::from_secs(20);
const REPORT_EVERY: Duration = Duration::from_secs(15);

pub(crate) fn main() -> ExitCode {
    let words: Vec<_> = std::env::args().skip(1).collect();
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    let numbers = |words: &[&str]| {
        words
            .iter()
            .map(|word| word.parse().ok())
            .collect::<Option<Vec<u64>>>()
    };
    match words.as_slice() {
        ["--host", rest @ ..] if let Some([first, at_once]) = numbers(rest).as_deref() => {
            runtime().block_on(work(*first, at_once_of(*at_once), None, &mut Tally::default()));
            ExitCode::SUCCESS
        }
        [rest @ .., "--bench"] if let Some([seconds, at_once, seed]) = numbers(rest).as_deref() => {
            soak(Duration::from_secs(*seconds), at_once_of(*at_once), *seed)
        }
        _ => {
            say("usage: cargo xtask soak --minutes N [--at-once N] [--seed N]");
            ExitCode::from(2)
        }
    }
}

fn soak(time: Duration, at_once: usize, seed: u64) -> ExitCode {
    // Whatever is in there at the end is a finding, so it has to be ours alone.
    if temporary_files() != 0 {
        say("the directory of temporary files is not empty: expected one of its own in `TMPDIR`");
        return ExitCode::from(2);
    }
    let runtime = runtime();
    let mut tally = Tally::default();
    say(format!("soak of {time:?}, {at_once} runs at once, seed {seed}"));
    // A quarter of the time for what is opened, started and allocated once and for all.
    runtime.block_on(work(seed, at_once, Some(time / 4), &mut tally));
    let before = Rest::reached(&runtime, &mut tally);
    runtime.block_on(work(seed + tally.runs, at_once, Some(time / 4 * 3), &mut tally));
    let after = Rest::reached(&runtime, &mut tally);
    after.compare(&before, &mut tally);
    say(&tally);
    say(format!("at rest before: {before:?}"));
    say(format!("at rest after:  {after:?}"));
    if tally.found == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Keeps `at_once` runs under way, one slot of them a host that is killed, until the time is over; for ever without one.
async fn work(seed: u64, at_once: usize, time: Option<Duration>, tally: &mut Tally) {
    let begun = Instant::now();
    let mut reported = begun;
    let catalogue = Catalogue::new();
    let mut under_way: JoinSet<(&'static str, Verdict, String)> = JoinSet::new();
    let mut hosts = 0;
    for number in seed.. {
        if time.is_some_and(|time| begun.elapsed() > time) {
            break;
        }
        if time.is_some() && hosts == 0 {
            hosts += 1;
            let after = Duration::from_millis(number * 37 % 2000);
            under_way.spawn(async move {
                let verdict = host::killed(number << 20, after, 4).await;
                (HOST, verdict, format!("host of {number} killed after {after:?}"))
            });
        } else {
            let mut plan = Plan::draw(&catalogue, number);
            // Nobody but a supervisor outlives a host that is killed.
            plan.is_supervised |= time.is_none();
            under_way.spawn(async move {
                let about = format!(
                    "{number}, {} {}, {:?}",
                    plan.protocol, plan.scenario, plan.treatment
                );
                let supervised = if plan.is_supervised {
                    "supervised"
                } else {
                    "in its group"
                };
                (
                    plan.treatment.name(),
                    drive(plan).await,
                    format!("{about}, {supervised}"),
                )
            });
        }
        while under_way.len() >= at_once {
            let Some(ended) = under_way.join_next().await else {
                break;
            };
            hosts -= count(ended, tally);
        }
        if time.is_some() && reported.elapsed() > REPORT_EVERY {
            reported = Instant::now();
            let (runs, found, kib) = (tally.runs, tally.found, resident_kib());
            say(format!(
                "{:>5} s: {runs} runs, {found} findings, {kib} KiB resident",
                begun.elapsed().as_secs()
            ));
        }
    }
    while let Some(ended) = under_way.join_next().await {
        count(ended, tally);
    }
}

const HOST: &str = "host killed";

/// Returns how many hosts have ended.
fn count(ended: Result<(&'static str, Verdict, String), tokio::task::JoinError>, tally: &mut Tally) -> usize {
    match ended {
        Ok((treatment, verdict, about)) => {
            tally.count(treatment, verdict, about);
            usize::from(treatment == HOST)
        }
        Err(error) => {
            tally.find(format!("a panic: {error}"));
            0
        }
    }
}

/// What this process has when it does nothing.
#[derive(Debug)]
struct Rest {
    open_files: usize,
    threads: usize,
    resident_kib: u64,
    temporary_files: usize,
}

impl Rest {
    fn reached(runtime: &tokio::runtime::Runtime, tally: &mut Tally) -> Self {
        let place = std::env::temp_dir();
        let begun = Instant::now();
        let is_quiet = || children().is_empty() && living_in(&place).is_empty();
        while !is_quiet() && begun.elapsed() < QUIET {
            runtime.block_on(async { tokio::time::sleep(Duration::from_millis(20)).await });
        }
        if !is_quiet() {
            tally.find(format!(
                "left at rest: children {:?}, {:?}",
                children(),
                living_in(&place)
            ));
        }
        Self {
            open_files: open_files(),
            threads: threads(),
            resident_kib: resident_kib(),
            temporary_files: temporary_files(),
        }
    }

    fn compare(&self, before: &Self, tally: &mut Tally) {
        let grown = |what: &str, before: usize, after: usize| {
            (after > before).then(|| format!("{what}: {before} before, {after} after"))
        };
        let findings = [
            grown("open files", before.open_files, self.open_files),
            grown("threads", before.threads, self.threads),
            grown("temporary files", before.temporary_files, self.temporary_files),
            (self.resident_kib > before.resident_kib + GROWTH_KIB).then(|| {
                format!(
                    "resident memory: {} KiB before, {} KiB after",
                    before.resident_kib, self.resident_kib
                )
            }),
        ];
        findings
            .into_iter()
            .flatten()
            .for_each(|finding| tally.find(finding));
    }
}

fn temporary_files() -> usize {
    std::fs::read_dir(std::env::temp_dir()).map_or(0, Iterator::count)
}

fn at_once_of(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX).max(2)
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime can be built")
}

#[expect(clippy::print_stdout, reason = "a bench reports by printing")]
fn say(line: impl std::fmt::Display) {
    println!("{line}");
}
