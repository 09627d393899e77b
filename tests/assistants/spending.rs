//! Tests of spending with a scripted model that reports its usage: caps stop turns, calls count once, the CSV is one.

use notarium_core::{Event, Open, TurnFailure};
use reqwest::Method;
use serde_json::{Value, json};

use super::scene::{Scene, script};
use crate::processes::PATIENCE;

/// 3 USD per million tokens read, 15 USD per million tokens written.
const PRICES: &str = r#"{"currency": "USD", "models": {"anthropic/*": {"input": 3, "cached": "0.30", "output": 15}}}"#;

fn usage(input: u64, output: u64) -> Value {
    json!({"input_tokens": input, "output_tokens": output})
}

/// Starts a server with prices and caps.
async fn with_caps(replies: &Value, caps: &[&str]) -> (Scene, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let prices = folder.path().join("prices.json");
    std::fs::write(&prices, PRICES).unwrap();
    let mut arguments = vec!["--prices", prices.to_str().unwrap()];
    arguments.extend(caps.iter().flat_map(|cap| ["--cap", cap]));
    (Scene::asking(json!({"family": "anthropic"}), script(replies), &arguments).await, folder)
}

/// Waits until the usage of all calls is this; returns the rows by this column.
async fn until_counted(scene: &Scene, by: &str, calls: u64) -> Value {
    let path = format!("/api/spending?by={by}");
    let counted = async {
        loop {
            let rows = scene.get(&path).await["rows"].clone();
            let found: u64 = rows.as_array().unwrap().iter().map(|row| row["calls"].as_u64().unwrap()).sum();
            assert!(found <= calls, "counted more than once: {rows}");
            if found == calls {
                return rows;
            }
        }
    };
    tokio::time::timeout(PATIENCE, counted).await.expect("the calls are counted")
}

