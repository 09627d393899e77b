//! Tests of partial answers: the text of an assistant that is stopped is recorded at the end of its turn.

use notarium_core::Event;
use notarium_wire::{ActivityKind, TurnActivity};

use super::*;
use crate::RoomConfig;
use crate::io::{AppendFailure, Input, Output};

const CANCEL: &str = r#"{"CancelTurn":{"turn_id":"turn"}}"#;

pub(super) fn activity(attempt: u32, what: ActivityKind) -> Input {
    Input::Activity(TurnActivity {
        conversation_id: "talk".parse().unwrap(),
        turn_id: "turn".parse().unwrap(),
        model_call: 1,
        attempt,
        what,
    })
}

pub(super) fn text(attempt: u32, block: usize, text: &str) -> Input {
    activity(attempt, ActivityKind::TextDelta { block, text: text.to_owned() })
}

/// A scene in which Anna's assistant has a turn, and a model call is in progress.
pub(super) fn calling() -> Scene {
    calling_in(RoomConfig::default())
}

pub(super) fn calling_in(config: RoomConfig) -> Scene {
    let mut scene = Scene::new(config);
    let start = r#"{"StartTurn":{"conversation_id":"talk","turn_id":"turn","text":"Hi"}}"#;
    scene.execute("anna", start).unwrap();
    call_model(&mut scene);
    scene
}

pub(super) fn act(scene: &mut Scene, body: &str) {
    let message = scene.message(body);
    scene.execute_message(&assistant(), message).unwrap();
}

pub(super) fn call_model(scene: &mut Scene) {
    act(scene, r#"{"StartModelCall":{"turn_id":"turn","provider":"scripted","model":"small"}}"#);
}

/// Partial messages of the record: their blocks as JSON.
fn partial(scene: &Scene) -> Vec<String> {
    let stored = scene.disk.events.iter().filter_map(|stored| stored.typed().ok());
    let messages = stored.filter_map(|recorded| match recorded.event {
        Event::MessagePosted(event) if event.is_partial => Some(serde_json::to_string(&event.blocks).unwrap()),
        _ => None,
    });
    messages.collect()
}

#[test]
fn what_was_written_is_recorded_before_the_end_and_nothing_after_it() {
    let mut scene = calling();
    for (block, piece) in [(0, "Ha"), (0, "lf"), (2, " of it")] {
        scene.feed(text(1, block, piece));
    }
    scene.feed(activity(1, ActivityKind::ThinkingDelta { block: 1, text: "hm".into() }));
    scene.execute("anna", CANCEL).unwrap();
    let kept = r#"[{"text":{"text":"Half"}},{"text":{"text":" of it"}}]"#;
    assert_eq!(partial(&scene), [kept]);
    let last: Vec<&str> =
        scene.disk.events.iter().rev().take(2).map(|stored| stored.envelope.event_type.as_str()).collect();
    assert_eq!(last, ["TurnCancelled", "MessagePosted"]);
    let version = scene.room.version();
    scene.feed(text(1, 0, "too late"));
    assert_eq!(scene.room.version(), version);
    // The text does not keep the room open: it ends when there are no clients.
    scene.advance(10 * 60_000);
    assert!(scene.others.iter().any(|output| matches!(output, Output::Unload)), "{:?}", scene.others);
}

#[test]
fn what_does_not_count_is_not_kept() {
    let failed = r#"{"ReportModelCall":{"turn_id":"turn","failure":"unavailable"}}"#;
    let mut scene = calling();
    scene.feed(text(1, 0, "first try"));
    act(&mut scene, failed);
    call_model(&mut scene);
    let mut again = calling();
    again.feed(text(1, 0, "first try"));
    again.feed(activity(1, ActivityKind::AttemptFailed { cause: "cut".into() }));
    for scene in [&mut scene, &mut again] {
        scene.execute("anna", CANCEL).unwrap();
        assert!(partial(scene).is_empty(), "{:?}", partial(scene));
    }
    let mut scene = calling();
    scene.feed(text(1, 0, "first try"));
    act(&mut scene, failed);
    call_model(&mut scene);
    scene.feed(text(2, 0, "second"));
    scene.execute("anna", CANCEL).unwrap();
    assert_eq!(partial(&scene), [r#"[{"text":{"text":"second"}}]"#]);
}

#[test]
fn an_answer_that_is_posted_is_not_kept_twice() {
    let mut scene = calling();
    scene.feed(text(1, 0, "whole"));
    act(&mut scene, r#"{"ReportModelCall":{"turn_id":"turn"}}"#);
    act(&mut scene, r#"{"PostReply":{"turn_id":"turn","role":"assistant","blocks":[{"text":{"text":"whole"}}]}}"#);
    scene.execute("anna", CANCEL).unwrap();
    assert!(partial(&scene).is_empty());
    // Between the end of the model call and its message.
    let mut scene = calling();
    scene.feed(text(1, 0, "whole"));
    act(&mut scene, r#"{"ReportModelCall":{"turn_id":"turn"}}"#);
    scene.execute("anna", CANCEL).unwrap();
    assert_eq!(partial(&scene), [r#"[{"text":{"text":"whole"}}]"#]);
}

#[test]
fn a_write_that_fails_loses_nothing_of_it() {
    let mut scene = calling();
    scene.feed(text(1, 0, "Half"));
    scene.failure = Some(AppendFailure::Unavailable { reason: "full".into() });
    let refused = scene.execute("anna", CANCEL);
    if refused.is_err() {
        scene.execute("anna", CANCEL).unwrap();
    }
    assert_eq!(partial(&scene), [r#"[{"text":{"text":"Half"}}]"#]);
}
