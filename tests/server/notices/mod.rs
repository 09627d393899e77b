//! Tests of notices: the inbox, its stream, choices, and webhooks whose receivers misbehave.

mod mail;

use std::time::Duration;

use futures_util::StreamExt;
use notarium_server::{Clock, ServerConfig};
use notarium_store::accounts::AccountChange;
use reqwest::Method;
use serde_json::{Value, json};

use super::calls::Scene;
use crate::support::webhooks::{Receiver, Reply};
use crate::support::{Http, PATIENCE, Person, TestServer};

/// A server whose clock can be set forward, with Ann's notebook `n` and its reader Bob.
struct Team {
    scene: Scene,
    bob: Person,
    clock: Clock,
}

async fn team() -> Team {
    team_with(|_| {}).await
}

async fn team_with(settings: impl FnOnce(&mut ServerConfig)) -> Team {
    let clock = Clock::adjustable();
    let server = TestServer::with(|config| {
        config.clock = clock.clone();
        config.notices.allow_private_webhooks = true;
        config.limits.webhook_timeout = Duration::from_millis(500);
        settings(config);
    });
    let scene = Scene::of(server.await).await;
    let bob = scene.server.person("Bob").await;
    scene.share(&bob, "commenter").await;
    Team { scene, bob, clock }
}

impl Team {
    fn ann(&self) -> Http {
        self.scene.server.http(&self.scene.ann)
    }

    fn bob(&self) -> Http {
        self.scene.server.http(&self.bob)
    }

    /// Ann mentions Bob in a comment.
    async fn mention_bob(&self) {
        let comment = json!({"text": "Look at this", "mentions": [self.bob.id.as_str()]});
        self.ann().post("/api/notebooks/n/cells/c/threads", comment).await.ok();
    }

    async fn bobs_webhook(&self, url: &str) -> Value {
        self.bob().post("/api/webhooks", json!({"url": url, "label": "team"})).await.ok()
    }
}

