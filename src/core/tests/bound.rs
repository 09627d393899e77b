//! Confirmations and grants are bound to what the person saw, and to the person for whom the assistant acts.

use crate::support::*;
use notarium_core::{Event, RejectionCode as Code};

fn asked_for_edits() -> World {
    talking().with(&user("ann"), json!({"SetPolicy": {"policy": "ask_for_every_edit"}}))
}

fn grant_of(world: &World) -> serde_json::Value {
    let until = world.now + 3_600_000;
    json!({"IssueGrant": {"grant_id": "g", "conversation_id": "talk", "functions": ["create_cell"], "expires_at": until}})
}

fn create(id: &str, turn: &str) -> serde_json::Value {
    let mut command = call(id, "create_cell", json!({"source": "1"}));
    command["RequestToolCall"]["turn_id"] = json!(turn);
    command
}

/// Ann's turn has ended, and the editor goes on in her conversation.
fn taken_over(mut world: World) -> World {
    world.step(&user("ann"), json!({"CancelTurn": {"turn_id": "turn"}}));
    let turn = json!({"StartTurn": {"conversation_id": "talk", "turn_id": "second", "text": "Go on"}});
    world.with(&user("editor"), turn)
}

#[test]
fn a_grant_is_for_the_person_for_whom_the_assistant_acted() {
    let mut world = asked_for_edits();
    let issue = grant_of(&world);
    world.step(&user("editor"), issue);
    let grant = world.notebook.grants.values().next().unwrap();
    assert_eq!(grant.for_user.as_str(), "ann", "whoever issues it");
    assert!(asks(&mut world, "ann", "turn").is_none());
    let mut world = taken_over(world);
    assert!(asks(&mut world, "editor", "second").is_some(), "the editor's assistant has no grant");
}

#[test]
fn a_grant_of_the_second_speaker_is_not_the_firsts() {
    let mut world = taken_over(asked_for_edits());
    let issue = grant_of(&world);
    world.step(&user("ann"), issue);
    assert_eq!(world.notebook.grants.values().next().unwrap().for_user.as_str(), "editor");
    assert!(asks(&mut world, "editor", "second").is_none());
}

/// Expiry of the requested call if it waits for a person; `None`: it passes.
fn asks(world: &mut World, person: &str, turn: &str) -> Option<u64> {
    let (events, _) = world.try_do(&reactor_of(person), &create(turn, turn)).unwrap();
    let Event::ToolCallRequested(event) = &events[0] else { panic!("{events:?}") };
    event.gate.until()
}

/// Two cells of Ann, made by her assistant.
fn with_two() -> World {
    talking()
        .with(&assistant_of("ann"), call("first", "create_cell", json!({"source": "1"})))
        .with(&assistant_of("ann"), call("second", "create_cell", json!({"source": "2"})))
        .with(&user("ann"), json!({"SetPolicy": {"policy": "ask_for_every_edit"}}))
}

#[test]
fn an_undo_takes_back_what_was_the_latest_when_it_was_asked_for() {
    let mut world = with_two().with(&assistant_of("ann"), call("back", "undo", json!({})));
    let asked = &world.notebook.tool_calls[&"back".parse().unwrap()];
    assert_eq!(asked.arguments.get(), r#"{"call_id":"second"}"#, "the person sees which");
    let hash = asked.arguments_hash.to_string();
    world.step(&user("ann"), json!({"SetPolicy": {"policy": "guarded"}}));
    world.step(&assistant_of("ann"), call("third", "create_cell", json!({"source": "3"})));
    world.step(&user("ann"), json!({"ConfirmToolCall": {"call_id": "back", "arguments_hash": hash}}));
    world.step(&reactor_of("ann"), start("back"));
    let sources: Vec<&str> = world.notebook.cells.values().map(|cell| cell.content.source.as_str()).collect();
    assert!(sources.contains(&"1") && !sources.contains(&"2") && sources.contains(&"3"), "{sources:?}");
}

#[test]
fn nobody_is_asked_about_an_undo_of_nothing() {
    let mut world = asked_for_edits();
    let refused = world.try_do(&assistant_of("ann"), &call("back", "undo", json!({}))).unwrap_err();
    assert_eq!(refused.code, Code::NothingToUndo);
}
