//! State of a notebook for models, and results of a batch.

use notarium_assistant::preview::no_blobs;
use notarium_assistant::state::{BatchCheck, CellStatus, NamesCache, StateError, TextQuery, state_text, verify};
use notarium_core::{CellId, Document};
use serde_json::{Value, json};

use crate::golden;

fn run(cell: &str, source: &str, status: &str, version: u64, more: Value) -> Value {
    let mut run = json!({
        "subject": {"kind": "cell", "cell_id": cell, "cell_version": 1, "source": source},
        "status": status, "cause": "requested", "effects": "free", "requested_by": {"kind": "user", "id": "ann"}, "requested_at": 1,
        "requested_version": version, "correlation_id": "c",
    });
    let fields = more.as_object().expect("fields");
    fields.iter().for_each(|(name, value)| run[name] = value.clone());
    run
}

fn error() -> Value {
    json!({"content": {"output_type": "error", "ename": "NameError", "evalue": "name 'x' is not defined", "traceback": ["\u{1b}[31mNameError\u{1b}[0m"]}})
}

fn printed(text: &str) -> Value {
    json!({"content": {"output_type": "stream", "name": "stdout", "text": text}})
}

fn displayed(text: &str) -> Value {
    json!({"content": {"output_type": "display_data", "data": {"text/plain": text}, "metadata": {}}})
}

/// A cell in every state, in document order.
fn cells() -> Vec<(&'static str, &'static str, &'static str, Option<Value>)> {
    let many: Vec<Value> = (0..12).map(|number| displayed(&number.to_string())).chain([error()]).collect();
    vec![
        ("title", "markdown", "# Losses", None),
        ("idle", "code", "x", None),
        (
            "fine",
            "code",
            "print(1)",
            Some(run("fine", "print(1)", "ok", 3, json!({"execution_count": 4, "outputs": [printed("1\n")]}))),
        ),
        (
            "wrong",
            "code",
            "x",
            Some(run("wrong", "x", "error", 4, json!({"execution_count": 5, "outputs": [error()]}))),
        ),
        ("much", "code", "y", Some(run("much", "y", "error", 5, json!({"execution_count": 6, "outputs": many})))),
        ("changed", "code", "new", Some(run("changed", "old", "ok", 6, json!({"execution_count": 7})))),
        (
            "stopped",
            "code",
            "z",
            Some(run("stopped", "z", "cancelled", 7, json!({"notice": "the kernel was restarted"}))),
        ),
        ("gone", "code", "z", Some(run("gone", "z", "lost", 8, json!({})))),
        (
            "asking",
            "code",
            "input()",
            Some(run(
                "asking",
                "input()",
                "running",
                10,
                json!({"pending_input": {"prompt": "Name?", "password": false}}),
            )),
        ),
        ("second", "sql", "select 1", Some(run("second", "select 1", "assigned", 12, json!({})))),
        ("first", "code", "q", Some(run("first", "q", "queued", 11, json!({})))),
    ]
}

fn notebook() -> Document {
    let mut notebook = json!({
        "notebook_id": "nb", "version": 40, "title": "Losses", "metadata": {}, "access": [], "cells": {}, "order": [], "latest": {}, "executions": {},
        "kernels": {"k1": {"kernelspec": "python3", "phase": "started", "requested_version": 2}},
    });
    for (number, (id, kind, source, run)) in cells().into_iter().enumerate() {
        let key = format!("a{}", char::from(b'A' + u8::try_from(number).expect("few cells")));
        notebook["cells"][id] = json!({"cell_type": kind, "source": source, "order_key": key, "cell_version": number + 10, "source_version": 10});
        notebook["order"].as_array_mut().expect("a list").push(id.into());
        if let Some(run) = run {
            notebook["latest"][id] = format!("run-{id}").into();
            notebook["executions"][format!("run-{id}")] = run;
        }
    }
    notebook["executions"]["aside"] = run(
        "fine",
        "",
        "running",
        9,
        json!({"subject": {"kind": "scratch", "source": "dir()", "purpose": "variables"}}),
    );
    serde_json::from_value(notebook).expect("a notebook")
}

fn ids(names: &[&str]) -> Vec<CellId> {
    names.iter().map(|name| CellId::new(name).expect("an id")).collect()
}

const ALL: TextQuery = TextQuery { include_outputs: true, stale: None, cell_ids: None, most: usize::MAX };

fn rendered(notebook: &Document, query: TextQuery) -> Value {
    serde_json::from_str(&state_text(notebook, query, &no_blobs).expect("cells are known")).expect("JSON")
}

#[test]
fn the_state_is_as_in_the_golden_file() {
    let text = serde_json::to_string_pretty(&rendered(&notebook(), ALL)).expect("JSON");
    golden::check("state.json", &(text + "\n"));
}

