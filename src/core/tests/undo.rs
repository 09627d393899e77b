//! Undo and redo, per actor and group.

use crate::edits::edit;
use crate::support::*;
use notarium_core::{Event, RejectionCode as Code};

fn undo() -> serde_json::Value {
    json!({"Undo": {}})
}

fn redo() -> serde_json::Value {
    json!({"Redo": {}})
}

/// The editor has made the cell `e` with text in one group, and typed more in another.
fn typed() -> World {
    let mut world = with_cells();
    world.step(&user("editor"), insert("e", "code", "one"));
    world.step(&user("editor"), edit("e", world.version(), json!([3, [0, " two"]])));
    world
}

pub fn cases() -> Vec<Case> {
    let bo = || user("editor");
    let undone = || typed().with(&user("editor"), undo());
    let by_id = |id: &str| json!({"Undo": {"correlation_id": id}});
    let archived_typed = || typed().with(&user("ann"), json!({"ArchiveNotebook": {}}));
    vec![
        case(typed, bo(), undo(), events(["CellSourceEdited"])),
        case(typed, bo(), json!({"Undo": {"steps": 2}}), events(["CellSourceEdited", "CellDeleted"])),
        case(typed, user("author"), undo(), rejected(Code::NothingToUndo)),
        case(typed, user("viewer"), undo(), rejected(Code::Forbidden)),
        case(typed, bo(), json!({"Undo": {"steps": 0}}), rejected(Code::InvalidValue)),
        case(typed, bo(), json!({"Undo": {"steps": 101}}), rejected(Code::InvalidValue)),
        case(typed, bo(), by_id("nothing"), rejected(Code::NothingToUndo)),
        case(typed, user("author"), by_id("command-14"), events(["CellSourceEdited"])),
        case(typed, assistant_of("editor"), by_id("command-14"), rejected(Code::Forbidden)),
        case(typed, bo(), json!({"Undo": {"turn_id": "nothing"}}), rejected(Code::UnknownTurn)),
        case(talking, user("ann"), json!({"Undo": {"turn_id": "turn"}}), rejected(Code::NothingToUndo)),
        case(archived_typed, bo(), undo(), rejected(Code::NotebookArchived)),
        case(undone, bo(), redo(), events(["CellSourceEdited"])),
        case(typed, bo(), redo(), rejected(Code::NothingToUndo)),
        case(undone, bo(), json!({"Redo": {"steps": 0}}), rejected(Code::InvalidValue)),
        case(undone, user("runner"), redo(), rejected(Code::Forbidden)),
        case(archived_typed, bo(), redo(), rejected(Code::NotebookArchived)),
    ]
}

#[test]
fn every_undo_is_accepted_or_refused_as_written() {
    check_all("undo", &cases());
}

#[test]
fn undo_and_redo_go_back_and_forth_step_by_step() {
    let mut world = typed();
    let bo = user("editor");
    world.step(&bo, undo());
    assert_eq!(world.source("e"), "one");
    world.step(&bo, undo());
    assert_eq!(world.order(), ["a", "b", "c"]);
    world.step(&bo, redo());
    assert_eq!(world.source("e"), "one");
    world.step(&bo, redo());
    assert_eq!(world.source("e"), "one two");
    assert_eq!(world.try_do(&bo, &redo()).unwrap_err().code, Code::NothingToUndo);
    world.step(&bo, json!({"Undo": {"steps": 2}}));
    world.step(&bo, json!({"Redo": {"steps": 2}}));
    assert_eq!(world.source("e"), "one two");
}

#[test]
fn text_that_came_back_by_undo_is_still_the_writers_to_undo() {
    let mut world = typed();
    let bo = user("editor");
    world.step(&bo, edit("e", world.version(), json!([3, [4]])));
    world.step(&bo, undo());
    assert_eq!(world.source("e"), "one two");
    world.step(&bo, undo());
    assert_eq!(world.source("e"), "one", "the text was deleted, brought back, and goes");
    world.step(&bo, json!({"Redo": {"steps": 2}}));
    assert_eq!(world.source("e"), "one");
    world.step(&bo, json!({"Undo": {"steps": 2}}));
    assert_eq!(world.source("e"), "one");
}

