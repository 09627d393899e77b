//! Tests of tool calls whose code is judged slowly.

use notarium_core::ToolCallPhase;

use super::*;
use crate::RoomConfig;
use crate::io::Input;
use crate::simulation::harmless;

const RUN: &str = r#"{"RequestToolCall":{"call_id":"run","function":"create_cells","arguments":{"cells":[{"source":"x = 1"}],"run":true}}}"#;
const AFTER: &str = r#"{"RequestToolCall":{"call_id":"after","function":"delete_cell","arguments":{"cell_id":"a","cell_version":2},"after":"run"}}"#;

/// Anna writes as client 1. Her assistant, client 2, has requested to run code that is not judged yet.
fn with_slow_judge() -> Scene {
    let mut scene = Scene::new(RoomConfig::default());
    scene.is_judge_held = true;
    scene.send(2, &assistant(), RUN);
    scene
}

/// Answers the open questions to the judge.
fn judge(scene: &mut Scene, is_able: bool) {
    for (ticket, query) in std::mem::take(&mut scene.to_judge) {
        scene.feed(Input::Judged { ticket, judgement: is_able.then(|| harmless(query)) });
    }
}

fn phase<'a>(scene: &'a Scene, call: &str) -> Option<&'a ToolCallPhase> {
    scene.room.state.tool_calls.get(&call.parse().unwrap()).map(|call| &call.phase)
}

#[test]
fn it_delays_that_call_alone() {
    let mut scene = with_slow_judge();
    for key in 0..5 {
        scene.send(1, &user("anna"), &edit(2, &format!(r#"[[0,"{key}"]]"#)));
    }
    assert_eq!(scene.words(1), ["ack 3", "ack 4", "ack 5", "ack 6", "ack 7"]);
    assert_eq!((scene.words(2), phase(&scene, "run")), (Vec::new(), None), "nobody has judged it");
    judge(&mut scene, true);
    assert_eq!((scene.words(2), scene.to_judge.len()), (Vec::new(), 1), "other code than was judged stands there now");
    judge(&mut scene, true);
    assert_eq!(scene.words(2).len(), 1);
    assert_eq!(phase(&scene, "run"), Some(&ToolCallPhase::Passed), "harmless code asks nobody");
}

#[test]
fn what_changes_faster_than_it_is_judged_asks_a_person() {
    let mut scene = with_slow_judge();
    let mut judgements = 0;
    while !scene.to_judge.is_empty() {
        let kept = if judgements == 0 { String::new() } else { format!("{judgements},") };
        scene.send(1, &user("anna"), &edit(scene.room.state.version, &format!(r#"[{kept}[0,"x"]]"#)));
        judge(&mut scene, true);
        judgements += 1;
    }
    assert!((2..=5).contains(&judgements), "{judgements}");
    assert_eq!(phase(&scene, "run"), Some(&ToolCallPhase::Waiting));
}

#[test]
fn what_the_judge_gives_up_asks_a_person() {
    let mut scene = with_slow_judge();
    judge(&mut scene, false);
    assert!(scene.to_judge.is_empty());
    assert_eq!(phase(&scene, "run"), Some(&ToolCallPhase::Waiting));
}

#[test]
fn a_call_behind_it_comes_after_it() {
    let mut scene = with_slow_judge();
    scene.send(2, &assistant(), AFTER);
    assert_eq!((scene.words(2), phase(&scene, "after")), (Vec::new(), None));
    judge(&mut scene, true);
    assert_eq!(scene.words(2).len(), 2);
    let after = &scene.room.state.tool_calls[&"after".parse().unwrap()];
    assert_eq!(after.after, Some("run".parse().unwrap()));
}

#[test]
fn a_room_that_closes_waits_for_the_judge() {
    let mut scene = with_slow_judge();
    scene.feed(Input::ShutDown);
    assert!(scene.words(2).is_empty());
    judge(&mut scene, true);
    assert_eq!(scene.words(2).len(), 1);
    assert!(matches!(scene.others.last(), Some(crate::io::Output::Unload)));
}