#[test]
fn outputs_are_told_only_when_asked_for_and_cells_only_those_named() {
    let (notebook, asked) = (notebook(), ids(&["wrong", "fine"]));
    let query = TextQuery { include_outputs: false, cell_ids: Some(&asked), ..ALL };
    let text = state_text(&notebook, query, &|_, _| panic!("no blob is asked for")).expect("cells are known");
    let state: Value = serde_json::from_str(&text).expect("JSON");
    let cells = state["cells"].as_array().expect("cells");
    assert_eq!(
        cells.iter().map(|cell| &cell["cell_id"]).collect::<Vec<_>>(),
        ["fine", "wrong"],
        "the order of the page"
    );
    assert!(cells.iter().all(|cell| cell.get("outputs").is_none_or(|outputs| outputs == &json!([]))));
    assert_eq!(state["cell_count"], 11);
}

#[test]
fn unknown_cells_are_named() {
    let (notebook, asked) = (notebook(), ids(&["fine", "none"]));
    let error =
        state_text(&notebook, TextQuery { cell_ids: Some(&asked), ..ALL }, &no_blobs).expect_err("one is unknown");
    assert_eq!(error, StateError::UnknownCells(ids(&["none"])));
    assert!(error.to_string().starts_with("no such cells in this notebook: none."));
}

#[test]
fn what_does_not_fit_whole_is_told_in_short() {
    let notebook = notebook();
    let whole = state_text(&notebook, ALL, &no_blobs).expect("a text");
    let fits = TextQuery { most: whole.len(), ..ALL };
    assert_eq!(state_text(&notebook, fits, &no_blobs).expect("a text"), whole);
    let short = state_text(&notebook, TextQuery { most: whole.len() - 1, ..ALL }, &no_blobs).expect("a text");
    assert!(short.contains("The notebook is large"), "{short}");
}

/// Cells with a long source and three long outputs each, all of them queued again.
fn large_notebook(cells: usize) -> Document {
    let mut notebook = serde_json::to_value(notebook()).expect("JSON");
    for number in 0..cells {
        let id = format!("large{number}");
        let source = "x = 1\n".repeat(200);
        let outputs = vec![displayed(&"long ".repeat(500)); 3];
        notebook["cells"][&id] = json!({"cell_type": "code", "source": source, "order_key": format!("b{number:05}"), "cell_version": 3, "source_version": 3});
        notebook["order"].as_array_mut().expect("a list").push(json!(id));
        notebook["latest"][&id] = json!(format!("run-{id}"));
        notebook["executions"][format!("run-{id}")] =
            run(&id, &source, "queued", 100 + number as u64, json!({"outputs": outputs}));
    }
    serde_json::from_value(notebook).expect("a notebook")
}

#[test]
fn of_a_large_notebook_the_first_cells_are_told_in_short() {
    let (notebook, most) = (large_notebook(2_000), 60_000);
    let query = TextQuery { most, ..ALL };
    let text = state_text(&notebook, query, &no_blobs).expect("a text");
    assert!(text.len() <= most, "{}", text.len());
    let rendered: Value = serde_json::from_str(&text).expect("whole JSON, however much there is to tell");
    let cells = rendered["cells"].as_array().expect("cells");
    let page: Vec<&str> = notebook.order.iter().take(cells.len()).map(CellId::as_str).collect();
    assert_eq!(cells.iter().map(|cell| cell["cell_id"].as_str().expect("an id")).collect::<Vec<_>>(), page);
    assert!((20..100).contains(&cells.len()), "{}", cells.len());
    let last = cells.last().expect("a cell");
    let source = last["source"].as_str().expect("a source");
    assert!(source.ends_with("…[truncated]") && source.chars().count() < 520, "{source}");
    assert_eq!(last["outputs"].as_array().map(Vec::len), Some(2));
    assert_eq!(last["writes"], json!(["x"]));
    assert_eq!((rendered["cell_count"].as_u64(), rendered["queued"].as_array().map(Vec::len)), (Some(2_011), Some(20)));
    let notice = format!("{} of 2011 cells are shown here", cells.len());
    assert!(rendered["notice"].as_str().is_some_and(|text| text.contains(&notice)), "{}", rendered["notice"]);
    assert_eq!(state_text(&notebook, query, &no_blobs), Ok(text), "the same notebook, the same bytes");
}

/// Adds functions: one whose kernel is running, one whose kernel has ended.
fn with_functions(notebook: &Document, many: usize) -> Document {
    let mut notebook = serde_json::to_value(notebook).expect("JSON");
    let schema =
        json!({"type": "object", "properties": {"number": {"type": "integer", "description": "n".repeat(2_000)}}});
    let function = |name: &str, kernel: Value| {
        let function =
            json!({"name": name, "version": "1", "description": "d".repeat(1_000), "schema": schema, "risk": "read"});
        json!({"function": function, "registered_version": 3, "kernel_session": kernel})
    };
    notebook["functions"] = json!({"gone": function("gone", Value::Null)});
    for number in 0..many {
        let name = format!("double_{number:03}");
        notebook["functions"][&name] = function(&name, json!("k1"));
    }
    serde_json::from_value(notebook).expect("a notebook")
}

