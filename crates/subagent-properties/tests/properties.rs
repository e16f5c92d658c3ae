//! A short run of what the fuzz targets do for hours: the seeds, and random inputs that are made of them.

use std::fmt;
use std::fs;
use std::future::Future;
use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::RngSeed;
use subagent_properties::configuration::Loaded;
use subagent_properties::run::Seen;
use subagent_properties::{acp, configuration, diagnostic, dsh_sdk, frames};

/// The seeds of a target: every file of a directory of fixtures, by name.
fn seeds(directory: &str) -> Vec<(String, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let mut seeds: Vec<_> = fs::read_dir(root.join(directory))
        .expect("the fixtures are there")
        .map(|entry| {
            let entry = entry.expect("a directory can be read");
            let name = entry.file_name().to_string_lossy().into_owned();
            (name, fs::read(entry.path()).expect("a fixture can be read"))
        })
        .collect();
    seeds.sort();
    assert!(!seeds.is_empty(), "{directory} has no seeds");
    seeds
}

/// An input, shown as text.
struct Input(Vec<u8>);

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b\"{}\"", self.0.escape_ascii())
    }
}

fn bytes(most: usize) -> impl Strategy<Value = Input> {
    vec(any::<u8>(), 0..most).prop_map(Input)
}

/// One change of an input.
#[derive(Clone, Debug)]
enum Change {
    Insert(Index, Vec<u8>),
    Remove(Index, u8),
    Set(Index, u8),
    RepeatLine(Index, u8),
    DropLine(Index),
    Swap(Index, Index),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        (any::<Index>(), vec(any::<u8>(), 1..8)).prop_map(|(at, bytes)| Change::Insert(at, bytes)),
        (any::<Index>(), 1_u8..32).prop_map(|(at, count)| Change::Remove(at, count)),
        (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Change::Set(at, byte)),
        (any::<Index>(), 1_u8..20).prop_map(|(at, times)| Change::RepeatLine(at, times)),
        any::<Index>().prop_map(Change::DropLine),
        (any::<Index>(), any::<Index>()).prop_map(|(one, other)| Change::Swap(one, other)),
    ]
}

impl Change {
    fn apply(&self, input: &mut Vec<u8>) {
        if input.is_empty() {
            return;
        }
        match self {
            Self::Insert(at, bytes) => {
                let at = at.index(input.len());
                input.splice(at..at, bytes.iter().copied());
            }
            Self::Remove(at, count) => {
                let at = at.index(input.len());
                let end = (at + usize::from(*count)).min(input.len());
                input.drain(at..end);
            }
            Self::Set(at, byte) => {
                let at = at.index(input.len());
                input[at] = *byte;
            }
            Self::RepeatLine(at, times) => lines(input, |lines| {
                let at = at.index(lines.len());
                let line = lines[at].clone();
                lines.splice(at..at, std::iter::repeat_n(line, usize::from(*times)));
            }),
            Self::DropLine(at) => lines(input, |lines| drop(lines.remove(at.index(lines.len())))),
            Self::Swap(one, other) => lines(input, |lines| {
                let (one, other) = (one.index(lines.len()), other.index(lines.len()));
                lines.swap(one, other);
            }),
        }
    }
}

/// Changes an input line by line.
fn lines(input: &mut Vec<u8>, change: impl FnOnce(&mut Vec<Vec<u8>>)) {
    let mut lines: Vec<_> = input.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    change(&mut lines);
    *input = lines.join(&b'\n');
}

/// Inputs that are a few changes away from a seed.
fn near(directories: &[&str]) -> impl Strategy<Value = Input> {
    let seeds: Vec<_> = directories
        .iter()
        .flat_map(|directory| seeds(directory))
        .map(|(_, seed)| seed)
        .collect();
    (select(seeds), vec(change(), 0..12)).prop_map(|(mut input, changes)| {
        for change in changes {
            change.apply(&mut input);
        }
        Input(input)
    })
}

