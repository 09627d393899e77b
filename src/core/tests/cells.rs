//! Cells: inserting, moving, retyping, flags, deleting, restoring.

use crate::support::*;
use notarium_core::RejectionCode as Code;

#[allow(clippy::too_many_lines, reason = "a table")]
pub fn cases() -> Vec<Case> {
    let bo = || user("editor");
    let at = |place: serde_json::Value| json!({"InsertCell": {"cell_id": "n", "cell_type": "code", "place": place}});
    let moved = |place: serde_json::Value| json!({"MoveCell": {"cell_id": "a", "place": place}});
    let on = |command: &str, cell_id: &str, more: serde_json::Value| {
        let mut body = json!({"cell_id": cell_id});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({command: body})
    };
    let big = "x".repeat((1 << 20) + 1);
    let mut cases = vec![
        case(with_cells, bo(), insert("n", "code", "1"), events(["CellInserted"])),
        case(with_cells, bo(), json!({"InsertCell": {"cell_type": "sql"}}), events(["CellInserted"])),
        case(with_cells, bo(), at(json!("start")), events(["CellInserted"])),
        case(with_cells, bo(), at(json!({"before": "a"})), events(["CellInserted"])),
        case(with_cells, bo(), at(json!({"after": "c"})), events(["CellInserted"])),
        case(with_cells, bo(), at(json!({"after": "nowhere"})), rejected(Code::UnknownCell)),
        case(with_cells, bo(), at(json!({"before": "gone"})), rejected(Code::CellDeleted)),
        case(with_cells, bo(), insert("a", "code", "1"), rejected(Code::CellExists)),
        case(with_cells, bo(), insert("gone", "code", "1"), rejected(Code::CellExists)),
        case(with_cells, bo(), insert("n", "code", "a\r\nb"), rejected(Code::InvalidValue)),
        case(with_cells, bo(), insert("n", "code", &big), rejected(Code::LimitExceeded)),
        case(
            with_cells,
            bo(),
            json!({"InsertCell": {"cell_type": "raw", "metadata": {"m": big}}}),
            rejected(Code::LimitExceeded),
        ),
        case(
            with_cells,
            bo(),
            json!({"InsertCell": {"cell_type": "raw", "flags": {"bookmark": 10}}}),
            rejected(Code::InvalidValue),
        ),
        case(with_cells, bo(), moved(json!("end")), events(["CellMoved"])),
        case(with_cells, bo(), moved(json!("start")), nothing()),
        case(with_cells, bo(), moved(json!({"before": "b"})), nothing()),
        case(with_cells, bo(), json!({"MoveCell": {"cell_id": "b", "place": {"after": "a"}}}), nothing()),
        case(with_cells, bo(), json!({"MoveCell": {"cell_id": "c", "place": "end"}}), nothing()),
        case(with_cells, bo(), moved(json!({"after": "c"})), events(["CellMoved"])),
        case(with_cells, bo(), moved(json!({"after": "a"})), rejected(Code::InvalidPlace)),
        case(with_cells, bo(), moved(json!({"before": "a"})), rejected(Code::InvalidPlace)),
        case(with_cells, bo(), moved(json!({"before": "nowhere"})), rejected(Code::UnknownCell)),
        case(with_cells, bo(), moved(json!({"before": "gone"})), rejected(Code::CellDeleted)),
        case(
            with_cells,
            bo(),
            json!({"MoveCell": {"cell_id": "a", "place": "end", "cell_version": 1}}),
            rejected(Code::Conflict),
        ),
        case(
            with_cells,
            bo(),
            json!({"MoveCell": {"cell_id": "a", "place": "end", "cell_version": "$a"}}),
            events(["CellMoved"]),
        ),
        case(with_cells, bo(), on("ChangeCellType", "a", json!({"cell_type": "raw"})), events(["CellTypeChanged"])),
        case(with_cells, bo(), on("ChangeCellType", "a", json!({"cell_type": "code"})), nothing()),
        case(
            with_cells,
            bo(),
            on("ChangeCellType", "a", json!({"cell_type": "raw", "cell_version": 1})),
            rejected(Code::Conflict),
        ),
        case(with_cells, bo(), on("DeleteCell", "a", json!({})), events(["CellDeleted"])),
        case(with_cells, bo(), on("DeleteCell", "a", json!({"cell_version": 1})), rejected(Code::Conflict)),
        case(queued, bo(), on("DeleteCell", "c", json!({})), events(["ExecutionCancelled", "CellDeleted"])),
        case(with_cells, bo(), on("RestoreCell", "gone", json!({})), events(["CellRestored"])),
        case(with_cells, bo(), on("RestoreCell", "a", json!({})), rejected(Code::CellNotDeleted)),
        case(with_cells, bo(), on("RestoreCell", "nowhere", json!({})), rejected(Code::UnknownCell)),
        case(with_cells, bo(), on("SetCellMetadata", "a", json!({"metadata": {"k": 1}})), events(["CellMetadataSet"])),
        case(with_cells, bo(), on("SetCellMetadata", "a", json!({"metadata": {}})), nothing()),
        case(
            with_cells,
            bo(),
            on("SetCellMetadata", "a", json!({"metadata": {"k": big}})),
            rejected(Code::LimitExceeded),
        ),
        case(
            with_cells,
            bo(),
            on("SetCellAttachments", "a", json!({"attachments": {"f": {}}})),
            events(["CellAttachmentsSet"]),
        ),
        case(with_cells, bo(), on("SetCellAttachments", "a", json!({"attachments": null})), nothing()),
        case(with_cells, bo(), on("SetCellFlags", "a", json!({"flags": {"bookmark": 9}})), events(["CellFlagsSet"])),
        case(with_cells, bo(), on("SetCellFlags", "a", json!({"flags": {"bookmark": 0}})), nothing()),
        case(
            with_cells,
            bo(),
            on("SetCellFlags", "a", json!({"flags": {"bookmark": 10}})),
            rejected(Code::InvalidValue),
        ),
        case(finished, bo(), on("ClearOutputs", "a", json!({})), events(["CellOutputsCleared"])),
        case(finished, bo(), on("ClearOutputs", "c", json!({})), nothing()),
        case(running, bo(), on("ClearOutputs", "a", json!({})), rejected(Code::ExecutionState)),
    ];
    let needing_a_cell = [
        ("MoveCell", json!({"place": "end"})),
        ("ChangeCellType", json!({"cell_type": "raw"})),
        ("DeleteCell", json!({})),
        ("SetCellMetadata", json!({"metadata": {"k": 1}})),
        ("SetCellAttachments", json!({"attachments": {"f": {}}})),
        ("SetCellFlags", json!({"flags": {"pinned": true}})),
        ("ClearOutputs", json!({})),
    ];
    for (command, more) in needing_a_cell {
        cases.push(case(with_cells, bo(), on(command, "nowhere", more.clone()), rejected(Code::UnknownCell)));
        cases.push(case(with_cells, bo(), on(command, "gone", more.clone()), rejected(Code::CellDeleted)));
        cases.push(case(archived, bo(), on(command, "a", more.clone()), rejected(Code::NotebookArchived)));
        cases.push(case(with_cells, user("runner"), on(command, "a", more), rejected(Code::Forbidden)));
    }
    cases.push(case(archived, bo(), insert("n", "code", ""), rejected(Code::NotebookArchived)));
    cases.push(case(archived, bo(), on("RestoreCell", "gone", json!({})), rejected(Code::NotebookArchived)));
    cases.push(case(with_cells, user("viewer"), insert("n", "code", ""), rejected(Code::Forbidden)));
    cases.push(case(with_cells, user("viewer"), on("RestoreCell", "gone", json!({})), rejected(Code::Forbidden)));
    cases
}

