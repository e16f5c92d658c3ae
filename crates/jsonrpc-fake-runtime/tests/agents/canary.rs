//! Nothing that a child controls, and nothing of the host's, may reach a parent: a canary stands in all of it, at every
//! stage of dying and misbehaving. The host, in turn, does get the raw cause.
//!
//! Where a fake puts its canary is the business of its `canary-…` scenarios; the host's canary is put here.

use std::time::Duration;

use jsonrpc_fake_runtime::acp::AcpSteps as _;
use jsonrpc_fake_runtime::{Protocol, Script, scenarios};
use subagent_acp::PermissionPolicy;
use subagent_tool::Outcome;

use crate::custody::both_ways;
use crate::support::FakeAgent;

both_ways! {
    one thread:
        the_agents_own_message_is_shown_and_goes_nowhere_else,
        a_start_that_never_reached_a_child_shows_nothing_of_the_host,
        a_teardown_that_fails_shows_nothing_either;
}

/// In everything that a child controls.
const CHILD: &str = "ChildCanary-93ab";
/// In what the host knows and a parent need not: the task, the environment, the directory, the arguments.
const HOST: &str = "HostCanary_5d1c";

/// Everything that can reach a parent's conversation.
fn model_visible(outcome: &Outcome) -> String {
    let Outcome {
        text,
        result,
        start_error,
        dispose_error,
        ..
    } = outcome;
    let mut seen = vec![text.clone()];
    seen.extend(start_error.iter().map(ToString::to_string));
    seen.extend(dispose_error.iter().map(ToString::to_string));
    seen.extend(
        result
            .iter()
            .filter_map(|result| result.diagnostic.as_ref().map(ToString::to_string)),
    );
    seen.extend(
        result
            .iter()
            .flat_map(|result| &result.output)
            .filter_map(|block| block.as_text().map(str::to_owned)),
    );
    seen.join("\n")
}

/// Nothing is cut off either: a part of a canary would be as bad.
fn assert_clean(what: &str, seen: &str) {
    let folded = seen.to_lowercase();
    for canary in [CHILD, HOST] {
        for part in canary.to_lowercase().split(['-', '_']) {
            assert!(
                !folded.contains(part),
                "{what}: {part:?} is model-visible in {seen}"
            );
        }
    }
}

/// The agent in a session that is full of the host's canary.
fn surrounded(script: Script) -> FakeAgent {
    let agent = FakeAgent::running(&script.var("canary", CHILD));
    let cwd = agent.dir().join(HOST);
    std::fs::create_dir(&cwd).unwrap();
    agent.in_session_at(Some(cwd)).with(|config| {
        config.env.push(HOST, HOST);
        config.args.extend(["--".into(), HOST.into()]);
        config.startup_timeout = Some(Duration::from_secs(3));
        config.idle_timeout = Some(Duration::from_secs(1));
    })
}

/// What the host must get of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Raw {
    /// The canary in the error itself.
    InTheError,
    /// The canary at the end of the child's standard error.
    InStderr,
    /// A report, whose cause holds nothing of the child's.
    Reported,
    /// No report, because the run completes.
    Nothing,
}

fn raw_of(scenario: &str) -> Raw {
    match scenario {
        "canary-stop-end_turn" | "canary-exit-at-after-turn" | "canary-silent-at-after-turn" => Raw::Nothing,
        // The child lives and may not have been heard out yet.
        "canary-stop-max_turn_requests" => Raw::Reported,
        "canary-stop-unknown" | "canary-version" => Raw::InTheError,
        _ if scenario.starts_with("canary-error-at-") => Raw::InTheError,
        _ => Raw::InStderr,
    }
}

fn assert_host_knows(what: &str, raw: Raw, reports: &[String]) {
    let splits = || {
        reports
            .iter()
            .map(|report| report.split_once("\nstderr: ").unwrap_or((report, "")))
    };
    assert_eq!(reports.is_empty(), raw == Raw::Nothing, "{what}: {reports:?}");
    let knows = match raw {
        Raw::InTheError => splits().any(|(error, _)| error.contains(CHILD)),
        Raw::InStderr => splits().any(|(_, stderr)| stderr.contains(CHILD)),
        Raw::Reported | Raw::Nothing => true,
    };
    assert!(
        knows,
        "{what}: the host should have been told {raw:?}: {reports:?}"
    );
}

