//! Edits with older bases: mapped over memory, or refused at once. Scans of the store, which hold up nobody else.

use super::commands::source;
use super::*;

const UNDO: &str = r#"{"Undo":{}}"#;

/// Types `!` at the beginning, on a base of that version.
fn typed(base: Version) -> String {
    let length = base - 2;
    let keep = if length == 0 { String::new() } else { format!(",{length}") };
    edit(base, &format!(r#"[[0,"!"]{keep}]"#))
}

/// A notebook with `count` edits, each on the newest base.
fn edited(config: RoomConfig, count: u64) -> Scene {
    let mut scene = Scene::new(config);
    for base in 2..count + 2 {
        scene.execute("anna", &typed(base)).unwrap();
    }
    scene
}

fn questions(scene: &Scene) -> Vec<&str> {
    let word = |question: &Output| match question {
        Output::ReadHistory { .. } => "scan",
        Output::FindCommands { .. } => "records",
        Output::Append(_) => "append",
        _ => "other",
    };
    scene.held.iter().map(word).collect()
}

#[test]
fn many_late_changes_lead_to_the_same_text_whatever_frames_are_in_memory() {
    let texts = [1_000, 7, 0].map(|max_recent_events| {
        let mut scene = Scene::new(RoomConfig { max_recent_events, ..RoomConfig::default() });
        for number in 0..40_u64 {
            // Even edits have the oldest base, odd ones are five versions late.
            let base = if number % 2 == 0 { 2 } else { scene.room.version().saturating_sub(5).max(2) };
            let length = (base - 2) * 2;
            let keep = if length == 0 { String::new() } else { format!("{length},") };
            scene.execute("anna", &edit(base, &format!(r#"[{keep}[0,"{number:02}"]]"#))).unwrap();
        }
        source(&scene)
    });
    assert_eq!(texts[0].len(), 80);
    assert_eq!((&texts[0], &texts[0]), (&texts[1], &texts[2]));
}

#[test]
fn a_change_on_a_base_before_what_is_in_memory_is_refused_at_once_and_scans_nothing() {
    let config = RoomConfig { max_cell_change_bytes: 500, max_recent_events: 0, ..RoomConfig::default() };
    let mut scene = edited(config, 20);
    scene.execute("anna", &typed(21)).unwrap();
    scene.is_held = true;
    scene.send(1, &user("anna"), &typed(3));
    scene.send(2, &user("anna"), &typed(23));
    assert_eq!(questions(&scene), ["records", "append"], "the next edit does not wait");
    scene.is_held = false;
    scene.release();
    assert_eq!(scene.words(1), ["reject BaseTooOld"]);
    assert_eq!(scene.words(2), ["ack 24"]);
}

#[test]
fn a_retry_of_an_accepted_change_is_acked_however_old_its_base_is() {
    let config = RoomConfig { max_cell_change_bytes: 0, max_recent_answers: 0, ..RoomConfig::default() };
    let mut scene = Scene::new(config);
    let first = scene.named("first", &typed(2));
    scene.send_message(1, &user("anna"), first.clone());
    for base in 3..6 {
        scene.execute("anna", &typed(base)).unwrap();
    }
    scene.send_message(1, &user("anna"), first);
    assert_eq!(scene.words(1), ["ack 3", "ack 3"]);
    assert_eq!(scene.refused("anna", &typed(2)), RejectionCode::BaseTooOld);
}

#[test]
fn after_a_restart_changes_are_mapped_over_the_events_that_the_load_has_read() {
    let mut scene = edited(RoomConfig::default(), 9).restarted(RoomConfig::default());
    scene.execute("anna", &typed(2)).unwrap();
    assert_eq!(source(&scene).len(), 10);
}

#[test]
fn an_undo_of_an_old_group_holds_up_nobody_else() {
    let config = RoomConfig { max_recent_events: 0, ..RoomConfig::default() };
    let mut scene = edited(config, 3);
    let bob = with_role("bob", Role::Owner);
    scene.subscribe(2, &bob, None);
    scene.is_held = true;
    scene.send(1, &user("anna"), UNDO);
    scene.send(1, &user("anna"), &typed(5));
    let other = r#"{"RenameNotebook":{"title":"meanwhile"}}"#;
    scene.send(2, &bob, other);
    assert_eq!(questions(&scene), ["scan", "append"]);
    let scan = scene.held.remove(0);
    scene.release();
    assert_eq!(scene.durable(2).last().unwrap(), "ack 6", "the other client does not wait");
    assert_eq!(scene.words(1), Vec::<String>::new());
    scene.held.insert(0, scan);
    scene.is_held = false;
    scene.release();
    assert_eq!(scene.words(1), ["ack 7", "ack 8"], "later commands of the same client wait, and are decided in order");
    assert_eq!(source(&scene).len(), 3);
}

#[test]
fn what_a_broken_connection_left_in_the_queue_is_dropped_and_its_retry_is_executed() {
    let mut scene = Scene::new(RoomConfig { max_recent_events: 0, ..RoomConfig::default() });
    scene.execute("anna", &typed(2)).unwrap();
    scene.is_held = true;
    let messages = [4, 5, 6].map(|number| scene.named(&format!("c{number}"), &typed(3)));
    scene.send(1, &user("anna"), UNDO);
    for message in &messages {
        scene.send_message(2, &user("anna"), message.clone());
    }
    scene.feed(Input::Client(ClientId(1), ClientInput::Gone));
    scene.feed(Input::Client(ClientId(2), ClientInput::Gone));
    scene.is_held = false;
    scene.release();
    assert_eq!(scene.room.version(), 4, "the append in flight is recorded, the undo and the queue are not");
    for message in messages {
        scene.send_message(3, &user("anna"), message);
    }
    assert_eq!(scene.words(3), ["ack 4", "ack 5", "ack 6"]);
    assert_eq!(source(&scene), "!!!!");
}

#[test]
fn who_only_unsubscribes_gets_its_answers() {
    let mut scene = Scene::new(RoomConfig::default());
    scene.is_held = true;
    scene.send(1, &user("anna"), &typed(2));
    scene.send(1, &user("anna"), &typed(2));
    scene.feed(Input::Client(ClientId(1), ClientInput::Unsubscribe));
    scene.is_held = false;
    scene.release();
    assert_eq!(scene.words(1), ["ack 3", "ack 4"]);
}

#[test]
fn unconfirmed_texts_with_old_bases_are_read_by_one_scan() {
    let config = RoomConfig { max_recent_events: 0, max_tail_events: 0, ..RoomConfig::default() };
    let mut scene = edited(config, 4);
    for cell in ["b", "c"] {
        scene.execute("anna", &format!(r#"{{"InsertCell":{{"cell_id":"{cell}","cell_type":"code"}}}}"#)).unwrap();
    }
    scene.is_held = true;
    scene.subscribe_with(1, &user("anna"), Some(3), &[("a", 3), ("b", 7), ("c", 3)]);
    while !scene.held.is_empty() && questions(&scene) != ["scan"] {
        scene.release();
    }
    let Output::ReadHistory { queries, .. } = &scene.held[0] else { panic!("{:?}", scene.held) };
    let cells = ["a", "c"].map(|cell| cell.parse().unwrap()).to_vec();
    let scan = notarium_core::HistoryQuery::Cells { cells, since: 3, with_notebook: false };
    assert_eq!(queries, &[scan], "the unchanged cell is not read");
    scene.is_held = false;
    scene.release();
    let seen = scene.seen(1);
    let ServerMessage::Subscribed(subscribed) = &seen[0] else { panic!("{seen:?}") };
    let versions: Vec<u64> = subscribed.unconfirmed_events.iter().map(|event| event.version).collect();
    assert_eq!((versions, subscribed.base_too_old.len()), (vec![4, 5, 6, 8], 0));
}