#[test]
fn text_that_somebody_else_deleted_and_brought_back_is_still_the_writers() {
    let mut world = typed();
    world.step(&user("ann"), edit("e", world.version(), json!([3, [4]])));
    world.step(&user("ann"), undo());
    world.step(&user("editor"), undo());
    assert_eq!(world.source("e"), "one");
}

#[test]
fn a_new_action_clears_redo_but_runs_and_reads_do_not() {
    let mut world = started();
    let bo = user("editor");
    world.step(&bo, insert("e", "code", "1"));
    world.step(&bo, insert("f", "code", "1"));
    world.step(&bo, undo());
    world.step(&bo, request("e", "run-e"));
    world.step(&bo, redo());
    assert!(world.order().contains(&"f"));
    world.step(&bo, undo());
    world.step(&bo, json!({"MoveCell": {"cell_id": "e", "place": "start"}}));
    assert_eq!(world.try_do(&bo, &redo()).unwrap_err().code, Code::NothingToUndo);
}

#[test]
fn commands_of_one_correlation_are_undone_as_one() {
    let mut world = with_cells();
    let before = world.json();
    let bo = user("editor");
    world.correlation = Some("burst");
    world.step(&bo, edit("a", world.version(), json!([5, [0, "A"]])));
    world.step(&bo, json!({"RenameNotebook": {"title": "New"}}));
    world.step(&bo, edit("a", world.version(), json!([6, [0, "B"]])));
    world.step(&bo, json!({"SetCellFlags": {"cell_id": "b", "flags": {"pinned": true}}}));
    world.step(&bo, json!({"MoveCell": {"cell_id": "c", "place": "start"}}));
    world.step(&bo, json!({"ChangeCellType": {"cell_id": "c", "cell_type": "raw"}}));
    world.step(&bo, json!({"SetCellMetadata": {"cell_id": "c", "metadata": {"k": 1}}}));
    world.step(&bo, json!({"SetCellAttachments": {"cell_id": "c", "attachments": {"f": {}}}}));
    world.step(&bo, json!({"SetNotebookMetadata": {"metadata": {"k": 1}}}));
    world.step(&bo, json!({"DeleteCell": {"cell_id": "b"}}));
    world.correlation = None;
    world.step(&bo, undo());
    let contents = |json: &str| {
        let mut state: serde_json::Value = serde_json::from_str(json).unwrap();
        for cell in state["cells"].as_object_mut().unwrap().values_mut() {
            cell["cell_version"] = json!(0);
            cell["source_version"] = json!(0);
        }
        json!([state["cells"], state["order"], state["title"], state["metadata"]])
    };
    assert_eq!(contents(&world.json()), contents(&before));
    world.step(&bo, redo());
    assert_eq!(world.source("a"), "x = 1AB");
    assert_eq!(world.order(), ["c", "a"]);
    assert_eq!(world.notebook.title, "New");
}

#[test]
fn a_correlation_that_is_used_again_after_its_undo_undoes_only_what_is_new() {
    let mut world = with_cells();
    let bo = user("editor");
    let rename = |title: &str| json!({"RenameNotebook": {"title": title}});
    world.step(&bo, rename("before"));
    world.correlation = Some("burst");
    world.step(&bo, rename("undone"));
    world.correlation = None;
    world.step(&bo, undo());
    world.correlation = Some("burst");
    world.step(&bo, rename("new"));
    world.correlation = None;
    let outcome = world.step(&bo, json!({"Undo": {"steps": 2}}));
    assert_eq!((world.notebook.title.as_str(), outcome.notices.len()), ("First", 0), "{outcome:?}");
}

