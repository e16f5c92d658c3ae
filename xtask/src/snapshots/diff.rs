//! The difference of two texts, line by line, for a person. It knows nothing of snapshots.

use std::collections::VecDeque;

/// Lines around a difference that are shown with it.
const CONTEXT: usize = 3;
/// Past this many comparisons the texts are shown one after the other instead.
const BOUND: usize = 4_000_000;

/// `-` and the old line, `+` and the new one, a space and one that stayed; what is far from any difference is left out.
pub(crate) fn lines(old: &str, new: &str) -> String {
    let (old, new): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
    let edits = edits(&old, &new);
    if edits.iter().all(|edit| matches!(edit, Edit::Same(_))) {
        return "(the text is the same; only the header or the end of the file differs)".to_owned();
    }
    render(&edits)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edit<'a> {
    Same(&'a str),
    Old(&'a str),
    New(&'a str),
}

/// The shortest way from one to the other, by the longest common subsequence.
fn edits<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Edit<'a>> {
    if old.len().saturating_mul(new.len()) > BOUND {
        return old
            .iter()
            .map(|line| Edit::Old(line))
            .chain(new.iter().map(|line| Edit::New(line)))
            .collect();
    }
    // common[i][j]: how many lines old[i..] and new[j..] have in common.
    let mut common = vec![vec![0_usize; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            common[i][j] = if old[i] == new[j] {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    let (mut i, mut j, mut edits) = (0, 0, Vec::new());
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            edits.push(Edit::Same(old[i]));
            (i, j) = (i + 1, j + 1);
        } else if j == new.len() || (i < old.len() && common[i + 1][j] >= common[i][j + 1]) {
            edits.push(Edit::Old(old[i]));
            i += 1;
        } else {
            edits.push(Edit::New(new[j]));
            j += 1;
        }
    }
    edits
}

fn render(edits: &[Edit<'_>]) -> String {
    let mut lines = Vec::new();
    // Lines that stayed and are not shown yet: the context of a difference that may follow.
    let mut waiting: VecDeque<&str> = VecDeque::new();
    let mut since = usize::MAX;
    let mut left_out = 0;
    for edit in edits {
        match edit {
            Edit::Same(line) if since < CONTEXT => {
                lines.push(format!("  {line}"));
                since += 1;
            }
            Edit::Same(line) => {
                waiting.push_back(line);
                if waiting.len() > CONTEXT {
                    waiting.pop_front();
                    left_out += 1;
                }
            }
            Edit::Old(line) | Edit::New(line) => {
                if left_out > 0 {
                    lines.push(format!("@@ {left_out} equal"));
                    left_out = 0;
                }
                lines.extend(waiting.drain(..).map(|line| format!("  {line}")));
                let sign = if matches!(edit, Edit::Old(_)) { '-' } else { '+' };
                lines.push(format!("{sign} {line}"));
                since = 0;
            }
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_line_stands_between_its_neighbours() {
        assert_eq!(lines("a\nb\nc\n", "a\nB\nc\n"), "  a\n- b\n+ B\n  c");
    }

    #[test]
    fn a_new_text_is_all_new() {
        assert_eq!(lines("", "a\nb\n"), "+ a\n+ b");
    }

    #[test]
    fn equal_lines_far_away_are_left_out() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";
        assert_eq!(
            lines(old, &old.replace('5', "five")),
            "@@ 1 equal\n  2\n  3\n  4\n- 5\n+ five\n  6\n  7\n  8"
        );
    }

    #[test]
    fn texts_without_a_difference_say_so() {
        assert!(lines("a\n", "a").starts_with("(the text is the same"));
    }

    #[test]
    fn huge_texts_are_shown_one_after_the_other() {
        let old = "a\n".repeat(2_100);
        let shown = lines(&old, &old.replace('a', "b"));
        assert_eq!(shown.lines().filter(|line| *line == "- a").count(), 2_100);
        assert_eq!(shown.lines().filter(|line| *line == "+ b").count(), 2_100);
    }
}
