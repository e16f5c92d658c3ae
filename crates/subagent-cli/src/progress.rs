//! What a person sees while a run goes on: a spinner with stage, elapsed time and received bytes. Owns the drawing; the
//! run itself writes down how far it is.

use std::future::Future;
use std::pin::pin;
use std::time::{Duration, Instant};

use subagent_seam::{Progress, Word};
use tokio::time::MissedTickBehavior;

use crate::terminal::Terminal;

const REDRAW_EVERY: Duration = Duration::from_millis(100);

/// What a spinner looks like, one after the other.
const SPINNER: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/// Waits for `work` and shows its progress meanwhile, if standard error is a terminal. Cancel-safe as `work` is.
pub(crate) async fn shown<T>(terminal: &Terminal, progress: &Progress, work: impl Future<Output = T>) -> T {
    if !terminal.stderr_is_terminal() {
        return work.await;
    }
    let shown = Shown {
        terminal,
        progress,
        since: Instant::now(),
    };
    let mut spinner = SPINNER.iter().cycle();
    let mut ticks = tokio::time::interval(REDRAW_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut work = pin!(work);
    loop {
        tokio::select! {
            biased;
            done = &mut work => return done,
            _ = ticks.tick() => shown.draw(spinner.next()),
        }
    }
}

/// A spinner that is on the terminal until it is dropped.
struct Shown<'a> {
    terminal: &'a Terminal,
    progress: &'a Progress,
    since: Instant,
}

impl Shown<'_> {
    fn draw(&self, spinner: Option<&char>) {
        let progress = self.progress;
        let line = line(progress.stage(), self.since.elapsed(), progress.received_bytes());
        self.terminal
            .show(&format!("{} {line}", spinner.unwrap_or(&SPINNER[0])));
    }
}

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        self.terminal.show_nothing();
    }
}

fn line(stage: Option<Word>, elapsed: Duration, bytes: u64) -> String {
    let stage = stage.map_or("start", Word::as_str);
    format!("{stage} · {} · {} received", seconds(elapsed), size(bytes))
}

fn seconds(elapsed: Duration) -> String {
    let whole = elapsed.as_secs();
    match whole {
        0..60 => format!("{whole}.{}s", elapsed.subsec_millis() / 100),
        60..3600 => format!("{}m {:02}s", whole / 60, whole % 60),
        _ => format!("{}h {:02}m", whole / 3600, whole / 60 % 60),
    }
}

fn size(bytes: u64) -> String {
    const UNITS: [&str; 3] = ["KiB", "MiB", "GiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    // In tenths, so that integers do.
    let mut tenths = u128::from(bytes) * 10 / 1024;
    let mut unit = 0;
    while tenths >= 10_240 && unit + 1 < UNITS.len() {
        tenths /= 1024;
        unit += 1;
    }
    format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_tells_stage_time_and_bytes() {
        subagent_seam::closed_words! { enum Stage { Prompt = "prompt" } }
        let elapsed = Duration::from_millis(3_278);
        assert_eq!(line(None, Duration::ZERO, 0), "start · 0.0s · 0 B received");
        assert_eq!(
            line(Some(Word::of(Stage::Prompt)), elapsed, 1536),
            "prompt · 3.2s · 1.5 KiB received"
        );
    }

    #[test]
    fn long_times_and_large_sizes_stay_short() {
        assert_eq!(
            [59, 60, 3599, 3600, 90_000].map(|s| seconds(Duration::from_secs(s))),
            ["59.0s", "1m 00s", "59m 59s", "1h 00m", "25h 00m"]
        );
        assert_eq!(
            [1023, 1024, 1024 * 1024 - 1, 1024 * 1024, 5 << 30, u64::MAX].map(size),
            [
                "1023 B",
                "1.0 KiB",
                "1023.9 KiB",
                "1.0 MiB",
                "5.0 GiB",
                "17179869183.9 GiB"
            ]
        );
    }
}
