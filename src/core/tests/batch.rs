//! Batches: all or nothing. Also checks that every command has cases.

use std::collections::BTreeSet;

use crate::edits::edit;
use crate::support::*;
use notarium_core::{Command, RejectionCode as Code};

fn batch(commands: &[serde_json::Value]) -> serde_json::Value {
    json!({"Batch": {"commands": commands}})
}

pub fn cases() -> Vec<Case> {
    let create = json!({"CreateNotebook": {"title": "T"}});
    let (ann, author) = (|| user("ann"), || user("author"));
    vec![
        case(
            World::new,
            ann(),
            batch(&[create.clone(), insert("n", "code", "")]),
            events(["NotebookCreated", "CellInserted"]),
        ),
        case(World::new, ann(), batch(&[insert("n", "code", ""), create.clone()]), rejected(Code::UnknownNotebook)),
        case(World::new, ann(), batch(&[]), rejected(Code::UnknownNotebook)),
        case(World::new, guest("link"), batch(std::slice::from_ref(&create)), rejected(Code::Forbidden)),
        case(with_cells, ann(), batch(&[create]), rejected(Code::NotebookExists)),
        case(with_cells, ann(), batch(&[]), nothing()),
        case(with_cells, ann(), batch(&[batch(&[])]), rejected(Code::InvalidValue)),
        case(with_cells, ann(), batch(&[json!({"Undo": {}})]), rejected(Code::InvalidValue)),
        case(with_cells, ann(), batch(&[json!({"Redo": {}})]), rejected(Code::InvalidValue)),
        case(with_cells, author(), batch(&[insert("n", "code", ""), request("n", "run")]), rejected(Code::Forbidden)),
        case(with_cells, user("stranger"), batch(&[]), rejected(Code::UnknownNotebook)),
        case(with_cells, ann(), batch(&[insert("n", "code", ""), insert("n", "code", "")]), rejected(Code::CellExists)),
        case(
            with_cells,
            ann(),
            batch(&[json!({"DeleteCell": {"cell_id": "a"}}), edit("a", "$a", json!([5, [0, "!"]]))]),
            rejected(Code::CellDeleted),
        ),
        case(
            started,
            ann(),
            batch(&[request("a", "1"), request("c", "2")]),
            events(["ExecutionRequested", "ExecutionAssigned", "ExecutionRequested"]),
        ),
        case(
            with_cells,
            ann(),
            batch(&[request("a", "1"), request("c", "2")]),
            events(["KernelLaunchRequested", "ExecutionRequested", "ExecutionRequested"]),
        ),
    ]
}

#[test]
fn every_batch_is_accepted_or_refused_as_written() {
    check_all("batch", &cases());
}

#[test]
fn a_refusal_says_which_command_it_was() {
    let mut world = with_cells();
    let rejection =
        world.try_do(&user("ann"), &batch(&[insert("n", "code", ""), insert("a", "code", "")])).unwrap_err();
    assert_eq!((rejection.part, rejection.code), (Some(2), Code::CellExists));
    assert!(!rejection.message.contains("batch"), "{rejection}");
}

#[test]
fn the_number_of_commands_is_bounded() {
    let mut world = with_cells();
    world.limits.max_batch_commands = 1;
    let two = batch(&[insert("n", "code", ""), insert("m", "code", "")]);
    assert_eq!(world.try_do(&user("ann"), &two).unwrap_err().code, Code::LimitExceeded);
}

#[test]
fn two_changes_of_one_base_in_a_batch_merge_like_any_two() {
    let mut world = with_cells();
    world.step(&user("ann"), batch(&[edit("a", "$a", json!([[0, "A"], 5])), edit("a", "$a", json!([5, [0, "B"]]))]));
    assert_eq!(world.source("a"), "Ax = 1B");
}

#[test]
fn a_split_is_one_step_of_undo() {
    let mut world = with_cells();
    let split = batch(&[
        edit("a", "$a", json!([3, [2]])),
        json!({"InsertCell": {"cell_id": "n", "cell_type": "code", "source": " 1", "place": {"after": "a"}}}),
        json!({"MoveCell": {"cell_id": "b", "place": "start"}}),
    ]);
    let outcome = world.step(&user("editor"), split);
    assert_eq!(outcome.cells, [cell_id("n")]);
    assert_eq!((world.order(), world.source("a")), (vec!["b", "a", "n", "c"], "x ="));
    world.step(&user("editor"), json!({"Undo": {}}));
    assert_eq!((world.order(), world.source("a")), (vec!["a", "b", "c"], "x = 1"));
}

#[test]
fn a_cell_deleted_and_restored_in_one_batch_is_the_same() {
    let mut world = with_cells();
    world.step(
        &user("ann"),
        batch(&[json!({"DeleteCell": {"cell_id": "a"}}), json!({"RestoreCell": {"cell_id": "a"}})]),
    );
    assert_eq!((world.order(), world.source("a")), (vec!["a", "b", "c"], "x = 1"));
}

/// The names of all commands, sorted.
pub fn command_names() -> BTreeSet<String> {
    let schema = serde_json::to_value(schemars::schema_for!(Command)).unwrap();
    let names =
        schema["oneOf"].as_array().unwrap().iter().flat_map(|one| one["properties"].as_object().unwrap().keys());
    names.cloned().collect()
}

pub fn all_cases() -> Vec<Case> {
    let slices = [
        crate::lifecycle::cases(),
        crate::access::cases(),
        crate::cells::cases(),
        crate::edits::cases(),
        crate::undo::cases(),
        crate::redaction::cases(),
        crate::restore_notebook::cases(),
        crate::erasure::cases(),
        crate::executions::cases(),
        crate::kernels::cases(),
        crate::machines::cases(),
        crate::reports::cases(),
        crate::effects::cases(),
        crate::conversations::cases(),
        crate::tool_calls::cases(),
        crate::requesters::cases(),
        crate::held_calls::cases(),
        crate::replies::cases(),
        crate::comments::cases(),
        crate::functions::cases(),
        crate::next_input::cases(),
        crate::widgets::cases(),
        crate::moved_outputs::cases(),
        crate::schedules::cases(),
        cases(),
    ];
    slices.into_iter().flatten().collect()
}

#[test]
fn every_command_has_a_case_that_is_accepted_and_one_that_is_refused() {
    assert!(command_names().len() > 30);
    let (mut accepted, mut refused) = (BTreeSet::new(), BTreeSet::new());
    for case in all_cases() {
        let name = case.command.as_object().unwrap().keys().next().unwrap().clone();
        match &case.expect {
            Expect::Events(_) => accepted.insert(name),
            Expect::Rejected(_) => refused.insert(name),
        };
    }
    assert_eq!(accepted, command_names());
    assert_eq!(refused, command_names());
}
