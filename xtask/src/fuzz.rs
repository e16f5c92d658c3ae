//! `fuzz`: runs one fuzz target for a while on its seeds and on what earlier runs have found, and says how to repeat a
//! finding. What a target checks stands in `subagent-properties`; the fuzzing itself is cargo-fuzz's and libFuzzer's.

use std::fs::{self, DirEntry};
use std::path::Path;
use std::time::SystemTime;

use anyhow::{Context, Result, bail};

use crate::console::say;
use crate::tool::Tool;
use crate::workspace::Workspace;

/// Where the targets stand.
const DIRECTORY: &str = "fuzz";

/// How to get what this command needs.
const INSTALL: &str =
    "install it with `cargo install cargo-fuzz`; it needs a C++ compiler, and no nightly toolchain";

/// A target and where its seeds stand.
struct Target {
    name: &'static str,
    about: &'static str,
    seeds: &'static [&'static str],
    /// Words that inputs are made of.
    dictionary: Option<&'static str>,
    /// The longest input that is tried, in bytes.
    longest: u32,
}

const TARGETS: &[Target] = &[
    Target {
        name: "frames",
        about: "the frame reader and the connection above it, fed in arbitrary chunks",
        seeds: &["fixtures/transcripts/frames"],
        dictionary: None,
        longest: 4096,
    },
    Target {
        name: "acp",
        about: "a whole run of the ACP provider against a child that a script plays in memory",
        seeds: &["fixtures/transcripts/acp"],
        dictionary: Some("fuzz/dictionaries/acp.dict"),
        longest: 8192,
    },
    Target {
        name: "dsh_sdk",
        about: "a whole run of the DSH SDK provider, likewise",
        seeds: &["fixtures/transcripts/dsh-sdk"],
        dictionary: Some("fuzz/dictionaries/dsh_sdk.dict"),
        longest: 8192,
    },
    Target {
        name: "configuration",
        about: "the configuration loader",
        seeds: &["fixtures/configs/valid", "fixtures/configs/broken"],
        dictionary: None,
        longest: 8192,
    },
    Target {
        name: "diagnostic",
        about: "the bound and the closed words of a diagnostic",
        seeds: &[],
        dictionary: None,
        longest: 4096,
    },
];

/// Prints the targets.
pub(crate) fn list() {
    for target in TARGETS {
        say(format_args!("{:<14} {}", target.name, target.about));
    }
}

pub(crate) fn run(workspace: &Workspace, name: &str, seconds: u32) -> Result<()> {
    let target = find(name)?;
    if !Tool::cargo(&workspace.root)
        .args(["fuzz", "--version"])
        .succeeds()
    {
        bail!("cargo-fuzz is not installed: {INSTALL}");
    }
    // Fuzzed is what is shipped: the same versions of every dependency.
    let lock = workspace.root.join(DIRECTORY).join("Cargo.lock");
    fs::copy(workspace.root.join("Cargo.lock"), &lock)
        .with_context(|| format!("cannot write {}", lock.display()))?;
    let corpus = format!("{DIRECTORY}/corpus/{name}");
    fs::create_dir_all(workspace.root.join(&corpus)).with_context(|| format!("cannot make {corpus}"))?;

    let begun = SystemTime::now();
    let Err(error) = fuzz(&workspace.root, target, &corpus, seconds).run() else {
        say(format_args!("\nfuzz {name}: {seconds} s, nothing found"));
        return Ok(());
    };
    for artifact in written_since(begun, &workspace.root, name) {
        say(format_args!("\n{}", advice(name, &artifact)));
    }
    Err(error)
}

/// The inputs that libFuzzer has written down as findings of a target, relative to the root.
fn written_since(begun: SystemTime, root: &Path, name: &str) -> Vec<String> {
    let directory = format!("{DIRECTORY}/artifacts/{name}");
    let Ok(files) = fs::read_dir(root.join(&directory)) else {
        return Vec::new();
    };
    let is_new = |file: &DirEntry| {
        let written = file.metadata().and_then(|metadata| metadata.modified());
        written.is_ok_and(|written| written >= begun)
    };
    let mut new: Vec<_> = files
        .filter_map(Result::ok)
        .filter(is_new)
        .map(|file| format!("{directory}/{}", file.file_name().to_string_lossy()))
        .collect();
    new.sort();
    new
}

fn find(name: &str) -> Result<&'static Target> {
    let Some(target) = TARGETS.iter().find(|target| target.name == name) else {
        let names: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
        bail!("there is no fuzz target `{name}`, expected {}", names.join(", "));
    };
    Ok(target)
}

fn fuzz(root: &Path, target: &Target, corpus: &str, seconds: u32) -> Tool {
    let tool = Tool::cargo(root)
        .args(["fuzz", "run", "--sanitizer", "none", target.name, corpus])
        .args(target.seeds)
        .args([
            "--",
            &format!("-max_total_time={seconds}"),
            &format!("-max_len={}", target.longest),
        ])
        .args(target.dictionary.map(|dictionary| format!("-dict={dictionary}")))
        // A hang and a growth of memory are findings, too.
        .args([
            "-timeout=20",
            "-rss_limit_mb=1024",
            "-malloc_limit_mb=256",
            "-print_final_stats=1",
        ]);
    // Nobody reads what a run would log.
    tool.env_remove("RUST_LOG")
}

/// What to do with a finding.
fn advice(name: &str, artifact: &str) -> String {
    format!(
        "fuzz {name}: found something, the input is {artifact}\n\
         to repeat it:        cargo fuzz run --sanitizer none {name} {artifact}\n\
         to make it smaller:  cargo fuzz tmin --sanitizer none {name} {artifact}\n\
         Mend the product and write the input down as an ordinary test, see docs/testing.md."
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_target_that_does_not_exist_is_named_together_with_those_that_do() {
        let error = run(&Workspace::default(), "frame", 1).unwrap_err().to_string();
        assert_eq!(
            error,
            "there is no fuzz target `frame`, expected frames, acp, dsh_sdk, configuration, diagnostic"
        );
    }

    #[test]
    fn only_a_finding_of_this_run_is_named() {
        let root = tempfile::tempdir().unwrap();
        let directory = root.path().join("fuzz/artifacts/acp");
        fs::create_dir_all(&directory).unwrap();
        let begun = SystemTime::now();
        for (file, age) in [("crash-1", 0), ("oom-2", 1), ("crash-0", 60)] {
            let written = begun + Duration::from_secs(1) - Duration::from_secs(age);
            fs::File::create(directory.join(file))
                .unwrap()
                .set_modified(written)
                .unwrap();
        }
        assert_eq!(
            written_since(begun, root.path(), "acp"),
            ["fuzz/artifacts/acp/crash-1", "fuzz/artifacts/acp/oom-2"]
        );
        assert_eq!(written_since(begun, root.path(), "frames"), Vec::<String>::new());
    }

    #[test]
    fn every_target_and_every_seed_is_there() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let manifest = fs::read_to_string(root.join(DIRECTORY).join("Cargo.toml")).unwrap();
        for target in TARGETS {
            assert!(
                manifest.contains(&format!("name = \"{}\"", target.name)),
                "{}",
                target.name
            );
            assert!(
                target
                    .dictionary
                    .is_none_or(|dictionary| root.join(dictionary).is_file())
            );
            for seeds in target.seeds {
                assert!(
                    fs::read_dir(root.join(seeds)).unwrap().next().is_some(),
                    "{seeds}"
                );
            }
        }
        assert_eq!(manifest.matches("[[bin]]").count(), TARGETS.len());
    }
}
