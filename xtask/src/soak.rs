//! `soak`: builds the soak in its release profile, gives it a directory of temporary files of its own, and lets it run.
//! What is drawn and judged is the soak's business.

use anyhow::{Context, Result};
use clap::Args;

use crate::tool::Tool;
use crate::workspace::Workspace;

const PACKAGE: &str = "jsonrpc-fake-runtime";
const BENCH: &str = "soak";

/// How long and how hard.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// How long new runs are started; the first quarter warms up.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub(crate) minutes: u64,
    /// How many runs are under way at a time, one of them a host that is killed.
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u64).range(2..=1000))]
    pub(crate) at_once: u64,
    /// Where the drawing begins: the same seed draws the same runs, if not at the same moments.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
}

pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let place = workspace.target.join("soak-temporary-files");
    // What an interrupted soak has left.
    if place.exists() {
        std::fs::remove_dir_all(&place).with_context(|| format!("cannot empty {}", place.display()))?;
    }
    std::fs::create_dir_all(&place).with_context(|| format!("cannot make {}", place.display()))?;
    let words = [options.minutes * 60, options.at_once, options.seed].map(|number| number.to_string());
    Tool::cargo(&workspace.root)
        .args(["bench", "--package", PACKAGE, "--bench", BENCH, "--"])
        .args(words)
        .env("TMPDIR", &place)
        // A free block of a large size goes back to the system at once: otherwise glibc keeps as much as the largest
        // frames have ever taken, and its memory at rest tells little about ours.
        .env("MALLOC_MMAP_THRESHOLD_", "131072")
        .env("MALLOC_TRIM_THRESHOLD_", "131072")
        .run()
}
