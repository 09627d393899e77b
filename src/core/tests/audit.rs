//! The audit of records: what nobody might have written is found and named, whatever the hashes say.

use crate::support::*;
use notarium_core::*;

/// Audits events in order; returns the first break.
fn audited(events: &[Recorded]) -> Result<RecordAudit, AuditBreak> {
    let mut audit = RecordAudit::new("nb".parse().unwrap());
    events.iter().try_for_each(|recorded| audit.see(recorded))?;
    Ok(audit)
}

/// Changes the first event of a type in a record.
fn forged(world: &World, event_type: &str, change: impl FnOnce(&mut Recorded)) -> Vec<Recorded> {
    let mut events = world.recorded.clone();
    let index = position(&events, event_type);
    change(&mut events[index]);
    events
}

fn position(events: &[Recorded], event_type: &str) -> usize {
    events.iter().position(|recorded| recorded.envelope.event_type == event_type).unwrap()
}

#[track_caller]
fn finds(events: &[Recorded], event_type: &str, reason: &str) {
    let found = audited(events).expect_err("it is found");
    assert_eq!(found.version, events[position(events, event_type)].envelope.version, "{found}");
    assert!(found.reason.contains(reason), "{found}");
}

/// A deletion by an assistant: requested, confirmed, started, done.
fn deleted() -> World {
    let mut world = confirmed().with(&reactor_of("ann"), start("del"));
    assert!(world.recorded.iter().any(|recorded| recorded.envelope.event_type == "ToolCallStarted"));
    let actor = &world.recorded[position(&world.recorded, "ToolCallRequested")].envelope.actor;
    assert!(matches!(actor, Actor::Assistant { .. }));
    world.step(&user("ann"), json!({"SetCellFlags": {"cell_id": "b", "flags": {"pinned": true}}}));
    world
}

fn assistant() -> Actor {
    Actor::Assistant { for_user: "ann".parse().unwrap(), conversation: "talk".parse().unwrap() }
}

#[test]
fn a_record_that_was_decided_passes_and_names_nobody() {
    let audit = audited(&deleted().recorded).unwrap();
    assert!(audit.untold().is_empty());
    assert_eq!(audit.document().version, deleted().version());
}

#[test]
fn a_guest_without_a_link_s_role_is_found() {
    let other = Actor::Guest { share_link: "other".parse().unwrap() };
    let events = forged(&deleted(), "CellFlagsSet", |recorded| recorded.envelope.actor = other);
    finds(&events, "CellFlagsSet", "CellFlagsSet by guest:other with no role");
}

#[test]
fn a_person_without_a_role_in_the_record_is_named_and_not_called_wrong() {
    let stranger = Actor::User { id: "mallory".parse().unwrap() };
    let events = forged(&deleted(), "CellFlagsSet", |recorded| recorded.envelope.actor = stranger);
    let untold = audited(&events).unwrap().untold().clone();
    assert_eq!(untold, [("mallory".parse().unwrap(), 1)].into());
}

#[test]
fn an_assistant_outside_of_its_calls_is_found() {
    let events = forged(&deleted(), "CellFlagsSet", |recorded| recorded.envelope.actor = assistant());
    finds(&events, "CellFlagsSet", "outside of its calls");
}

#[test]
fn a_confirmation_by_no_person_is_found() {
    let events = forged(&deleted(), "ToolCallConfirmed", |recorded| recorded.envelope.actor = assistant());
    finds(&events, "ToolCallConfirmed", "no person");
}

#[test]
fn a_start_without_a_confirmation_is_found() {
    let mut events = deleted().recorded;
    events.remove(position(&events, "ToolCallConfirmed"));
    // A gap in the versions is what the chain of hashes finds.
    finds(&events, "ToolCallStarted", "without a confirmation");
}

#[test]
fn other_arguments_than_the_confirmed_ones_are_found() {
    let events = forged(&deleted(), "ToolCallConfirmed", |recorded| {
        let Event::ToolCallConfirmed(event) = &mut recorded.event else { panic!() };
        event.arguments_hash = Hash([9; 32]);
    });
    finds(&events, "ToolCallConfirmed", "other arguments");
    let events = forged(&deleted(), "ToolCallRequested", |recorded| {
        let Event::ToolCallRequested(event) = &mut recorded.event else { panic!() };
        event.arguments = RawObject::parse(r#"{"cell_id":"b"}"#).unwrap();
    });
    finds(&events, "ToolCallRequested", "the hash of other arguments");
}

#[test]
fn a_destructive_call_that_asks_nobody_is_found() {
    let events = forged(&deleted(), "ToolCallRequested", |recorded| {
        let Event::ToolCallRequested(event) = &mut recorded.event else { panic!() };
        (event.risk, event.gate) = (Risk::Destructive.into(), Gate::Passes.into());
    });
    finds(&events, "ToolCallRequested", "asks nobody");
}

#[test]
fn a_call_that_starts_twice_or_was_never_requested_is_found() {
    let mut events = deleted().recorded;
    let start = events[position(&events, "ToolCallStarted")].clone();
    let mut twice = events.clone();
    let mut again = start.clone();
    again.envelope.version = events.last().unwrap().envelope.version + 1;
    twice.push(again.clone());
    let found = audited(&twice).unwrap_err();
    assert_eq!((found.version, found.reason.contains("or it had ended")), (again.envelope.version, true), "{found}");
    events.remove(position(&events, "ToolCallRequested"));
    finds(&events, "ToolCallConfirmed", "nobody asked for call");
}

#[test]
fn a_call_on_a_cell_that_had_changed_is_found() {
    let world = deleted();
    let start = position(&world.recorded, "ToolCallStarted");
    let Event::ToolCallRequested(asked) = &world.recorded[position(&world.recorded, "ToolCallRequested")].event else {
        panic!()
    };
    let Some(Target::Cell { cell_id, .. }) = asked.targets[0].known() else { panic!("{:?}", asked.targets) };
    let mut events = world.recorded[..start].to_vec();
    let mut change = world.recorded[start].clone();
    let previous = CellType::Code;
    change.event = CellTypeChanged { cell_id: cell_id.clone(), cell_type: CellType::Raw, previous }.into();
    change.envelope.actor = user("ann").actor;
    change.envelope.event_type = "CellTypeChanged".to_owned();
    events.push(change.clone());
    let mut start = world.recorded[start].clone();
    start.envelope.version += 1;
    events.push(start);
    finds(&events, "ToolCallStarted", "what it touches had changed");
}

#[test]
fn a_report_by_somebody_who_runs_no_kernel_is_found() {
    let events = forged(&finished(), "ExecutionStarted", |recorded| recorded.envelope.actor = user("ann").actor);
    finds(&events, "ExecutionStarted", "no runtime agent");
}
