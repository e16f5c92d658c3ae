//! `subagent run --jobs`: many tasks from a list, side by side. How many run, in which order they are printed, and what is
//! kept meanwhile; how the whole ends early is `command_jobs_ends`'.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use jsonrpc_fake_runtime::acp::AcpSteps as _;
use jsonrpc_fake_runtime::{Protocol, Script, scenarios};
use serde_json::Value;

use crate::command_process::Finished;
use crate::command_support::{Place, until, until_within};
use crate::support::SOON;

/// The objects on stdout, in order.
pub(crate) fn objects(stdout: &str) -> Vec<Value> {
    stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

/// What a model would read of each task, in order.
pub(crate) fn texts(run: &Finished) -> Vec<String> {
    let objects = objects(&run.stdout);
    let texts = objects.iter().map(|object| object["text"].as_str().unwrap());
    texts.map(str::to_owned).collect()
}

/// Notes that it has its task, waits for the sign to go on, and repeats the task.
pub(crate) fn obedient() -> Script {
    Script::acp()
        .prompted()
        .touch("{prompt}.started")
        .wait_for_file("{prompt}.go")
        .chunk("{prompt}")
        .end_turn()
}

pub(crate) fn echo() -> Script {
    let all = scenarios(Protocol::Acp);
    let found = all.iter().find(|scenario| scenario.name() == "echo");
    found.unwrap().script()
}

/// The most memory that the command itself, not one of its children, has had so far, in KiB.
fn peak_memory(place: &Place) -> u64 {
    let is_the_command = |pid: &u32| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        words.split(|byte| *byte == 0).any(|word| word == b"--jobs")
    };
    let pid = place.living().into_iter().find(is_the_command).unwrap();
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = peak.unwrap().split_whitespace().next().unwrap();
    number.parse().unwrap()
}

fn lines(file: &Path) -> usize {
    let bytes = fs::read(file).unwrap();
    bytes.split(|byte| *byte == b'\n').count() - 1
}

#[test]
fn two_hundred_tasks_are_answered_in_order_each_with_its_own_text_in_flat_memory() {
    // So large that 160 of them, were they kept, would be seen.
    let padding = "x".repeat(64 << 10);
    let prompt = |number: usize| format!("task-{number}-{padding}");
    let place = Place::new();
    let agent = place.agent(&echo());
    let results = place.path("results.jsonl");
    let mut command = place.command(["run", "--jobs", "8", "--acp", &agent]);
    command
        .stdin(Stdio::piped())
        .stdout(File::create(&results).unwrap());
    let mut started = place.start(&mut command);
    let mut stdin = started.stdin.take().unwrap();

    let mut answered_up_to = |first: usize, end: usize| {
        for number in first..end {
            writeln!(stdin, "{}", prompt(number)).unwrap();
        }
        until_within(6 * SOON, "all results are there", || lines(&results) == end);
        peak_memory(&place)
    };
    let after_some = answered_up_to(0, 40);
    let after_all = answered_up_to(40, 200);
    drop(stdin);
    let run = started.finish();

    assert_eq!((run.code(), run.stderr.as_str()), (0, ""));
    let objects = objects(&fs::read_to_string(&results).unwrap());
    assert_eq!(objects.len(), 200);
    for (number, object) in objects.iter().enumerate() {
        assert!(object["text"] == prompt(number), "the text of task {number}");
        assert!(
            object["output"][0]["text"] == prompt(number),
            "the output of task {number}"
        );
        assert_eq!(object["stopReason"], "completed");
    }
    // Each of the other 160 has its text twice in its line: they would be 20 MiB.
    assert!(
        after_all <= after_some + 4 * 1024,
        "{after_some} KiB after 40 tasks, {after_all} KiB after 200"
    );
}

#[test]
fn a_line_is_the_object_of_a_single_run() {
    let place = Place::new();
    let agent = place.agent(&echo());
    let list = place.write("prompts.txt", "one task\n");
    let list = list.to_str().unwrap();
    let many = place.run(["run", "--acp", &agent, "--jobs", "1", list]);
    let one = place.run(["run", "--acp", &agent, "--format", "json", "one task"]);
    assert_eq!(many.redacted_json(), one.redacted_json());
    let explicit = ["run", "--acp", &agent, "--jobs", "1", "--format", "json", list];
    assert_eq!(place.run(explicit).redacted_json(), one.redacted_json());
}

#[test]
fn blank_lines_are_no_tasks_and_the_last_line_needs_no_end() {
    let place = Place::new();
    let agent = place.agent(&echo());
    for source in [&["-"][..], &[]] {
        let args = [&["run", "--acp", &agent, "--jobs", "2"], source].concat();
        let mut command = place.command(args);
        let mut started = place.start(command.stdin(Stdio::piped()));
        started.write("\none\r\n \t\n\ntwo\nthree");
        let run = started.finish();
        assert_eq!((run.code(), run.stderr.as_str()), (0, ""));
        assert_eq!(texts(&run), ["one", "two", "three"]);
    }
}

#[test]
fn one_task_that_does_not_complete_is_enough_to_fail() {
    let place = Place::new();
    let agent = place.agent(&Script::acp().prompted().chunk("so far").stop("{prompt}"));
    let list = place.write("prompts.txt", "end_turn\nrefusal\nend_turn\n");
    let run = place.run(["run", "--acp", &agent, "--jobs", "3", list.to_str().unwrap()]);
    assert_eq!((run.code(), run.stderr.as_str()), (1, ""));
    let reasons: Vec<_> = objects(&run.stdout)
        .iter()
        .map(|object| object["stopReason"].clone())
        .collect();
    assert_eq!(reasons, ["completed", "refusal", "completed"]);
}

#[test]
fn a_slow_task_holds_up_the_results_after_it_but_no_more_than_a_window_of_them() {
    let place = Place::new();
    let agent = place.agent(&obedient());
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    let list = place.write("prompts.txt", names.join("\n"));
    let mut command = place.command(["run", "--acp", &agent, "--jobs", "2", list.to_str().unwrap()]);
    let mut started = place.start(&mut command);
    let has_begun = |name: &str| place.work().join(format!("{name}.started")).exists();
    let release = |name: &str| fs::write(place.work().join(format!("{name}.go")), "").unwrap();

    until("the first one has begun", || has_begun("a"));
    // Seven may wait for it, so that eight are under way: four for each that may run.
    for (place_in_list, name) in names.iter().enumerate().take(8).skip(1) {
        until("the next one has begun", || has_begun(name));
        let next = names[place_in_list + 1];
        assert!(!has_begun(next), "{next} runs as a third one");
        release(name);
    }
    until("only the first one is left", || {
        let agents = place.living().into_iter().filter(|pid| {
            let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            words.starts_with(crate::support::fake_program().as_os_str().as_encoded_bytes())
        });
        agents.count() == 1
    });
    assert!(!has_begun("i"), "more is started than may wait");
    assert!(started.is_running());
    for name in ["a", "i", "j"] {
        release(name);
    }
    let run = started.finish();
    assert_eq!((run.code(), run.stderr.as_str()), (0, ""));
    assert_eq!(texts(&run), names);
}
