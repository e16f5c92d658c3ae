//! What the rules make of sequences of events.

use subagent_seam::text_of;

use super::*;

const MARK: &str = r#"{"type":"agent/inbox/spliced","data":{"inserted":[{"id":"m-1"}]}}"#;

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

fn delta(text: &str) -> String {
    format!(r#"{{"type":"assistant/chunk","data":{{"chunk":{{"type":"text-delta","text":"{text}"}}}}}}"#)
}

fn message(content: &str) -> String {
    format!(r#"{{"type":"assistant/message","data":{{"message":{{"content":{content}}}}}}}"#)
}

fn turn_end(reason: &str) -> String {
    format!(r#"{{"type":"turn/end","data":{{"reason":{reason}}}}}"#)
}

/// Tells an activity lines: `idle` and `running` are statuses, everything else is an event. What it came to, where the
/// last line lies, and what was malformed.
fn told(lines: &[&str]) -> (String, Option<TurnEnd>, Result<Place, String>) {
    let mut activity = Activity::of("m-1".to_owned(), 1000);
    let mut place = Ok(Place::Before);
    for line in lines {
        place = match *line {
            "idle" | "running" => activity.take(Told::Status(line)),
            event => activity.take(Told::Event(&raw(event))),
        };
        if place.is_err() {
            break;
        }
    }
    let Outcome { output, end, .. } = activity.into_outcome();
    (
        text_of(&output),
        end,
        place.map_err(|violation| violation.to_string()),
    )
}

#[test]
fn an_activity_goes_from_the_mark_to_the_first_idle() {
    let completed = turn_end(r#"{"kind":"completed"}"#);
    let (text, end, place) = told(&[
        "idle",
        &delta("others"),
        &turn_end(r#"{"kind":"error"}"#),
        "idle",
        MARK,
        "running",
        &delta("hel"),
        &delta("lo"),
        &completed,
        "idle",
        &delta("late"),
        &turn_end(r#"{"kind":"error"}"#),
    ]);
    assert_eq!(
        (&*text, end, place),
        ("hello", Some(TurnEnd::Completed), Ok(Place::End))
    );
}

#[test]
fn without_the_own_mark_nothing_counts() {
    let other = MARK.replace("m-1", "m-2");
    let removal = r#"{"type":"agent/inbox/spliced","data":{"removedCount":1,"inserted":[]}}"#;
    let other_type = MARK.replace("agent/inbox/spliced", "user/message");
    let lines = [&*other, removal, &*other_type, &delta("x"), "idle"];
    assert_eq!(told(&lines), (String::new(), None, Ok(Place::Before)));
}

#[test]
fn malformed_events_count_only_within_the_activity() {
    for broken in [
        "null",
        "\"turn/end\"",
        r#"{"data":{}}"#,
        r#"{"type":7}"#,
        r#"["turn/end"]"#,
    ] {
        let (text, _, place) = told(&[broken, MARK, &delta("partial"), broken, &delta("never")]);
        let wanted =
            format!("an event of the session is not an object with a type that is a string: {broken}");
        assert_eq!((&*text, place), ("partial", Err(wanted)));
        let (_, _, place) = told(&[MARK, "idle", broken]);
        assert_eq!(place, Ok(Place::End), "after the end nobody looks");
    }
}

#[test]
fn a_malformed_message_ends_it_with_what_was_said_before() {
    let broken = message("[{}]");
    let (text, _, place) = told(&[MARK, &delta("partial"), &broken]);
    let wanted = format!("an assistant message is not a list of blocks that have a type: {broken}");
    assert_eq!((&*text, place), ("partial", Err(wanted)));
}

#[test]
fn the_last_message_with_content_wins_over_streamed_text() {
    let second = message(r#"[{"type":"text","text":"second"}]"#);
    let first = message(r#"[{"type":"text","text":"first"}]"#);
    assert_eq!(
        told(&[MARK, &delta("x"), &first, &second, &message("[]")]).0,
        "second"
    );
    assert_eq!(told(&[MARK, &delta("x"), &message("[]")]).0, "x");
}

#[test]
fn a_message_of_other_blocks_alone_wins_too() {
    let text = message(r#"[{"type":"text","text":"before the tool"}]"#);
    let call = message(r#"[{"type":"tool-call","id":"c"}]"#);
    assert_eq!(told(&[MARK, &text, &call]).0, "");
}

#[test]
fn the_last_end_of_a_turn_counts() {
    let end = |reason: &str| told(&[MARK, &turn_end(r#"{"kind":"error"}"#), &turn_end(reason)]).1;
    let aborted = |disposed| Some(TurnEnd::Aborted { disposed });
    for (reason, wanted) in [
        (r#"{"kind":"completed"}"#, Some(TurnEnd::Completed)),
        (r#"{"kind":"max-tokens"}"#, Some(TurnEnd::MaxTokens)),
        (r#"{"kind":"aborted"}"#, aborted(false)),
        (r#"{"kind":"aborted","reason":{"kind":"user"}}"#, aborted(false)),
        (
            r#"{"kind":"aborted","reason":{"kind":["disposed"]}}"#,
            aborted(false),
        ),
        (r#"{"kind":"aborted","reason":"disposed"}"#, aborted(false)),
        (
            r#"{"kind":"aborted","reason":{"kind":"disposed"}}"#,
            aborted(true),
        ),
        (r#"{"kind":"blocked"}"#, Some(TurnEnd::Blocked)),
        (r#"{"kind":"interrupted"}"#, Some(TurnEnd::Interrupted)),
        (r#"{"kind":"tired"}"#, Some(TurnEnd::Unknown)),
        (r#"{"kind":7}"#, Some(TurnEnd::Unknown)),
        (r#""completed""#, Some(TurnEnd::Unknown)),
        (r#"["completed"]"#, Some(TurnEnd::Unknown)),
        ("null", Some(TurnEnd::Unknown)),
    ] {
        assert_eq!(end(reason), wanted, "{reason}");
    }
    let missing = r#"{"type":"turn/end"}"#;
    assert_eq!(told(&[MARK, missing]).1, Some(TurnEnd::Unknown));
    assert_eq!(told(&[MARK, "idle"]).1, None);
}

#[test]
fn what_came_before_the_receipt_is_told_in_order() {
    let mut backlog = Backlog::bounded(1000);
    for event in [&delta("others"), MARK, &delta("hel"), &delta("lo")] {
        backlog.keep(Told::Event(&raw(event))).unwrap();
    }
    backlog.keep(Told::Status("idle")).unwrap();
    backlog.keep(Told::Event(&raw(&delta("late")))).unwrap();
    let mut activity = Activity::of("m-1".to_owned(), 1000);
    assert_eq!(backlog.replay(&mut activity).unwrap(), Place::End);
    assert_eq!(text_of(&activity.into_outcome().output), "hello");
}

#[test]
fn what_is_kept_is_bounded_however_small_the_pieces_are() {
    let mut backlog = Backlog::bounded(1000);
    let kept = (0..1000)
        .take_while(|_| backlog.keep(Told::Status("idle")).is_ok())
        .count();
    assert!((10..=1000 / "idle".len()).contains(&kept), "{kept}");
    let mut backlog = Backlog::bounded(1000);
    let event = raw(&delta(&"x".repeat(1000)));
    assert_eq!(
        backlog.keep(Told::Event(&event)).unwrap_err(),
        Bound { limit: 1000 }
    );
}
