//! Prompt cells that an outside assistant has answered over MCP.

use notarium_core::{Actor, CellType, Document, Event, Policy};
use serde_json::{Value, json};

use super::outside::Outside;
use super::scene::{Scene, script};

async fn enter(scene: &Scene, scopes: &[&str]) -> Outside {
    Outside::enter_with(&format!("http://{}", scene.fixture.address()), scene.fixture.session(), scopes).await
}

/// The tool's result: its JSON, and true for an error.
fn told(result: &Value) -> (Value, bool) {
    let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}"));
    (serde_json::from_str(text).unwrap_or_else(|_| json!(text)), result["isError"] == true)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_reply_is_the_answer_and_the_record_says_who_asked() {
    let rules = json!([{"when": {"user": "How many"}, "reply": {"text": "There are 3."}}]);
    let mut scene = Scene::start(script(&rules)).await;
    let cell = scene.cell_of(CellType::Prompt, "How many rows are there?").await;
    let outside = enter(&scene, &["read", "edit", "run"]).await;
    let here = scene.ada.notebook().clone();
    let result = outside.call("execute_prompt", &json!({"notebook": here, "cell_id": cell})).await;
    let (reply, is_error) = told(&result);
    assert!(!is_error, "{reply}");
    assert_eq!(reply, json!({"cell_id": cell, "status": "finished", "reply": "There are 3."}));
    let read = outside.call("get_cell_outputs", &json!({"notebook": here, "cell_id": cell})).await;
    assert_eq!(told(&read).0, reply, "it is read again as a cell's outputs are");
    scene.ada.until("the reply", |state| state.cells[&cell].reply.is_some() && state.turns.is_empty()).await;
    let begun = scene.ada.events().iter().find(|recorded| matches!(recorded.event, Event::TurnStarted(_)));
    let actor = begun.unwrap().envelope.actor.clone();
    assert!(matches!(actor, Actor::Assistant { .. }), "no person asked: {actor:?}");
    let code = scene.cell("1").await;
    let (refused, is_error) = told(&outside.call("execute_prompt", &json!({"notebook": here, "cell_id": code})).await);
    assert!(is_error && refused.as_str().unwrap().contains("is no prompt"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_that_must_ask_waits_for_a_person_and_says_so() {
    let made =
        json!({"cell_id": "${create_cell/cells/0/cell_id}", "cell_version": "${create_cell/cells/0/cell_version}"});
    let rules = json!([
        {"when": {"user": "Tidy"}, "reply": {"calls": [{"name": "create_cell", "arguments": {"source": "doomed"}}]}},
        {"when": {"user": "Tidy", "after_tool": "create_cell"}, "reply": {"calls": [{"name": "delete_cell", "arguments": made}]}},
        {"when": {"user": "Tidy", "after_tool": "delete_cell"}, "reply": {"text": "It is gone."}},
    ]);
    let mut scene = Scene::start(script(&rules)).await;
    let is_there = |state: &Document| state.cells.values().any(|cell| cell.content.source.as_str() == "doomed");
    let cell = scene.cell_of(CellType::Prompt, "Tidy up").await;
    let outside = enter(&scene, &["read", "edit", "run"]).await;
    let here = scene.ada.notebook().clone();
    let asked = outside.call("execute_prompt", &json!({"notebook": here, "cell_id": cell})).await;
    let deletion = scene.waiting().await;
    let (reply, is_error) = told(&asked);
    assert!(!is_error && reply["status"] == "running", "{reply}");
    assert_eq!(reply["waits_for_person"], json!([deletion]), "{reply}");
    assert!(is_there(scene.ada.state()), "nobody has allowed it");
    scene.confirm(&deletion).await;
    let is_over = |state: &Document| state.turns.is_empty() && !is_there(state);
    scene.ada.until("the end of the turn", is_over).await;
    let read = outside.call("get_cell_outputs", &json!({"notebook": here, "cell_id": cell})).await;
    assert_eq!(told(&read).0["reply"], "It is gone.");
}

/// The turn has the rights of the token with which it was asked for.
#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_may_not_run_has_nothing_run_by_a_prompt() {
    let rules = json!([
        {"when": {"user": "Run"}, "reply": {"calls": [{"name": "run_all", "arguments": {}}]}},
        {"when": {"user": "Run", "after_tool": "run_all"}, "reply": {"text": "I may not."}},
    ]);
    let mut scene = Scene::start(script(&rules)).await;
    scene.ada.command(notarium_core::Command::SetPolicy { policy: Policy::Trusted }).await;
    scene.cell("x = 1").await;
    let cell = scene.cell_of(CellType::Prompt, "Run everything").await;
    let outside = enter(&scene, &["read", "edit"]).await;
    let here = scene.ada.notebook().clone();
    let (reply, _) = told(&outside.call("execute_prompt", &json!({"notebook": here, "cell_id": cell})).await);
    assert_eq!(reply["reply"], "I may not.");
    let is_answered = |state: &Document| state.cells[&cell].reply.is_some() && state.turns.is_empty();
    scene.ada.until("the reply", is_answered).await;
    let (result, is_error) = scene.results().pop().unwrap();
    assert!(is_error && result.contains("lacks the scope run"), "{result}");
    assert!(scene.ada.state().executions.is_empty());
}
