//! Scenarios about pipes, signals, the end of a process, and processes that outlive it.

use crate::acp::{AcpSteps, Stage};
use crate::misbehave;
use crate::scenario::Scenario;
use crate::script::Script;
use crate::step::Step;

pub(super) fn scenarios() -> Vec<Scenario> {
    let mut list = misbehave::exits(
        Script::acp,
        |s| s.up_to(Stage::AfterTurn),
        |s| s.up_to(Stage::MidPrompt),
    );
    list.extend(pipes());
    list.extend(misbehave::descendants(
        || Script::acp().prompted(),
        |s| s.chunk("hello").end_turn(),
    ));
    list
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
