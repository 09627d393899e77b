//! Tests that partial text of an assistant is kept when its turn is stopped, or its model fails.

use notarium_core::{Actor, CellType, Command, Event, TurnId};
use reqwest::Method;
use serde_json::{Value, json};

use super::chat::Told;
use super::scene::{Scene, script};

/// A reply that hangs after some text.
fn hangs() -> Value {
    json!({"text": "one two three four five six", "piece_characters": 4, "hang_after_bytes": 700, "chunk_bytes": 50})
}

/// Returns the text of the turn's partial message, its author, and the type of the next event.
fn kept(scene: &Scene, turn: &TurnId) -> Option<(String, Actor, String)> {
    let events = scene.ada.events();
    let at = events.iter().position(|recorded| match &recorded.event {
        Event::MessagePosted(event) => event.is_partial && event.turn_id.as_ref() == Some(turn),
        _ => false,
    })?;
    let (actor, next) = (events[at].envelope.actor.clone(), events[at + 1].event.event_type().to_owned());
    Some((scene.said(turn), actor, next))
}

/// Waits for the first text, and stops the turn.
async fn stop(scene: &mut Scene, told: &mut Told) -> TurnId {
    told.until("text_delta").await;
    let turn: TurnId = told.events[0]["turn_id"].as_str().unwrap().parse().unwrap();
    scene.ada.command(Command::CancelTurn { turn_id: turn.clone() }).await;
    assert_eq!(told.until("done").await["stop_reason"], "cancelled");
    scene.until_over(&turn).await;
    turn
}

#[tokio::test(flavor = "multi_thread")]
async fn the_half_of_an_answer_that_is_stopped_is_kept_and_the_model_is_told() {
    let rules = json!([{"when": {"user": "Count"}, "reply": hangs()}, {"reply": {"text": "Six follows five."}}]);
    let mut scene = Scene::start(script(&rules)).await;
    let mut told = Told::of(&scene, "Count").await;
    let turn = stop(&mut scene, &mut told).await;
    let (text, actor, next) = kept(&scene, &turn).expect("the half is kept");
    assert_eq!((text.as_str(), next.as_str()), (told.text.as_str(), "TurnCancelled"));
    assert!(!text.is_empty() && "one two three four five six".starts_with(&text), "{text}");
    let conversation = told.events[0]["conversation_id"].as_str().unwrap().to_owned();
    assert!(matches!(&actor, Actor::Assistant { conversation: its, .. } if its.as_str() == conversation), "{actor:?}");
    let listed = scene.request(Method::GET, &format!("conversations/{conversation}/messages")).send().await.unwrap();
    let listed: Value = listed.json().await.unwrap();
    assert_eq!((&listed["messages"][0]["is_partial"], &listed["messages"][1]["role"]), (&json!(true), &json!("user")));
    // A later follower gets the same text.
    let path = format!("turns/{turn}/stream");
    let late = scene.request(Method::GET, &path).send().await.unwrap().text().await.unwrap();
    let deltas = late.lines().filter_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data: ")?).ok());
    let retold: String = deltas.filter_map(|event| event["text"].as_str().map(str::to_owned)).collect();
    assert_eq!(retold, text);
    // Next question in the conversation.
    let next = scene.ask_in(&conversation, "And what follows?").await;
    scene.until_over(&next).await;
    assert_eq!(scene.said(&next), "Six follows five.");
    let sent = scene.model.requests().last().unwrap().json()["messages"].clone();
    let said =
        json!([{"type": "text", "text": text}, {"type": "text", "text": "[This answer was stopped before its end.]"}]);
    let is_said = |message: &Value| {
        let mut content = message["content"].clone();
        content
            .as_array_mut()
            .into_iter()
            .flatten()
            .for_each(|block| _ = block.as_object_mut().unwrap().remove("cache_control"));
        message["role"] == "assistant" && content == said
    };
    assert!(sent.as_array().unwrap().iter().any(is_said), "{sent:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_half_of_an_answer_whose_model_fails_for_good_is_kept() {
    let cut = json!([{"when": {}, "reply": {"text": "one two three four five six", "piece_characters": 4, "cut_after_bytes": 700, "chunk_bytes": 50}}]);
    let mut scene = Scene::start(script(&cut)).await;
    let turn = scene.ask("Count").await;
    scene.until_over(&turn).await;
    assert!(matches!(scene.end_of(&turn), Some(Err(_))), "{:#?}", scene.story());
    let (text, _, next) = kept(&scene, &turn).expect("the half is kept");
    assert!(!text.is_empty() && "one two three four five six".starts_with(&text), "{text}");
    assert_eq!(next, "TurnFailed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_cell_shows_the_half_and_the_server_keeps_it() {
    let mut scene = Scene::start(script(&json!([{"when": {}, "reply": hangs()}]))).await;
    let cell = scene.cell_of(CellType::Prompt, "Count").await;
    let turn = scene.prompt(&cell).await;
    let mut told = Told::following(&scene, &turn).await;
    stop(&mut scene, &mut told).await;
    let text = kept(&scene, &turn).expect("the half is kept").0;
    let reply = |scene: &Scene| scene.ada.state().cells[&cell].reply.clone().expect("a reply");
    assert_eq!(
        (reply(&scene).text.as_str(), reply(&scene).status.clone()),
        (text.as_str(), notarium_core::ReplyStatus::Stopped.into())
    );
    scene.kill_and_restart().await;
    scene.ada.command(Command::RenameNotebook { title: "Later".to_owned() }).await;
    assert_eq!(reply(&scene).text, text);
    let show = scene.fixture.owner_of(&format!("http://{}", scene.fixture.address()));
    let shown = { show }.args(["show", scene.ada.notebook().as_str()]).output().unwrap();
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains(text.trim()), "{shown}");
}
