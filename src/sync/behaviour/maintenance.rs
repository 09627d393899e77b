//! Tests of snapshots, the catalog, sweeps, and the end of a room.

use notarium_core::{ToolCallId, ToolCallPhase, Version};
use notarium_wire::ServerMessage;

use super::{CREATE, INSERT, Scene, assistant, edit, user};
use crate::RoomConfig;
use crate::io::{AppendFailure, Caller, ClientId, ClientInput, Input, Output};

fn snapshots(scene: &mut Scene) -> Vec<Version> {
    let others = std::mem::take(&mut scene.others);
    others
        .iter()
        .filter_map(|it| if let Output::WriteSnapshot { head, .. } = it { Some(head.version) } else { None })
        .collect()
}

fn catalog_updates(scene: &mut Scene) -> usize {
    let others = std::mem::take(&mut scene.others);
    others.iter().filter(|it| matches!(it, Output::UpdateCatalog { .. })).count()
}

#[test]
fn snapshots_are_written_every_so_many_events_and_at_the_end() {
    let mut scene = Scene::new(RoomConfig { snapshot_events: 4, ..RoomConfig::default() });
    for base in 2..9 {
        let keep = if base == 2 { String::new() } else { format!(",{}", base - 2) };
        scene.execute("anna", &edit(base, &format!(r#"[[0,"x"]{keep}]"#))).unwrap();
    }
    assert_eq!(snapshots(&mut scene), [4, 8]);
    scene.feed(Input::ShutDown);
    assert!(matches!(scene.others.last(), Some(Output::Unload)));
    assert_eq!(snapshots(&mut scene), [9]);
}

#[test]
fn the_list_follows_at_once_what_people_look_for_and_edits_later() {
    let mut scene = Scene::empty(RoomConfig::default());
    scene.execute("anna", CREATE).unwrap();
    assert_eq!(catalog_updates(&mut scene), 1);
    scene.execute("anna", INSERT).unwrap();
    scene.execute("anna", &edit(2, r#"[[0,"x"]]"#)).unwrap();
    assert_eq!(catalog_updates(&mut scene), 0);
    scene.advance(5_000);
    assert_eq!(catalog_updates(&mut scene), 1);
    // The list shows versions and their times, for events of any type.
    scene.execute("anna", r#"{"NameVersion":{"version":2,"name":"draft"}}"#).unwrap();
    scene.advance(5_000);
    assert_eq!(catalog_updates(&mut scene), 1);
}

#[test]
fn who_has_changed_the_notebook_and_looks_at_the_list_does_not_wait() {
    let mut scene = Scene::empty(RoomConfig::default());
    scene.execute("anna", CREATE).unwrap();
    scene.others.clear();
    scene.execute("anna", INSERT).unwrap();
    scene.execute("anna", &edit(2, r#"[[0,"x"]]"#)).unwrap();
    let lacking = |it: &Output| matches!(it, Output::ListLacks { actors } if *actors == [user("anna").actor.clone()]);
    assert_eq!(scene.others.iter().filter(|it| lacking(it)).count(), 1, "once until the line is written");
    scene.others.clear();
    let look = || Input::List { caller: Caller::new(drop) };
    scene.feed(look());
    assert!(matches!(scene.others[..], [Output::UpdateCatalog { .. }, Output::Listed { .. }]), "{:?}", scene.others);
    scene.others.clear();
    scene.feed(look());
    assert!(matches!(scene.others[..], [Output::Listed { .. }]), "nothing is behind: {:?}", scene.others);
}

#[test]
fn an_idle_room_ends_and_one_with_a_client_does_not() {
    let mut scene = Scene::new(RoomConfig::default());
    scene.subscribe(1, &user("anna"), None);
    scene.advance(600_000);
    assert_eq!(snapshots(&mut scene), [] as [Version; 0]);
    scene.feed(Input::Client(ClientId(1), ClientInput::Unsubscribe));
    scene.advance(59_000);
    assert!(scene.others.is_empty());
    scene.advance(2_000);
    assert!(matches!(scene.others.last(), Some(Output::Unload)));
    assert_eq!(snapshots(&mut scene), [2]);
}

#[test]
fn an_id_that_names_nothing_is_forgotten_soon() {
    let mut scene = Scene::empty(RoomConfig::default());
    scene.subscribe(1, &user("anna"), None);
    scene.advance(1_100);
    assert!(matches!(scene.others[..], [Output::Unload]));
}

#[test]
fn what_waits_when_the_server_stops_is_answered() {
    let mut scene = Scene::new(RoomConfig::default());
    scene.is_held = true;
    scene.send(1, &user("anna"), &edit(2, r#"[[0,"x"]]"#));
    scene.send(1, &user("anna"), &edit(2, r#"[[0,"y"]]"#));
    scene.feed(Input::ShutDown);
    scene.send(1, &user("anna"), &edit(2, r#"[[0,"z"]]"#));
    while scene.release() > 0 {}
    assert_eq!(scene.words(1), ["reject Unavailable", "ack 3", "ack 4"]);
    assert!(matches!(scene.others.last(), Some(Output::Unload)));
}

/// A scene in which the call `d`, which would delete the cell, waits for Anna.
fn with_waiting_call() -> Scene {
    let mut scene = Scene::new(RoomConfig::default());
    let call =
        r#"{"RequestToolCall":{"call_id":"d","function":"delete_cell","arguments":{"cell_id":"a","cell_version":2}}}"#;
    let message = scene.message(call);
    scene.execute_message(&assistant(), message).unwrap();
    assert_eq!(waiting(&scene).map(|phase| *phase == ToolCallPhase::Waiting), Some(true));
    scene
}

fn waiting(scene: &Scene) -> Option<&ToolCallPhase> {
    scene.room.state.tool_calls.get(&ToolCallId::new("d").unwrap()).map(|call| &call.phase)
}

/// The last events that client 1 got, with payloads.
fn seen_events(scene: &mut Scene) -> Vec<String> {
    let messages = scene.seen(1);
    let events = messages.iter().filter_map(|message| match message {
        ServerMessage::Events(events) => Some(&events.events),
        _ => None,
    });
    events.flatten().map(|event| format!("{} {}", event.event_type, event.payload.get())).collect()
}

#[test]
fn a_call_that_nobody_answers_expires_when_it_is_due_and_not_before() {
    let mut scene = with_waiting_call();
    scene.subscribe(1, &user("anna"), Some(scene.room.state.version));
    scene.seen(1);
    let due = scene.room.state.tool_calls.values().next().unwrap().gate.until().unwrap();
    scene.advance(due - scene.now - 1);
    assert!(waiting(&scene).is_some());
    scene.advance(1);
    assert_eq!(seen_events(&mut scene), [r#"ToolCallExpired {"call_id":"d"}"#]);
    assert_eq!(waiting(&scene), None);
}

#[test]
fn a_store_that_writes_nothing_is_asked_again_after_a_while() {
    let mut scene = with_waiting_call();
    scene.subscribe(1, &user("anna"), None);
    let due = scene.room.state.tool_calls.values().next().unwrap().gate.until().unwrap();
    scene.failure = Some(AppendFailure::Unavailable { reason: "the disk is full".to_owned() });
    scene.advance(due - scene.now);
    assert!(waiting(&scene).is_some(), "nothing was written");
    let retry = RoomConfig::default().retry_load_ms;
    assert_eq!(scene.room.expiry_at(), Some(scene.now + retry));
    scene.advance(retry - 1);
    assert!(waiting(&scene).is_some());
    scene.advance(1);
    assert_eq!(waiting(&scene), None);
}

#[test]
fn a_call_expires_on_time_over_a_restart() {
    let scene = with_waiting_call();
    let (now, due) = (scene.now, scene.room.state.tool_calls.values().next().unwrap().gate.until().unwrap());
    let mut scene = scene.restarted(RoomConfig::default());
    scene.now = now;
    assert_eq!(scene.room.expiry_at(), Some(due), "a room that unloads meanwhile is opened again then");
    scene.subscribe(1, &user("anna"), None);
    scene.advance(due - now);
    assert_eq!(waiting(&scene), None);
}

#[test]
fn a_call_has_ended_as_soon_as_what_it_would_destroy_has_changed() {
    let mut scene = with_waiting_call();
    scene.subscribe(1, &user("anna"), Some(scene.room.state.version));
    scene.seen(1);
    scene.execute("anna", &edit(2, r#"[[0,"x"]]"#)).unwrap();
    scene.advance(1);
    let expected = [
        r#"CellSourceEdited {"cell_id":"a","change":[[0,"x"]]}"#,
        r#"ToolCallVoided {"call_id":"d","cause":"target_changed","detail":"cell a is at version 5, not 2"}"#,
    ];
    assert_eq!(seen_events(&mut scene), expected);
    assert_eq!(waiting(&scene), None);
}