#[test]
fn every_cell_command_is_accepted_or_refused_as_written() {
    check_all("cells", &cases());
}

#[test]
fn cells_stand_where_they_were_put() {
    let mut world = with_cells();
    let bo = user("editor");
    for (id, place) in
        [("s", json!("start")), ("e", json!("end")), ("ab", json!({"after": "a"})), ("xc", json!({"before": "c"}))]
    {
        world.step(&bo, json!({"InsertCell": {"cell_id": id, "cell_type": "code", "place": place}}));
    }
    assert_eq!(world.order(), ["s", "a", "ab", "b", "xc", "c", "e"]);
    for (id, place) in
        [("e", json!("start")), ("s", json!("end")), ("a", json!({"after": "c"})), ("b", json!({"before": "e"}))]
    {
        world.step(&bo, json!({"MoveCell": {"cell_id": id, "place": place}}));
    }
    assert_eq!(world.order(), ["b", "e", "ab", "xc", "c", "a", "s"]);
}

#[test]
fn a_restored_cell_is_as_it_was_where_it_was() {
    let mut world = with_cells();
    let bo = user("editor");
    world.step(&bo, json!({"SetCellMetadata": {"cell_id": "b", "metadata": {"big": 12345678901234567890_u64}}}));
    let before = world.cell("b").content.clone();
    world.step(&bo, json!({"DeleteCell": {"cell_id": "b"}}));
    world.step(&bo, json!({"RestoreCell": {"cell_id": "b"}}));
    assert_eq!(world.cell("b").content, before);
    assert_eq!(world.order(), ["a", "b", "c"]);
    assert_eq!(world.cell("b").cell_version, world.version());
}

