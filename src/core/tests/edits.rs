//! Text: edits by several writers against older versions, and whole new sources.

use crate::support::*;
use notarium_core::RejectionCode as Code;

pub fn edit(id: &str, base: impl Into<serde_json::Value>, change: serde_json::Value) -> serde_json::Value {
    json!({"EditSource": {"cell_id": id, "base": base.into(), "change": change}})
}

/// Late edits, a whole new source, undo and redo by two people, moves, the trash.
pub fn typing() -> World {
    let mut world = with_cells();
    let (ann, bo) = (user("ann"), user("editor"));
    let base = world.version();
    world.step(&ann, edit("a", base, json!([5, [0, " + 😀"]])));
    world.step(&bo, edit("a", base, json!([[1, "name"], 4])));
    world.step(&ann, edit("a", world.version(), json!([9, [4]])));
    world.step(&ann, json!({"ReplaceSource": {"cell_id": "b", "cell_version": world.cell("b").cell_version, "source": "other words\n"}}));
    world.step(&ann, json!({"Undo": {"steps": 2}}));
    world.step(&bo, json!({"Undo": {}}));
    world.step(&ann, json!({"Redo": {}}));
    world.step(&bo, json!({"MoveCell": {"cell_id": "c", "place": {"before": "b"}}}));
    world.step(&ann, json!({"RestoreCell": {"cell_id": "gone"}}));
    world
}

pub fn cases() -> Vec<Case> {
    let bo = || user("editor");
    let emoji = || with_cells().with(&user("ann"), insert("n", "code", "a😀b"));
    let replace = |id: &str, version: serde_json::Value, source: &str| json!({"ReplaceSource": {"cell_id": id, "cell_version": version, "source": source}});
    let big = "x".repeat((1 << 20) + 1);
    vec![
        case(with_cells, bo(), edit("a", "$a", json!([5, [0, "0"]])), events(["CellSourceEdited"])),
        case(with_cells, bo(), edit("a", "$a", json!([5])), nothing()),
        case(with_cells, bo(), edit("a", "$a", json!([4, [0, "0"]])), rejected(Code::InvalidChange)),
        case(with_cells, bo(), edit("a", "$a", json!([6, [0, "0"]])), rejected(Code::InvalidChange)),
        case(emoji, bo(), edit("n", 99, json!([4])), rejected(Code::VersionInFuture)),
        case(
            emoji,
            bo(),
            json!({"EditSource": {"cell_id": "n", "base": 12, "change": [2, [0, "!"], 2]}}),
            rejected(Code::InvalidChange),
        ),
        case(with_cells, bo(), edit("a", "$a", json!([5, [0, big]])), rejected(Code::LimitExceeded)),
        case(with_cells, bo(), edit("nowhere", 1, json!([0, [0, "x"]])), rejected(Code::UnknownCell)),
        case(with_cells, bo(), edit("gone", 1, json!([0, [0, "x"]])), rejected(Code::CellDeleted)),
        case(archived, bo(), edit("a", "$a", json!([5, [0, "0"]])), rejected(Code::NotebookArchived)),
        case(with_cells, user("runner"), edit("a", "$a", json!([5, [0, "0"]])), rejected(Code::Forbidden)),
        case(with_cells, bo(), replace("a", json!("$a"), "x = 2"), events(["CellSourceEdited"])),
        case(with_cells, bo(), replace("a", json!("$a"), "x = 1"), nothing()),
        case(with_cells, bo(), replace("a", json!(1), "x = 2"), rejected(Code::Conflict)),
        case(with_cells, bo(), replace("a", json!("$a"), "a\rb"), rejected(Code::InvalidValue)),
        case(with_cells, bo(), replace("a", json!("$a"), &big), rejected(Code::LimitExceeded)),
        case(with_cells, bo(), replace("nowhere", json!(1), ""), rejected(Code::UnknownCell)),
        case(with_cells, bo(), replace("gone", json!(1), ""), rejected(Code::CellDeleted)),
        case(archived, bo(), replace("a", json!("$a"), ""), rejected(Code::NotebookArchived)),
        case(with_cells, user("viewer"), replace("a", json!("$a"), ""), rejected(Code::Forbidden)),
    ]
}

#[test]
fn every_edit_is_accepted_or_refused_as_written() {
    check_all("edits", &cases());
}

#[test]
fn json_with_a_carriage_return_or_unknown_fields_is_no_command() {
    for text in [
        r#"{"EditSource": {"cell_id": "a", "base": 1, "change": [1, [0, "\r"]]}}"#,
        r#"{"EditSource": {"cell_id": "a", "base": 1, "change": [1], "actor": "ann"}}"#,
        r#"{"RenameNotebook": {"title": "T", "recorded_at": 5}}"#,
        r#"{"CreateNotebook": {"title": "T", "metadata": []}}"#,
        r#"{"DeleteCell": {"cell_id": "a b"}}"#,
        r#"{"Explode": {}}"#,
    ] {
        assert!(serde_json::from_str::<notarium_core::Command>(text).is_err(), "{text}");
    }
}

#[test]
fn a_late_change_stands_right_of_an_earlier_one_at_the_same_place() {
    let mut world = with_cells();
    let base = world.cell("a").source_version;
    world.step(&user("ann"), edit("a", base, json!([5, [0, "A"]])));
    world.step(&user("editor"), edit("a", base, json!([5, [0, "B"]])));
    assert_eq!(world.source("a"), "x = 1AB");
}

#[test]
fn a_change_sent_before_the_insertion_was_acknowledged_fits() {
    let mut world = with_cells();
    let base = world.version();
    world.step(&user("ann"), insert("n", "code", "one"));
    world.step(&user("editor"), edit("n", world.version(), json!([[0, "B"], 3])));
    world.step(&user("ann"), edit("n", base, json!([3, [0, "!"]])));
    assert_eq!(world.source("n"), "Bone!");
}

#[test]
fn a_late_change_survives_deletion_and_restoration() {
    let mut world = with_cells();
    let base = world.cell("a").source_version;
    world.step(&user("ann"), edit("a", base, json!([[0, "A"], 5])));
    world.step(&user("ann"), json!({"DeleteCell": {"cell_id": "a"}}));
    world.step(&user("ann"), json!({"RestoreCell": {"cell_id": "a"}}));
    world.step(&user("editor"), edit("a", base, json!([5, [0, "B"]])));
    assert_eq!(world.source("a"), "Ax = 1B");
}

#[test]
fn a_base_too_far_back_is_refused_with_a_way_out() {
    let mut world = with_cells();
    world.limits.max_late_edits = 2;
    let base = world.version();
    for _ in 0..3 {
        let length = world.source("a").len();
        world.step(&user("ann"), edit("a", world.version(), json!([length, [0, "x"]])));
    }
    let rejection = world.try_do(&user("editor"), &edit("a", base, json!([5, [0, "B"]]))).unwrap_err();
    assert_eq!(rejection.code, Code::BaseTooOld);
    world.step(&user("editor"), edit("a", base + 1, json!([6, [0, "B"]])));
    assert_eq!(world.source("a"), "x = 1xxxB");
}

#[test]
fn the_event_carries_what_was_removed() {
    let mut world = with_cells();
    let (events, _) = world.try_do(&user("ann"), &edit("a", "$a", json!([[2, "yy"], 2, [1]]))).unwrap();
    let payload = events[0].payload().unwrap();
    assert_eq!(payload.get(), r#"{"cell_id":"a","change":[[2,"yy"],2,[1]],"removed":["x ","1"]}"#);
    assert_eq!(world.source("a"), "yy= ");
}
