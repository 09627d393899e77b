//! Tests of disks that fail, and of clocks that were wrong.

use notarium_core::Role;

use super::*;
use crate::RoomConfig;
use crate::io::{AppendFailure, Input, Output};

#[test]
fn without_a_lease_the_notebook_is_read_and_a_command_asks_for_one_again() {
    let mut scene = Scene::new(RoomConfig::default()).without_lease(RoomConfig::default(), "the disk is full");
    scene.subscribe(1, &user("anna"), None);
    assert_eq!(scene.durable(1), ["subscribed 2 with state"]);
    let refused = scene.execute("anna", &edit(2, r#"[[0,"x"]]"#)).unwrap_err();
    assert!(refused.message.contains("nothing was changed: the disk is full"), "{}", refused.message);
    let refused = scene.execute("anna", &edit(2, r#"[[0,"x"]]"#)).unwrap_err();
    assert!(refused.message.contains("the disk is full"), "{}", refused.message);
    scene.disk.no_lease = None;
    assert_eq!(scene.execute("anna", &edit(2, r#"[[0,"y"]]"#)).unwrap().version, 3);
    scene.advance(10);
    assert_eq!(scene.durable(1), ["events 3..3"]);
}

#[test]
fn without_a_lease_the_room_leaves_the_disk_alone() {
    let mut scene = Scene::new(RoomConfig::default()).without_lease(RoomConfig::default(), "the disk is full");
    scene.subscribe(1, &user("anna"), None);
    scene.is_held = true;
    scene.advance(10_000);
    assert!(scene.held.is_empty(), "{:?}", scene.held);
}

#[test]
fn what_may_have_been_written_is_not_called_unchanged() {
    let mut scene = Scene::new(RoomConfig::default());
    scene.failure = Some(AppendFailure::Unknown { reason: "it is not known whether".into() });
    let rejection = scene.execute("anna", &edit(2, r#"[[0,"x"]]"#)).unwrap_err();
    assert_eq!(rejection.message, "it is not known whether");
    // The same if the notebook cannot be reloaded.
    scene.is_held = true;
    scene.send(1, &user("anna"), &edit(2, r#"[[0,"x"]]"#));
    scene.held.clear();
    scene.feed(Input::AppendFailed(AppendFailure::Unknown { reason: "it is not known whether".into() }));
    scene.feed(Input::LoadFailed { reason: "the disk is gone".into() });
    let Some(notarium_wire::ServerMessage::Reject(reject)) = scene.seen(1).pop() else { panic!("an answer") };
    assert_eq!(reject.message, "it is not known whether");
}

#[test]
fn a_notebook_that_does_not_load_is_tried_less_and_less() {
    let mut scene = Scene::new(RoomConfig::default());
    scene.subscribe(1, &user("anna"), None);
    scene.is_held = true;
    scene.failure = Some(AppendFailure::Unavailable { reason: "gone".into() });
    scene.send(1, &user("anna"), &edit(2, r#"[[0,"x"]]"#));
    scene.release();
    let mut loads = 0;
    for _ in 0..3_600 {
        loads += scene.held.iter().filter(|question| matches!(question, Output::Load { .. })).count();
        for _ in std::mem::take(&mut scene.held) {
            scene.feed(Input::LoadFailed { reason: "gone".into() });
        }
        scene.advance(1_000);
    }
    assert!((5..40).contains(&loads), "{loads} loads in an hour");
}

#[test]
fn a_clock_that_was_wrong_and_is_set_back_holds_nothing_up() {
    let mut scene = Scene::new(RoomConfig::default());
    scene.subscribe(1, &user("anna"), None);
    scene.subscribe(2, &with_role("ben", Role::Viewer), None);
    scene.now += 3_600_000;
    scene.execute("anna", &edit(2, r#"[[0,"x"]]"#)).unwrap();
    scene.now -= 3_600_000;
    assert_eq!(scene.room.wake_at(scene.now), Some(scene.now), "the room is told at once");
    scene.durable(2);
    scene.execute("anna", &edit(3, r#"[1,[0,"y"]]"#)).unwrap();
    scene.advance(10);
    assert_eq!(scene.durable(2), ["events 4..4"]);
    scene.others.clear();
    scene.advance(10_000);
    let is_list = |output: &Output| matches!(output, Output::UpdateCatalog { .. });
    assert!(scene.others.iter().any(is_list), "what was to follow in seconds follows in seconds");
}
