//! Tests of every built-in tool, with real execution.

use std::collections::BTreeSet;
use std::sync::Arc;

use notarium_core::tools::TOOLS;
use notarium_core::{
    CellType, Command, Document, Event, KernelPhase, Policy, RestartKernel, StopReason, ToolCall, ToolCallEnd,
    ToolCallPhase, TurnId,
};
use serde_json::{Value, json};

use super::gate::Gate;
use super::outside::Outside;
use super::scene::{Scene, function, script};

const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// Rules for a chain of calls, each after the result of the previous one.
fn chain(user: &str, calls: &[(&str, Value)]) -> Vec<Value> {
    let when = |after: Option<&str>| match after {
        Some(tool) => json!({"user": user, "after_tool": tool}),
        None => json!({"user": user}),
    };
    let mut after = None;
    let mut rules = Vec::new();
    for (name, arguments) in calls {
        rules.push(json!({"when": when(after), "reply": {"calls": [{"name": name, "arguments": arguments}]}}));
        after = Some(*name);
    }
    rules.push(json!({"when": when(after), "reply": {"text": "Done."}}));
    rules
}

async fn until_done(scene: &mut Scene, turn: &TurnId) {
    scene.until_over(turn).await;
    assert_eq!(scene.end_of(turn), Some(Ok(StopReason::EndTurn)), "{:#?}", scene.story());
}

/// Returns the results of a turn's calls.
async fn calls(scene: &mut Scene, text: &str) -> Vec<(String, bool)> {
    let before = scene.results().len();
    let turn = scene.ask(text).await;
    until_done(scene, &turn).await;
    scene.results().split_off(before)
}

/// Returns the result of a turn with one call.
async fn call(scene: &mut Scene, text: &str) -> (String, bool) {
    calls(scene, text).await.pop().unwrap()
}

/// Returns the result of a turn with one successful call.
async fn good(scene: &mut Scene, text: &str) -> String {
    let (result, is_error) = call(scene, text).await;
    assert!(!is_error, "{text}: {result}");
    result
}

#[tokio::test(flavor = "multi_thread")]
async fn every_tool_of_the_table_answers() {
    let mut gate = Gate::start().await;
    let rules = [rules_of_cells(), rules_of_looks(), rules_of_runs()].concat();
    let more_calls = ["--max-calls-per-minute", "100"];
    let scene = Scene::asking(json!({"family": "anthropic"}), script(&json!(rules)), &more_calls).await;
    let mut scene = scene.and_kernel().await;
    scene.ada.command(Command::SetPolicy { policy: Policy::Trusted }).await;
    prepare(&mut scene).await;
    looks(&mut scene).await;
    cells(&mut scene).await;
    runs(&mut scene).await;
    interrupt_and_restart(&mut scene, &mut gate).await;
    prompt(&mut scene).await;
    let table: BTreeSet<String> = TOOLS.iter().map(|tool| tool.name.to_owned()).collect();
    assert_eq!(executed(&scene), table, "every tool was called, and worked");
}

/// Code that a person runs without a cell, as cells run here again must be harmless.
/// It is closed again, or each look of an assistant would ask.
const SHOP: &str = "import sqlite3; shop = sqlite3.connect('shop.sqlite')\nshop.execute('CREATE TABLE sold (id INTEGER, city)'); shop.close()";

/// Prepares two executed cells: one with a variable and a long text, one with an image.
async fn prepare(scene: &mut Scene) {
    let shop = json!({"RequestExecution": {"target": {"scratch": {"source": SHOP, "purpose": "a database"}}}});
    scene.ada.command(serde_json::from_value(shop).unwrap()).await;
    let picture = format!(
        "from IPython.display import display\ndisplay({{'image/png': '{PNG}', 'text/plain': 'dot'}}, raw=True)"
    );
    for (id, source) in [("first", "losses = [3.1, 2.2]\nprint('x' * 3000)"), ("second", picture.as_str())] {
        let insert = json!({"InsertCell": {"cell_id": id, "cell_type": "code", "source": source}});
        scene.ada.command(serde_json::from_value(insert).unwrap()).await;
        let run: Command =
            serde_json::from_value(json!({"RequestExecution": {"target": {"cell": {"cell_id": id}}}})).unwrap();
        let execution = scene.ada.command(run).await.executions[0].clone();
        let has_ended = |state: &Document| state.executions.get(&execution).is_some_and(|run| run.ended_at.is_some());
        scene.ada.until("the run", has_ended).await;
    }
}