/// A run is the same each time, and leaves no file behind. New inputs are what the fuzz targets are for.
fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    }
}

#[test]
fn the_seeds_of_the_frame_reader_reach_every_kind_of_end() {
    let seen: Vec<_> = seeds("transcripts/frames")
        .iter()
        .map(|(name, seed)| {
            let heard = frames::check(seed);
            (name.clone(), heard.frames, heard.ignored, heard.too_long)
        })
        .collect();
    let seen: Vec<_> = seen
        .iter()
        .map(|(name, frames, ignored, cut)| (&**name, *frames, *ignored, *cut))
        .collect();
    assert_eq!(
        seen,
        [
            ("a-giant-frame", 3, 1, false),
            ("answers", 2, 4, false),
            ("calls", 4, 0, false),
            ("exit-in-the-middle", 4, 1, false),
            ("noise", 1, 9, false),
            ("too-long", 1, 0, true),
        ]
    );
}

/// Runs a property in a time that passes only when nothing else is left to do.
fn without_waiting<F: Future>(property: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    runtime.expect("a runtime of one thread").block_on(property)
}

/// What each seed of a provider comes to, with the numbers of what was said on purpose in angle brackets.
fn outcomes<F: Future<Output = Seen>>(directory: &str, check: impl Fn(Vec<u8>) -> F) -> String {
    let outcome = |(name, seed)| {
        let seen = without_waiting(check(seed));
        let text = seen.text.replace('\u{e000}', "<").replace('\u{e001}', ">");
        format!(
            "--- {name}: {} texts, {} frames\n{text}",
            seen.folded, seen.frames
        )
    };
    seeds(directory)
        .into_iter()
        .map(outcome)
        .collect::<Vec<_>>()
        .join("\n\n")
}

#[test]
fn the_seeds_of_the_acp_provider_reach_every_way_to_end() {
    let check = |seed: Vec<u8>| async move { acp::check(&seed).await };
    insta::assert_snapshot!("acp", outcomes("transcripts/acp", check));
}

#[test]
fn the_seeds_of_the_dsh_sdk_provider_reach_every_way_to_end() {
    let check = |seed: Vec<u8>| async move { dsh_sdk::check(&seed).await };
    insta::assert_snapshot!("dsh-sdk", outcomes("transcripts/dsh-sdk", check));
}

#[test]
fn the_seeds_of_the_loader_are_accepted_or_refused_as_their_directory_says() {
    for (name, seed) in seeds("configs/valid") {
        assert!(
            matches!(configuration::check(&seed), Loaded::Providers(_)),
            "{name}"
        );
    }
    for (name, seed) in seeds("configs/broken") {
        assert!(
            !matches!(configuration::check(&seed), Loaded::Providers(_)),
            "{name}"
        );
    }
}

#[test]
fn a_diagnostic_of_any_length_is_made() {
    assert!(diagnostic::check(&[]) < 4096);
    assert!(diagnostic::check(&[8; 3000]) > 4096);
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn frames_do_not_depend_on_how_they_are_cut(input in near(&["transcripts/frames"])) {
        frames::check(&input.0);
    }

    #[test]
    fn any_bytes_are_heard_to_their_end(input in bytes(600)) {
        frames::check(&input.0);
    }

    #[test]
    fn a_run_of_the_acp_provider_ends_in_closed_words(input in near(&["transcripts/acp"])) {
        without_waiting(acp::check(&input.0));
    }

    #[test]
    fn a_run_of_the_dsh_sdk_provider_ends_in_closed_words(input in near(&["transcripts/dsh-sdk"])) {
        without_waiting(dsh_sdk::check(&input.0));
    }

    #[test]
    fn every_text_has_an_answer_of_the_loader(input in near(&["configs/valid", "configs/broken"])) {
        configuration::check(&input.0);
    }

    #[test]
    fn a_diagnostic_is_bounded_and_closed(input in bytes(2000)) {
        diagnostic::check(&input.0);
    }
}