#[test]
fn others_text_stays_when_mine_goes() {
    let mut world = typed();
    world.step(&user("ann"), edit("e", world.version(), json!([5, [0, "ANN"], 2])));
    world.step(&user("editor"), undo());
    assert_eq!(world.source("e"), "oneANN");
    let outcome = world.step(&user("editor"), undo());
    assert_eq!(world.source("e"), "ANN", "the cell stays for what Ann wrote in it");
    assert_eq!(outcome.notices.len(), 1, "{outcome:?}");
    world.step(&user("editor"), json!({"Redo": {"steps": 2}}));
    assert_eq!(world.source("e").replace("ANN", ""), "one two");
    assert!(world.source("e").contains("ANN"));
}

#[test]
fn a_group_that_others_undid_in_passing_does_not_block_the_groups_below() {
    let mut world = typed();
    let bo = user("editor");
    world.step(&bo, json!({"SetCellFlags": {"cell_id": "e", "flags": {"pinned": true}}}));
    world.step(&user("ann"), json!({"SetCellFlags": {"cell_id": "e", "flags": {"skipped": true}}}));
    let (events, outcome) = world.try_do(&bo, &undo()).unwrap();
    assert_eq!(world.whole(&events), json!([{"UndoSkipped": {}}]));
    assert_eq!(outcome.notices.len(), 1);
    world.step(&bo, undo());
    assert_eq!(world.source("e"), "one", "the next undo reaches what is below");
    world.step(&bo, json!({"Redo": {"steps": 2}}));
    assert_eq!(world.source("e"), "one two");
}

#[test]
fn undoing_a_deletion_brings_back_the_cell_as_it_was_last_deleted() {
    let mut world = with_cells();
    world.step(&user("editor"), json!({"DeleteCell": {"cell_id": "a"}}));
    world.step(&user("ann"), json!({"RestoreCell": {"cell_id": "a"}}));
    world.step(&user("ann"), edit("a", world.version(), json!([5, [0, "ANN"]])));
    world.step(&user("ann"), json!({"DeleteCell": {"cell_id": "a"}}));
    world.step(&user("editor"), undo());
    assert_eq!(world.source("a"), "x = 1ANN");
}

#[test]
fn undoing_a_deletion_shows_the_outputs_again() {
    let mut world = finished();
    world.step(&user("editor"), json!({"DeleteCell": {"cell_id": "a"}}));
    assert!(world.execution("run-a").is_none());
    world.step(&user("editor"), undo());
    assert_eq!(world.outputs("run-a"), ["1"]);
    world.step(&user("editor"), redo());
    assert!(world.execution("run-a").is_none());
    world.step(&user("editor"), undo());
    assert_eq!(world.outputs("run-a"), ["1"]);
}

#[test]
fn a_person_undoes_an_assistants_call_by_its_id_and_may_redo_it() {
    let mut world = with_cells();
    let call = |id: &str, function: &str, arguments: serde_json::Value| json!({"RequestToolCall": {"call_id": id, "function": function, "arguments": arguments}});
    world.step(
        &assistant_of("editor"),
        call("new", "create_cells", json!({"cells": [{"source": "by it"}, {"source": "too"}]})),
    );
    assert_eq!(world.order().len(), 5);
    world.step(&user("author"), json!({"Undo": {"correlation_id": "new"}}));
    assert_eq!(world.order(), ["a", "b", "c"]);
    let again = world.try_do(&assistant_of("editor"), &call("back", "undo", json!({"call_id": "new"}))).unwrap().0;
    assert_eq!(
        world.whole(&again),
        json!([
            {"ToolCallRequested": {"call_id": "back", "function": "undo", "arguments": {"call_id": "new"}, "arguments_hash": "ae011a9aed5652579b2ad564a3b568eb4b3ac31d04519eff5f413bb4b4ac2cb8", "risk": "edit", "gate": {"kind": "passes"}}},
            {"ToolCallStarted": {"call_id": "back", "passed_by": {"kind": "policy"}, "claimant": "instance"}},
            {"ToolCallExecuted": {"call_id": "back", "end": "error", "result": "nothing of call new is left to undo: what it changed is undone already, lies too far back, or cannot be undone, as runs cannot", "duration_ms": 0}},
        ]),
        "nothing of its own is left"
    );
    world.step(&user("author"), redo());
    assert_eq!(world.order().len(), 5);
}

