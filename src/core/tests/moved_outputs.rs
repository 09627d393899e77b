//! Outputs whose large values move from the state to blobs.

use crate::support::*;
use notarium_core::{ExecutionOutputsMoved, MovedOutputs, Output, RejectionCode as Code};
use serde_json::Value;

/// `run-a` has ended; it printed in two pieces, showed something, and printed once more.
fn printed() -> World {
    let bar = json!({"content": {"output_type": "display_data", "data": {}, "metadata": {}}, "display_id": "bar"});
    let pieces = [text_output(&"x".repeat(300)), text_output(&"y".repeat(300)), bar, text_output(&"z".repeat(600))];
    running()
        .with(&agent("gpu"), report("run-a", 2, json!({"output": {"outputs": pieces}})))
        .with(&agent("gpu"), report("run-a", 3, completed(true)))
}

fn still_running() -> World {
    let pieces = [text_output(&"x".repeat(300)), text_output(&"y".repeat(300))];
    running().with(&agent("gpu"), report("run-a", 2, json!({"output": {"outputs": pieces}})))
}

fn stands(first: usize, count: usize) -> Value {
    let stream = json!({"output_type": "stream", "name": "stdout"});
    let blob = json!({"pointer": "/text", "sha256": "00", "size_bytes": 600});
    json!({"first": first, "count": count, "output": {"content": stream, "blobs": [blob]}})
}

fn moves(output_seq: u64, moved: &[Value]) -> Value {
    json!({"MoveOutputs": {"execution_id": "run-a", "output_seq": output_seq, "moved": moved}})
}

/// Moves outputs that a run printed in pieces to a blob.
pub fn moved(world: &mut World, ann: &Who) {
    let pieces = ["x", "y"].map(|letter| text_output(&letter.repeat(200)));
    world.step(ann, json!({"RecordExecution": {"cell_id": "a", "outputs": pieces}}));
    let shown = world.notebook.latest.values().next_back().unwrap().clone();
    let output_seq = world.notebook.executions[&shown].output_seq;
    let stands = json!({"content": {"output_type": "stream", "name": "stdout"},
        "blobs": [{"pointer": "/text", "sha256": "00", "size_bytes": 400}]});
    let moved = json!([{"first": 0, "count": 2, "output": stands}]);
    world.step(&system(), json!({"MoveOutputs": {"execution_id": shown, "output_seq": output_seq, "moved": moved}}));
}

pub fn cases() -> Vec<Case> {
    let longer = json!({"first": 3, "count": 1, "output": text_output(&"z".repeat(700))});
    let unknown = json!({"MoveOutputs": {"execution_id": "run-b", "output_seq": 3, "moved": [stands(0, 2)]}});
    let forgotten = || printed().with(&user("ann"), json!({"ClearOutputs": {"cell_id": "a"}}));
    let one = |moved: Value| moves(3, &[moved]);
    vec![
        case(printed, system(), moves(3, &[stands(0, 2), stands(3, 1)]), events(["ExecutionOutputsMoved"])),
        case(printed, system(), moves(3, &[]), nothing()),
        case(printed, user("ann"), one(stands(0, 2)), rejected(Code::Forbidden)),
        case(printed, agent("gpu"), one(stands(0, 2)), rejected(Code::Forbidden)),
        case(printed, system(), unknown, rejected(Code::UnknownExecution)),
        case(forgotten, system(), one(stands(0, 2)), rejected(Code::UnknownExecution)),
        case(still_running, system(), moves(2, &[stands(0, 2)]), rejected(Code::ExecutionState)),
        // More output has come since the outputs were read.
        case(printed, system(), moves(2, &[stands(0, 2)]), rejected(Code::ExecutionState)),
        // A display that is updated, another kind, beyond the end, none, twice the same, in the wrong order, and one
        // that is not shorter.
        case(printed, system(), one(stands(2, 1)), rejected(Code::InvalidValue)),
        case(printed, system(), one(stands(1, 3)), rejected(Code::InvalidValue)),
        case(printed, system(), one(stands(3, 2)), rejected(Code::InvalidValue)),
        case(printed, system(), one(stands(0, 0)), rejected(Code::InvalidValue)),
        case(printed, system(), moves(3, &[stands(0, 2), stands(1, 1)]), rejected(Code::InvalidValue)),
        case(printed, system(), moves(3, &[stands(3, 1), stands(0, 2)]), rejected(Code::InvalidValue)),
        case(printed, system(), one(longer), rejected(Code::InvalidValue)),
    ]
}

#[test]
fn moved_outputs_are_as_written() {
    check_all("moved_outputs", &cases());
}

#[test]
fn what_is_moved_stands_in_its_place_and_nothing_else_changes() {
    let mut world = printed();
    let before = world.notebook.executions[&"run-a".parse().unwrap()].clone();
    world.step(&system(), moves(3, &[stands(0, 2), stands(3, 1)]));
    let after = world.notebook.executions[&"run-a".parse().unwrap()].clone();
    let texts: Vec<&str> = after.outputs.iter().map(|output| output.content.get()).collect();
    let stream = r#"{"output_type":"stream","name":"stdout"}"#;
    assert_eq!(texts, [stream, before.outputs[2].content.get(), stream]);
    assert_eq!((after.output_seq, after.ended_at), (before.output_seq, before.ended_at));
}

#[test]
fn a_place_beyond_the_end_changes_nothing_in_any_replica() {
    let mut world = printed();
    let output: Output = serde_json::from_value(text_output("short")).unwrap();
    let moved = vec![
        MovedOutputs { first: 0, count: 1, output: output.clone() },
        MovedOutputs { first: usize::MAX, count: 2, output: output.clone() },
        MovedOutputs { first: 3, count: 2, output },
    ];
    let mut recorded = world.recorded.last().unwrap().clone();
    recorded.event = ExecutionOutputsMoved { execution_id: "run-a".parse().unwrap(), moved }.into();
    recorded.envelope.version += 1;
    world.notebook.apply(&recorded);
    let after = &world.notebook.executions[&"run-a".parse().unwrap()];
    assert_eq!(after.outputs.len(), 4);
    assert!(after.outputs[0].content.get().contains("short") && after.outputs[3].content.get().contains("zzz"));
}