#[test]
fn functions_are_told_that_can_be_called_and_in_short_where_there_is_much() {
    let query = TextQuery { include_outputs: false, most: 60_000, ..ALL };
    let rendered = |notebook: &Document| -> Value {
        let text = state_text(notebook, query, &no_blobs).expect("a text");
        assert!(text.len() <= query.most, "{}", text.len());
        serde_json::from_str(&text).expect("JSON")
    };
    assert_eq!(rendered(&notebook()).get("functions"), None);
    let one = rendered(&with_functions(&notebook(), 1))["functions"].clone();
    let function = &one[0];
    assert_eq!((one.as_array().map(Vec::len), &function["name"]), (Some(1), &json!("double_000")));
    assert_eq!(function["arguments"]["properties"]["number"]["type"], "integer");
    assert!(function["description"].as_str().is_some_and(|text| text.ends_with("…[truncated]")), "{function}");
    let many = rendered(&with_functions(&notebook(), 120));
    let functions = many["functions"].as_array().expect("functions");
    assert_eq!(functions.len(), 40);
    assert_eq!(functions[39], json!({"name": "double_039", "description": format!("{}…", "d".repeat(80))}));
    assert!(!many["cells"].as_array().expect("cells").is_empty(), "there is room for cells as well");
}

#[test]
fn every_cell_has_its_status() {
    use CellStatus::*;
    let notebook = notebook();
    let found: Vec<CellStatus> = notebook.order.iter().map(|id| CellStatus::of(&notebook, id)).collect();
    assert_eq!(found, [Idle, Idle, Ok, Error, Error, Stale, Cancelled, Lost, Running, Queued, Queued]);
}

#[test]
fn a_good_batch_is_verified_in_one_sentence() {
    let all_ok = |text: &str| BatchCheck { text: text.to_owned(), all_ok: true, unfinished: Vec::new() };
    let notebook = notebook();
    assert_eq!(
        verify(&notebook, &ids(&["title", "fine"]), &no_blobs),
        all_ok("✓ All 1 cells executed successfully without errors.")
    );
    assert_eq!(verify(&notebook, &ids(&["title"]), &no_blobs), all_ok("No cell of this batch is executable."));
}

#[test]
fn every_cell_that_went_wrong_is_told_with_type_and_message() {
    let found = verify(
        &notebook(),
        &ids(&["fine", "wrong", "idle", "changed", "stopped", "gone", "none", "asking", "first"]),
        &no_blobs,
    );
    let expected = "⚠️ ERRORS DETECTED IN NOTEBOOK:
- Cell wrong: NameError: name 'x' is not defined
- Cell idle: not executed
- Cell changed: its source was changed after it ran: run it again
- Cell stopped: cancelled: the kernel was restarted
- Cell gone: lost, nobody knows how it ended
- Cell none: moved to the trash before it could be verified
2 of 9 cells have not finished:
- Cell asking: still running
- Cell first: waits in the queue";
    assert_eq!(found, BatchCheck { text: expected.to_owned(), all_ok: false, unfinished: ids(&["asking", "first"]) });
}

#[test]
fn an_error_that_a_run_shows_counts_even_when_the_kernel_calls_it_ok() {
    let mut notebook = serde_json::to_value(notebook()).expect("JSON");
    notebook["executions"]["run-fine"]["outputs"] = json!([error(), printed("after")]);
    let notebook: Document = serde_json::from_value(notebook).expect("a notebook");
    assert!(!verify(&notebook, &ids(&["fine"]), &no_blobs).all_ok);
}

#[test]
fn outputs_that_a_file_brought_are_no_run() {
    let mut notebook = serde_json::to_value(notebook()).expect("JSON");
    notebook["executions"]["run-fine"]["cause"] = json!("imported");
    let notebook: Document = serde_json::from_value(notebook).expect("a notebook");
    assert_eq!(CellStatus::of(&notebook, &ids(&["fine"])[0]), CellStatus::Imported);
    assert!(verify(&notebook, &ids(&["fine"]), &no_blobs).text.contains("Cell fine: not executed here"));
}

#[test]
fn names_follow_the_source_and_are_pythons_alone() {
    let mut notebook = notebook();
    let (mut names, cell) = (NamesCache::default(), ids(&["idle"]).remove(0));
    names.refresh(&notebook, true);
    assert!(names.of(&cell).is_some_and(|found| found.reads.contains("x")));
    assert_eq!(names.of(&ids(&["title"])[0]), None, "markdown has no names");
    let edited = std::sync::Arc::make_mut(notebook.cells.get_mut(&cell).expect("a cell"));
    edited.content.source = "x = 1".to_owned();
    edited.source_version += 1;
    names.refresh(&notebook, true);
    assert!(names.of(&cell).is_some_and(|found| found.reads.is_empty() && found.writes.contains("x")));
    names.refresh(&notebook, false);
    assert_eq!(names.of(&cell), None);
}
