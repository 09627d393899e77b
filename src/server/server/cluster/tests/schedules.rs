//! Schedules: each minute's run begins once, and its end is recorded by whichever node owns the notebook then.

use std::time::Duration;

use notarium_core::UserId;
use notarium_store::accounts::{AccountChange, User};
use serde_json::{Value, json};

use super::scene::{Scene, TestNode};
use super::support::Http;

const MINUTES_5: Duration = Duration::from_secs(5 * 60);

/// Makes a notebook of this node with one cell, and sets a schedule of each five minutes.
async fn scheduled(scene: &Scene, node: &TestNode, cell_type: &str) -> String {
    let (http, notebook) = (scene.http(node), scene.notebook_of(node).await);
    http.post("/api/notebooks", json!({"id": notebook, "title": "Report"})).await.ok();
    let path = format!("/api/notebooks/{notebook}");
    http.post(&format!("{path}/cells"), json!({"cell_id": "c", "cell_type": cell_type, "source": "1"})).await.ok();
    http.put(&format!("{path}/schedules/often"), json!({"cron": "*/5 * * * *"})).await.ok();
    notebook
}

/// Waits for so many past runs that have ended, or not; the last first.
async fn runs(http: &Http, notebook: &str, count: usize, have_ended: bool) -> Vec<Value> {
    let is_so = |answer: &Value| {
        let runs = answer["runs"].as_array().unwrap();
        runs.len() >= count && runs.iter().all(|run| run["outcome"].is_string() == have_ended)
    };
    let path = format!("/api/notebooks/{notebook}/schedules/often/runs");
    http.until(&path, is_so).await["runs"].as_array().unwrap().clone()
}

/// Numbers of beginnings and ends in the record.
async fn counted(http: &Http, notebook: &str) -> [usize; 2] {
    let events = http.get(&format!("/api/notebooks/{notebook}/events?after=0&limit=200")).await.ok();
    let events = events["events"].as_array().unwrap();
    ["ScheduledRunStarted", "ScheduledRunEnded"].map(|name| events.iter().filter(|event| event["type"] == name).count())
}

#[tokio::test]
async fn each_minute_runs_once_whichever_node_owns_the_notebook() {
    let (scene, nodes) = Scene::of(2).await;
    let notebooks = [scheduled(&scene, &nodes[0], "markdown").await, scheduled(&scene, &nodes[1], "markdown").await];
    let http = scene.http(&nodes[0]);
    for turn in 1..=3 {
        scene.clock.advance(MINUTES_5);
        for notebook in &notebooks {
            let runs = runs(&http, notebook, turn, true).await;
            assert!(runs.iter().all(|run| run["outcome"] == "succeeded"), "{runs:?}");
            assert_eq!(counted(&http, notebook).await, [turn, turn]);
        }
    }
}

#[tokio::test]
async fn who_lost_the_access_to_a_run_does_not_get_it_back_at_the_next_node() {
    let (scene, mut nodes) = Scene::of(2).await;
    let user = User { id: UserId::new("bob").unwrap(), name: "Bob".to_owned(), ..scene.user() };
    nodes[0].change(AccountChange::CreateUser(user), "user.create", "bob").await;
    let (notebook, http) = (scheduled(&scene, &nodes[1], "code").await, scene.http(&nodes[0]));
    let bob = json!({"kind": "user", "id": "bob"});
    let access = format!("/api/notebooks/{notebook}/access");
    http.put(&access, json!({"subject": bob, "role": "viewer"})).await.ok();
    scene.clock.advance(MINUTES_5);
    let run = runs(&http, &notebook, 1, false).await[0]["run"].as_str().unwrap().to_owned();
    let has_bob = |answer: &Value| answer["access"].as_array().unwrap().iter().any(|entry| entry["subject"] == bob);
    let access = format!("/api/notebooks/{run}/access");
    while !http.get(&access).await.status.is_success() {}
    http.until(&access, has_bob).await;
    let end = http.request(reqwest::Method::DELETE, &access).json(&json!({"subject": bob}));
    http.send(end).await.ok();
    nodes[1].kill();
    nodes[0].sees(1).await;
    scene.clock.advance(Duration::from_secs(31 * 60));
    let ended = |runs: &Value| runs["runs"].as_array().unwrap().iter().any(|run| run["outcome"] == "not_started");
    http.until(&format!("/api/notebooks/{notebook}/schedules/often/runs"), ended).await;
    let access = http.get(&access).await.ok();
    assert!(!has_bob(&access), "{access}");
}

#[tokio::test]
async fn a_run_of_a_killed_node_goes_on_at_another_and_ends_once() {
    let (scene, mut nodes) = Scene::of(2).await;
    let notebook = scheduled(&scene, &nodes[1], "code").await;
    let http = scene.http(&nodes[0]);
    scene.clock.advance(MINUTES_5);
    runs(&http, &notebook, 1, false).await;
    nodes[1].kill();
    nodes[0].sees(1).await;
    // No agent ever takes its kernel.
    scene.clock.advance(Duration::from_secs(31 * 60));
    let ended = |runs: &Value| runs["runs"].as_array().unwrap().iter().any(|run| run["outcome"] == "not_started");
    http.until(&format!("/api/notebooks/{notebook}/schedules/often/runs"), ended).await;
    let runs = http.get(&format!("/api/notebooks/{notebook}/schedules/often/runs")).await.ok();
    let not_started = runs["runs"].as_array().unwrap().iter().filter(|run| run["outcome"] == "not_started");
    assert_eq!(not_started.count(), 1, "{runs}");
}
