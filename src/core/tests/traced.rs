//! Commands as their events show them, compared with the answers that were kept.

use crate::support::*;
use notarium_core::*;
use serde_json::Value;

/// The answer that a store keeps for a command of two insertions, and what its events show.
fn inserted() -> (CommandRecord, TracedCommand) {
    let mut world = World::new().with(&user("ann"), json!({"CreateNotebook": {"title": "T"}}));
    let insert = |id: &str| json!({"InsertCell": {"cell_id": id, "cell_type": "code"}});
    let outcome = world.step(&user("ann"), json!({"Batch": {"commands": [insert("a"), insert("b")]}}));
    let mut tracer = CommandTracer::default();
    let ended: Vec<TracedCommand> = world
        .log
        .iter()
        .zip(&world.recorded)
        .filter_map(|(stored, recorded)| tracer.see(stored, Some(&recorded.event)))
        .collect();
    assert_eq!(ended.len(), 1, "the notebook's creation");
    let traced = tracer.finish().unwrap();
    let kept = CommandRecord {
        actor: traced.sender.clone(),
        command_id: traced.command_id.clone(),
        digest: [1; 32],
        version: 3,
        outcome: RawJson::of(&outcome).unwrap(),
    };
    (kept, traced)
}

#[test]
fn a_changed_answer_is_named() {
    let (kept, traced) = inserted();
    assert_eq!((traced.sender.as_str(), traced.version), ("user:ann", 3));
    assert_eq!(traced.contradiction(&kept), None);
    let of = |outcome: Value| CommandRecord { outcome: RawJson::of(&outcome).unwrap(), ..kept.clone() };
    let notice = of(json!({"cells": ["a", "b"], "notices": ["a sentence follows from no event"]}));
    assert_eq!(traced.contradiction(&notice), None);
    let changed = [
        (CommandRecord { version: 2, ..kept.clone() }, "its row names version 2, and its last event is version 3"),
        (of(json!({})), "other cells than its events"),
        (of(json!({"cells": ["b", "a"]})), "other cells than its events"),
        (of(json!({"cells": ["a", "b"], "executions": ["e"]})), "other executions than its events"),
        (of(json!({"cells": ["a", "b"], "turn": "t"})), "other turn than its events"),
        (of(json!({"cells": 1})), "no answer that can be read"),
    ];
    for (row, told) in changed {
        let found = traced.contradiction(&row).expect("it is found");
        assert!(found.contains(told), "{found}");
    }
}

#[test]
fn commands_with_the_same_id_of_two_senders_are_two() {
    let (_, traced) = inserted();
    let mut world = World::new().with(&user("ann"), json!({"CreateNotebook": {"title": "T"}}));
    world.step(&user("ann"), json!({"GrantAccess": {"subject": {"kind": "user", "id": "bob"}, "role": "editor"}}));
    for who in ["ann", "bob"] {
        world.step(&user(who), json!({"RenameNotebook": {"title": who}}));
    }
    let mut tracer = CommandTracer::default();
    let mut ended = Vec::new();
    for (stored, recorded) in world.log.iter().zip(&world.recorded) {
        let mut stored = stored.clone();
        stored.envelope.command_id = traced.command_id.clone();
        ended.extend(tracer.see(&stored, Some(&recorded.event)));
    }
    ended.extend(tracer.finish());
    let senders: Vec<(&str, Version)> = ended.iter().map(|one| (one.sender.as_str(), one.version)).collect();
    assert_eq!(senders, [("user:ann", 3), ("user:bob", 4)]);
}
