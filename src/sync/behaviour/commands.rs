//! Tests of decisions, appends and answers; retries and failures.

use notarium_core::RejectionCode as Code;
use notarium_wire::ErrorCode;

use super::{CREATE, INSERT, Scene, edit, error, user};
use crate::RoomConfig;
use crate::decoded_command::DecodedCommand;
use crate::io::{AppendFailure, Input, Output};

pub(super) fn source(scene: &Scene) -> String {
    scene.room.state.cells.values().next().unwrap().content.source.clone()
}

#[test]
fn nothing_is_shown_or_acked_before_it_is_on_disk() {
    let mut scene = Scene::new(RoomConfig::default());
    let (anna, bob) = (user("anna"), super::with_role("bob", notarium_core::Role::Viewer));
    scene.subscribe(1, &anna, None);
    scene.subscribe(2, &bob, None);
    scene.advance(1_000);
    scene.seen(1);
    scene.seen(2);
    scene.is_held = true;
    scene.send(1, &anna, &edit(2, r#"[[0,"x"]]"#));
    // A client that subscribes meanwhile waits too.
    scene.subscribe(3, &anna, None);
    assert!(scene.words(1).is_empty() && scene.words(2).is_empty() && scene.words(3).is_empty());
    scene.is_held = false;
    scene.release();
    assert_eq!(scene.durable(1), ["events 3..3", "ack 3"]);
    assert_eq!(scene.durable(2), ["events 3..3"]);
    assert_eq!(scene.durable(3), ["subscribed 3 with state"]);
    assert_eq!(scene.shared, [2], "one frame for both");
}

#[test]
fn what_waits_is_decided_as_one_append() {
    let mut scene = Scene::new(RoomConfig::default());
    scene.is_held = true;
    let anna = user("anna");
    for body in [edit(2, r#"[[0,"a"]]"#), edit(2, r#"[[0,"b"]]"#), edit(2, r#"[[0,"c"]]"#)] {
        scene.send(1, &anna, &body);
    }
    assert_eq!(scene.release(), 1);
    let Some(Output::Append(append)) = scene.held.first() else { panic!("an append follows") };
    assert_eq!((append.events.len(), append.commands.len()), (2, 2));
    scene.release();
    assert_eq!(scene.words(1), ["ack 3", "ack 4", "ack 5"]);
    // A later change is placed right of earlier ones.
    assert_eq!(source(&scene), "abc");
}

#[test]
fn a_retry_gets_the_first_answer_from_memory_and_from_the_store() {
    let mut scene = Scene::empty(RoomConfig { max_recent_answers: 1, ..RoomConfig::default() });
    let anna = user("anna");
    let create = scene.named("create", CREATE);
    let insert = scene.named("insert", INSERT);
    for _ in 0..2 {
        assert_eq!(scene.execute_message(&anna, create.clone()).unwrap().version, 1);
    }
    for _ in 0..2 {
        assert_eq!(scene.execute_message(&anna, insert.clone()).unwrap().version, 2);
    }
    // `create` is not cached any more, and would be refused; `edit` would be accepted again.
    assert_eq!(scene.execute_message(&anna, create.clone()).unwrap().version, 1);
    let change = scene.named("edit", &edit(2, r#"[[0,"x"]]"#));
    let mut scene = {
        scene.execute_message(&anna, change.clone()).unwrap();
        scene.restarted(RoomConfig::default())
    };
    assert_eq!(scene.execute_message(&anna, change).unwrap().version, 3);
    assert_eq!(source(&scene), "x");
    let other = scene.named("edit", &edit(2, r#"[[0,"other"]]"#));
    for _ in 0..2 {
        assert_eq!(scene.execute_message(&anna, other.clone()).unwrap_err().code, Code::CommandIdReused);
    }
    let refused = scene.named("insert", INSERT);
    assert_eq!(scene.execute_message(&user("eve"), refused).unwrap_err().code, Code::UnknownNotebook);
}

#[test]
fn the_same_command_twice_in_one_batch_is_applied_once() {
    let mut scene = Scene::new(RoomConfig::default());
    let anna = user("anna");
    scene.is_held = true;
    scene.send(1, &anna, &edit(2, r#"[[0,"a"]]"#));
    let twice = scene.named("twice", &edit(2, r#"[[0,"b"]]"#));
    scene.send_message(1, &anna, twice.clone());
    scene.send_message(2, &anna, twice);
    scene.release();
    scene.release();
    assert_eq!((scene.words(1), scene.words(2)), (vec!["ack 3".into(), "ack 4".into()], vec!["ack 4".to_owned()]));
    assert_eq!(source(&scene), "ab");
}

#[test]
fn an_append_that_lost_the_race_is_decided_again_on_what_the_other_wrote() {
    let mut scene = Scene::new(RoomConfig::default());
    let anna = user("anna");
    scene.subscribe(1, &anna, None);
    scene.advance(1_000);
    scene.seen(1);
    scene.is_held = true;
    scene.send(1, &anna, &edit(2, r#"[[0,"x"]]"#));
    // Another node writes first.
    let mut other = Scene::empty(RoomConfig::default());
    std::mem::swap(&mut other.disk, &mut scene.disk);
    let mut other = other.restarted(RoomConfig::default());
    other.execute("anna", &edit(2, r#"[[0,"first"]]"#)).unwrap();
    scene.disk = other.disk;
    scene.disk.epoch = scene.room.epoch; // No lease taken, as a tool on the same store might do.
    while scene.release() > 0 {}
    scene.advance(100);
    assert_eq!(scene.durable(1), ["events 3..3", "events 4..4", "ack 4"]);
    assert_eq!(source(&scene), "firstx");
}

#[test]
fn a_full_disk_refuses_and_the_room_stays_usable() {
    let mut scene = Scene::new(RoomConfig::default());
    scene.failure = Some(AppendFailure::Unavailable { reason: "disk full".into() });
    let rejection = scene.execute("anna", &edit(2, r#"[[0,"x"]]"#)).unwrap_err();
    assert_eq!(rejection.code, Code::Unavailable);
    assert!(rejection.message.contains("disk full"));
    assert_eq!(source(&scene), "");
    assert_eq!(scene.execute("anna", &edit(2, r#"[[0,"y"]]"#)).unwrap().version, 3);
    assert_eq!(source(&scene), "y");
}

#[test]
fn a_failed_append_that_was_written_is_a_commit() {
    let mut scene = Scene::new(RoomConfig::default());
    scene.is_held = true;
    scene.send(1, &user("anna"), &edit(2, r#"[[0,"x"]]"#));
    let Some(Output::Append(append)) = scene.held.pop() else { panic!("an append") };
    scene.disk.append(append).unwrap();
    scene.feed(Input::AppendFailed(AppendFailure::Unavailable { reason: "timeout".into() }));
    scene.release();
    assert_eq!(scene.words(1), ["ack 3"]);
}

#[test]
fn a_notebook_that_does_not_load_is_unavailable_and_tried_again() {
    let mut scene = Scene::new(RoomConfig::default());
    scene.is_held = true;
    let (room, _) = crate::Room::new(crate::simulation::context_notebook(), scene.room.config.clone(), [3; 32]);
    scene.room = room;
    scene.send(1, &user("anna"), INSERT);
    scene.subscribe(2, &user("anna"), None);
    scene.feed(Input::LoadFailed { reason: "damaged".into() });
    assert_eq!(scene.words(1), ["reject Unavailable"]);
    assert_eq!(scene.words(2), ["error Unavailable"]);
    scene.send(1, &user("anna"), INSERT);
    assert_eq!(scene.words(1), ["reject Unavailable"]);
    scene.advance(1_000);
    scene.release();
    scene.is_held = false;
    scene.subscribe(2, &user("anna"), None);
    assert_eq!(scene.durable(2), ["subscribed 2 with state"]);
}

#[test]
fn bad_bodies_are_refused_with_a_sentence() {
    let mut scene = Scene::new(RoomConfig::default());
    for (body, word) in
        [(r#"{"Explode":{}}"#, "Explode"), (r#"{"InsertCell":{"cell_type":"code","actor":"eve"}}"#, "actor")]
    {
        let rejection = DecodedCommand::decode(scene.message(body)).unwrap_err().rejection;
        assert_eq!(rejection.code, Code::InvalidValue);
        assert!(rejection.message.contains(word), "{}", rejection.message);
    }
    assert_eq!(scene.refused("anna", r#"{"DeleteCell":{"cell_id":"nowhere"}}"#), Code::UnknownCell);
}

#[test]
fn a_log_with_events_from_the_future_is_served_read_only() {
    let mut scene = Scene::new(RoomConfig::default());
    scene.disk.add_unknown_event();
    let mut scene = scene.restarted(RoomConfig::default());
    scene.subscribe(1, &user("anna"), None);
    let seen = scene.seen(1);
    let notarium_wire::ServerMessage::Subscribed(subscribed) = &seen[0] else { panic!("{seen:?}") };
    assert!(subscribed.read_only && subscribed.version == 2, "up to the last known version");
    let rejection = scene.execute("anna", &edit(2, r#"[[0,"x"]]"#)).unwrap_err();
    assert_eq!(rejection.code, Code::ReadOnly);
    assert!(rejection.message.contains("'CellDreamt' of schema 1") && rejection.message.contains("update this server"));
    // The state is incomplete, so there is no snapshot of it.
    scene.feed(Input::ShutDown);
    assert!(!scene.others.iter().any(|output| matches!(output, Output::WriteSnapshot { .. })));
}

#[test]
fn a_command_for_one_epoch_is_refused_in_any_other() {
    let mut scene = Scene::new(RoomConfig::default());
    let epoch = scene.room.epoch;
    scene.execute_in_epoch(epoch, "anna", &edit(2, r#"[[0,"x"]]"#)).unwrap();
    let before = scene.disk.events.len();
    for other in [0, epoch - 1, epoch + 1] {
        let rejection = scene.execute_in_epoch(other, "anna", &edit(3, r#"[[0,"y"]]"#)).unwrap_err();
        assert_eq!(rejection.code, Code::Unavailable);
        assert!(rejection.message.starts_with("nothing was changed"), "{rejection:?}");
    }
    assert_eq!(scene.disk.events.len(), before);
}

#[test]
fn a_room_that_lost_its_lease_writes_nothing_answers_everybody_and_ends() {
    let mut scene = Scene::new(RoomConfig::default());
    let anna = user("anna");
    scene.subscribe(1, &anna, None);
    scene.seen(1);
    let before = scene.disk.events.len();
    scene.disk.epoch += 1; // Another server opens the notebook.
    assert_eq!(scene.refused("anna", &edit(2, r#"[[0,"x"]]"#)), Code::Unavailable);
    assert_eq!(scene.disk.events.len(), before);
    assert_eq!(scene.durable(1), error(ErrorCode::Unavailable));
    assert!(matches!(scene.others.pop(), Some(Output::Unload)));
}
