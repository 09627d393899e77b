//! Words in the record that this version does not know: kept unchanged, and judged on the safe side where they decide
//! anything.

use crate::support::*;
use notarium_core::tools::offered;
use notarium_core::{Document, Open, RawJson, RejectionCode as Code, Risk, ToolCallPhase};
use serde_json::Value;

/// The world with another payload in the last event of that type.
fn as_if(mut world: World, event_type: &str, change: impl Fn(&mut Value)) -> World {
    let mut log = world.log.clone();
    let meant = log.iter_mut().rfind(|stored| stored.envelope.event_type == event_type).unwrap();
    let mut payload: Value = serde_json::from_str(meant.payload.get()).unwrap();
    change(&mut payload);
    meant.payload = RawJson::of(&payload).unwrap();
    world.notebook = replay(&log);
    world
}

/// A call that passed and waits for its start; it is recorded with another value.
fn passed(field: &'static str, value: Value) -> World {
    let world = talking().with(&assistant_of("ann"), call("vars", "get_variables", json!({})));
    as_if(world, "ToolCallRequested", |payload| payload[field] = value.clone())
}

fn waits(field: &'static str, value: Value) -> World {
    as_if(waiting(), "ToolCallRequested", |payload| payload[field] = value.clone())
}

#[test]
fn a_risk_that_is_not_known_destroys() {
    let mut world = passed("risk", json!("cosmic"));
    let (events, _) = world.try_do(&reactor_of("ann"), &start("vars")).unwrap();
    assert_eq!(types(&events), ["ToolCallVoided"], "the policy lets nothing pass that destroys");
    let mut world = waits("risk", json!("cosmic"));
    assert_eq!(world.try_do(&user("author"), &confirm("del")).unwrap_err().code, Code::Forbidden);
    let (events, _) = world.try_do(&user("editor"), &confirm("del")).unwrap();
    assert_eq!(types(&events), ["ToolCallConfirmed"], "a person who may decide on what destroys");
}

#[test]
fn a_target_that_is_not_known_counts_as_changed() {
    let targets = || json!([{"kind": "moon", "phase": "full"}]);
    let (events, _) = passed("targets", targets()).try_do(&reactor_of("ann"), &start("vars")).unwrap();
    assert_eq!(types(&events), ["ToolCallVoided"]);
    let (events, outcome) = waits("targets", targets()).try_do(&user("editor"), &confirm("del")).unwrap();
    assert_eq!(types(&events), ["ToolCallVoided"]);
    assert!(outcome.notices[0].contains("'moon'"), "{outcome:?}");
}

#[test]
fn a_gate_that_is_not_known_waits() {
    for gate in [json!({"kind": "asks_the_stars"}), json!({"kind": "ajar", "by": 1})] {
        let mut world = passed("gate", gate);
        assert_eq!(world.notebook.tool_calls[&"vars".parse().unwrap()].phase, ToolCallPhase::Waiting);
        let refused = world.try_do(&reactor_of("ann"), &start("vars")).unwrap_err();
        assert_eq!(refused.code, Code::ToolCallState);
    }
}

#[test]
fn a_function_whose_risk_is_not_known_asks() {
    let function = json!({"name": "load", "schema": {"type": "object"}, "risk": "read"});
    let register =
        json!({"RegisterFunctions": {"kernel_session": "$kernel", "fence": "$fence", "functions": [function]}});
    let world = talking().with(&agent("gpu"), register);
    let set = |payload: &mut Value| payload["functions"][0]["risk"] = json!("cosmic");
    let mut world = as_if(world, "KernelFunctionsRegistered", set);
    let found = offered(&world.notebook).into_iter().find(|one| one.name == "load").unwrap();
    assert_eq!(found.risk, Risk::Destructive);
    let (events, _) = world.try_do(&assistant_of("ann"), &call("tool", "load", json!({}))).unwrap();
    let notarium_core::Event::ToolCallRequested(asked) = &events[0] else { panic!("{events:?}") };
    assert!(asked.gate.waits() && asked.risk == Risk::Destructive);
}

#[test]
fn the_document_keeps_unknown_words_as_they_came_and_not_the_fields() {
    let world = as_if(waiting(), "ToolCallRequested", |payload| {
        payload["risk"] = json!({"kind": "cosmic", "scale": 12.5});
        payload["mood"] = json!("good");
    });
    let document = &*world.notebook.document;
    let call = &document.tool_calls[&"del".parse().unwrap()];
    assert!(matches!(&call.risk, Open::Unknown(raw) if raw.get() == r#"{"kind":"cosmic","scale":12.5}"#));
    let snapshot = serde_json::to_string(document).unwrap();
    assert!(!snapshot.contains("mood"), "only fields that the document has");
    let again: Document = serde_json::from_str(&snapshot).unwrap();
    assert_eq!((&again, again.digest().unwrap()), (document, document.digest().unwrap()));
}
