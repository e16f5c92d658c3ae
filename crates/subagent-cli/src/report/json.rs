//! The JSON objects that the command prints. Owns their shapes, which scripts rely on; the facts come from elsewhere.

use std::time::Duration;

use serde::Serialize;
use subagent_seam::{ContentBlock, Diagnostic};
use subagent_tool::Outcome;

use crate::background::Settled;
use crate::check::{Checked, Finding};
use crate::terminal::escaped;

/// The object of `subagent run`. A member without a value is null.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Delegation<'a> {
    tool: &'a str,
    provider: &'a str,
    run_id: Option<String>,
    stop_reason: Option<&'static str>,
    is_error: bool,
    output: Vec<Block<'a>>,
    diagnostic: Option<&'a str>,
    text: &'a str,
    timings_ms: Timings,
    #[serde(flatten)]
    background: Option<Background<'a>>,
}

/// What is there besides if the task was a background job.
#[derive(Debug, Serialize)]
struct Background<'a> {
    started: Option<&'a str>,
    job: Option<JobState<'a>>,
}

#[derive(Debug, Serialize)]
struct JobState<'a> {
    id: &'a str,
    status: &'static str,
    detail: Option<&'a str>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block<'a> {
    Text {
        text: &'a str,
    },
    Image {
        data: &'a str,
        #[serde(rename = "mimeType")]
        mime_type: &'a str,
    },
    ResourceLink {
        uri: &'a str,
        name: &'a str,
    },
}

#[derive(Debug, Default, Serialize)]
struct Timings {
    start: Option<f64>,
    run: Option<f64>,
    dispose: Option<f64>,
}

impl<'a> Delegation<'a> {
    /// What came of a call of `tool`, which delegates to `provider`.
    pub(crate) fn new(tool: &'a str, provider: &'a str, outcome: &'a Outcome) -> Self {
        let result = outcome.result.as_deref();
        Self {
            tool,
            provider,
            run_id: outcome.run.map(|id| id.to_string()),
            stop_reason: result.map(|result| result.stop_reason.as_str()),
            is_error: outcome.is_error,
            output: result.map_or_else(Vec::new, |result| {
                result.output.iter().filter_map(block).collect()
            }),
            diagnostic: result
                .and_then(|result| result.diagnostic.as_ref())
                .map(Diagnostic::as_str),
            text: &outcome.text,
            timings_ms: Timings {
                start: Some(millis(outcome.timings.start)),
                run: outcome.timings.run.map(millis),
                dispose: outcome.timings.dispose.map(millis),
            },
            background: None,
        }
    }

    /// What came of the same call as a background job.
    pub(crate) fn in_background(tool: &'a str, provider: &'a str, settled: &'a Settled) -> Self {
        let facts = settled.outcome.as_ref();
        let facts = facts.map(|outcome| Self::new(tool, provider, outcome));
        let job = settled.job.as_ref().map(|job| JobState {
            id: job.id.as_str(),
            status: job.status.as_str(),
            detail: job.status.detail(),
        });
        let mut report = facts.unwrap_or_else(|| Self::of_nothing(tool, provider));
        if !settled.is_completed() {
            report.is_error = true;
            report.output.clear();
        }
        report.text = &settled.text;
        report.background = Some(Background {
            started: settled.started.as_deref(),
            job,
        });
        report
    }

    /// Nothing was even tried.
    fn of_nothing(tool: &'a str, provider: &'a str) -> Self {
        Self {
            tool,
            provider,
            run_id: None,
            stop_reason: None,
            is_error: true,
            output: Vec::new(),
            diagnostic: None,
            text: "",
            timings_ms: Timings::default(),
            background: None,
        }
    }
}

/// The object of `subagent check`.
#[derive(Debug, Serialize)]
pub(crate) struct Check<'a> {
    ok: bool,
    providers: Vec<ProviderCheck<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ProviderCheck<'a> {
    provider: &'a str,
    ok: bool,
    error: Option<&'a str>,
    causes: Vec<Cause<'a>>,
    stderr: Option<&'a str>,
    time_ms: f64,
}

#[derive(Debug, Serialize)]
struct Cause<'a> {
    stage: Option<&'static str>,
    error: &'a str,
}

impl<'a> Check<'a> {
    /// What the check of each provider came to.
    pub(crate) fn new(checked: &'a [Checked]) -> Self {
        Self {
            ok: checked.iter().all(Checked::is_ok),
            providers: checked.iter().map(provider_check).collect(),
        }
    }
}

/// A report as one line of JSON without control characters, so that it does no harm on a terminal.
pub(crate) fn text(report: &impl Serialize) -> String {
    // The reports are structs of strings, numbers and booleans: nothing in them can fail to serialise.
    let text = serde_json::to_string(report).expect("a report is plain JSON data");
    escaped(&text).into_owned()
}

fn block(block: &ContentBlock) -> Option<Block<'_>> {
    match block {
        ContentBlock::Text(text) => Some(Block::Text { text }),
        ContentBlock::Image { data, mime_type } => Some(Block::Image { data, mime_type }),
        ContentBlock::ResourceLink { uri, name } => Some(Block::ResourceLink { uri, name }),
        _ => None,
    }
}

fn provider_check(checked: &Checked) -> ProviderCheck<'_> {
    ProviderCheck {
        provider: &checked.provider,
        ok: checked.is_ok(),
        error: checked.error.as_deref(),
        causes: checked.findings.iter().map(cause).collect(),
        stderr: checked.stderr.as_deref(),
        time_ms: millis(checked.time),
    }
}

fn cause(finding: &Finding) -> Cause<'_> {
    Cause {
        stage: finding.stage.map(subagent_seam::Word::as_str),
        error: &finding.error,
    }
}

/// Milliseconds with one decimal.
fn millis(time: Duration) -> f64 {
    (time.as_secs_f64() * 10_000.0).round() / 10.0
}

#[cfg(test)]
mod tests;
