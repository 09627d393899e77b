//! A confirmed `run_all` runs the cells that existed at its request, or nothing.

use crate::support::*;
use notarium_core::{CellType, Event, Target};

const WIPES: &str = "import os\nos.remove('tmp.csv')";

/// The call `all` would run all cells and waits for a person.
fn waiting_for_all() -> World {
    let world =
        talking().with(&user("ann"), insert("one", "code", WIPES)).with(&user("ann"), insert("two", "code", "1"));
    world
        .with(&user("ann"), insert("words", "markdown", "Hi"))
        .with(&assistant_of("ann"), call("all", "run_all", json!({})))
}

fn confirm(world: &World) -> serde_json::Value {
    let hash = world.notebook.tool_calls[&"all".parse().unwrap()].arguments_hash.to_string();
    json!({"ConfirmToolCall": {"call_id": "all", "arguments_hash": hash}})
}

fn place(cell: &str, place: serde_json::Value) -> serde_json::Value {
    json!({"MoveCell": {"cell_id": cell, "place": place}})
}

fn change(world: &World, cell: &str) -> serde_json::Value {
    let version = world.cell(cell).cell_version;
    json!({"ReplaceSource": {"cell_id": cell, "cell_version": version, "source": "os.remove('thesis.docx')"}})
}

/// Changes that may happen between request and confirmation, or between confirmation and start.
fn changes(world: &World) -> Vec<serde_json::Value> {
    let retyped = |cell: &str, to: &str| json!({"ChangeCellType": {"cell_id": cell, "cell_version": world.cell(cell).cell_version, "cell_type": to}});
    vec![
        insert("new", "code", "import os\nos.remove('thesis.docx')"),
        insert("new", "code", "2"),
        change(world, "one"),
        change(world, "two"),
        json!({"DeleteCell": {"cell_id": "two"}}),
        place("one", json!({"after": "two"})),
        retyped("two", "markdown"),
        retyped("words", "code"),
        json!({"Batch": {"commands": [{"DeleteCell": {"cell_id": "two"}}, insert("new", "code", "1")]}}),
    ]
}

fn voided() -> serde_json::Value {
    let detail = "the notebook's code cells are not those that it was asked for";
    json!([{"ToolCallVoided": {"call_id": "all", "cause": "target_changed", "detail": detail}}])
}

#[test]
fn another_set_of_code_voids_it_before_and_after_the_confirmation() {
    for change in changes(&waiting_for_all()) {
        let mut world = waiting_for_all().with(&user("ann"), change.clone());
        let (events, _) = world.try_do(&user("ann"), &confirm(&world)).unwrap();
        assert_eq!(world.whole(&events), voided(), "{change}");
        let mut swept = waiting_for_all().with(&user("ann"), change.clone());
        let (events, _) = swept.try_do(&reactor_of("ann"), &json!({"SweepToolCalls": {}})).unwrap();
        assert_eq!(swept.whole(&events), voided(), "{change}");
        let mut world = waiting_for_all();
        world.step(&user("ann"), confirm(&world));
        world.step(&user("ann"), change.clone());
        let (events, _) = world.try_do(&reactor_of("ann"), &start("all")).unwrap();
        assert_eq!(world.whole(&events), voided(), "{change}");
    }
}

#[test]
fn what_is_no_code_leaves_it_alone() {
    let mut world = waiting_for_all();
    world.step(&user("ann"), insert("more", "markdown", "Hi"));
    world.step(&user("ann"), insert("brief", "code", "1"));
    world.step(&user("ann"), json!({"DeleteCell": {"cell_id": "brief"}}));
    world.step(&user("ann"), change(&world, "words"));
    world.step(&user("ann"), confirm(&world));
    let (events, _) = world.try_do(&reactor_of("ann"), &start("all")).unwrap();
    assert_eq!(
        world.whole(&events),
        json!([
            {"ToolCallStarted": {"call_id": "all", "passed_by": {"kind": "confirmation", "by": {"kind": "user", "id": "ann"}}, "claimant": "instance"}},
            {"ExecutionRequested": {"execution_id": "000000YGJT000000000001M1R8", "subject": {"kind": "cell", "cell_id": "a", "cell_version": 8, "source": "x = 1"}, "cause": "requested", "effects": {"held": {"allowed": []}}, "kernel_session": "$kernel", "stop_on_error": true}},
            {"ExecutionAssigned": {"execution_id": "000000YGJT000000000001M1R8", "kernel_session": "$kernel", "agent": "gpu", "fence": 15}},
            {"ExecutionRequested": {"execution_id": "000000YGJT000000000001M1R9", "subject": {"kind": "cell", "cell_id": "c", "cell_version": 10, "source": "y = 2"}, "cause": "requested", "effects": {"held": {"allowed": []}}, "kernel_session": "$kernel", "stop_on_error": true}},
            {"ExecutionRequested": {"execution_id": "000000YGJT000000000001M1RA", "subject": {"kind": "cell", "cell_id": "one", "cell_version": 19, "source": "import os\nos.remove('tmp.csv')"}, "cause": "requested", "effects": {"held": {"allowed": []}}, "kernel_session": "$kernel", "stop_on_error": true}},
            {"ExecutionRequested": {"execution_id": "000000YGJT000000000001M1RB", "subject": {"kind": "cell", "cell_id": "two", "cell_version": 20, "source": "1"}, "cause": "requested", "effects": {"held": {"allowed": []}}, "kernel_session": "$kernel", "stop_on_error": true}},
        ])
    );
}

#[test]
fn it_names_its_cells_in_one_target() {
    let mut world =
        talking().with(&user("ann"), insert("one", "code", "1")).with(&user("ann"), insert("two", "code", "2"));
    let newest_version = world.cell("two").cell_version;
    let (events, _) = world.try_do(&assistant_of("ann"), &call("all", "run_all", json!({}))).unwrap();
    let Event::ToolCallRequested(event) = &events[0] else { panic!("{events:?}") };
    let cells = world.notebook.cells.values().filter(|cell| cell.content.cell_type == CellType::Code).count() as u64;
    assert_eq!(event.targets, [Target::Code { cells, newest_version }]);
}
