//! Tests of models behind OpenAI chat completions: replies, results and provider data go through the record as with Anthropic's.

use notarium_core::ExecutionStatus;
use serde_json::{Value, json};

use super::scene::{Scene, mend, script};

/// Returns the bodies of all requests, oldest first.
fn bodies(scene: &Scene) -> Vec<Value> {
    let requests = scene.model.requests();
    assert!(requests.iter().all(|request| request.path == "/v1/chat/completions"));
    requests.iter().map(|request| request.json()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn create_run_fix_summarise_over_chat_completions() {
    let provider = json!({"family": "compatible", "model": "scripted"});
    let mut scene = Scene::asking(provider, mend(), &[]).await.and_kernel().await;
    assert_eq!(scene.answered("Create, run, fix, summarise").await, "It works: the total is 6.");
    let bodies = bodies(&scene);
    assert!(bodies[0].get("parallel_tool_calls").is_none(), "its row says that it may call several at once");
    // The scripted server has checked that each result names its call; the record keeps the provider's ids.
    let messages = bodies.last().unwrap()["messages"].as_array().unwrap();
    let texts = messages.iter().filter(|message| message["role"] == "tool").map(|message| message["content"].as_str());
    let texts: Vec<&str> = texts.map(Option::unwrap).collect();
    assert_eq!(texts.len(), 4, "{texts:#?}");
    assert!(texts[0].starts_with("Error: ") && texts[0].contains("KeyError"), "{}", texts[0]);
    assert!(!texts[3].starts_with("Error") && texts[3].contains("fixed"), "{}", texts[3]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_cannot_chain_makes_a_notebook_with_its_cells_in_one_call() {
    let cells = json!([{"source": "losses = [3, 2, 1]"}, {"source": "print(sum(losses))"}]);
    let make = json!({"name": "create_notebook", "arguments": {"title": "Second", "run": true, "cells": cells}});
    let rules = json!([
        {"when": {"user": "new notebook", "system": "create_notebook with cells and run: true"}, "reply": {"calls": [make]}},
        {"when": {"user": "new notebook", "after_tool": "create_notebook", "result": "All 2 cells executed successfully"},
         "reply": {"text": "It is ${create_notebook~notebook_id}."}},
    ]);
    let provider = json!({"family": "ollama", "model": "llama3.2"});
    let mut scene = Scene::asking(provider, script(&rules), &[]).await.and_kernel().await;
    let said = scene.answered("Make a new notebook that sums the losses").await;
    let made = said.strip_prefix("It is ").and_then(|rest| rest.strip_suffix('.')).unwrap();
    assert_ne!(made, scene.ada.notebook().as_str());
    let bodies = bodies(&scene);
    assert_eq!(bodies.len(), 2, "one call did it all");
    assert!(bodies.iter().all(|body| body["parallel_tool_calls"] == false), "its row says: one call at a time");
    let state = scene.get(&format!("/api/notebooks/{made}")).await;
    let runs = state["notebook"]["executions"].as_object().unwrap_or_else(|| panic!("{state:#}"));
    let ended: Vec<Value> = runs.values().map(|run| run["status"].clone()).collect();
    assert_eq!(ended, [json!(ExecutionStatus::Ok), json!(ExecutionStatus::Ok)], "{state:#}");
    assert!(state.to_string().contains("6\\n"), "{state:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_provider_attached_to_a_call_goes_back_to_it() {
    let call = |id: &str| {
        json!({
            "id": id, "type": "function", "function": {"name": "list_notebooks", "arguments": "{}"},
            "extra_content": {"google": {"thought_signature": format!("sig of {id}")}},
        })
    };
    let first = json!({"choices": [{"delta": {"role": "assistant", "tool_calls": [call("a"), call("b")]}}]});
    let last = json!({"choices": [{"delta": {}, "finish_reason": "stop"}]});
    let rules = json!([
        {"reply": {"raw": format!("data: {first}\n\ndata: {last}\n\n")}},
        {"reply": {"text": "Two lists."}},
        {"reply": {"text": "I remember."}},
    ]);
    let mut scene = Scene::asking(json!({"family": "gemini"}), script(&rules), &[]).await;
    assert_eq!(scene.answered("List them twice").await, "Two lists.");
    assert_eq!(scene.answered("Do you remember?").await, "I remember.");
    // Checked in the turn itself, and in the next one.
    for body in &bodies(&scene)[1..] {
        let messages = body["messages"].as_array().unwrap();
        let calls = messages.iter().find_map(|message| message["tool_calls"].as_array()).unwrap();
        let told = calls.iter().map(|call| (call["id"].clone(), call["extra_content"].clone()));
        let expected = ["a", "b"].map(|id| (json!(id), call(id)["extra_content"].clone()));
        assert_eq!(told.collect::<Vec<_>>(), expected);
    }
}
