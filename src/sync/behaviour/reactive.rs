//! Tests of a reactive notebook whose names are analysed slowly.

use notarium_core::ExecutionStatus;

use super::*;
use crate::RoomConfig;
use crate::io::Output;
use crate::simulation::named;

const EAGER: &str = r#"{"SetReactivity":{"reactivity":"eager"}}"#;

fn insert(id: &str, source: &str) -> String {
    format!(r#"{{"InsertCell":{{"cell_id":"{id}","cell_type":"code","source":"{source}"}}}}"#)
}

fn run(id: &str) -> String {
    format!(r#"{{"RequestExecution":{{"target":{{"cell":{{"cell_id":"{id}"}}}}}}}}"#)
}

/// A scene in which Anna is client 1, and questions of the room are held from now on.
fn held() -> Scene {
    let mut scene = Scene::new(RoomConfig::default());
    scene.execute("anna", &insert("one", "x = 1")).unwrap();
    scene.execute("anna", &insert("two", "y = x")).unwrap();
    scene.execute("anna", EAGER).unwrap();
    scene.execute("anna", &insert("three", "z = y")).unwrap();
    scene.is_held = true;
    scene
}

/// Cells with runs and their sources, in order of the requests.
fn requested(scene: &Scene) -> Vec<(String, String)> {
    let mut runs: Vec<_> = scene.room.state.executions.values().collect();
    runs.sort_by_key(|run| run.requested_version);
    let told = runs.iter().map(|run| {
        assert_eq!(run.status, ExecutionStatus::Queued);
        (run.subject.cell_id().unwrap().to_string(), run.subject.source().to_owned())
    });
    told.collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(cell, source)| ((*cell).to_owned(), (*source).to_owned())).collect()
}

/// Answers held questions until there are none.
fn answer_all(scene: &mut Scene) {
    while scene.release() > 0 {}
}

#[test]
fn names_are_read_ahead_and_each_text_once() {
    let mut scene = held();
    scene.send(1, &user("anna"), &run("one"));
    assert!(!scene.held.iter().any(|question| matches!(question, Output::ReadNames { .. })), "they are known");
    answer_all(&mut scene);
    assert_eq!(requested(&scene), pairs(&[("one", "x = 1"), ("two", "y = x"), ("three", "z = y")]));
}

#[test]
fn the_dependency_graph_changing_while_a_run_is_planned_changes_no_plan() {
    let mut scene = held();
    scene.send(1, &user("anna"), r#"{"ReplaceSource":{"cell_id":"three","cell_version":6,"source":"z = w"}}"#);
    scene.send(1, &user("anna"), &insert("four", "v = x"));
    scene.send(1, &user("anna"), &run("one"));
    // Queued behind the run, which waits for the names.
    scene.send(1, &user("anna"), r#"{"ReplaceSource":{"cell_id":"two","cell_version":4,"source":"y = 2"}}"#);
    answer_all(&mut scene);
    assert_eq!(requested(&scene), pairs(&[("one", "x = 1"), ("two", "y = x"), ("four", "v = x")]));
    let two = scene.room.state.cells.values().find(|cell| cell.content.source == "y = 2");
    assert!(two.is_some(), "typed meanwhile, in its turn");
}

#[test]
fn a_cell_that_was_only_moved_holds_nothing_up() {
    let mut scene = held();
    scene.send(1, &user("anna"), r#"{"MoveCell":{"cell_id":"three","place":"start"}}"#);
    scene.send(1, &user("anna"), r#"{"DeleteCell":{"cell_id":"a"}}"#);
    scene.send(1, &user("anna"), &run("one"));
    answer_all(&mut scene);
    assert_eq!(requested(&scene), pairs(&[("one", "x = 1"), ("two", "y = x"), ("three", "z = y")]));
}

#[test]
fn a_text_that_nobody_could_read_holds_nothing_up() {
    let mut scene = held();
    scene.send(1, &user("anna"), &insert("four", "v = x"));
    scene.send(1, &user("anna"), &run("one"));
    let mut unread = 0;
    while !scene.held.is_empty() {
        let questions = std::mem::take(&mut scene.held);
        for question in questions {
            match question {
                Output::ReadNames { texts } => {
                    unread += texts.len();
                    let names = texts.into_iter().map(|text| (text, None)).collect();
                    scene.feed(crate::io::Input::Names { names });
                }
                other => {
                    scene.held.push(other);
                    scene.release();
                }
            }
        }
    }
    assert_eq!(unread, 1);
    assert_eq!(requested(&scene), pairs(&[("one", "x = 1"), ("two", "y = x"), ("three", "z = y")]));
    // The helper of the other tests uses the same language.
    assert!(matches!(named(Vec::new()), crate::io::Input::Names { names } if names.is_empty()));
}
