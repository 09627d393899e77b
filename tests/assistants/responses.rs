//! Tests of a model behind OpenAI's Responses: it thinks and calls tools, and its encrypted reasoning stays in memory.

use notarium_core::{Command, Event, StopReason, Usage};
use serde_json::{Value, json};

use super::scene::{KEY, Scene, acceptance, script};

/// Settings of OpenAI's provider at another address: there the protocol must be named.
fn openai() -> Value {
    json!({"family": "openai", "protocol": "responses", "model": "gpt-5.4"})
}

async fn scene(rules: &Value) -> Scene {
    Scene::asking(openai(), script(rules), &[]).await
}

/// Returns the items of the last request.
fn items(scene: &Scene) -> Vec<Value> {
    let requests = scene.model.requests();
    assert!(requests.iter().all(|request| request.path == "/v1/responses"));
    requests.last().unwrap().json()["input"].as_array().unwrap().clone()
}

fn reasoning(scene: &Scene) -> Vec<Value> {
    items(scene).into_iter().filter(|item| item["type"] == "reasoning").collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_thinks_between_two_calls_and_keeps_its_reasoning_out_of_the_record() {
    let list = json!({"name": "list_notebooks", "arguments": {}});
    let rules = json!([
        {"when": {"user": "look"}, "reply": {"thinking": "I need both lists.", "text": "I look. ", "calls": [list, list]}},
        {"when": {"after_tool": "list_notebooks"}, "times": 1, "reply": {"thinking": "Once more.", "calls": [list]}},
        {"when": {"after_tool": "list_notebooks"}, "reply": {"text": "There is one."}},
        {"when": {"user": "again"}, "reply": {"text": "Still one."}},
    ]);
    let mut scene = scene(&rules).await;
    assert_eq!(scene.answered("Look twice").await, "There is one.");
    // The scripted server has checked that the reasoning is unchanged, and followed by what the model did.
    let kinds: Vec<Value> = items(&scene).iter().map(|item| item["type"].clone()).collect();
    let expected = [
        "message",
        "reasoning",
        "message",
        "function_call",
        "function_call",
        "function_call_output",
        "function_call_output",
        "reasoning",
        "function_call",
        "function_call_output",
    ];
    assert_eq!(kinds, expected);
    let request = scene.model.requests()[0].json();
    assert_eq!((&request["prompt_cache_key"], &request["store"]), (&json!("talk"), &json!(false)));
    assert!(
        request["include"][0] == "reasoning.encrypted_content" && request.get("reasoning").is_none(),
        "{request:#}"
    );
    let thoughts = reasoning(&scene);
    let record = scene.whole_record().await;
    assert!(record.contains("I need both lists."), "the summary is recorded, as other thoughts are");
    for thought in &thoughts {
        let sealed = thought["encrypted_content"].as_str().unwrap();
        assert!(!record.contains(sealed), "{sealed} is recorded");
    }
    // The next turn begins without the reasoning of the one before.
    assert_eq!(scene.answered("And again?").await, "Still one.");
    assert!(reasoning(&scene).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_waits_keeps_its_reasoning_and_goes_on_without_it_after_a_restart() {
    for is_restarted in [false, true] {
        let mut scene = Scene::asking(openai(), acceptance(), &[]).await;
        scene.cell("keep = 1").await;
        let turn = scene.ask("Delete the first cell").await;
        let call = scene.waiting().await;
        if is_restarted {
            scene.kill_and_restart().await;
        }
        scene.ada.command(Command::DenyToolCall { call_id: call, detail: None }).await;
        scene.until_over(&turn).await;
        assert_eq!(scene.end_of(&turn), Some(Ok(StopReason::EndTurn)), "{:#?}", scene.story());
        assert_eq!(scene.said(&turn), "You said no, so it stays.");
        assert_eq!(reasoning(&scene).is_empty(), is_restarted, "{:#?}", items(&scene));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rate_limit_a_cut_and_an_unknown_event_are_survived_and_a_refused_key_is_told() {
    let strange = [
        json!({"type": "response.crystal_ball.gazing", "vision": 7}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "crystal_ball", "id": "cb"}}),
        json!({"type": "response.output_text.delta", "output_index": 1, "delta": "All right"}),
        json!({"type": "response.completed", "response": {"usage": {"input_tokens": 11, "output_tokens": 2}}}),
    ];
    let strange = strange.map(|event| format!("data: {event}\n\n")).concat();
    let rules = json!([
        {"reply": {"status": 429, "retry_after": "0"}},
        {"reply": {"text": "one two three four five six seven", "cut_after_bytes": 1_500, "chunk_bytes": 50}},
        {"reply": {"raw": strange}},
        {"reply": {"status": 401, "body": {"error": {"message": format!("Incorrect API key provided: {KEY}")}}}},
    ]);
    let mut scene = scene(&rules).await;
    assert_eq!(scene.answered("Try").await, "All right");
    let finished = scene.ada.events().iter().filter_map(|recorded| match &recorded.event {
        Event::TurnModelCallFinished(event) => Some((event.failure.is_some(), event.usage)),
        _ => None,
    });
    let finished: Vec<(bool, Usage)> = finished.collect();
    assert_eq!(finished.iter().map(|(has_failed, _)| *has_failed).collect::<Vec<_>>(), [true, true, false]);
    assert_eq!(finished[2].1, Usage { input_tokens: 11, output_tokens: 2, estimated: false, ..Usage::default() });
    let turn = scene.ask("Again").await;
    scene.until_over(&turn).await;
    let Some(Err(cause)) = scene.end_of(&turn) else { panic!("{:#?}", scene.story()) };
    assert!(cause.contains("does not accept the key") && !cause.contains(KEY), "{cause}");
    assert!(!scene.whole_record().await.contains(KEY));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_reaches_a_response_in_the_middle_of_a_word() {
    let endless =
        json!([{"when": {}, "reply": {"text": "word ".repeat(2_000), "piece_characters": 5, "chunk_delay_ms": 50}}]);
    let mut scene = scene(&endless).await;
    let turn = scene.ask("Talk").await;
    scene.model.wait_for(|requests| requests.len() == 1).await;
    scene.ada.command(Command::CancelTurn { turn_id: turn.clone() }).await;
    scene.until_over(&turn).await;
    scene.model.wait_for(|requests| requests[0].outcome == notarium_scripted::AnswerOutcome::Cancelled).await;
    assert_eq!(scene.end_of(&turn), Some(Err("cancelled".to_owned())));
}
