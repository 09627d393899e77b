//! A notebook is taken back to an earlier version.

use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::edits::edit;
use crate::properties::{attempt, live, who};
use crate::support::*;
use notarium_core::{Document, RejectionCode as Code, Version};

fn to(version: u64) -> serde_json::Value {
    json!({"RestoreNotebook": {"version": version}})
}

/// The editor has changed all that can be changed since `$then`.
fn changed() -> World {
    let mut world = with_cells();
    let (ann, bo) = (user("ann"), user("editor"));
    world.name("then", world.version());
    world.step(&bo, edit("a", world.version(), json!([5, [0, "0"]])));
    world.step(&bo, json!({"MoveCell": {"cell_id": "a", "place": "end"}}));
    world.step(&bo, json!({"ChangeCellType": {"cell_id": "b", "cell_type": "raw"}}));
    world.step(&bo, json!({"SetCellMetadata": {"cell_id": "b", "metadata": {"k": 1}}}));
    world.step(&bo, json!({"SetCellAttachments": {"cell_id": "b", "attachments": {"f": {"text/plain": "x"}}}}));
    world.step(&bo, json!({"SetCellFlags": {"cell_id": "b", "flags": {"pinned": true}}}));
    world.step(&bo, json!({"DeleteCell": {"cell_id": "c"}}));
    world.step(&bo, insert("new", "code", "later"));
    world.step(&ann, json!({"SetNotebookMetadata": {"metadata": {"k": 1}}}));
    world.step(&ann, json!({"RenameNotebook": {"title": "Renamed"}}));
    world
}

/// Version at which `changed` began.
fn then() -> u64 {
    with_cells().version()
}

pub fn cases() -> Vec<Case> {
    let bo = || user("editor");
    let all = [
        "NotebookRestored",
        "CellDeleted",
        "CellRestored",
        "CellMoved",
        "CellSourceEdited",
        "CellTypeChanged",
        "CellMetadataSet",
        "CellAttachmentsSet",
        "CellFlagsSet",
        "NotebookMetadataSet",
    ];
    let in_batch = json!({"Batch": {"commands": [to(then())]}});
    let archived_changed = || changed().with(&user("ann"), json!({"ArchiveNotebook": {}}));
    vec![
        case(changed, bo(), to(then()), events(all)),
        case(changed, user("author"), to(then()), events(all)),
        case(changed, user("runner"), to(then()), rejected(Code::Forbidden)),
        case(changed, user("viewer"), to(then()), rejected(Code::Forbidden)),
        case(changed, user("stranger"), to(then()), rejected(Code::UnknownNotebook)),
        case(changed, assistant_of("editor"), to(then()), rejected(Code::Forbidden)),
        case(changed, agent("gpu"), to(then()), rejected(Code::Forbidden)),
        case(archived_changed, bo(), to(then()), rejected(Code::NotebookArchived)),
        case(changed, bo(), to(0), rejected(Code::VersionInFuture)),
        case(changed, bo(), to(1_000), rejected(Code::VersionInFuture)),
        case(changed, bo(), in_batch, rejected(Code::InvalidValue)),
        case(with_cells, bo(), to(then()), nothing()),
    ]
}

#[test]
fn every_restoration_is_accepted_or_refused_as_written() {
    check_all("restore_notebook", &cases());
}

#[test]
fn the_mark_and_the_changes_are_one_group_and_the_title_stays() {
    let mut world = changed();
    world.step(&user("editor"), to(then()));
    assert_eq!(world.order(), ["a", "b", "c"]);
    assert_eq!((world.source("a"), world.source("c")), ("x = 1", "y = 2"));
    assert_eq!(world.notebook.title, "Renamed");
    let group = world.recorded.last().unwrap().envelope.correlation_id.clone();
    let of_group = world.recorded.iter().filter(|recorded| recorded.envelope.correlation_id == group).count();
    assert_eq!(of_group, 10);

    world.step(&user("editor"), json!({"Undo": {}}));
    assert_eq!(world.order(), ["b", "a", "new"]);
    assert_eq!((world.source("a"), world.source("new")), ("x = 10", "later"));
    world.step(&user("editor"), json!({"Redo": {}}));
    assert_eq!(world.order(), ["a", "b", "c"]);
}