#[test]
fn a_cell_that_comes_back_to_a_taken_place_stands_beside_it_and_leaves_room() {
    let mut world = with_cells();
    let bo = user("editor");
    world.step(&bo, json!({"DeleteCell": {"cell_id": "b"}}));
    world.step(&bo, json!({"InsertCell": {"cell_id": "n", "cell_type": "code", "place": {"after": "a"}}}));
    world.step(&bo, json!({"RestoreCell": {"cell_id": "b"}}));
    assert_eq!(world.order(), ["a", "n", "b", "c"]);
    world.step(&bo, json!({"InsertCell": {"cell_id": "m", "cell_type": "code", "place": {"after": "n"}}}));
    assert_eq!(world.order(), ["a", "n", "m", "b", "c"]);
}

#[test]
fn cells_and_their_number_are_bounded() {
    let mut world = with_cells();
    world.limits.max_cells = 3;
    let full = |judged: Judged| assert_eq!(judged.unwrap_err().code, Code::LimitExceeded);
    full(world.try_do(&user("ann"), &insert("n", "code", "")));
    full(world.try_do(&user("ann"), &json!({"RestoreCell": {"cell_id": "gone"}})));
    world.limits.max_cells = 10;
    world.limits.max_attachments_bytes = 5;
    full(world.try_do(&user("ann"), &json!({"SetCellAttachments": {"cell_id": "a", "attachments": {"f": {}}}})));
    full(world.try_do(&user("ann"), &json!({"InsertCell": {"cell_type": "raw", "attachments": {"f": {}}}})));
    world.limits.max_order_key_bytes = 3;
    full(world.try_do(&user("ann"), &json!({"InsertCell": {"cell_type": "raw", "place": {"after": "a"}}})));
}

#[test]
fn only_source_type_place_and_existence_move_the_cells_version() {
    let mut world = with_cells();
    let version = world.cell("a").cell_version;
    for command in [
        json!({"SetCellFlags": {"cell_id": "a", "flags": {"pinned": true}}}),
        json!({"SetCellMetadata": {"cell_id": "a", "metadata": {"k": 1}}}),
        json!({"SetCellAttachments": {"cell_id": "a", "attachments": {"f": {}}}}),
    ] {
        world.step(&user("ann"), command);
        assert_eq!(world.cell("a").cell_version, version);
    }
    world.step(&user("ann"), json!({"MoveCell": {"cell_id": "a", "place": "end"}}));
    assert_eq!(world.cell("a").cell_version, world.version());
    assert_eq!(world.cell("a").source_version, version, "a move is no edit");
}

#[test]
fn cleared_outputs_are_gone_for_everybody_and_the_cell_is_not_stale() {
    let world = finished().with(&user("ann"), json!({"ClearOutputs": {"cell_id": "a"}}));
    assert!(world.notebook.latest_execution(&cell_id("a")).is_none());
    assert!(world.notebook.executions.is_empty());
    assert!(!world.notebook.is_stale(&cell_id("a")));
}
