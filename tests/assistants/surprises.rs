//! Tests of traps that an assistant's code lays in a kernel: they do not act in a person's name, until the person allows it.

use notarium_core::{
    Command, Effect, Effects, ExecutionId, ExecutionTarget, RequestExecution, RequestedEffects, ToolCallPhase,
};
use serde_json::json;

use super::scene::{Scene, script};

/// The next call of `json.dumps` removes the file.
const TRAP: &str = "import json, os
dumps = json.dumps
def trap(*values, **settings):
    try:
        os.remove('data.csv')
    except OSError:
        pass
    return dumps(*values, **settings)
json.dumps = trap";

/// Lets the turn end; confirms what waits, as a person would who sees no effects in it.
async fn until_over(scene: &mut Scene, text: &str) {
    let turn = scene.ask(text).await;
    while scene.end_of(&turn).is_none() {
        let waiting = scene.ada.state().tool_calls.iter().find(|(_, call)| call.phase == ToolCallPhase::Waiting);
        if let Some((call_id, call)) = waiting {
            let command = Command::ConfirmToolCall { call_id: call_id.clone(), arguments_hash: call.arguments_hash };
            scene.ada.command(command).await;
        }
        let version = scene.ada.state().version;
        scene.ada.until("the turn's end, or a call that waits", |state| state.version > version).await;
    }
}

/// Runs the code as the person; returns the run's id.
async fn run(scene: &mut Scene, source: &str, effects: Option<RequestedEffects>) -> ExecutionId {
    let target = ExecutionTarget::Scratch { source: source.to_owned(), purpose: "test".to_owned() };
    let request = Command::RequestExecution(RequestExecution { effects, ..RequestExecution::new(target) });
    let id = scene.ada.command(request).await.executions[0].clone();
    scene.ada.until("the request", |state| state.executions.contains_key(&id)).await;
    scene.ada.until_over(&id).await;
    id
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trap_in_json_dumps_removes_nothing_until_the_person_allows_it() {
    let cells = json!([{"source": TRAP}]);
    let call = json!({"name": "create_cells", "arguments": {"run": true, "cells": cells}});
    let replies = json!([
        {"when": {"user": "lay"}, "times": 1, "reply": {"calls": [call]}},
        {"when": {"after_tool": "*"}, "reply": {"text": "Done."}}
    ]);
    let mut scene = Scene::with_kernel(script(&replies)).await;
    let file = scene.fixture.folder().join("data.csv");
    std::fs::write(&file, "must survive").unwrap();
    let first = run(&mut scene, "import json\njson.dumps({})", None).await;
    assert_eq!(scene.ada.record(&first).await.effects.judged(), Effects::Free, "no assistant has run anything");
    until_over(&mut scene, "lay").await;

    let stopped = run(&mut scene, "json.dumps({})", None).await;
    let stopped = scene.ada.record(&stopped).await;
    assert_eq!(stopped.effects.judged(), Effects::expected([]));
    let [refused] = &stopped.refused[..] else { panic!("{:?}", stopped.refused) };
    assert!(refused.kind == Effect::Remove && refused.target.ends_with("/data.csv"), "{refused:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "must survive");

    // Her own text says that it removes.
    std::fs::write(file.with_file_name("other.csv"), "").unwrap();
    let removing = run(&mut scene, "import os\nos.remove('other.csv')", None).await;
    assert_eq!(scene.ada.record(&removing).await.refused, []);
    assert!(!file.with_file_name("other.csv").exists());

    let allowed = run(&mut scene, "json.dumps({})", Some(RequestedEffects::Free)).await;
    assert_eq!(scene.ada.record(&allowed).await.effects.judged(), Effects::Free);
    assert!(!file.exists(), "she allowed it");
}
