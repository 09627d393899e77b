//! Tests with SIGKILL of the server in every state of a turn. The turn continues or fails with the right reason, nothing happens twice, and
//! earlier confirmations stay valid.

use std::collections::BTreeMap;
use std::sync::Arc;

use notarium_core::{Command, Document, Event, Policy, StopReason, ToolCall, ToolCallId, ToolCallPhase, TurnId};
use serde_json::{Value, json};

use super::gate::Gate;
use super::scene::{Scene, gate_function, script};

/// A moment of a turn.
struct Moment {
    name: &'static str,
    when: When,
}

enum When {
    /// The state or the log shows it.
    Seen(fn(&Document, &[String]) -> bool),
    /// The cell's code waits at the gate.
    Executing,
    /// The confirmation of the next call is on disk; its start has not been seen.
    Confirmed,
}

const MOMENTS: &[Moment] = &[
    Moment { name: "started", when: When::Seen(|_, types| count(types, "TurnStarted") == 1) },
    Moment {
        name: "mid-stream",
        when: When::Seen(|state, _| state.turns.values().any(|turn| turn.model_call_claimant.is_some())),
    },
    Moment { name: "replied", when: When::Seen(|_, types| count(types, "TurnModelCallFinished") == 1) },
    Moment { name: "running a cell", when: When::Executing },
    Moment { name: "a call has ended", when: When::Seen(|_, types| count(types, "ToolCallExecuted") == 1) },
    Moment { name: "second call", when: When::Seen(|_, types| count(types, "TurnModelCallStarted") == 2) },
    Moment { name: "waiting for a person", when: When::Seen(|state, _| !waiting(state).is_empty()) },
    // The call behind a waiting one stays in this state until that one is decided.
    Moment { name: "confirmed, not started", when: When::Seen(|state, _| state.tool_calls.values().any(is_confirmed)) },
    Moment { name: "confirmed this instant", when: When::Confirmed },
    Moment { name: "third call", when: When::Seen(|_, types| count(types, "TurnModelCallStarted") == 3) },
];

fn is_confirmed(call: &Arc<ToolCall>) -> bool {
    matches!(call.phase, ToolCallPhase::Confirmed { .. })
}

fn count(types: &[String], name: &str) -> usize {
    types.iter().filter(|one| *one == name).count()
}

/// Returns the calls that wait for a person, in the order of their requests.
fn waiting(state: &Document) -> Vec<ToolCallId> {
    let mut waiting: Vec<_> =
        state.tool_calls.iter().filter(|(_, call)| call.phase == ToolCallPhase::Waiting).collect();
    waiting.sort_by_key(|(_, call)| call.requested_version);
    waiting.into_iter().map(|(id, _)| id.clone()).collect()
}