#[test]
fn an_assistant_undoes_its_own_work_and_nobody_elses() {
    let mut world = with_cells();
    world.step(&user("editor"), insert("mine", "code", "1"));
    let call = |id: &str, function: &str, arguments: serde_json::Value| json!({"RequestToolCall": {"call_id": id, "function": function, "arguments": arguments}});
    world.step(&assistant_of("editor"), call("own", "create_cell", json!({"source": "2"})));
    world.step(&assistant_of("editor"), call("back", "undo", json!({"call_id": "own"})));
    assert_eq!(world.order(), ["a", "b", "c", "mine"]);
    let theirs = world.recorded.iter().rev().find(|one| matches!(one.event, Event::CellInserted(_))).unwrap();
    let group = theirs.envelope.correlation_id.as_str().to_owned();
    world.step(&assistant_of("editor"), call("other", "undo", json!({"call_id": group})));
    assert_eq!(world.order(), ["a", "b", "c", "mine"]);
}

#[test]
fn a_hundred_steps_deep_also_after_a_restart() {
    let mut world = with_cells();
    for number in 1..=101 {
        world.step(&user("editor"), json!({"RenameNotebook": {"title": format!("{number}")}}));
    }
    world.notebook = serde_json::from_str(&serde_json::to_string(&world.notebook).unwrap()).unwrap();
    world.step(&user("editor"), json!({"Undo": {"steps": 100}}));
    assert_eq!(world.notebook.title, "1");
    assert_eq!(world.try_do(&user("editor"), &undo()).unwrap_err().code, Code::NothingToUndo);
    world.step(&user("editor"), json!({"Redo": {"steps": 100}}));
    assert_eq!(world.notebook.title, "101");
}

#[test]
fn the_stacks_of_those_longest_away_are_forgotten() {
    let mut world = with_cells();
    for number in 0..205 {
        let who = user(&format!("one-{number}")).with_role(notarium_core::Role::Editor);
        world.step(&who, json!({"RenameNotebook": {"title": format!("{number}")}}));
    }
    let is_kept = |name: &str| world.notebook.ledger.undo_of(&user(name).actor).is_some();
    assert!(!is_kept("ann") && !is_kept("one-4"));
    assert!(is_kept("one-5") && is_kept("one-204"));
}

#[test]
fn an_undo_touches_no_text_that_somebody_else_undid_and_redid() {
    let mut world = with_cells();
    world.step(&user("ann"), insert("n", "code", ""));
    let put = |world: &mut World, name: &str, letter: &str| {
        let (version, length) = (world.version(), world.source("n").len());
        let change = if length == 0 { json!([[0, letter]]) } else { json!([[0, letter], length]) };
        world.step(&user(name), edit("n", version, change));
    };
    put(&mut world, "author", "c");
    put(&mut world, "editor", "b");
    put(&mut world, "editor", "b");
    put(&mut world, "author", "c");
    world.step(&user("editor"), json!({"Undo": {"steps": 2}}));
    world.step(&user("editor"), redo());
    let (events, _) = world.try_do(&user("ann"), &undo()).unwrap();
    assert_eq!(
        world.whole(&events),
        json!([{"UndoSkipped": {}}]),
        "the cell stays, and her part of its text was empty"
    );
    world.step(&user("author"), undo());
    assert_eq!(world.source("n"), "bc");
}
