//! What takes long: a word after five seconds, an end of the wait after thirty, and a run that goes on.

use notarium_core::ExecutionStatus;
use serde_json::{Value, json};

use crate::scene::{Scene, script};

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
    assert!(told.contains("It is still running."), "{told}");
    // The wait is over, the run is not.
    let ended = |state: &notarium_core::Notebook| {
        state.executions.values().any(|run| run.status == ExecutionStatus::Ok && run.outputs.len() == 1)
    };
    scene.ada.until("the run's end", ended).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kernel_that_never_comes_is_told_to_the_model() {
    let rules: Value = json!([
        {"when": {"user": "look"}, "reply": {"calls": [{"name": "get_variables", "arguments": {}}]}},
        {"when": {"user": "look", "after_tool": "get_variables"}, "reply": {"text": "No kernel answers."}},
    ]);
    let mut scene = Scene::start(script(&rules)).await;
    assert_eq!(scene.answered("look").await, "No kernel answers.");
    let (text, is_error) = scene.results()[0].clone();
    assert!(!is_error && text.contains("Still queued after 30 s") && text.contains("execution_id"), "{text}");
}
