//! Tests of concurrent conversations in one notebook: none waits for another's model, call or person.

use notarium_core::{Command, Policy, StopReason, TurnId};
use notarium_scripted::AnswerOutcome;
use serde_json::{Value, json};

use super::gate::Gate;
use super::scene::{Scene, script};

/// A model reply that hangs in the middle of a word.
fn hanging(user: &str) -> Value {
    json!({"when": {"user": user}, "reply": {"text": "word ".repeat(200), "hang_after_bytes": 700}})
}

/// Rules that add a cell, and end.
fn adding(user: &str) -> [Value; 2] {
    [
        json!({"when": {"user": user}, "reply": {"calls": [{"name": "create_cell", "arguments": {"source": "added = 1"}}]}}),
        json!({"when": {"user": user, "after_tool": "create_cell"}, "reply": {"text": "Added."}}),
    ]
}

/// Requests a cell in another conversation, and checks that it is added.
async fn adds_a_cell(scene: &mut Scene) {
    let turn = scene.ask_in("quick", "add a cell").await;
    scene.until_over(&turn).await;
    assert_eq!((scene.end_of(&turn), scene.said(&turn).as_str()), (Some(Ok(StopReason::EndTurn)), "Added."));
    assert!(scene.ada.state().cells.values().any(|cell| cell.content.source.as_str() == "added = 1"));
}

fn is_under_way(scene: &Scene, turn: &TurnId) -> bool {
    scene.ada.state().turns.contains_key(turn) && scene.end_of(turn).is_none()
}

#[tokio::test(flavor = "multi_thread")]
async fn who_streams_and_who_waits_for_a_person_keep_nobody_up() {
    let [add, added] = adding("add");
    let delete = json!({"name": "delete_cell", "arguments": {"cell_id": "old", "cell_version": 2}});
    let rules = json!([
        hanging("talk"),
        {"when": {"user": "delete"}, "reply": {"calls": [delete]}},
        {"when": {"user": "delete", "after_tool": "delete_cell"}, "reply": {"text": "Gone."}},
        add,
        added,
    ]);
    let mut scene = Scene::start(script(&rules)).await;
    let insert = json!({"InsertCell": {"cell_id": "old", "cell_type": "code", "source": "old = 1"}});
    scene.ada.command(serde_json::from_value(insert).unwrap()).await;
    let talks = scene.ask_in("slow", "talk").await;
    scene.model.wait_for(|requests| requests.len() == 1).await;
    let deletes = scene.ask_in("careful", "delete").await;
    let call = scene.waiting().await;
    adds_a_cell(&mut scene).await;
    // The other turns are unaffected, and each reaches its end.
    assert!(is_under_way(&scene, &talks) && is_under_way(&scene, &deletes), "{:#?}", scene.story());
    assert_eq!(scene.model.requests()[0].outcome, AnswerOutcome::Streaming);
    scene.confirm(&call).await;
    scene.until_over(&deletes).await;
    assert_eq!(scene.said(&deletes), "Gone.");
    assert!(is_under_way(&scene, &talks), "{:#?}", scene.story());
    scene.ada.command(Command::CancelTurn { turn_id: talks.clone() }).await;
    scene.until_over(&talks).await;
    assert_eq!(scene.end_of(&talks), Some(Err("cancelled".to_owned())));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_for_a_run_keeps_nobody_up_and_goes_on_afterwards() {
    let mut gate = Gate::start().await;
    let [add, added] = adding("add");
    let run = json!({"run": true, "cells": [{"source": gate.code()}]});
    let rules = json!([
        {"when": {"user": "run"}, "reply": {"calls": [{"name": "create_cells", "arguments": run}]}},
        {"when": {"user": "run", "after_tool": "create_cells", "result": "All 1 cells"}, "reply": {"text": "It ran."}},
        add,
        added,
    ]);
    let mut scene = Scene::with_kernel(script(&rules)).await;
    scene.ada.command(Command::SetPolicy { policy: Policy::Trusted }).await;
    let runs = scene.ask_in("slow", "run").await;
    gate.until_arrived(1).await;
    adds_a_cell(&mut scene).await;
    assert!(is_under_way(&scene, &runs), "{:#?}", scene.story());
    gate.open();
    scene.until_over(&runs).await;
    assert_eq!(scene.said(&runs), "It ran.", "{:#?}", scene.results());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_conversation_leaves_another_one_its_calls() {
    let many: Vec<_> = (0..21).map(|_| json!({"name": "list_notebooks", "arguments": {}})).collect();
    let [add, added] = adding("add");
    let rules = json!([
        {"when": {"user": "many"}, "reply": {"calls": many}},
        {"when": {"user": "many", "after_tool": "*"}, "reply": {"text": "Enough."}},
        add,
        added,
    ]);
    let mut scene = Scene::start(script(&rules)).await;
    let turn = scene.ask_in("busy", "many").await;
    scene.until_over(&turn).await;
    let limited = |scene: &Scene| scene.results().iter().filter(|(text, _)| text.contains("20 tool calls")).count();
    assert_eq!((scene.results().len(), limited(&scene)), (21, 1));
    let turn = scene.ask_in("quick", "add a cell").await;
    scene.until_over(&turn).await;
    assert_eq!((scene.results().len(), limited(&scene)), (22, 1), "{:#?}", scene.results());
    assert_eq!(scene.ada.state().cells.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_lets_go_of_the_model() {
    let mut scene = Scene::start(script(&json!([hanging("talk")]))).await;
    let turn_id = scene.ask("talk").await;
    scene.model.wait_for(|requests| requests.len() == 1).await;
    scene.ada.command(Command::CancelTurn { turn_id: turn_id.clone() }).await;
    scene.model.wait_for(|requests| requests[0].outcome == AnswerOutcome::Cancelled).await;
    scene.until_over(&turn_id).await;
}
