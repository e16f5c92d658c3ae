//! What a run's output must be, given what its child wrote and when. Owns the rule that a text is in the output exactly
//! when it lies in the run's turn, in the order in which it was written, and before whatever ended the turn.

use std::ops::Range;

use subagent_seam::{RunResult, StopReason};

use super::MAX_FRAME_BYTES;
use super::peer::{Deeds, Kind, Line, TAG};
use super::wire::Written;

/// Checks the output. Returns how many texts that were said on purpose are in it.
pub(super) fn check(
    input: &[u8],
    output: &str,
    result: &RunResult,
    deeds: &Deeds,
    frames: &[Written],
) -> usize {
    let texts = texts(output);
    let folded: Vec<_> = texts.iter().map(|(number, _)| *number).collect();
    let Some(turn) = Turn::of(deeds, frames) else {
        return folded.len();
    };
    // A script that writes such characters itself can say whatever it likes.
    if imitates(input) || turn.is_blurred(deeds) {
        return folded.len();
    }
    let said: Vec<usize> = turn.said(deeds).collect();
    assert!(
        said.starts_with(&folded),
        "of the texts {said:?} the output holds {folded:?}: {output:?}"
    );
    let cut = output.ends_with("[output truncated]");
    for (place, (number, text)) in texts.iter().enumerate() {
        let may_be_cut = cut && place + 1 == texts.len();
        let said = &*deeds.lines[*number].text;
        assert!(
            text.starts_with(said) || may_be_cut,
            "{said:?} was said, {text:?} is in the output"
        );
    }
    let overlong = deeds
        .lines
        .iter()
        .any(|line| line.end - line.begin > MAX_FRAME_BYTES as u64);
    // Nothing is known to be the run's own before its receipt, and whether that was taken is not told.
    let unknown = turn.marked && result.stop_reason == StopReason::Aborted && folded.is_empty();
    if !cut && !overlong && !deeds.obstructs && !unknown {
        let owed = turn.owed(result, deeds).min(said.len());
        assert!(
            folded.len() >= owed,
            "at least {owed} of the texts {said:?} came before the end, the output holds {folded:?}: {result:?}"
        );
    }
    folded.len()
}

/// The numbers of the texts in an output, each with what follows it.
fn texts(output: &str) -> Vec<(usize, &str)> {
    output
        .split(TAG.0)
        .skip(1)
        .filter_map(|part| {
            let (number, text) = part.split_once(TAG.1)?;
            Some((number.parse().ok()?, text))
        })
        .collect()
}

fn imitates(input: &[u8]) -> bool {
    let first = TAG.0.to_string();
    input.windows(3).any(|window| window == first.as_bytes())
        || contains(&input.to_ascii_lowercase(), b"\\ue00")
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// The turn that a prompt set off.
struct Turn {
    session: String,
    /// The lines of the child that lie in it, or after it.
    lines: Range<usize>,
    /// Whether a turn begins with a mark.
    marked: bool,
}

impl Turn {
    fn of(deeds: &Deeds, frames: &[Written]) -> Option<Self> {
        let (prompt, at) = frames.iter().find_map(|written| {
            let frame: serde_json::Value = serde_json::from_slice(&written.line).ok()?;
            (frame["method"] == "session/prompt").then_some((frame, written.at))
        })?;
        let session = prompt["params"]["sessionId"].as_str()?.to_owned();
        let lines = &deeds.lines;
        let first = lines.iter().position(|line| line.end > at).unwrap_or(lines.len());
        // In a protocol with marks nothing counts before one; in the other there are none.
        let marked = prompt["params"].get("contentBlocks").is_some();
        let begin = if marked {
            let is_mark = |line: &Line| line.kind == Some(Kind::Begin) && line.session == session;
            first + lines[first..].iter().position(is_mark)? + 1
        } else {
            first
        };
        Some(Self {
            session,
            lines: begin..lines.len(),
            marked,
        })
    }

    /// The texts that were said in it, by number.
    fn said<'a>(&'a self, deeds: &'a Deeds) -> impl Iterator<Item = usize> + 'a {
        self.lines
            .clone()
            .filter(|number| deeds.lines[*number].kind == Some(Kind::Text))
            .filter(|number| deeds.lines[*number].session == self.session)
    }

    /// Whether the script itself may have said what begins, replaces or ends a turn in ways that are not judged here.
    fn is_blurred(&self, deeds: &Deeds) -> bool {
        if !self.marked {
            return deeds.obstructs;
        }
        let blurs = |part: &[u8]| deeds.lines.iter().any(|line| may_hold(line, part));
        // The receipt and the mark that it names, and whole messages.
        blurs(b"messageId")
            || blurs(b"inserted")
            || blurs(b"assistant/message")
            || deeds.lines.iter().any(|line| line.kind == Some(Kind::Replace))
    }

    /// How many texts came before whatever ended the turn, at least.
    fn owed(&self, result: &RunResult, deeds: &Deeds) -> usize {
        let ended_by: &[u8] = if self.marked { b"s" } else { b"id" };
        let answered = deeds.lines[self.lines.clone()]
            .iter()
            .find(|line| line.kind == Some(Kind::End) || may_hold(line, ended_by))
            .map(|line| line.begin);
        let exited = result
            .diagnostic
            .as_ref()
            .is_some_and(|diagnostic| diagnostic.as_str().contains("process-exit"));
        // What the host did after the run had ended changes nothing.
        let end = match result.stop_reason {
            StopReason::Completed | StopReason::MaxTokens | StopReason::Refusal => answered,
            StopReason::Aborted => [answered, deeds.cancelled_at].into_iter().flatten().min(),
            StopReason::Error if exited => [answered, deeds.exited_at].into_iter().flatten().min(),
            _ => None,
        };
        let Some(end) = end else { return 0 };
        self.said(deeds)
            .filter(|number| deeds.lines[*number].end <= end)
            .count()
    }
}

/// Whether a line that was not well-formed on purpose may hold `part`, escapes included.
fn may_hold(line: &Line, part: &[u8]) -> bool {
    contains(&line.raw, part) || contains(&line.raw, b"\\u")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_in_order_whatever_stands_between_them() {
        let output = "a\u{e000}3\u{e001}b\u{e000}x\u{e001}\u{e000}12\u{e001}\u{e000}";
        assert_eq!(texts(output), [(3, "b"), (12, "")]);
        assert!(imitates("x\u{e000}".as_bytes()) && imitates(b"\\uE000"));
        assert!(!imitates(b"e000"));
    }
}
