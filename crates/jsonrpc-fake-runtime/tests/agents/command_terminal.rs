//! The command on a terminal: progress, the logs that are the default there, and control characters that do nothing.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use jsonrpc_fake_runtime::Script;
use jsonrpc_fake_runtime::acp::AcpSteps as _;
use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::command_process::Finished;
use crate::command_support::{Place, until};

/// A terminal of a test's own.
struct Pty {
    screen: OwnedFd,
    keyboard: OwnedFd,
}

impl Pty {
    fn new() -> Self {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&controller).unwrap();
        unlockpt(&controller).unwrap();
        let name = ptsname(&controller, Vec::new()).unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let terminal = open(name.as_c_str(), flags, Mode::empty()).unwrap();
        Self {
            screen: controller,
            keyboard: terminal,
        }
    }

    /// The end that a process is given.
    fn end(&self) -> OwnedFd {
        self.keyboard.try_clone().unwrap()
    }

    /// Reads what is shown, until the last process has closed its end.
    fn watch(self) -> Screen {
        let Self { screen, keyboard } = self;
        drop(keyboard);
        let shown = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&shown);
        let reading = thread::spawn(move || {
            let (mut screen, mut buffer) = (File::from(screen), [0; 4096]);
            // The end of a terminal is an error.
            while let Ok(length @ 1..) = screen.read(&mut buffer) {
                seen.lock().unwrap().extend_from_slice(&buffer[..length]);
            }
        });
        Screen { shown, reading }
    }
}

/// What a terminal shows.
struct Screen {
    shown: Arc<Mutex<Vec<u8>>>,
    reading: JoinHandle<()>,
}

impl Screen {
    /// Up to now.
    fn so_far(&self) -> String {
        String::from_utf8_lossy(&self.shown.lock().unwrap()).into_owned()
    }

    /// To the end.
    fn whole(self) -> String {
        self.reading.join().unwrap();
        String::from_utf8(self.shown.lock().unwrap().clone()).unwrap()
    }
}

/// Runs a command with a terminal as its stderr, and says what was shown there.
fn with_stderr_on_a_terminal(
    place: &Place,
    mut command: Command,
    meanwhile: impl FnOnce(&Screen),
) -> (Finished, String) {
    let pty = Pty::new();
    let started = place.start(command.env("TERM", "xterm").stderr(pty.end()));
    // It holds the end of the terminal, too.
    drop(command);
    let screen = pty.watch();
    meanwhile(&screen);
    (started.finish(), screen.whole())
}

fn fails() -> Script {
    Script::acp()
        .prompted()
        .chunk("half\u{1b}[2J")
        .respond_error(-32603, "the raw cause\u{1b}]0;owned\u{7}")
}

#[test]
fn a_person_sees_stage_time_and_bytes_and_nothing_of_it_stays() {
    let place = Place::new();
    let script = Script::acp()
        .prompted()
        .chunk("done")
        .wait_for_file("go")
        .end_turn();
    let agent = place.agent(&script);
    let command = place.command(["run", "--acp", &agent, "p"]);
    let (run, shown) = with_stderr_on_a_terminal(&place, command, |screen| {
        until("the open prompt is shown with what was received", || {
            let shown = screen.so_far();
            let line = shown.rsplit("prompt · ").next().unwrap();
            shown.contains("prompt · ") && line.contains(" B received") && !line.contains(" 0 B received")
        });
        std::fs::write(place.work().join("go"), "").unwrap();
    });
    assert_eq!((run.code(), run.stdout.as_str()), (0, "done\n"));
    let last_line = shown.rsplit(['\r', '\n']).next().unwrap();
    assert!(!last_line.contains("received"), "the line stays: {shown:?}");
}

#[test]
fn a_person_sees_the_raw_cause_as_a_warning_and_then_the_text_all_of_it_harmless() {
    let place = Place::new();
    let agent = place.agent(&fails());
    let command = place.command(["run", "--acp", &agent, "p"]);
    let (run, shown) = with_stderr_on_a_terminal(&place, command, |_| {});
    assert_eq!((run.code(), run.stdout.as_str()), (1, ""));
    assert!(shown.contains(" WARN "), "{shown:?}");
    assert!(shown.contains("the raw cause\\u001b]0;owned\\u0007"), "{shown:?}");
    let text = "Error: subagent run failed\r\n\
                Diagnostic: Subagent failure (provider: ACP; stage: prompt; category: transport)\r\n\
                Partial output before the run ended:\r\nhalf\\u001b[2J\r\n";
    assert!(shown.ends_with(text), "{shown:?}");
    assert!(
        !shown.contains("\u{1b}]0") && !shown.contains('\u{7}'),
        "{shown:?}"
    );
}

#[test]
fn a_person_who_wants_no_logs_gets_none() {
    let place = Place::new();
    let agent = place.agent(&fails());
    let command = place.command(["run", "--log", "off", "--acp", &agent, "p"]);
    let (run, shown) = with_stderr_on_a_terminal(&place, command, |_| {});
    assert_eq!(run.code(), 1);
    assert!(!shown.contains("raw cause"), "{shown:?}");
}

#[test]
fn an_answer_on_a_terminal_cannot_move_its_cursor() {
    let place = Place::new();
    let agent = place.agent(
        &Script::acp()
            .prompted()
            .chunk("one\u{1b}[2J\ttwo\r\nthree\u{9b}A")
            .end_turn(),
    );
    let pty = Pty::new();
    let mut command = place.command(["run", "--acp", &agent, "p"]);
    let started = place.start(command.stdout(pty.end()));
    drop(command);
    let screen = pty.watch();
    let run = started.finish();
    assert_eq!((run.code(), run.stderr.as_str()), (0, ""));
    let shown = screen.whole();
    assert_eq!(
        shown.replace("        ", "\t"),
        "one\\u001b[2J\ttwo\\r\r\nthree\\u009bA\r\n"
    );
}

#[test]
fn a_check_on_a_terminal_tells_each_cause_once() {
    let place = Place::new();
    place.write(
        "work/subagents.yml",
        "- name: subagent-acp\n  config: { command: no-such-agent }\n",
    );
    let (check, shown) = with_stderr_on_a_terminal(&place, place.command(["check"]), |_| {});
    assert_eq!((check.code(), shown.as_str()), (1, ""));
    assert_eq!(check.stdout.matches("no-such-agent").count(), 1, "{check:?}");
}
