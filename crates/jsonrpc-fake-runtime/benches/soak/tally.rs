//! What a soak has counted: runs by treatment and by end, and findings. Owns the table at the end.

use std::collections::BTreeMap;
use std::fmt;

use crate::judge::Verdict;

/// Findings that are kept word for word; the others are only counted.
const SHOWN: usize = 50;

#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) runs: u64,
    ends: BTreeMap<(&'static str, &'static str), u64>,
    pub(crate) found: u64,
    findings: Vec<String>,
}

impl Tally {
    /// One run of the given treatment; `about` tells how to draw it again.
    pub(crate) fn count(&mut self, treatment: &'static str, verdict: Verdict, about: impl fmt::Display) {
        self.runs += 1;
        match verdict {
            Ok(end) => *self.ends.entry((treatment, end)).or_default() += 1,
            Err(finding) => self.find(format!("{about}: {finding}")),
        }
    }

    pub(crate) fn find(&mut self, finding: String) {
        self.found += 1;
        if self.findings.len() < SHOWN {
            self.findings.push(finding);
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for ((treatment, end), count) in &self.ends {
            writeln!(f, "{count:>8}  {treatment}: {end}")?;
        }
        for finding in &self.findings {
            writeln!(f, "FINDING  {finding}")?;
        }
        write!(f, "{} runs, {} findings", self.runs, self.found)
    }
}
