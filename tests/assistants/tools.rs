//! Every tool of the table, executed for real.

use notarium_core::{Command, StopReason};
use serde_json::{Value, json};

use crate::scene::{Scene, script};

/// One call, asked for and answered.
fn one(user: &str, name: &str, arguments: &Value) -> [Value; 2] {
    [
        json!({"when": {"user": user}, "reply": {"calls": [{"name": name, "arguments": arguments}]}}),
        json!({"when": {"user": user, "after_tool": "*"}, "reply": {"text": "Done."}}),
    ]
}

async fn call(scene: &mut Scene, text: &str) -> (String, bool) {
    let turn = scene.ask(text).await;
    scene.until_over(&turn).await;
    assert_eq!(scene.end_of(&turn), Some(Ok(StopReason::EndTurn)), "{:#?}", scene.story());
    scene.results().last().cloned().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_tool_of_the_kernel_and_the_server_answers() {
    let png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let picture = format!(
        "from IPython.display import display\ndisplay({{'image/png': '{png}', 'text/plain': 'dot'}}, raw=True)"
    );
    let rules: Vec<Value> = [
        one("variables", "get_variables", &json!({})),
        one("inspect", "inspect_variable", &json!({"name": "losses"})),
        one("save", "save_data", &json!({"path": "out/losses.csv", "content": "a,b\n1,2\n"})),
        one("files", "list_files", &json!({"path": "out"})),
        one("read", "read_file", &json!({"path": "out/losses.csv"})),
        one("outputs", "get_cell_outputs", &json!({"cell_id": "first"})),
        one("picture", "get_cell_image", &json!({"cell_id": "second"})),
        one("notebooks", "list_notebooks", &json!({})),
        one("make", "create_notebook", &json!({"title": "Second", "run": true, "cells": [{"source": "print(6 * 7)"}]})),
    ]
    .concat();
    let mut scene = Scene::with_kernel(script(&json!(rules))).await;
    for (id, source) in [("first", "losses = [3.1, 2.2]\nprint('x' * 3000)"), ("second", picture.as_str())] {
        let insert = json!({"InsertCell": {"cell_id": id, "cell_type": "code", "source": source}});
        scene.ada.command(serde_json::from_value(insert).unwrap()).await;
        let run = json!({"RequestExecution": {"target": {"cell": {"cell_id": id}}}});
        let run: Command = serde_json::from_value(run).unwrap();
        let execution = scene.ada.command(run).await.executions[0].clone();
        scene
            .ada
            .until("the run", |state| state.executions.get(&execution).is_some_and(|run| run.ended_at.is_some()))
            .await;
    }
    let (variables, is_error) = call(&mut scene, "variables").await;
    assert!(!is_error && variables.contains("losses") && variables.contains("list"), "{variables}");
    let (inspected, _) = call(&mut scene, "inspect").await;
    assert!(inspected.contains("3.1"), "{inspected}");
    let (saved, is_error) = call(&mut scene, "save").await;
    assert!(!is_error, "{saved}");
    assert!(call(&mut scene, "files").await.0.contains("losses.csv"));
    assert!(call(&mut scene, "read").await.0.contains("1,2"));
    let (outputs, _) = call(&mut scene, "outputs").await;
    assert!(outputs.contains(&"x".repeat(3000)), "{outputs}");
    let (image, _) = call(&mut scene, "picture").await;
    assert!(image.contains("image/png"), "{image}");
    let shown = scene.model.requests().last().unwrap().body.clone();
    assert!(shown.contains(&png[..40]), "the model sees the picture");
    assert!(call(&mut scene, "notebooks").await.0.contains("\"title\""));
    let (made, is_error) = call(&mut scene, "make").await;
    assert!(!is_error && made.contains("All 1 cells executed successfully"), "{made}");
}

/// What the Python module will do: a table of functions, and one way to call them.
const MODULE: &str = r#"
import sys, types, comm
notarium = types.ModuleType("notarium")
def call_function(name, arguments):
    return {"twice": arguments["number"] * 2}
notarium.call_function = call_function
sys.modules["notarium"] = notarium
schema = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}
comm.create_comm(target_name="notarium.functions", data={"functions": [
    {"name": "double", "version": "1", "description": "Doubles a number", "schema": schema, "risk": "read"}]})
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_function_of_the_notebook_is_offered_and_called() {
    let rules: Vec<Value> = [
        one("double", "double", &json!({"number": 21})),
        one("wrong", "double", &json!({"number": "many"})),
        one("missing", "double", &json!({})),
    ]
    .concat();
    let mut scene = Scene::with_kernel(script(&json!(rules))).await;
    scene.ada.run(MODULE).await;
    scene.ada.until("the function", |state| !state.functions.is_empty()).await;
    let (result, is_error) = call(&mut scene, "double").await;
    assert!(!is_error && result.contains("42"), "{result}");
    assert!(scene.model.requests()[0].body.contains("Doubles a number"), "it is offered to the model");
    let (result, is_error) = call(&mut scene, "wrong").await;
    assert!(is_error && result.contains("number"), "{result}");
    assert_eq!(call(&mut scene, "missing").await, ("Missing required parameters: number".to_owned(), true));
}
