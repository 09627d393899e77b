//! Tests of notices with real processes: the server is killed while a webhook is being delivered, and runs of a real kernel end.

use serde_json::{Value, json};

use crate::processes::Fixture;
use crate::support::Http;
use crate::support::webhooks::{Receiver, Reply};

async fn inbox_with(http: &Http, kind: &str) -> Value {
    let find = |page: &Value| {
        let notices = page["notices"].as_array().cloned().unwrap_or_default();
        notices.into_iter().find(|notice| notice["about"]["kind"] == kind)
    };
    let page = http.until("/api/notices", |page| find(page).is_some()).await;
    find(&page).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_under_way_arrives_with_its_id_after_the_server_was_killed() {
    let mut fixture = Fixture::start_with(&["--allow-private-webhooks"]).await;
    let url = format!("http://{}", fixture.address());
    let ann = Http::new(url.clone(), Some(fixture.session().to_owned()));
    let made = ann.post("/api/users", json!({"name": "Bo", "login": "bo"})).await.ok();
    let invited = json!({"token": made["invitation"]["token"], "password": "correct horse", "label": "test"});
    let session = ann.without_token().post("/api/session", invited).await.ok();
    let bo = Http::new(url, Some(session["token"].as_str().unwrap().to_owned()));
    let mut receiver = Receiver::start(&[Reply::Hang]).await;
    bo.post("/api/webhooks", json!({"url": receiver.url})).await.ok();
    let (notebook, cell) = ann.notebook("x = 1").await;
    let shared = json!({"subject": {"kind": "user", "id": made["user"]["id"]}, "role": "viewer"});
    ann.put(&format!("/api/notebooks/{notebook}/access"), shared).await.ok();
    let comment = json!({"text": "Look", "mentions": [made["user"]["id"]]});
    ann.post(&format!("/api/notebooks/{notebook}/cells/{cell}/threads"), comment).await.ok();
    let first = receiver.next().await;
    fixture.kill_server();
    fixture.restart_server().await;
    let again = receiver.next().await;
    assert_eq!(again.header("webhook-id"), first.header("webhook-id"));
    assert_eq!(again.body, first.body);
    bo.until("/api/webhooks", |webhooks| webhooks[0]["tried_at"].is_u64()).await;
    // A test is the next message: nothing was sent twice.
    let webhooks = bo.get("/api/webhooks").await.ok();
    let id = webhooks[0]["id"].as_str().unwrap();
    bo.post(&format!("/api/webhooks/{id}/test"), json!({})).await.ok();
    assert_eq!(receiver.next().await.json()["type"], "notice.test");
    assert_eq!(bo.get("/api/notices").await.ok()["notices"].as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_run_and_a_lost_agent_are_told() {
    let fixture = Fixture::start_with(&["--lost-after", "5s"]).await;
    let http = Http::new(format!("http://{}", fixture.address()), Some(fixture.session().to_owned()));
    http.put("/api/notices/settings", json!({"long_run_seconds": 5})).await.ok();
    let mut agent = fixture.agent().await;
    let mut person = fixture.person().await;
    person.run("print('short')").await;
    person.run("import time; time.sleep(6)").await;
    let ended = inbox_with(&http, "run_ended").await;
    assert!(ended["about"]["seconds"].as_u64().unwrap() >= 5, "{ended}");
    assert!(ended["text"].as_str().unwrap().starts_with("Your run in ‘N’ succeeded after "), "{ended}");
    assert_eq!(http.get("/api/notices").await.ok()["notices"].as_array().unwrap().len(), 1, "no short run is told");
    let run = person.run("time.sleep(600)").await;
    person.until("the run", |state| state.executions[&run].started_at.is_some()).await;
    agent.kill();
    let lost = inbox_with(&http, "run_failed").await;
    assert_eq!(lost["about"]["is_lost"], true, "{lost}");
    assert_eq!(inbox_with(&http, "agent_gone").await["about"]["name"], "test");
}