mod heavy {
    use super::*;
    use crate::custody::both_ways;

    both_ways! {
        threads:
            a_canary_reaches_the_host_and_never_a_parent;
    }

    async fn a_canary_reaches_the_host_and_never_a_parent() {
        let mut playing = Vec::new();
        for scenario in scenarios(Protocol::Acp) {
            if !scenario.name().starts_with("canary-") {
                continue;
            }
            for policy in [
                PermissionPolicy::Reject,
                PermissionPolicy::Decline,
                PermissionPolicy::Allow,
            ] {
                let name = scenario.name().to_owned();
                let agent = surrounded(scenario.script()).with(|config| config.permission = policy);
                playing.push(tokio::spawn(async move {
                    let outcome = agent.delegate(HOST).await;
                    (
                        format!("{name}, {policy:?}"),
                        raw_of(&name),
                        outcome,
                        agent.host_reports(),
                    )
                }));
            }
        }
        // Six stages of dying and of falling silent, four of an error, three ends of a turn, two answers of a start.
        assert_eq!(playing.len(), (6 + 6 + 4 + 3 + 2) * 3);
        for played in playing {
            let (what, raw, outcome, reports) = played.await.unwrap();
            assert_clean(&what, &model_visible(&outcome));
            assert_host_knows(&what, raw, &reports);
        }
    }
}

async fn the_agents_own_message_is_shown_and_goes_nowhere_else() {
    let prompted = || Script::acp().prompted().chunk("{canary}");
    let answered = surrounded(prompted().end_turn()).delegate(HOST).await;
    assert_eq!(answered.text, CHILD);
    for script in [
        prompted().exit(7),
        prompted().respond_error(-1, "{canary}"),
        prompted().stop("{canary}"),
        prompted(),
    ] {
        let outcome = surrounded(script).delegate(HOST).await;
        let (head, partial) = outcome
            .text
            .split_once("\nPartial output before the run ended:\n")
            .unwrap();
        assert_eq!(partial, CHILD);
        assert_clean("the text before the partial output", head);
        assert_clean(
            "the diagnostic",
            &outcome.result.unwrap().diagnostic.as_ref().unwrap().to_string(),
        );
    }
}

async fn a_start_that_never_reached_a_child_shows_nothing_of_the_host() {
    let no_directory = surrounded(Script::acp());
    let gone = no_directory.dir().join(HOST).join("gone");
    let no_directory = no_directory.in_session_at(Some(gone));
    let no_command = surrounded(Script::acp()).with(|config| config.command = HOST.into());
    for agent in [no_directory, no_command] {
        let outcome = agent.delegate(HOST).await;
        assert!(outcome.start_error.is_some());
        assert_clean("the start error", &model_visible(&outcome));
        let reports = agent.host_reports();
        assert!(
            reports.len() == 1 && reports[0].contains(HOST),
            "the host should know the place: {reports:?}"
        );
    }
}

#[cfg(target_os = "linux")]
async fn a_teardown_that_fails_shows_nothing_either() {
    use crate::acp_table::wedge::{Wedge, Wedged, after_hanging};

    for name in [
        "canary-error-at-initialize",
        "canary-exit-at-mid-prompt",
        "canary-silent-at-after-turn",
    ] {
        for wedged in [Wedged::Leader, Wedged::Rest] {
            let scenario = scenarios(Protocol::Acp)
                .into_iter()
                .find(|scenario| scenario.name() == name)
                .unwrap();
            let wedge = Wedge::locked();
            let agent = surrounded(after_hanging(scenario.script())).with(|config| {
                wedge.applied(wedged, config);
                config.dispose_eof_grace = Duration::from_millis(500);
                config.dispose_grace = Duration::from_millis(500);
            });
            let cwd = agent.dir().join(HOST);
            let (pid, outcome) = tokio::join!(wedge.hanging(&cwd), agent.delegate(HOST));
            wedge.undo(pid).await;
            assert!(model_visible(&outcome).contains("stage: teardown"), "{outcome:?}");
            assert_clean(name, &model_visible(&outcome));
            let reports = agent.host_reports();
            let told = reports
                .iter()
                .find(|report| report.starts_with("teardown: "))
                .unwrap();
            assert!(
                told.contains(CHILD),
                "the host should have been told: {reports:?}"
            );
        }
    }
}
