//! Tests of long waits: a notice after five seconds, an end of the wait after thirty, runs that continue, and runs that get lost.
//! Tests with shorter waits are in `src/cli/serve/models/tests/`.

use notarium_core::{Command, ExecutionStatus, Policy};
use serde_json::{Value, json};

use super::gate::Gate;
use super::scene::{Scene, gate_function, script};

#[tokio::test(flavor = "multi_thread")]
async fn a_long_run_is_told_of_once_and_waited_for_thirty_seconds_while_it_goes_on() {
    let slow = "import time\ntime.sleep(34)\nprint('the end')";
    let rules: Value = json!([
        {"when": {"user": "slow"}, "reply": {"calls": [
            {"name": "create_cells", "arguments": {"run": true, "cells": [{"source": slow}]}}]}},
        {"when": {"user": "slow", "after_tool": "create_cells", "result": "still running"}, "reply": {"text": "It is still running."}},
    ]);
    let mut scene = Scene::with_kernel(script(&rules)).await;
    let address = format!("http://{}/api/notebooks/{}/chat", scene.fixture.address(), scene.ada.notebook());
    let request = reqwest::Client::new().post(&address).bearer_auth(scene.fixture.session());
    let told = request.json(&json!({"text": "slow"})).send().await.unwrap().text().await.unwrap();
    assert_eq!(told.matches("event: tool_update").count(), 1, "{told}");
    // The number of pieces may differ.
    let deltas = told.lines().filter(|line| line.contains(r#""type":"text_delta""#));
    let texts = deltas.filter_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data: ")?).ok());
    let said: String = texts.filter_map(|delta| Some(delta["text"].as_str()?.to_owned())).collect();
    assert_eq!(said, "It is still running.", "{told}");
    // The wait has ended, the run continues.
    let ended = |state: &notarium_core::Document| {
        state.executions.values().any(|run| run.status == ExecutionStatus::Ok && run.outputs.len() == 1)
    };
    scene.ada.until("the run's end", ended).await;
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
