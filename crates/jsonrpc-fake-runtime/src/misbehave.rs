//! Misbehaviour that has nothing to do with a protocol: every one of them needs scenarios of it.
//!
//! Owns what goes wrong; the protocol says where, as steps that lead there.

use crate::descendant::{Descendant, Holds, Place};
use crate::scenario::Scenario;
use crate::script::Script;
use crate::step::{Condition, Signal, Step};

/// Adds steps to a script.
pub(crate) type Add = fn(Script) -> Script;

/// A place in the course of a run, as a protocol describes it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spot {
    /// The end of a scenario's name.
    pub(crate) name: &'static str,
    /// Words after "it does something …".
    pub(crate) place: &'static str,
    /// An empty script of the protocol and the steps that lead there.
    pub(crate) script: fn() -> Script,
}

/// What can go wrong anywhere.
const FAULTS: [(&str, &str, Add); 10] = [
    ("exit-0", "exits with code 0", |s| s.exit(0)),
    ("exit-7", "exits with code 7", |s| s.exit(7)),
    ("sigkill", "kills itself with SIGKILL", |s| {
        s.kill_self(Signal::Kill)
    }),
    ("sigsegv", "kills itself with SIGSEGV", |s| {
        s.kill_self(Signal::Segv)
    }),
    ("sigabrt", "kills itself with SIGABRT", |s| {
        s.kill_self(Signal::Abrt)
    }),
    ("sigterm", "kills itself with SIGTERM", |s| {
        s.kill_self(Signal::Term)
    }),
    ("closed-stdout", "closes stdout and reads on", |s| {
        s.step(Step::CloseStdout)
    }),
    ("closed-pipes", "closes stdin and stdout and stays alive", |s| {
        s.step(Step::CloseStdout).step(Step::CloseStdin).hang()
    }),
    ("silent", "reads on and says nothing more", |s| s),
    ("deaf", "neither reads nor says anything more", Script::hang),
];

/// Every fault at every spot.
pub(crate) fn faults(spots: &[Spot]) -> Vec<Scenario> {
    let mut list = Vec::new();
    for (name, about, add) in FAULTS {
        for spot in spots {
            let script = spot.script;
            list.push(Scenario::new(
                format!("{name}-at-{}", spot.name),
                format!("{about} {}", spot.place),
                move || script().then(add),
            ));
        }
    }
    list
}

/// A JSON-RPC error instead of an answer, at every spot where a request is open, and what comes after it.
pub(crate) fn errors(spots: &[Spot], after: Add) -> Vec<Scenario> {
    let error = |spot: &Spot| {
        let script = spot.script;
        Scenario::new(
            format!("error-at-{}", spot.name),
            format!("answers with a JSON-RPC error {}", spot.place),
            move || script().respond_error(-32603, "internal error").then(after),
        )
    };
    spots.iter().map(error).collect()
}

/// Ways to go, or not to go. `start` is an empty script of the protocol, `answer` the steps of a whole good run,
/// `halfway` those of one that has begun to answer.
pub(crate) fn exits(start: fn() -> Script, answer: Add, halfway: Add) -> Vec<Scenario> {
    let stubborn = move || start().ignore_eof().ignore_sigterm();
    vec![
        Scenario::new(
            "refuses-eof",
            "answers, then stays when stdin ends; SIGTERM ends it",
            move || start().ignore_eof().then(answer),
        ),
        Scenario::new(
            "refuses-eof-exits-on-sigterm",
            "the same, and exits with code 3 on SIGTERM",
            move || {
                start()
                    .ignore_eof()
                    .step(Step::ExitOnSigterm { code: 3 })
                    .then(answer)
            },
        ),
        Scenario::new(
            "refuses-eof-and-sigterm",
            "answers, then only SIGKILL ends it",
            move || stubborn().then(answer),
        ),
        Scenario::new(
            "refuses-everything-mid-prompt",
            "never answers, and only SIGKILL ends it",
            move || stubborn().then(halfway),
        ),
        Scenario::new(
            "refuses-everything-at-start",
            "reads nothing, and only SIGKILL ends it",
            move || stubborn().hang(),
        ),
        Scenario::new("slow-exit", "takes 300 ms to exit after stdin ended", move || {
            start()
                .then(answer)
                .wait_for(Condition::StdinEof)
                .sleep_ms(300)
                .exit(0)
        }),
        Scenario::new(
            "exit-5-after-eof",
            "exits with code 5 when stdin ends",
            move || start().then(answer).wait_for(Condition::StdinEof).exit(5),
        ),
        Scenario::new(
            "slow-sigterm",
            "ignores the end of stdin and takes 300 ms to exit after SIGTERM",
            move || {
                stubborn()
                    .then(answer)
                    .wait_for(Condition::Sigterm)
                    .sleep_ms(300)
                    .exit(0)
            },
        ),
    ]
}

/// Descendants of every kind, once of a fake that goes on and once of one that exits right after its answer.
/// `halfway` leads to a prompt that is being answered, `finish` ends the answer.
pub(crate) fn descendants(halfway: fn() -> Script, finish: Add) -> Vec<Scenario> {
    let mut list = Vec::new();
    for (name, about, descendant) in kinds() {
        let script = move || halfway().var("dir", ".").spawn(descendant.clone()).then(finish);
        let abandoning = script.clone();
        list.push(Scenario::new(
            format!("descendant-{name}"),
            format!("starts {about} ({{dir}}/descendant.pid), then ok"),
            script,
        ));
        list.push(Scenario::new(
            format!("descendant-{name}-abandoned"),
            format!("starts {about} ({{dir}}/descendant.pid), answers and exits at once"),
            move || abandoning().exit(0),
        ));
    }
    list
}

fn kinds() -> Vec<(&'static str, &'static str, Descendant)> {
    let child = || Descendant::new("{dir}/descendant.pid");
    let escaped = || child().place(Place::OwnSession);
    vec![
        ("child", "an ordinary child", child()),
        (
            "deaf-child",
            "a child that ignores SIGTERM",
            child().ignores_sigterm(),
        ),
        (
            "own-group",
            "a child in a process group of its own",
            child().place(Place::OwnGroup),
        ),
        ("own-session", "a child in a session of its own", escaped()),
        (
            "deaf-own-session",
            "a child in a session of its own that ignores SIGTERM",
            escaped().ignores_sigterm(),
        ),
        ("orphan", "a grandchild whose parent has gone", child().orphaned()),
        (
            "orphan-own-session",
            "a grandchild whose parent has gone, in a session of its own",
            escaped().orphaned(),
        ),
        (
            "holds-stdout",
            "a child that holds stdout open",
            child().holds(Holds::Stdout),
        ),
        (
            "holds-stderr",
            "a child that holds stderr open",
            child().holds(Holds::Stderr),
        ),
        (
            "own-session-holds-both",
            "a child in a session of its own that holds stdout and stderr open",
            escaped().holds(Holds::Both),
        ),
        (
            "multiplying",
            "a chain of processes, each in a session of its own and gone at once (10 s)",
            escaped().multiplies().lifetime_ms(10_000),
        ),
    ]
}