async fn inbox(http: &Http, count: usize) -> Vec<Value> {
    let has = |page: &Value| page["notices"].as_array().is_some_and(|notices| notices.len() >= count);
    http.until("/api/notices", has).await["notices"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_call_waits_for_those_who_may_decide_until_one_has() {
    let team = team().await;
    let editor = team.scene.server.person("Eve").await;
    team.scene.share(&editor, "editor").await;
    team.scene.ask("d").await;
    for (person, whose) in [(&team.scene.ann, "Your assistant"), (&editor, "Ann’s assistant")] {
        let http = team.scene.server.http(person);
        let notice = inbox(&http, 1).await.remove(0);
        assert_eq!(notice["text"], format!("{whose} is waiting for your approval in ‘Notes’: delete_cell."));
        assert_eq!((&notice["about"]["call"], &notice["link"]), (&json!("d"), &json!("/#/n/n?assistant")));
        assert_eq!((&notice["is_read"], &notice["is_settled"]), (&json!(false), &json!(false)));
    }
    let hash = team.scene.hash("d").await;
    let eve = team.scene.server.http(&editor);
    eve.post("/api/notebooks/n/calls/d/confirm", json!({"arguments_hash": hash})).await.ok();
    let settled = team.ann().until("/api/notices", |page| page["notices"][0]["is_settled"] == true).await;
    assert_eq!(settled["unread"], 0, "nothing is left to do");
    // Bob may comment, and decides on nothing.
    team.mention_bob().await;
    let kinds: Vec<Value> = inbox(&team.bob(), 1).await.iter().map(|notice| notice["about"]["kind"].clone()).collect();
    assert_eq!(kinds, ["mentioned"]);
}

#[tokio::test]
async fn a_mention_is_told_once_read_and_hidden_from_who_lost_the_notebook() {
    let team = team().await;
    team.mention_bob().await;
    let notice = inbox(&team.bob(), 1).await.remove(0);
    assert_eq!(notice["text"], "Ann mentioned you in a comment in ‘Notes’.");
    assert_eq!((&notice["link"], &notice["notebook"]["title"]), (&json!("/#/n/n/c"), &json!("Notes")));
    team.bob().post("/api/notices/read", json!({"ids": [notice["id"]]})).await;
    assert_eq!(team.bob().get("/api/notices").await.ok()["unread"], 0);
    assert_eq!(team.bob().get("/api/notices?unread=true").await.ok()["notices"], json!([]));
    let subject = json!({"subject": {"kind": "user", "id": team.bob.id.as_str()}});
    let revoked = team.ann().send(team.ann().request(Method::DELETE, "/api/notebooks/n/access").json(&subject)).await;
    assert!(revoked.status.is_success(), "{}", revoked.text);
    let hidden = team.bob().until("/api/notices", |page| page["notices"][0].get("notebook").is_none()).await;
    assert_eq!(hidden["notices"][0]["text"], "Ann mentioned you in a comment.");
    team.mention_bob().await;
    team.scene.ask("d").await;
    inbox(&team.ann(), 1).await;
    assert_eq!(team.bob().get("/api/notices").await.ok()["notices"].as_array().unwrap().len(), 1, "nothing new");
}

#[tokio::test]
async fn the_stream_tells_the_number_and_each_notice_until_the_token_ends() {
    let team = team().await;
    let request = team.bob().request(Method::GET, "/api/notices/stream");
    let mut stream = request.send().await.unwrap().bytes_stream();
    let mut text = String::new();
    let mut until = async |wanted: &str| {
        while !text.contains(wanted) {
            let piece = tokio::time::timeout(PATIENCE, stream.next()).await.expect(wanted);
            let Some(Ok(piece)) = piece else { return false };
            text += std::str::from_utf8(&piece).unwrap();
        }
        true
    };
    assert!(until(r#"{"unread":0}"#).await);
    team.mention_bob().await;
    assert!(until(r#""text":"Ann mentioned you in a comment in ‘Notes’.""#).await);
    assert!(until(r#""notify":true"#).await);
    team.scene.server.revoke(&team.bob.token).await;
    assert!(!until("nothing more").await, "the stream ends");
}

#[tokio::test]
async fn choices_are_changed_one_by_one() {
    let team = team().await;
    let settings = team.bob().get("/api/notices/settings").await.ok();
    assert_eq!(settings["topics"]["mentioned"], json!({"inbox": true, "browser": true, "mail": true, "webhook": true}));
    assert_eq!((&settings["long_run_seconds"], &settings["mail"]["is_possible"]), (&json!(60), &json!(false)));
    let off = json!({"topics": {"mentioned": {"inbox": false, "browser": false}}, "long_run_seconds": 30});
    let changed = team.bob().put("/api/notices/settings", off).await.ok();
    assert_eq!(changed["topics"]["mentioned"]["inbox"], false);
    assert_eq!((&changed["topics"]["mentioned"]["mail"], &changed["long_run_seconds"]), (&json!(true), &json!(30)));
    team.bob().put("/api/notices/settings", json!({"long_run_seconds": 1})).await.refused(400);
    team.bob().post("/api/notices/mail", json!({"address": "bob@example.org"})).await.refused(503);
    let reader = team.scene.server.api_token(&team.bob, &[notarium_core::Scope::Read]).await;
    let reader = team.scene.server.http_as(&reader);
    reader.put("/api/notices/settings", json!({})).await.refused(403);
    reader.get("/api/notices").await.ok();
    // The mention after the one that nobody wants to hear of is the only one in the inbox.
    team.mention_bob().await;
    team.bob().put("/api/notices/settings", json!({"topics": {"mentioned": {"inbox": true}}})).await.ok();
    team.mention_bob().await;
    assert_eq!(inbox(&team.bob(), 1).await.len(), 1);
}

#[tokio::test]
async fn a_webhook_is_tried_again_with_its_id_until_it_arrives() {
    let team = team().await;
    let mut receiver = Receiver::start(&[Reply::Status(500), Reply::Redirect, Reply::Hang]).await;
    let made = team.bobs_webhook(&receiver.url).await;
    assert!(made["secret"].as_str().unwrap().starts_with("whsec_"));
    team.mention_bob().await;
    let first = receiver.next().await;
    let body = first.json();
    assert_eq!((&body["type"], &body["data"]["notebook"]["title"]), (&json!("notice.mentioned"), &json!("Notes")));
    assert!(body["text"].as_str().unwrap().contains("/#/n/n/c"), "{body}");
    for problem in ["it answered 500", "it answered 307", "did not answer in time"] {
        let shows = |webhooks: &Value| webhooks[0]["problem"].as_str().is_some_and(|told| told.contains(problem));
        team.bob().until("/api/webhooks", shows).await;
        team.clock.advance(Duration::from_secs(60 * 60));
        let again = receiver.next().await;
        assert_eq!((again.header("webhook-id"), &again.body), (first.header("webhook-id"), &first.body));
        assert!(again.head.starts_with("POST /hook "), "no redirect is followed: {}", again.head);
    }
    team.bob().until("/api/webhooks", |webhooks| webhooks[0].get("problem").is_none()).await;
    let settings = team.bob().get("/api/notices/settings").await.ok();
    assert_eq!(settings["failed"], json!([]));
}

#[tokio::test]
async fn a_webhook_that_fails_for_a_day_is_given_up_and_told() {
    let team = team().await;
    let mut receiver = Receiver::start(&[Reply::Status(503); 40]).await;
    team.bobs_webhook(&receiver.url).await;
    team.mention_bob().await;
    receiver.next().await;
    let failed = async {
        loop {
            team.clock.advance(Duration::from_secs(3 * 60 * 60));
            let settings = team.bob().get("/api/notices/settings").await.ok();
            if settings["failed"] != json!([]) {
                return settings["failed"][0].clone();
            }
            tokio::task::yield_now().await;
        }
    };
    let failed = tokio::time::timeout(PATIENCE, failed).await.expect("it is given up");
    assert_eq!(failed["problem"], "it answered 503");
}

#[tokio::test]
async fn a_secret_is_rotated_and_both_sign() {
    let team = team().await;
    let mut receiver = Receiver::start(&[]).await;
    let made = team.bobs_webhook(&receiver.url).await;
    let id = made["webhook"]["id"].as_str().unwrap();
    let rotated = team.bob().post(&format!("/api/webhooks/{id}/rotate"), json!({})).await.ok();
    assert!(rotated["webhook"]["old_secret_until"].is_u64() && rotated["secret"] != made["secret"]);
    let tested = team.bob().post(&format!("/api/webhooks/{id}/test"), json!({})).await.ok();
    assert_eq!(tested, json!({"is_accepted": true}));
    let test = receiver.next().await;
    assert_eq!(test.json()["type"], "notice.test");
    assert_eq!(test.header("webhook-signature").split(' ').count(), 2);
    assert_eq!(team.ann().delete(&format!("/api/webhooks/{id}")).await.refused(404), "not_found");
    assert!(team.bob().delete(&format!("/api/webhooks/{id}")).await.status.is_success());
    assert_eq!(team.bob().get("/api/webhooks").await.ok(), json!([]));
}

#[tokio::test]
async fn webhooks_reach_the_internet_alone_unless_allowed() {
    let server = TestServer::start().await;
    let ann = server.person("Ann").await;
    let http = server.http(&ann);
    for url in
        ["http://127.0.0.1:9/", "https://127.0.0.1/", "https://10.0.0.1/", "https://[::1]/", "file:///etc/passwd"]
    {
        assert_eq!(http.post("/api/webhooks", json!({"url": url})).await.refused(400), "invalid_value", "{url}");
    }
    // A name is found out when it is resolved.
    let made = http.post("/api/webhooks", json!({"url": "https://localhost/"})).await.ok();
    let id = made["webhook"]["id"].as_str().unwrap();
    let tested = http.post(&format!("/api/webhooks/{id}/test"), json!({})).await.ok();
    assert_eq!(tested["is_accepted"], false);
    assert!(tested["problem"].as_str().unwrap().contains("no address on the internet"), "{tested}");
    for _ in 1..10 {
        http.post("/api/webhooks", json!({"url": "https://example.org/"})).await.ok();
    }
    assert_eq!(http.post("/api/webhooks", json!({"url": "https://example.org/"})).await.refused(409), "limit_exceeded");
}

#[tokio::test]
async fn nothing_is_sent_to_who_lost_the_right_to_read() {
    let team = team().await;
    let mut receiver = Receiver::start(&[Reply::Status(500)]).await;
    team.bobs_webhook(&receiver.url).await;
    team.mention_bob().await;
    receiver.next().await;
    team.bob().until("/api/webhooks", |webhooks| webhooks[0]["problem"].is_string()).await;
    let subject = json!({"subject": {"kind": "user", "id": team.bob.id.as_str()}});
    team.ann().send(team.ann().request(Method::DELETE, "/api/notebooks/n/access").json(&subject)).await;
    team.clock.advance(Duration::from_secs(60));
    // The next notices are about another notebook.
    let shared = json!({"subject": {"kind": "user", "id": team.bob.id.as_str()}, "role": "commenter"});
    let (other, cell) = team.ann().notebook("x = 2").await;
    team.ann().put(&format!("/api/notebooks/{other}/access"), shared).await.ok();
    let comment = json!({"text": "Here", "mentions": [team.bob.id.as_str()]});
    team.ann().post(&format!("/api/notebooks/{other}/cells/{cell}/threads"), comment).await.ok();
    assert_eq!(receiver.next().await.json()["data"]["notebook"]["id"], other.as_str());
}

#[tokio::test]
async fn notices_of_somebody_who_is_deactivated_go() {
    let team = team().await;
    team.mention_bob().await;
    inbox(&team.bob(), 1).await;
    let admin = AccountChange::SetAdmin { user: team.scene.ann.id.clone(), is_admin: true };
    team.scene.server.apply(admin).await;
    team.scene.server.apply(AccountChange::DeactivateUser { user: team.bob.id.clone(), at: 1 }).await;
    team.scene.server.apply(AccountChange::ReactivateUser { user: team.bob.id.clone() }).await;
    let token = team.scene.server.api_token(&team.bob, &[notarium_core::Scope::Read]).await;
    let page = team.scene.server.http_as(&token).get("/api/notices").await.ok();
    assert_eq!(page, json!({"notices": [], "unread": 0}));
}

#[tokio::test]
async fn what_happened_before_a_restart_is_told_after_it() {
    let mut server = TestServer::start().await;
    let [ann, bob] = [server.person("Ann").await, server.person("Bob").await];
    let (notebook, cell) = server.http(&ann).notebook("x = 1").await;
    let shared = json!({"subject": {"kind": "user", "id": bob.id.as_str()}, "role": "viewer"});
    server.http(&ann).put(&format!("/api/notebooks/{notebook}/access"), shared).await.ok();
    let comment = json!({"text": "Look at this", "mentions": [bob.id.as_str()]});
    let threads = format!("/api/notebooks/{notebook}/cells/{cell}/threads");
    server.http(&ann).post(&threads, comment.clone()).await.ok();
    // It may be stopped before anybody was told.
    server.stop().await;
    server.start_again().await;
    inbox(&server.http(&bob), 1).await;
    server.http(&ann).post(&threads, comment).await.ok();
    assert_eq!(inbox(&server.http(&bob), 2).await.len(), 2, "each is told once");
}

#[tokio::test]
async fn a_webhook_that_hangs_with_hundreds_of_notices_holds_up_no_other() {
    let team = team_with(|config| config.limits.webhook_timeout = Duration::from_secs(60 * 60)).await;
    let mut hanging = Receiver::start(&[Reply::Hang; 300]).await;
    team.bobs_webhook(&hanging.url).await;
    for _ in 0..260 {
        team.mention_bob().await;
    }
    hanging.next().await;
    let mut other = Receiver::start(&[]).await;
    team.bobs_webhook(&other.url).await;
    team.mention_bob().await;
    assert_eq!(other.next().await.json()["type"], "notice.mentioned");
}
