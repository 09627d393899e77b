//! The server is killed with SIGKILL in every state of a turn: it goes on or says truthfully how it failed, nothing happens twice,
//! and a confirmation given before still counts.

use std::collections::BTreeMap;

use notarium_core::{Command, Event, Notebook};
use serde_json::{Value, json};

use crate::scene::{Scene, script};

/// A moment of a turn, told by the log.
struct Moment {
    name: &'static str,
    is_there: fn(&Notebook, &[String]) -> bool,
}

const MOMENTS: &[Moment] = &[
    Moment { name: "started", is_there: |_, types| types.contains(&"TurnStarted".to_owned()) },
    Moment { name: "mid-stream", is_there: |state, _| state.turns.values().any(|turn| turn.is_calling_model) },
    Moment { name: "replied", is_there: |_, types| count(types, "ModelCallFinished") == 1 },
    Moment {
        name: "running a cell",
        is_there: |state, _| state.executions.values().any(|run| run.started_at.is_some() && run.ended_at.is_none()),
    },
    Moment { name: "second call", is_there: |_, types| count(types, "ModelCallStarted") == 2 },
    Moment {
        name: "waiting for a person",
        is_there: |state, _| state.tool_calls.values().any(|call| call.expires_at.is_some()),
    },
    Moment { name: "third call", is_there: |_, types| count(types, "ModelCallStarted") == 3 },
];

fn count(types: &[String], name: &str) -> usize {
    types.iter().filter(|one| *one == name).count()
}

/// Creates and runs a cell that takes a moment, deletes another, and reports.
fn rules() -> Value {
    json!([
        {"when": {"user": "work"}, "reply": {"text": "First I run something. ", "chunk_delay_ms": 30, "calls": [
            {"name": "create_cells", "arguments": {"run": true, "cells": [
                {"source": "import time, pathlib\ntime.sleep(1)\nruns = pathlib.Path('runs.txt')\nprint('ran', runs.open('a').write('x'))"}]}}]}},
        {"when": {"user": "work", "after_tool": "create_cells"}, "reply": {"chunk_delay_ms": 30, "calls": [
            {"name": "delete_cell", "arguments": {"cell_id": "old", "cell_version": 0}}]}},
        {"when": {"user": "work", "after_tool": "delete_cell"}, "reply": {"text": "All done.", "chunk_delay_ms": 30}},
    ])
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_in_every_state_of_a_turn_it_goes_on_and_nothing_happens_twice() {
    for moment in MOMENTS {
        killed_at(moment).await;
    }
}

async fn killed_at(moment: &Moment) {
    let mut rules = rules();
    let scene_rules = |version: u64, rules: &mut Value| {
        rules[1]["reply"]["calls"][0]["arguments"]["cell_version"] = json!(version);
    };
    // The version of the cell is known beforehand: the notebook's second event.
    scene_rules(2, &mut rules);
    let mut scene = Scene::with_kernel(script(&rules)).await;
    let old = json!({"InsertCell": {"cell_id": "old", "cell_type": "code", "source": "old = 1"}});
    scene.ada.command(serde_json::from_value(old).unwrap()).await;
    scene.ada.until("the cell", |state| state.cells.len() == 1).await;
    assert_eq!(scene.ada.state().cells.values().next().unwrap().cell_version, 3 - 1);
    scene.ada.command(Command::SetPolicy { policy: notarium_core::Policy::Trusted }).await;
    let turn = scene.ask("work").await;
    let mut was_killed = false;
    loop {
        let types: Vec<String> = scene.ada.events().iter().map(|it| it.event.event_type().to_owned()).collect();
        if !was_killed && (moment.is_there)(scene.ada.state(), &types) {
            was_killed = true;
            scene.fixture.kill_server();
            scene.fixture.restart_server().await;
            scene.ada.until_connected().await;
        }
        if scene.end_of(&turn).is_some() {
            break;
        }
        let waiting =
            scene.ada.state().tool_calls.iter().find(|(_, call)| call.phase == notarium_core::ToolCallPhase::Waiting);
        if let Some((id, call)) = waiting {
            let confirm = Command::ConfirmToolCall { call_id: id.clone(), arguments_hash: call.arguments_hash };
            // Told twice in a race with the log: the second is refused.
            let _ = scene.ada.try_command(confirm).await;
        }
        let version = scene.ada.state().version;
        scene.ada.until("news", |state| state.version > version).await;
    }
    assert!(was_killed, "the moment '{}' never came: {:#?}", moment.name, scene.story());
    assert_eq!(
        scene.end_of(&turn),
        Some(Ok(notarium_core::StopReason::EndTurn)),
        "{}: {:#?}",
        moment.name,
        scene.story()
    );
    assert_eq!(scene.said(&turn), "All done.", "{}", moment.name);
    check_once(&scene, moment.name);
}

/// Every call was started once and ended once, and what it ran, ran once.
fn check_once(scene: &Scene, moment: &str) {
    let mut seen: BTreeMap<(String, String), usize> = BTreeMap::new();
    for recorded in scene.ada.events() {
        if let Some(call_id) = recorded.event.tool_call_id() {
            *seen.entry((recorded.event.event_type().to_owned(), call_id.to_string())).or_default() += 1;
        }
    }
    assert!(seen.values().all(|count| *count == 1), "{moment}: {seen:#?}");
    let deleted = scene.ada.events().iter().filter(|it| matches!(it.event, Event::CellDeleted(_))).count();
    let ran = scene.ada.events().iter().filter(|it| matches!(it.event, Event::ExecutionRequested(_))).count();
    assert_eq!((deleted, ran), (1, 1), "{moment}: {:#?}", scene.story());
}
