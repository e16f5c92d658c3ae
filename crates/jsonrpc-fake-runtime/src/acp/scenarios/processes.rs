//! Scenarios about pipes, signals, the end of a process, and processes that outlive it.

use crate::acp::{AcpSteps, Stage};
use crate::descendant::{Descendant, Holds, Place};
use crate::scenario::Scenario;
use crate::script::Script;
use crate::step::{Condition, Step};

pub(super) fn scenarios() -> Vec<Scenario> {
    let mut list = exits();
    list.extend(pipes());
    list.extend(descendants());
    list
}

fn exits() -> Vec<Scenario> {
    let answered = || Script::acp().up_to(Stage::AfterTurn);
    vec![
        Scenario::new(
            "refuses-eof",
            "answers, then stays when stdin ends; SIGTERM ends it",
            || Script::acp().ignore_eof().up_to(Stage::AfterTurn),
        ),
        Scenario::new(
            "refuses-eof-exits-on-sigterm",
            "the same, and exits with code 3 on SIGTERM",
            || {
                Script::acp()
                    .ignore_eof()
                    .step(Step::ExitOnSigterm { code: 3 })
                    .up_to(Stage::AfterTurn)
            },
        ),
        Scenario::new(
            "refuses-eof-and-sigterm",
            "answers, then only SIGKILL ends it",
            || {
                Script::acp()
                    .ignore_eof()
                    .ignore_sigterm()
                    .up_to(Stage::AfterTurn)
            },
        ),
        Scenario::new(
            "refuses-everything-mid-prompt",
            "never answers, and only SIGKILL ends it",
            || {
                Script::acp()
                    .ignore_eof()
                    .ignore_sigterm()
                    .up_to(Stage::MidPrompt)
            },
        ),
        Scenario::new(
            "refuses-everything-at-start",
            "reads nothing, and only SIGKILL ends it",
            || Script::acp().ignore_eof().ignore_sigterm().hang(),
        ),
        Scenario::new("slow-exit", "takes 300 ms to exit after stdin ended", move || {
            answered().wait_for(Condition::StdinEof).sleep_ms(300).exit(0)
        }),
        Scenario::new(
            "exit-5-after-eof",
            "exits with code 5 when stdin ends",
            move || answered().wait_for(Condition::StdinEof).exit(5),
        ),
        Scenario::new(
            "slow-sigterm",
            "ignores the end of stdin and takes 300 ms to exit after SIGTERM",
            || {
                Script::acp()
                    .ignore_eof()
                    .ignore_sigterm()
                    .up_to(Stage::AfterTurn)
                    .wait_for(Condition::Sigterm)
                    .sleep_ms(300)
                    .exit(0)
            },
        ),
    ]
}

fn pipes() -> Vec<Scenario> {
    let mut list = Vec::new();
    for stage in [Stage::Initialize, Stage::NewSession, Stage::Prompt] {
        let (name, next): (_, fn(Script) -> Script) = match stage {
            Stage::Initialize => ("initialize", AcpSteps::initialize),
            Stage::NewSession => ("new-session", AcpSteps::ready),
            _ => ("prompt", AcpSteps::prompted),
        };
        list.push(Scenario::new(
            format!("closes-stdin-after-{name}"),
            format!("closes stdin after {name} and stays alive"),
            move || next(Script::acp()).step(Step::CloseStdin).hang(),
        ));
        list.push(Scenario::new(
            format!("stops-reading-after-{name}"),
            format!("reads nothing any more after {name} and stays alive"),
            move || next(Script::acp()).hang(),
        ));
    }
    list.push(Scenario::new(
        "closes-stdin-then-answers",
        "closes stdin after the prompt, then answers it",
        || {
            Script::acp()
                .prompted()
                .step(Step::CloseStdin)
                .chunk("hello")
                .end_turn()
                .hang()
        },
    ));
    list.push(Scenario::new(
        "closes-stderr",
        "closes stderr at the start, then ok",
        || {
            Script::acp()
                .step(Step::CloseStderr)
                .prompted()
                .chunk("hello")
                .end_turn()
        },
    ));
    list
}

/// Descendants of every kind, once of a fake that goes on and once of one that exits right after its answer.
fn descendants() -> Vec<Scenario> {
    let base = || Descendant::new("{dir}/descendant.pid");
    let kinds = [
        ("child", "an ordinary child", base()),
        (
            "deaf-child",
            "a child that ignores SIGTERM",
            base().ignores_sigterm(),
        ),
        (
            "own-group",
            "a child in a process group of its own",
            base().place(Place::OwnGroup),
        ),
        (
            "own-session",
            "a child in a session of its own",
            base().place(Place::OwnSession),
        ),
        (
            "deaf-own-session",
            "a child in a session of its own that ignores SIGTERM",
            base().place(Place::OwnSession).ignores_sigterm(),
        ),
        ("orphan", "a grandchild whose parent has gone", base().orphaned()),
        (
            "orphan-own-session",
            "a grandchild whose parent has gone, in a session of its own",
            base().orphaned().place(Place::OwnSession),
        ),
        (
            "holds-stdout",
            "a child that holds stdout open",
            base().holds(Holds::Stdout),
        ),
        (
            "holds-stderr",
            "a child that holds stderr open",
            base().holds(Holds::Stderr),
        ),
        (
            "own-session-holds-both",
            "a child in a session of its own that holds stdout and stderr open",
            base().place(Place::OwnSession).holds(Holds::Both),
        ),
        (
            "multiplying",
            "a chain of processes, each in a session of its own and gone at once (10 s)",
            base().place(Place::OwnSession).multiplies().lifetime_ms(10_000),
        ),
    ];
    let mut list = Vec::new();
    for (name, about, descendant) in kinds {
        let script = move || {
            Script::acp()
                .var("dir", ".")
                .prompted()
                .spawn(descendant.clone())
                .chunk("hello")
        };
        let abandoning = script.clone();
        list.push(Scenario::new(
            format!("descendant-{name}"),
            format!("starts {about} ({{dir}}/descendant.pid), then ok"),
            move || script().end_turn(),
        ));
        list.push(Scenario::new(
            format!("descendant-{name}-abandoned"),
            format!("starts {about} ({{dir}}/descendant.pid), answers and exits at once"),
            move || abandoning().end_turn().exit(0),
        ));
    }
    list
}