/// Has a prompt cell answered, which only an assistant outside of turns does.
async fn prompt(scene: &mut Scene) {
    let cell = scene.cell_of(CellType::Prompt, "databases").await;
    let outside = Outside::enter(&format!("http://{}", scene.fixture.address()), scene.fixture.session()).await;
    let arguments = json!({"notebook": scene.ada.notebook(), "cell_id": cell});
    let answer = outside.call("execute_prompt", &arguments).await;
    assert!(answer["content"][0]["text"].as_str().unwrap().contains("Done."), "{answer}");
    let is_answered = |state: &Document| state.cells[&cell].reply.is_some() && state.tool_calls.is_empty();
    scene.ada.until("the end of the call", is_answered).await;
}

/// Returns the functions of all successful calls.
fn executed(scene: &Scene) -> BTreeSet<String> {
    let events = || scene.ada.events().iter().map(|recorded| &recorded.event);
    let ended = |event: &Event| match event {
        Event::ToolCallExecuted(event) if event.end == ToolCallEnd::Ok => Some(event.call_id.clone()),
        _ => None,
    };
    let ended: BTreeSet<_> = events().filter_map(ended).collect();
    let functions = events().filter_map(|event| match event {
        Event::ToolCallRequested(event) if ended.contains(&event.call_id) => Some(event.function.clone()),
        _ => None,
    });
    functions.collect()
}

fn rules_of_looks() -> Vec<Value> {
    let save = json!({"path": "out/losses.csv", "content": "a,b\n1,2\n"});
    [
        chain("variables", &[("get_variables", json!({}))]),
        chain("inspect", &[("inspect_variable", json!({"name": "losses"}))]),
        chain("save", &[("save_data", save)]),
        chain("list files", &[("list_files", json!({"path": "out"}))]),
        chain("read", &[("read_file", json!({"path": "out/losses.csv"}))]),
        chain("outputs", &[("get_cell_outputs", json!({"cell_id": "first"}))]),
        chain("picture", &[("get_cell_image", json!({"cell_id": "second"}))]),
        chain("notebooks", &[("list_notebooks", json!({}))]),
        chain("databases", &[("describe_connection", json!({}))]),
        chain("tables", &[("describe_connection", json!({"connection": "shop.sqlite", "matching": "SOLD"}))]),
        chain("nowhere", &[("describe_connection", json!({"connection": "warehouse"}))]),
        chain("beyond the folder", &[("describe_connection", json!({"connection": "../private.sqlite"}))]),
    ]
    .concat()
}

async fn looks(scene: &mut Scene) {
    let variables = good(scene, "variables").await;
    assert!(variables.contains("losses") && variables.contains("list"), "{variables}");
    let inspected = good(scene, "inspect").await;
    assert!(inspected.contains("3.1"), "{inspected}");
    good(scene, "save").await;
    assert!(good(scene, "list files").await.contains("losses.csv"));
    assert!(good(scene, "read").await.contains("1,2"));
    let outputs = good(scene, "outputs").await;
    assert!(outputs.contains(&"x".repeat(3000)), "{outputs}");
    let image = good(scene, "picture").await;
    assert!(image.contains("image/png"), "{image}");
    let shown = scene.model.requests().last().unwrap().body.clone();
    assert!(shown.contains(&PNG[..40]), "the model sees the picture");
    assert!(good(scene, "notebooks").await.contains("\"title\""));
    assert!(good(scene, "databases").await.contains("duckdb (DuckDB in the kernel's memory"));
    assert_eq!(good(scene, "tables").await, "shop.sqlite (sqlite)\nsold(id INTEGER, city)");
    let (told, is_error) = call(scene, "nowhere").await;
    assert!(is_error && told.contains("there is no connection 'warehouse'; there are: duckdb"), "{told}");
    let (told, is_error) = call(scene, "beyond the folder").await;
    assert!(is_error && told.contains("../private.sqlite is not in the working folder"), "{told}");
}

