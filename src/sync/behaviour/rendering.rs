//! Tests of rendered snapshots: made beside the room, once for all waiting clients, followed by later events.

use notarium_core::Role;
use notarium_wire::ServerMessage;

use super::{Scene, edit, user, with_role};
use crate::RoomConfig;
use crate::io::{ClientId, ClientInput, Input, Output};
use crate::simulation::rendered;

/// Returns the held renderings; all other questions are answered.
fn hold_renderings(scene: &mut Scene, act: impl FnOnce(&mut Scene)) -> Vec<Output> {
    scene.is_held = true;
    act(scene);
    scene.is_held = false;
    let (renderings, others) =
        std::mem::take(&mut scene.held).into_iter().partition(|held| matches!(held, Output::Render { .. }));
    scene.held = others;
    scene.release();
    renderings
}

fn finish(scene: &mut Scene, rendering: Output) {
    let Output::Render { document, event_id } = rendering else { panic!("{rendering:?} is no rendering") };
    scene.feed(rendered(&document, event_id));
}

#[test]
fn edits_go_on_while_the_state_is_rendered_once_for_all_who_wait() {
    let mut scene = Scene::new(RoomConfig::default());
    let mut renderings = hold_renderings(&mut scene, |scene| {
        scene.subscribe(1, &user("anna"), None);
        scene.subscribe_with(2, &with_role("bob", Role::Editor), None, &[("a", 1)]);
    });
    assert_eq!(renderings.len(), 1, "one for both");
    assert_eq!(scene.execute("anna", &edit(2, r#"[[0,"x"]]"#)).unwrap().version, 3, "nothing waits for it");
    finish(&mut scene, renderings.remove(0));
    assert_eq!(scene.durable(1), ["subscribed 2 with state", "events 3..3"]);
    let seen = scene.seen(2);
    let ServerMessage::Subscribed(subscribed) = &seen[0] else { panic!("{seen:?}") };
    let versions: Vec<_> = subscribed.unconfirmed_events.iter().map(|event| event.version).collect();
    assert_eq!(versions, [2], "what follows as an event is not said twice");
    assert_eq!(
        (subscribed.document, subscribed.digest),
        (1, Some(subscribed.snapshot.as_ref().unwrap().digest().unwrap()))
    );
}

#[test]
fn whoever_comes_later_gets_a_state_that_holds_what_was_acked_before() {
    let mut scene = Scene::new(RoomConfig::default());
    let mut first = hold_renderings(&mut scene, |scene| scene.subscribe(1, &user("anna"), None));
    scene.execute("anna", &edit(2, r#"[[0,"x"]]"#)).unwrap();
    let none = hold_renderings(&mut scene, |scene| scene.subscribe(2, &with_role("bob", Role::Editor), None));
    assert!(none.is_empty(), "one at a time");
    let mut second = hold_renderings(&mut scene, |scene| finish(scene, first.remove(0)));
    assert_eq!(scene.durable(1), ["subscribed 2 with state", "events 3..3"]);
    assert_eq!(scene.durable(2), [""; 0]);
    finish(&mut scene, second.remove(0));
    assert_eq!(scene.durable(2), ["subscribed 3 with state"]);
}

#[test]
fn a_client_whose_state_differs_gets_the_whole_state_and_no_event_before_it() {
    let mut scene = Scene::new(RoomConfig::default());
    scene.subscribe(1, &user("anna"), None);
    scene.execute("anna", &edit(2, r#"[[0,"x"]]"#)).unwrap();
    scene.seen(1);
    let mut renderings =
        hold_renderings(&mut scene, |scene| scene.feed(Input::Client(ClientId(1), ClientInput::Differs)));
    scene.execute("anna", &edit(3, r#"[[0,"y"],1]"#)).unwrap();
    assert_eq!(scene.durable(1), [""; 0]);
    finish(&mut scene, renderings.remove(0));
    assert_eq!(scene.durable(1), ["resync", "subscribed 3 with state", "events 4..4"]);
    scene.execute("anna", &edit(4, r#"[[0,"z"],2]"#)).unwrap();
    assert_eq!(scene.durable(1), ["events 5..5"]);
}

#[test]
fn a_state_that_cannot_be_written_turns_those_away_who_wait_for_it() {
    let mut scene = Scene::new(RoomConfig::default());
    hold_renderings(&mut scene, |scene| scene.subscribe(1, &user("anna"), None));
    scene.feed(Input::Rendered(None));
    assert_eq!(scene.durable(1), ["error Unavailable"]);
    scene.subscribe(1, &user("anna"), None);
    assert_eq!(scene.durable(1), ["subscribed 2 with state"]);
}

#[test]
fn each_person_is_told_what_they_can_undo_next() {
    let mut scene = Scene::new(RoomConfig::default());
    let next = |undo: &Option<notarium_core::NextSteps>| {
        let steps = undo.clone().unwrap();
        (steps.undo.map(|step| step.version), steps.redo.map(|step| step.version))
    };
    for (body, expected) in
        [(edit(2, r#"[[0,"x"]]"#), (Some(3), None)), (r#"{"Undo":{}}"#.to_owned(), (Some(2), Some(4)))]
    {
        scene.send(1, &user("anna"), &body);
        let seen = scene.seen(1);
        let ServerMessage::Ack(ack) = &seen[0] else { panic!("{seen:?}") };
        assert_eq!(next(&ack.undo), expected, "{body}");
        let steps = ack.undo.clone().unwrap();
        assert!(steps.undo.into_iter().chain(steps.redo).all(|step| step.cells[0].as_str() == "a"));
    }
    for (client, name, expected) in [(1, "anna", (Some(2), Some(4))), (2, "bob", (None, None))] {
        scene.subscribe(client, &with_role(name, Role::Editor), None);
        let seen = scene.seen(client);
        let ServerMessage::Subscribed(subscribed) = &seen[0] else { panic!("{seen:?}") };
        assert_eq!(next(&subscribed.undo), expected, "{name}");
    }
}

#[test]
fn of_acks_that_come_together_the_last_for_each_client_says_what_can_be_undone() {
    let mut scene = Scene::new(RoomConfig::default());
    scene.is_held = true;
    let anna = user("anna");
    for client in [1, 1, 1, 2, 1] {
        scene.send(client, &anna, &edit(2, r#"[[0,"x"]]"#));
    }
    scene.release();
    scene.release();
    scene.is_held = false;
    let told = |seen: Vec<ServerMessage>| -> Vec<Option<u64>> {
        let acks = seen.into_iter().map(|message| match message {
            ServerMessage::Ack(ack) => ack.undo.map(|steps| steps.undo.unwrap().version),
            other => panic!("{other:?}"),
        });
        acks.collect()
    };
    // The first command is written alone, the waiting ones together. The ack before client 2's is the last of a series, so it has steps.
    assert_eq!(told(scene.seen(1)), [Some(3), None, Some(7), Some(7)]);
    assert_eq!(told(scene.seen(2)), [Some(7)]);
}