/// Asks over REST in a notebook; returns status and body.
async fn chat(scene: &Scene, notebook: &str, text: &str) -> (u16, String) {
    let path = format!("/api/notebooks/{notebook}/chat");
    let answer = scene.request(Method::POST, &path).json(&json!({"text": text})).send().await.unwrap();
    (answer.status().as_u16(), answer.text().await.unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_is_refused_with_the_cap_its_use_and_its_end() {
    let replies = json!([{"when": {"user": "work"}, "reply": {"text": "Done.", "usage": usage(1_000, 500)}}]);
    let (mut scene, _folder) = with_caps(&replies, &["each-person day 0.01 USD"]).await;
    assert_eq!(scene.answered("work").await, "Done.");
    let rows = until_counted(&scene, "model", 1).await;
    let row = &rows[0];
    assert!(row["value"].as_str().unwrap().starts_with("anthropic/"), "{row}");
    assert_eq!((&row["input_tokens"], &row["output_tokens"]), (&json!(1_000), &json!(500)));
    assert_eq!(row["cost"], json!([{"amount": "0.0105", "currency": "USD"}]), "{row}");
    assert_eq!((&row["unpriced_calls"], &row["estimated_calls"]), (&json!(0), &json!(0)));
    let (status, problem) = chat(&scene, scene.ada.notebook().as_str(), "work").await;
    let problem: Value = serde_json::from_str(&problem).unwrap();
    assert_eq!((status, &problem["code"]), (413, &json!("limit_exceeded")), "{problem}");
    let details = json!({"kind": "limit", "limit": "spent_money", "max": 10_000_000, "unit": "nanos"});
    assert_eq!(problem["details"], details, "{problem}");
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.contains("0.01 USD a day") && detail.contains("0.0105 USD used"), "{detail}");
    assert!(detail.contains("00:00 UTC") && detail.contains("administrator"), "{detail}");
    let caps = scene.get("/api/caps").await["caps"].clone();
    assert_eq!(
        (&caps[0]["used"], &caps[0]["is_reached"], &caps[0]["is_fixed"]),
        (&json!("0.0105"), &json!(true), &json!(true))
    );
    // A cap of one's own takes the place of that for each.
    let own = json!({"spender": "person", "person": scene.get("/api/me").await["user"]["id"], "period": "day", "unit": "USD", "amount": "1"});
    let set = scene.request(Method::PUT, "/api/caps").json(&own).send().await.unwrap();
    assert_eq!(set.status(), 204, "{}", set.text().await.unwrap());
    assert_eq!(scene.answered("work").await, "Done.");
    let audit = scene.get("/api/audit").await.to_string();
    assert!(audit.contains("cap.set") && audit.contains("day USD 1.00"), "{audit}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cap_stops_a_turn_between_its_model_calls() {
    let replies = json!([
        {"when": {"user": "work"}, "reply": {"text": "I look.", "usage": usage(900, 200), "calls": [{"name": "get_notebook_state", "arguments": {}}]}},
        {"when": {"user": "work", "after_tool": "get_notebook_state"}, "reply": {"text": "Done.", "usage": usage(1, 1)}},
    ]);
    let (mut scene, _folder) = with_caps(&replies, &["server month 1000 tokens"]).await;
    let turn = scene.ask("work").await;
    scene.until_over(&turn).await;
    let failed = scene.ada.events().iter().find_map(|recorded| match &recorded.event {
        Event::TurnFailed(event) => Some((event.cause.clone(), event.detail.clone().unwrap_or_default())),
        _ => None,
    });
    let (cause, detail) = failed.unwrap_or_else(|| panic!("{:#?}", scene.story()));
    assert_eq!(cause, Open::Known(TurnFailure::CapReached));
    assert!(detail.contains("1000 tokens a month") && detail.contains("1100 tokens used"), "{detail}");
    assert_eq!(scene.model.requests().len(), 1, "the model was not asked again");
    let rows = until_counted(&scene, "day", 1).await;
    assert_eq!((&rows[0]["input_tokens"], &rows[0]["output_tokens"]), (&json!(900), &json!(200)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_without_a_price_is_refused_under_a_cap_in_money() {
    let replies = json!([{"when": {"user": "work"}, "reply": {"text": "Done.", "usage": usage(10, 5)}}]);
    let (mut scene, _folder) = with_caps(&replies, &["server day 100 EUR"]).await;
    let turn = scene.ask("work").await;
    scene.until_over(&turn).await;
    let end = scene.end_of(&turn).unwrap().unwrap_err();
    assert!(end.contains("has no price in EUR") && end.contains("choose another model"), "{end}");
    assert_eq!(scene.model.requests().len(), 0);
}

/// Six notebooks are asked at once under a cap that one call does not use up, and two do.
#[tokio::test(flavor = "multi_thread")]
async fn notebooks_at_once_exceed_a_cap_by_one_call_at_most() {
    let replies =
        json!([{"when": {"user": "work"}, "reply": {"text": "Done.", "chunk_delay_ms": 20, "usage": usage(60, 30)}}]);
    let (scene, _folder) = with_caps(&replies, &["each-person day 100 tokens"]).await;
    let mut notebooks = Vec::new();
    for _ in 0..6 {
        let made = scene.request(Method::POST, "/api/notebooks").json(&json!({"title": "=1+1"})).send().await.unwrap();
        let made: Value = made.json().await.unwrap();
        notebooks.push(made["notebook"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned());
    }
    let asked = futures_util::future::join_all(notebooks.iter().map(|id| chat(&scene, id, "work"))).await;
    let (done, refused): (Vec<_>, Vec<_>) = asked.iter().partition(|(_, text)| text.contains("Done."));
    assert_eq!((done.len(), refused.len()), (2, 4), "{asked:#?}");
    assert!(refused.iter().all(|(_, text)| text.contains("100 tokens a day")), "{refused:#?}");
    let rows = until_counted(&scene, "person", 2).await;
    assert_eq!((&rows[0]["input_tokens"], &rows[0]["output_tokens"]), (&json!(120), &json!(60)));
    assert_eq!(scene.model.requests().len(), 2);
    // The CSV by notebook is one for Python, and its titles are no formulas for a spreadsheet.
    let csv = scene.request(Method::GET, "/api/spending.csv?by=notebook").send().await.unwrap();
    assert!(csv.headers()["content-type"].to_str().unwrap().starts_with("text/csv"));
    let rows = read_by_python(&csv.text().await.unwrap());
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert!(
        rows.iter().all(|row| row["name"] == "'=1+1" && row["cost"] == "0.00063" && row["currency"] == "USD"),
        "{rows:?}"
    );
}

/// Returns the rows that Python's module `csv` reads.
fn read_by_python(text: &str) -> Value {
    use std::io::Write;
    let program = "import csv, json, sys; print(json.dumps(list(csv.DictReader(open(sys.argv[1], newline='')))))";
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let ran = std::process::Command::new("python3").args(["-c", program]).arg(file.path()).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    serde_json::from_slice(&ran.stdout).unwrap()
}

/// Model calls of the record, their tokens, and true if an attempt was lost with its server.
fn recorded(scene: &Scene) -> (u64, u64, u64, bool) {
    let (mut calls, mut input, mut output, mut is_lost) = (0, 0, 0, false);
    for recorded in scene.ada.events() {
        let Event::TurnModelCallFinished(event) = &recorded.event else { continue };
        calls += u64::from(event.failure.is_none());
        input += event.usage.input_tokens;
        output += event.usage.output_tokens;
        is_lost |= event.failure.is_some();
    }
    (calls, input, output, is_lost)
}

/// The server is killed as soon as a call's answer is recorded, while the model answers, and after the turn.
#[tokio::test(flavor = "multi_thread")]
async fn a_kill_between_a_call_and_its_count_neither_loses_nor_doubles_it() {
    for moment in ["TurnModelCallStarted", "TurnModelCallFinished", "TurnFinished"] {
        let replies = json!([{"when": {"user": "work"}, "reply": {"text": "Done.", "chunk_delay_ms": 20, "usage": usage(60, 30)}}]);
        let (mut scene, _folder) = with_caps(&replies, &["server day 1000000 tokens"]).await;
        let turn = scene.ask("work").await;
        let is_there = |scene: &Scene| scene.ada.events().iter().any(|it| it.event.event_type() == moment);
        while !is_there(&scene) {
            let version = scene.ada.state().version;
            scene.ada.until("news", |state| state.version > version).await;
        }
        scene.kill_and_restart().await;
        scene.until_over(&turn).await;
        // An answer whose message was lost in the kill is asked for again: the record has both calls.
        let (calls, input, output, is_lost) = recorded(&scene);
        let rows = until_counted(&scene, "day", calls).await;
        assert_eq!(rows[0]["output_tokens"], json!(output), "{moment}: {rows}");
        let counted = rows[0]["input_tokens"].as_u64().unwrap();
        // A call that was cut off by the kill counts with the estimate of its request, and then with what it used.
        assert!(if is_lost { counted >= input } else { counted == input }, "{moment}: {input} {rows}");
        scene.kill_and_restart().await;
        assert_eq!(until_counted(&scene, "day", calls).await, rows, "{moment}");
        let caps = scene.get("/api/caps").await["caps"].clone();
        assert_eq!(caps[0]["reserved"], json!("0"), "{moment}: {caps}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_call_counts_with_the_estimate_of_its_request() {
    let replies = json!([{"when": {"user": "work"}, "reply": {"text": "x".repeat(2_000), "chunk_bytes": 10, "chunk_delay_ms": 50}}]);
    let (mut scene, _folder) = with_caps(&replies, &[]).await;
    let turn = scene.ask("work").await;
    while scene.model.requests().is_empty() {
        tokio::task::yield_now().await;
    }
    scene.ada.command(notarium_core::Command::CancelTurn { turn_id: turn.clone() }).await;
    scene.until_over(&turn).await;
    let rows = until_counted(&scene, "day", 1).await;
    assert_eq!(rows[0]["estimated_calls"], json!(1), "{rows}");
    assert!(rows[0]["input_tokens"].as_u64().unwrap() > 100, "{rows}");
}