fn rules_of_cells() -> Vec<Value> {
    let made = "${create_cell/cells/0/cell_id}";
    let tidy = chain(
        "tidy",
        &[
            ("get_notebook_state", json!({})),
            ("create_cell", json!({"source": "made = 1", "after": "second"})),
            (
                "modify_cell",
                json!({"cell_id": made, "cell_version": "${create_cell/cells/0/cell_version}", "source": "made = 2"}),
            ),
            ("move_cell", json!({"cell_id": made, "before": "first"})),
            ("delete_cell", json!({"cell_id": made, "cell_version": "${move_cell/cells/0/cell_version}"})),
            ("restore_cell", json!({"cell_id": made})),
            ("undo", json!({"call_id": "${modify_cell/call_id}"})),
        ],
    );
    let marks = json!({"cell_id": "first", "pinned": true});
    let again = chain("again", &[("redo", json!({})), ("undo", json!({})), ("set_cell_flags", marks)]);
    [tidy, again].concat()
}

async fn cells(scene: &mut Scene) {
    let turn = scene.ask_in("cells", "tidy").await;
    let deletion = scene.waiting().await;
    assert_eq!(sources(scene)[0], "made = 2", "made, changed and moved");
    scene.confirm(&deletion).await;
    until_done(scene, &turn).await;
    assert_eq!(scene.ada.state().cells.len(), 3);
    assert_eq!(sources(scene)[0], "made = 1", "back where it was, without its change: {:#?}", scene.results());
    let turn = scene.ask_in("cells", "again").await;
    until_done(scene, &turn).await;
    assert_eq!(sources(scene)[0], "made = 1", "redone and undone: {:#?}", scene.results());
    assert!(scene.ada.state().cells[&"first".parse().unwrap()].content.flags.pinned);
}

fn sources(scene: &Scene) -> Vec<String> {
    scene.ada.state().ordered_cells().map(|(_, cell)| cell.content.source.as_str().to_owned()).collect()
}

fn rules_of_runs() -> Vec<Value> {
    let two = json!([{"source": "made_here = 1"}, {"source": "print(made_here + 1)"}]);
    let new = json!({"title": "Second", "run": true, "cells": [{"source": "print(6 * 7)"}]});
    [
        chain("several", &[("create_cells", json!({"run": true, "cells": two}))]),
        chain("one cell", &[("execute_cell", json!({"cell_id": "first"}))]),
        chain("everything", &[("run_all", json!({}))]),
        chain("look up", &[("execute_code", json!({"source": "print(made_here + 41)"}))]),
        chain("clear", &[("clear_outputs", json!({"cell_id": "first"}))]),
        chain("elsewhere", &[("create_notebook", new)]),
        chain("begin", &[("execute_cell_async", json!({"cell_id": "slow"}))]),
        chain("stop", &[("interrupt", json!({}))]),
        chain("how is it", &[("get_run_status", json!({"execution_id": "${execute_cell_async/executions/0}"}))]),
        chain("afresh", &[("restart_kernel", json!({}))]),
        chain("what is left", &[("get_variables", json!({}))]),
    ]
    .concat()
}

async fn runs(scene: &mut Scene) {
    let made = good(scene, "several").await;
    assert!(made.contains("All 2 cells executed successfully"), "{made}");
    let one = good(scene, "one cell").await;
    assert!(one.contains("\"status\":\"ok\""), "{one}");
    let all = good(scene, "everything").await;
    assert!(all.contains("All 5 cells executed successfully"), "{all}");
    let found = good(scene, "look up").await;
    assert!(found.contains("42") && found.contains("\"status\":\"ok\""), "{found}");
    let turn = scene.ask("clear").await;
    let clearing = scene.waiting().await;
    scene.confirm(&clearing).await;
    until_done(scene, &turn).await;
    assert!(!scene.ada.state().latest.contains_key(&"first".parse::<notarium_core::CellId>().unwrap()));
    let elsewhere = good(scene, "elsewhere").await;
    assert!(elsewhere.contains("All 1 cells executed successfully"), "{elsewhere}");
}

