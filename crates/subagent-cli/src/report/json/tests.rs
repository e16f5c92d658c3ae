//! The JSON shapes, pinned whole.

use std::sync::Arc;

use subagent_seam::{
    DisposeError, FailureLine, RunId, RunResult, SafeFailure, StartError, StopReason, Word, closed_words,
};
use subagent_tool::Timings as Measured;

use super::*;

closed_words! {
    enum Words { Package = "subagent-acp", Acp = "ACP", Prompt = "prompt", Transport = "transport",
                 Teardown = "teardown", Unknown = "unknown" }
}

fn outcome(result: RunResult) -> Outcome {
    Outcome {
        text: "the text".to_owned(),
        is_error: result.stop_reason != StopReason::Completed,
        run: Some(RunId::fresh()),
        result: Some(Arc::new(result)),
        start_error: None,
        dispose_error: None,
        timings: Measured {
            start: Duration::from_micros(12_149),
            run: Some(Duration::from_micros(80_351)),
            dispose: Some(Duration::from_millis(3)),
        },
    }
}

fn printed(outcome: &Outcome) -> String {
    let id = outcome.run.map(|id| id.to_string()).unwrap_or_default();
    text(&Delegation::new("subagent", "acp", outcome)).replace(&id, "RUN")
}

#[test]
fn a_failed_run_has_every_member() {
    let line = FailureLine::new(Words::Acp, Words::Prompt, Words::Transport);
    let result = RunResult::new(StopReason::Error, vec!["partial".into()]).with_diagnostic(Some(line.into()));
    assert_eq!(
        printed(&outcome(result)),
        r#"{"tool":"subagent","provider":"acp","runId":"RUN","stopReason":"error","isError":true,"#
            .to_owned()
            + r#""output":[{"type":"text","text":"partial"}],"#
            + r#""diagnostic":"Subagent failure (provider: ACP; stage: prompt; category: transport)","#
            + r#""text":"the text","timingsMs":{"start":12.1,"run":80.4,"dispose":3.0}}"#
    );
}

#[test]
fn members_without_a_value_are_null_after_a_start_error() {
    let failed = Outcome {
        text: "Error: aborted".to_owned(),
        is_error: true,
        run: None,
        result: None,
        start_error: Some(StartError::aborted(Words::Acp)),
        dispose_error: None,
        timings: Measured {
            start: Duration::from_millis(7),
            ..Measured::default()
        },
    };
    assert_eq!(
        text(&Delegation::new("subagent", "acp", &failed)),
        r#"{"tool":"subagent","provider":"acp","runId":null,"stopReason":null,"isError":true,"output":[],"#
            .to_owned()
            + r#""diagnostic":null,"text":"Error: aborted","timingsMs":{"start":7.0,"run":null,"dispose":null}}"#
    );
}

#[test]
fn the_results_members_stay_after_a_dispose_error() {
    let line = FailureLine::new(Words::Acp, Words::Teardown, Words::Unknown);
    let mut outcome = outcome(RunResult::new(StopReason::Completed, vec!["answer".into()]));
    outcome.dispose_error = Some(DisposeError::Failed(SafeFailure::new(Words::Package, line)));
    outcome.is_error = true;
    assert_eq!(
        printed(&outcome),
        r#"{"tool":"subagent","provider":"acp","runId":"RUN","stopReason":"completed","isError":true,"#
            .to_owned()
            + r#""output":[{"type":"text","text":"answer"}],"diagnostic":null,"#
            + r#""text":"the text","timingsMs":{"start":12.1,"run":80.4,"dispose":3.0}}"#
    );
}

#[test]
fn every_kind_of_block_has_its_type() {
    let blocks = [
        ContentBlock::from("t"),
        ContentBlock::Image {
            data: "AAAA".to_owned(),
            mime_type: "image/png".to_owned(),
        },
        ContentBlock::ResourceLink {
            uri: "file:///x".to_owned(),
            name: "x".to_owned(),
        },
    ];
    assert_eq!(
        text(&blocks.iter().filter_map(block).collect::<Vec<_>>()),
        r#"[{"type":"text","text":"t"},{"type":"image","data":"AAAA","mimeType":"image/png"},"#.to_owned()
            + r#"{"type":"resource_link","uri":"file:///x","name":"x"}]"#
    );
}

#[test]
fn a_check_tells_each_provider_and_the_sum() {
    let works = Checked {
        provider: "one".to_owned(),
        error: None,
        findings: Vec::new(),
        stderr: None,
        time: Duration::from_millis(5),
    };
    let fails = Checked {
        provider: "two".to_owned(),
        error: Some("safe".to_owned()),
        findings: vec![
            Finding {
                stage: Some(Word::of(Words::Prompt)),
                error: "raw \u{9b}2J".to_owned(),
            },
            Finding {
                stage: None,
                error: "deeper".to_owned(),
            },
        ],
        stderr: Some("log in\n".to_owned()),
        time: Duration::from_millis(6),
    };
    assert_eq!(
        text(&Check::new(&[works.clone(), fails])),
        r#"{"ok":false,"providers":["#.to_owned()
            + r#"{"provider":"one","ok":true,"error":null,"causes":[],"stderr":null,"timeMs":5.0},"#
            + r#"{"provider":"two","ok":false,"error":"safe","causes":[{"stage":"prompt","error":"raw \u009b2J"},"#
            + r#"{"stage":null,"error":"deeper"}],"stderr":"log in\n","timeMs":6.0}]}"#
    );
    assert!(text(&Check::new(&[works])).starts_with(r#"{"ok":true,"#));
}
