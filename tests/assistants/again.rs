//! Tests of a turn id that is reused at the moment its turn is stopped.

use notarium_core::{Command, Event, StartTurn, StopReason, TurnId};
use serde_json::json;

use super::scene::{Scene, script};

fn start(turn: &TurnId, text: &str) -> Command {
    Command::StartTurn(StartTurn {
        conversation_id: "talk".parse().unwrap(),
        turn_id: Some(turn.clone()),
        text: Some(text.to_owned()),
        cell_id: None,
        model: None,
        attachments: Vec::new(),
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn an_id_that_is_chosen_again_is_another_turn() {
    let rules = json!([
        {"when": {"user": "first"}, "reply": {"text": "word ".repeat(2_000), "chunk_delay_ms": 50, "chunk_bytes": 20}},
        {"when": {"user": "second"}, "reply": {"text": "Here I am."}},
    ]);
    let mut scene = Scene::start(script(&rules)).await;
    let turn: TurnId = "again".parse().unwrap();
    scene.ada.command(start(&turn, "first")).await;
    let calls = |state: &notarium_core::Document| state.turns.values().all(|turn| turn.model_call_claimant.is_some());
    scene.ada.until("the model call", |state| !state.turns.is_empty() && calls(state)).await;
    let commands = vec![Command::CancelTurn { turn_id: turn.clone() }, start(&turn, "second")];
    scene.ada.command(Command::Batch { commands }).await;
    scene.ada.until("the end", |state| state.turns.is_empty()).await;
    let ends = scene.ada.events();
    let ends = ends.iter().filter_map(|recorded| match &recorded.event {
        Event::TurnFinished(event) => Some(Ok(event.stop_reason.clone())),
        Event::TurnFailed(event) => Some(Err(event.sentence())),
        _ => None,
    });
    assert_eq!(ends.collect::<Vec<_>>(), [Ok(StopReason::EndTurn.into())]);
    assert_eq!(scene.said(&turn), "Here I am.");
}