async fn interrupt_and_restart(scene: &mut Scene, gate: &mut Gate) {
    let insert = json!({"InsertCell": {"cell_id": "slow", "cell_type": "code", "source": gate.code()}});
    scene.ada.command(serde_json::from_value(insert).unwrap()).await;
    good(scene, "begin").await;
    gate.until_arrived(1).await;
    good(scene, "stop").await;
    let ends = |state: &Document| state.latest_execution(&"slow".parse().unwrap()).unwrap().1.ended_at.is_some();
    scene.ada.until("the end of the run", ends).await;
    let status = good(scene, "how is it").await;
    assert!(status.contains("\"status\":\"error\"") && status.contains("KeyboardInterrupt"), "{status}");
    let kernel = scene.ada.state().kernels.keys().next().cloned().unwrap();
    let turn = scene.ask("afresh").await;
    let restart = scene.waiting().await;
    scene.confirm(&restart).await;
    until_done(scene, &turn).await;
    let is_new = |state: &Document| {
        state.kernels.iter().any(|(id, session)| *id != kernel && session.phase == KernelPhase::Started)
    };
    scene.ada.until("the new kernel", is_new).await;
    let left = good(scene, "what is left").await;
    assert!(!left.contains("losses"), "{left}");
}

// --- functions of the notebook ---

fn double() -> String {
    function("double", Some("number"), "return {'twice': arguments['number'] * 2}")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_function_of_the_notebook_is_offered_and_called() {
    let rules: Vec<Value> = [
        chain("good", &[("double", json!({"number": 21}))]),
        chain("wrong", &[("double", json!({"number": "many"}))]),
        chain("missing", &[("double", json!({}))]),
    ]
    .concat();
    let mut scene = Scene::with_kernel(script(&json!(rules))).await;
    scene.register(&double()).await;
    let result = good(&mut scene, "good").await;
    assert!(result.contains("42"), "{result}");
    assert!(scene.model.requests()[0].body.contains("The function double"), "it is offered to the model");
    let (result, is_error) = call(&mut scene, "wrong").await;
    assert!(is_error && result.contains("number"), "{result}");
    assert_eq!(call(&mut scene, "missing").await, ("Missing required parameters: number".to_owned(), true));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_function_that_vanishes_is_told_to_the_model_and_the_turn_goes_on() {
    let rules = chain("double", &[("double", json!({"number": 21}))]);
    let mut scene = Scene::with_kernel(script(&json!(rules))).await;
    scene.register(&double()).await;
    // Removed in the kernel after the call's start: the call waits behind code that removes the function.
    let (told, is_error) = behind(&mut scene, "\nimport sys; del sys.modules['notarium']", async |_| {}).await;
    assert!(is_error && told.contains("does not know double any more: run the cell that registers it"), "{told}");
    // Removed with its kernel, after the call's start.
    scene.register(&double()).await;
    let restart = async |scene: &mut Scene| {
        let kernel_session = scene.ada.state().kernels.keys().next().cloned().unwrap();
        scene.ada.command(Command::RestartKernel(RestartKernel::on_its_agent(kernel_session))).await;
    };
    let (told, is_error) = behind(&mut scene, "", restart).await;
    assert!(is_error && told.contains("the kernel was restarted"), "{told}");
    // Removed with its kernel, before the call.
    let is_gone = |state: &Document| state.functions.values().all(|function| function.kernel_session.is_none());
    scene.ada.until("the end of the kernel", is_gone).await;
    let (told, is_error) = call(&mut scene, "double").await;
    assert!(is_error && told.contains("has ended: run the cell that registers it again"), "{told}");
}

/// Returns the result of a call that starts while the person's code runs, after `meanwhile`.
async fn behind(scene: &mut Scene, code: &str, meanwhile: impl AsyncFn(&mut Scene)) -> (String, bool) {
    let mut gate = Gate::start().await;
    scene.ada.run(&(gate.code() + code)).await;
    gate.until_arrived(1).await;
    let turn = scene.ask("double").await;
    let has_started = |call: &Arc<ToolCall>| matches!(call.phase, ToolCallPhase::Started { .. });
    scene.ada.until("the start of the call", |state| state.tool_calls.values().any(has_started)).await;
    meanwhile(scene).await;
    gate.open();
    until_done(scene, &turn).await;
    scene.results().pop().unwrap()
}
