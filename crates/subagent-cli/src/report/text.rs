//! The text of `subagent check`. Owns its layout, and that nothing of a child can leave its place in it.

use std::fmt::Write as _;

use crate::check::Checked;
use crate::terminal::{escaped, printable};

/// The report about every provider.
pub(crate) fn check(checked: &[Checked]) -> String {
    let mut out = String::new();
    for provider in checked {
        // Writing to a string does not fail.
        let _ = describe(provider, &mut out);
    }
    if checked.is_empty() {
        out.push_str("no provider is configured\n");
    }
    out
}

fn describe(checked: &Checked, out: &mut String) -> std::fmt::Result {
    let time = checked.time.as_secs_f64() * 1000.0;
    let verdict = if checked.is_ok() { "ok" } else { "failed" };
    writeln!(out, "{}: {verdict} ({time:.1} ms)", escaped(&checked.provider))?;
    if let Some(error) = &checked.error {
        writeln!(out, "  error: {}", escaped(error))?;
    }
    for finding in &checked.findings {
        let error = escaped(&finding.error);
        match finding.stage {
            Some(stage) => writeln!(out, "  cause ({stage}): {error}")?,
            None => writeln!(out, "  cause: {error}")?,
        }
    }
    if let Some(stderr) = &checked.stderr {
        writeln!(out, "  end of the child's stderr:")?;
        for line in printable(stderr).lines() {
            writeln!(out, "    | {line}")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use subagent_seam::{Word, closed_words};

    use super::*;
    use crate::check::Finding;

    closed_words! { enum Stage { Initialize = "initialize" } }

    #[test]
    fn a_report_shows_every_cause_and_keeps_the_childs_text_in_its_place() {
        let works = Checked {
            provider: "first".to_owned(),
            error: None,
            findings: Vec::new(),
            stderr: None,
            time: Duration::from_micros(12_340),
        };
        let fails = Checked {
            provider: "second".to_owned(),
            error: Some("subagent-acp: Subagent failure".to_owned()),
            findings: vec![
                Finding {
                    stage: Some(Word::of(Stage::Initialize)),
                    error: "remote error: \u{1b}[2Jgone\nfirst: ok".to_owned(),
                },
                Finding {
                    stage: None,
                    error: "exit code 3".to_owned(),
                },
            ],
            stderr: Some("one\r\n\u{1b}]0;x\u{7}two\nthird: ok\n".to_owned()),
            time: Duration::from_secs(2),
        };
        assert_eq!(
            check(&[works, fails]),
            "first: ok (12.3 ms)\n\
             second: failed (2000.0 ms)\n  \
               error: subagent-acp: Subagent failure\n  \
               cause (initialize): remote error: \\u001b[2Jgone\\nfirst: ok\n  \
               cause: exit code 3\n  \
               end of the child's stderr:\n    \
                 | one\\r\n    \
                 | \\u001b]0;x\\u0007two\n    \
                 | third: ok\n"
        );
    }

    #[test]
    fn an_empty_configuration_says_so() {
        assert_eq!(check(&[]), "no provider is configured\n");
    }
}