/// Creates and runs a cell that waits at the gate, deletes two others, and reports.
fn rules(gate: &Gate) -> Value {
    let code = format!("{}\nprint('ran')", gate.code());
    json!([
        {"when": {"user": "work"}, "reply": {"text": "First I run something. ", "chunk_delay_ms": 30, "calls": [
            {"name": "create_cells", "arguments": {"run": true, "cells": [{"source": code}]}}]}},
        // Versions of the cells are fixed: they are created by the notebook's second and third event.
        {"when": {"user": "work", "after_tool": "create_cells"}, "reply": {"chunk_delay_ms": 30, "calls": [
            {"name": "delete_cell", "arguments": {"cell_id": "old", "cell_version": 2}},
            {"name": "delete_cell", "arguments": {"cell_id": "older", "cell_version": 3}}]}},
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
    let mut gate = Gate::start().await;
    let mut scene = trusting(&rules(&gate)).await;
    let turn = scene.ask("work").await;
    let mut was_killed = false;
    if let When::Executing = moment.when {
        gate.until_arrived(1).await;
        scene.kill_and_restart().await;
        was_killed = true;
    }
    gate.open();
    while scene.end_of(&turn).is_none() {
        if !was_killed && moment.is_seen(&scene) {
            scene.kill_and_restart().await;
            was_killed = true;
        } else if let Some(call_id) = next_to_confirm(&scene) {
            let is_last = waiting(scene.ada.state()).len() == 1;
            scene.confirm(&call_id).await;
            if is_last && matches!(moment.when, When::Confirmed) {
                scene.kill_and_restart().await;
                was_killed = true;
            }
            scene.ada.until("the yes", |state| !waiting(state).contains(&call_id)).await;
        } else {
            let version = scene.ada.state().version;
            scene.ada.until("news", |state| state.version > version).await;
        }
    }
    assert!(was_killed, "the moment '{}' never came: {:#?}", moment.name, scene.story());
    check_end(&scene, &turn, moment.name);
    check_once(&scene, moment.name, 2);
    assert_eq!(gate.count(), 1, "{}: how often the code was executed", moment.name);
}

impl Moment {
    fn is_seen(&self, scene: &Scene) -> bool {
        match self.when {
            When::Seen(is_there) => is_there(scene.ada.state(), &types(scene)),
            When::Executing | When::Confirmed => false,
        }
    }
}

/// Starts with a kernel, two cells to delete, and a policy under which only deletions wait.
async fn trusting(rules: &Value) -> Scene {
    let mut scene = Scene::with_kernel(script(rules)).await;
    for id in ["old", "older"] {
        let insert = json!({"InsertCell": {"cell_id": id, "cell_type": "code", "source": "old = 1"}});
        scene.ada.command(serde_json::from_value(insert).unwrap()).await;
    }
    scene.ada.command(Command::SetPolicy { policy: Policy::Trusted }).await;
    scene.ada.until("the policy", |state| state.policy == Policy::Trusted).await;
    scene
}

fn types(scene: &Scene) -> Vec<String> {
    scene.ada.events().iter().map(|recorded| recorded.event.event_type().to_owned()).collect()
}

/// Returns the last waiting call, once all have arrived: earlier ones start only after their own confirmation.
fn next_to_confirm(scene: &Scene) -> Option<ToolCallId> {
    let all_are_there = count(&types(scene), "ToolCallRequested") == 3;
    waiting(scene.ada.state()).pop().filter(|_| all_are_there)
}

fn check_end(scene: &Scene, turn: &TurnId, moment: &str) {
    assert_eq!(scene.end_of(turn), Some(Ok(StopReason::EndTurn)), "{moment}: {:#?}", scene.story());
    assert_eq!(scene.said(turn), "All done.", "{moment}");
}

/// Checks that every call started once and succeeded once, and that its effects occurred once.
fn check_once(scene: &Scene, moment: &str, deletions: usize) {
    let mut seen: BTreeMap<(String, String), usize> = BTreeMap::new();
    for recorded in scene.ada.events() {
        if let Some(call_id) = recorded.event.tool_call_id() {
            *seen.entry((recorded.event.event_type().to_owned(), call_id.to_string())).or_default() += 1;
        }
    }
    assert!(seen.values().all(|count| *count == 1), "{moment}: {seen:#?}");
    let deleted = scene.ada.events().iter().filter(|it| matches!(it.event, Event::CellDeleted(_))).count();
    assert_eq!(deleted, deletions, "{moment}: {:#?}", scene.story());
    assert!(scene.results().iter().all(|(_, is_error)| !is_error), "{moment}: {:#?}", scene.results());
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_a_function_runs_in_the_kernel_it_is_waited_for() {
    let rules = json!([
        {"when": {"user": "work"}, "reply": {"calls": [{"name": "pass_gate", "arguments": {}}]}},
        {"when": {"user": "work", "after_tool": "pass_gate", "result": "passed"}, "reply": {"text": "All done."}},
    ]);
    let mut gate = Gate::start().await;
    let mut scene = trusting(&rules).await;
    scene.register(&gate_function(&gate)).await;
    let turn = scene.ask("work").await;
    gate.until_arrived(1).await;
    scene.kill_and_restart().await;
    gate.open();
    scene.until_over(&turn).await;
    check_end(&scene, &turn, "in a function");
    check_once(&scene, "in a function", 0);
    assert_eq!(gate.count(), 1, "how often the function was called");
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_a_notebook_is_made_and_run_it_is_made_and_run_once() {
    for is_running in [false, true] {
        let mut gate = Gate::start().await;
        let cells = json!([{"cell_type": "markdown", "source": "# New"}, {"source": gate.code()}]);
        let make = json!({"title": "Made by a call", "run": true, "cells": cells});
        let mut scene = trusting(&json!([
            {"when": {"user": "work"}, "reply": {"calls": [{"name": "create_notebook", "arguments": make}]}},
            {"when": {"user": "work", "after_tool": "create_notebook"}, "reply": {"text": "All done."}},
        ]))
        .await;
        let turn = scene.ask("work").await;
        match is_running {
            true => gate.until_arrived(1).await,
            false => scene.ada.until("the start", |state| state.tool_calls.values().any(has_started)).await,
        }
        scene.kill_and_restart().await;
        gate.open();
        scene.until_over(&turn).await;
        let moment = if is_running { "running the new notebook" } else { "making a notebook" };
        check_end(&scene, &turn, moment);
        check_once(&scene, moment, 0);
        assert_eq!(gate.count(), 1, "{moment}: how often the code was executed");
        let titles = scene.titles().await;
        assert_eq!(titles.iter().filter(|title| *title == "Made by a call").count(), 1, "{moment}: {titles:?}");
        let made = scene.results().remove(0).0;
        assert!(made.contains("All 1 cells executed successfully"), "{moment}: {made}");
    }
}

fn has_started(call: &Arc<ToolCall>) -> bool {
    matches!(call.phase, ToolCallPhase::Started { .. })
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_dies_in_the_middle_leaves_an_outcome_that_nobody_knows() {
    let mut gate = Gate::start().await;
    let cell = json!({"run": true, "cells": [{"source": gate.code()}]});
    let rules: Value = json!([
        {"when": {"user": "function"}, "reply": {"calls": [{"name": "pass_gate", "arguments": {}}]}},
        {"when": {"user": "cell"}, "reply": {"calls": [{"name": "create_cells", "arguments": cell}]}},
        {"when": {"after_tool": "*", "result": "Nobody knows how this ended"}, "reply": {"text": "I look first."}},
    ]);
    let mut scene = Scene::with_kernel(script(&rules)).await;
    scene.ada.command(Command::SetPolicy { policy: Policy::Trusted }).await;
    scene.register(&gate_function(&gate)).await;
    for (asked, text) in ["a function", "a cell"].into_iter().enumerate() {
        let turn = scene.ask(text).await;
        gate.until_arrived(asked + 1).await;
        scene.agent.as_mut().expect("an agent").kill();
        // The new agent reports what happened to the kernel.
        scene.agent = Some(scene.fixture.agent().await);
        scene.until_over(&turn).await;
        assert_eq!(scene.said(&turn), "I look first.", "{text}: {:#?}", scene.results());
        let (told, is_error) = scene.results().pop().unwrap();
        assert!(is_error && told.contains("its runtime agent was killed"), "{text}: {told}");
    }
    assert_eq!(gate.count(), 2, "nothing was called again");
    let unknown = scene.calls("outcome_unknown").await;
    let functions: Vec<&str> =
        unknown.as_array().unwrap().iter().map(|call| call["function"].as_str().unwrap()).collect();
    assert_eq!(functions, ["create_cells", "pass_gate"], "{unknown:#}");
    assert_eq!(scene.calls("failed").await, json!([]));
}