#[test]
fn runs_outputs_and_comments_stay() {
    let mut world = finished();
    let version = world.version();
    world.step(&user("ann"), json!({"AddComment": {"target": {"cell": {"cell_id": "a"}}, "text": "why?"}}));
    let (executions, threads) = (world.notebook.executions.clone(), world.notebook.threads.clone());
    world.step(&user("ann"), json!({"DeleteCell": {"cell_id": "a"}}));
    world.step(&user("ann"), to(version));
    assert_eq!(world.notebook.executions, executions);
    assert_eq!(world.notebook.threads, threads);
    assert!(world.notebook.latest_execution(&cell_id("a")).is_some(), "it shows its outputs again");
}

#[test]
fn a_cell_that_waits_to_run_is_cancelled_where_the_past_has_no_such_cell() {
    let mut world = launched();
    let version = world.version();
    world.step(&user("ann"), insert("n", "code", "1"));
    world.step(&user("ann"), request("n", "run"));
    let (events, _) = world.try_do(&user("ann"), &to(version)).unwrap();
    assert_eq!(types(&events), ["NotebookRestored", "ExecutionCancelled", "CellDeleted"]);
}

#[test]
fn a_version_with_more_cells_than_fit_now_is_refused() {
    let mut world = with_cells();
    world.limits.max_cells = 2;
    let rejection = world.try_do(&user("ann"), &to(then())).unwrap_err();
    assert_eq!(rejection.code, Code::LimitExceeded);
}

#[test]
fn a_cell_returns_to_its_place_though_another_leaves_it_later() {
    let (mut world, bo) = (with_cells(), user("editor"));
    world.step(&bo, json!({"MoveCell": {"cell_id": "a", "place": "end"}}));
    world.step(&bo, json!({"MoveCell": {"cell_id": "c", "place": "start"}}));
    let before = content(&world.notebook);
    world.step(&bo, to(then()));
    assert_eq!(content(&world.notebook)[1][0][1]["order_key"], before[1][0][1]["order_key"], "c has left it");
    world.step(&bo, json!({"Undo": {}}));
    assert_eq!(content(&world.notebook), before);
}

#[test]
fn a_cell_returns_to_the_place_of_one_that_the_restoration_brought_back() {
    let (mut world, bo) = (with_cells(), user("editor"));
    world.step(&bo, json!({"DeleteCell": {"cell_id": "a"}}));
    world.step(&bo, json!({"MoveCell": {"cell_id": "c", "place": "start"}}));
    let before = content(&world.notebook);
    world.step(&bo, to(then()));
    world.step(&bo, json!({"Undo": {}}));
    assert_eq!(content(&world.notebook), before);
}

/// Everything of a notebook that a restoration sets.
fn content(document: &Document) -> serde_json::Value {
    let cells: Vec<_> = document.ordered_cells().map(|(id, cell)| json!([id, cell.content])).collect();
    json!([document.metadata, cells])
}

proptest! {
    #[test]
    fn a_restoration_makes_the_content_as_it_was_and_one_undo_takes_it_back(
        attempts in prop::collection::vec(attempt(), 1..50), version in any::<Index>(), name in select(vec!["ann", "editor", "author"]),
    ) {
        let mut world = live(&attempts, |_| {});
        let _ = world.try_do(&user("ann"), &json!({"UnarchiveNotebook": {}}));
        let version = 1 + version.index(usize::try_from(world.version()).unwrap());
        let (past, before) = (content(&world.document_at(version as Version)), content(&world.notebook));
        let titles = world.notebook.title.clone();
        let (events, _) = world.try_do(&who(name), &json!({"RestoreNotebook": {"version": version}})).unwrap();
        prop_assert_eq!(content(&world.notebook), past);
        prop_assert_eq!(&world.notebook.title, &titles);
        if !events.is_empty() {
            world.step(&who(name), json!({"Undo": {}}));
            prop_assert_eq!(content(&world.notebook), before);
        }
    }
}
