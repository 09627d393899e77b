//! Golden files of all schemas, old ones too: they stay readable, and their bytes and hashes stay as they were.

#![allow(clippy::disallowed_methods)]

use crate::golden::{before, line, names_in, protocol};
use crate::support::*;
use notarium_core::{Effects, Event, KernelPlacement, Labels, Recorded, Stored, verify_chain};

/// Golden files of fields that were added to a schema which is no longer written.
pub const OLD_VARIANTS: &[&str] = &["CellRestored.1.reply.json", "ExecutionRequested.1.plan.json"];

fn stored(name: &str) -> (Stored, String) {
    let text = std::fs::read_to_string(protocol().join("golden/events").join(name)).unwrap();
    (serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}")), text)
}

fn recorded(name: &str) -> Recorded {
    stored(name).0.typed().unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn every_golden_event_decodes_re_encodes_to_its_bytes_and_has_its_hash() {
    for name in names_in("golden/events") {
        let (stored, text) = stored(&name);
        let event = recorded(&name).event;
        assert_eq!(line(&stored), text, "{name}");
        // An old payload is stored as it was written, and read in the newest schema.
        if stored.envelope.schema == event.schema() {
            assert_eq!(event.payload().unwrap().get(), stored.payload.get(), "{name}: the payload's own bytes");
        }
        let begins = format!("{}.{}.", stored.envelope.event_type, stored.envelope.schema);
        assert!(name.starts_with(&begins) && name.ends_with(".json"), "{name}");
        verify_chain(before(stored.envelope.version), [&stored]).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn every_schema_of_every_type_has_a_golden_file() {
    let names = names_in("golden/events");
    for event_type in Event::TYPES {
        for schema in 1..=notarium_core::upcast::newest_schema(event_type) {
            assert!(names.contains(&format!("{event_type}.{schema}.json")), "{event_type} of schema {schema}");
        }
    }
}

#[test]
fn old_runs_were_free() {
    for name in ["ExecutionRequested.1.json", "ExecutionRequested.1.plan.json"] {
        let Event::ExecutionRequested(event) = recorded(name).event else { panic!("{name}") };
        assert_eq!(event.effects, Effects::Free, "{name}");
    }
    let Event::CellRestored(event) = recorded("CellRestored.1.json").event else { panic!() };
    let execution = event.execution.unwrap();
    assert_eq!((execution.effects.known(), execution.refused.len()), (Some(&Effects::Free), 0));
    assert_eq!(execution.output_seq, 7);
    let Event::CellRestored(event) = recorded("CellRestored.1.reply.json").event else { panic!() };
    assert_eq!(event.execution, None);
}

#[test]
fn an_old_grant_covers_no_effects() {
    let Event::GrantIssued(event) = recorded("GrantIssued.1.json").event else { panic!() };
    assert_eq!((event.functions.as_slice(), event.kinds.len()), (["create_cell".to_owned()].as_slice(), 0));
}

#[test]
fn an_old_function_names_no_effects() {
    let Event::KernelFunctionsRegistered(event) = recorded("KernelFunctionsRegistered.1.json").event else { panic!() };
    assert!(!event.functions.is_empty() && event.functions.iter().all(|function| function.effects.is_empty()));
}

#[test]
fn an_old_launch_is_open_to_every_agent() {
    let Event::KernelLaunchRequested(event) = recorded("KernelLaunchRequested.1.json").event else { panic!() };
    assert_eq!(event.placement(), KernelPlacement::default());
    let mut document = notarium_core::Document::new("nb".parse().unwrap());
    document.apply(&recorded("KernelLaunchRequested.1.json"));
    let session = document.kernels.values().next().unwrap();
    assert!(session.placement.allows(&"any".parse().unwrap(), &Labels::new()));
}

/// A log of old schemas, as a release before wrote it, is folded to a document with all fields of today.
#[test]
fn a_document_of_old_events_says_that_its_runs_were_free() {
    let mut document = notarium_core::Document::new("nb".parse().unwrap());
    document.apply(&recorded("ExecutionRequested.1.json"));
    document.apply(&recorded("GrantIssued.1.json"));
    let run = document.executions.values().next().unwrap();
    assert_eq!(run.effects, Effects::Free);
    let text = serde_json::to_value(&document).unwrap();
    let execution = text["executions"].as_object().unwrap().values().next().unwrap();
    assert_eq!(execution["effects"], json!("free"));
    assert!(document.grants.values().next().unwrap().kinds.is_empty());
}
