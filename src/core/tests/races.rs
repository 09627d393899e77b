//! Classic races, by name. The fourth, a dependency graph that changes while a run is planned, is in `reactive`.

use crate::edits::edit;
use crate::support::*;
use notarium_core::{ExecutionStatus, RejectionCode as Code, Role, Version};

#[test]
fn editing_a_cell_while_it_runs_leaves_the_run_its_source_and_shows_stale() {
    let mut world = running();
    assert!(!world.notebook.is_stale(&cell_id("a")));
    world.step(&user("editor"), edit("a", "$a", json!([5, [0, "0"]])));
    assert_eq!(world.execution("run-a").unwrap().subject.source(), "x = 1");
    assert_eq!(world.status("run-a"), ExecutionStatus::Running);
    assert!(world.notebook.is_stale(&cell_id("a")));
    world.step(&agent("gpu"), report("run-a", 2, completed(true)));
    assert!(world.notebook.is_stale(&cell_id("a")), "the end of the run does not make the outputs fresh");
    world.step(&user("editor"), request("a", "again"));
    assert!(!world.notebook.is_stale(&cell_id("a")));
    world.step(&user("editor"), json!({"Undo": {}}));
    assert!(world.notebook.is_stale(&cell_id("a")));
}

#[test]
fn deleting_a_cell_while_it_runs_lets_the_run_go_on_and_cancels_what_waits() {
    let mut world = running().with(&user("ann"), request("a", "second")).with(&user("ann"), request("c", "run-c"));
    let (events, _) = world.try_do(&user("editor"), &json!({"DeleteCell": {"cell_id": "a"}})).unwrap();
    assert_eq!(
        world.whole(&events),
        json!([
            {"ExecutionCancelled": {"execution_id": "second", "cause": "cell_deleted"}},
            {"CellDeleted": {"cell_id": "a", "cell": {"cell_type": "code", "source": "x = 1", "order_key": "a0"}, "latest_execution": "second"}},
        ])
    );
    assert_eq!(world.status("run-a"), ExecutionStatus::Running);
    assert!(world.execution("second").is_none(), "cancelled and shown nowhere");
    assert_eq!(world.status("run-c"), ExecutionStatus::Queued);
    world.step(&agent("gpu"), report("run-a", 2, output(&["late"])));
    assert_eq!(world.outputs("run-a"), ["late"]);
    let (events, _) = world.try_do(&agent("gpu"), &report("run-a", 3, completed(true))).unwrap();
    assert_eq!(
        world.whole(&events),
        json!([
            {"ExecutionCompleted": {"execution_id": "run-a", "output_seq": 3, "outcome": "ok", "execution_count": 1}},
            {"ExecutionAssigned": {"execution_id": "run-c", "kernel_session": "$kernel", "agent": "gpu", "fence": 15}},
        ])
    );
    assert!(world.execution("run-a").is_none(), "ended, and no cell shows it");
    assert_eq!(world.status("run-c"), ExecutionStatus::Assigned);
}

#[test]
fn restoring_a_cell_whose_run_went_on_shows_the_whole_run() {
    let mut world = running().with(&agent("gpu"), report("run-a", 2, output(&["1"])));
    world.step(&user("ann"), json!({"DeleteCell": {"cell_id": "a"}}));
    let mut early = world.clone();
    early.step(&user("ann"), json!({"RestoreCell": {"cell_id": "a"}}));
    early.step(&agent("gpu"), report("run-a", 3, output(&["2"])));
    assert_eq!(early.outputs("run-a"), ["1", "2"]);
    world.step(&agent("gpu"), report("run-a", 3, output(&["2"])));
    world.step(&agent("gpu"), report("run-a", 4, completed(true)));
    world.step(&user("ann"), json!({"RestoreCell": {"cell_id": "a"}}));
    assert_eq!(world.outputs("run-a"), ["1", "2"]);
    assert_eq!(world.status("run-a"), ExecutionStatus::Ok);
}

#[test]
fn two_people_saving_at_once_both_keep_their_text() {
    let mut world = with_cells();
    world.step(&user("ann"), edit("a", "$a", json!([[1, "first"], 4])));
    world.step(&user("editor"), edit("a", "$a", json!([4, [1, "2"]])));
    assert_eq!(world.source("a"), "first = 2");
}

#[test]
fn two_programs_saving_at_once_conflict_naming_both_versions() {
    let mut world = with_cells();
    let read = world.cell("a").cell_version;
    let save = |source: &str| json!({"ReplaceSource": {"cell_id": "a", "cell_version": read, "source": source}});
    world.step(&user("ann"), save("first"));
    let rejection = world.try_do(&user("editor"), &save("second")).unwrap_err();
    assert_eq!(rejection.code, Code::Conflict);
    assert_eq!((rejection.expected_version, rejection.actual_version), (Some(read), Some(world.version())));
    assert_eq!(world.source("a"), "first");
}

#[test]
fn five_writers_of_ten_concurrent_updates_make_exactly_fifty_versions() {
    let mut world = with_cells();
    let (base, before) = (world.cell("a").source_version, world.version());
    let writers =
        ["ann", "editor", "author"].map(user).into_iter().chain([guest("link"), user("other").with_role(Role::Editor)]);
    for (index, writer) in writers.enumerate() {
        let letter = char::from(b'A' + u8::try_from(index).unwrap());
        for _ in 0..10 {
            world.step(&writer, edit("a", base, json!([5, [0, letter.to_string()]])));
        }
    }
    assert_eq!(world.version(), before + 50);
    for letter in "ABCDE".chars() {
        assert_eq!(world.source("a").matches(letter).count(), 10, "{letter}");
    }
    let versions: Vec<Version> = world.log.iter().map(|stored| stored.envelope.version).collect();
    assert_eq!(versions, (1..=world.version()).collect::<Vec<_>>());
}

#[test]
fn ten_concurrent_creations_make_ten_cells() {
    let mut world = with_cells();
    for _ in 0..10 {
        world.step(&user("editor"), json!({"InsertCell": {"cell_type": "code", "place": {"after": "a"}}}));
    }
    assert_eq!(world.notebook.cells.len(), 3 + 10);
    assert_eq!(world.order().len(), 3 + 10);
}
