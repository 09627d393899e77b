//! Assistants read which cells of a reactive notebook are stale, as everybody does: from what has run in the kernel.

use notarium_core::{Command, ExecutionTarget, Reactivity, RequestExecution};
use serde_json::json;

use super::outside::Outside;
use super::scene::{Scene, script};

#[tokio::test(flavor = "multi_thread")]
async fn a_value_that_a_deleted_cell_has_overwritten_is_not_called_fresh() {
    let mut scene = Scene::with_kernel(script(&json!([]))).await;
    let [one, two, show] = [scene.cell("x = 1").await, scene.cell("x = 2").await, scene.cell("print(x)").await];
    scene.ada.command(Command::SetReactivity { reactivity: Reactivity::Lazy }).await;
    for cell in [&one, &two, &show] {
        let target = ExecutionTarget::Cell { cell_id: cell.clone(), cell_version: None };
        scene.ada.command(Command::RequestExecution(RequestExecution::new(target))).await;
    }
    let ended = |state: &notarium_core::Document| {
        state.latest_execution(&show).is_some_and(|(_, execution)| execution.status.is_finished())
    };
    scene.ada.until("the last run", ended).await;
    scene.ada.command(Command::DeleteCell { cell_id: two.clone(), cell_version: None }).await;
    let outside = Outside::enter(&format!("http://{}", scene.fixture.address()), scene.fixture.session()).await;
    let told = outside.call("get_notebook_state", &json!({"notebook": scene.ada.notebook()})).await;
    let told = told["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{told}"));
    let state: serde_json::Value = serde_json::from_str(told).unwrap();
    let why = |cell: usize| state["cells"][cell]["stale_because"].clone();
    assert_eq!(why(0), format!("cell {two} has overwritten its `x`"), "{state:#}");
    assert_eq!(why(1), format!("cell {one}, from which it reads, is not up to date"), "{state:#}");
}
