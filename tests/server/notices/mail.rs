//! Tests of notices by mail, against `aiosmtpd`, and of signatures, against the library of Standard Webhooks.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use notarium_server::MailServer;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use super::{Team, inbox, team, team_with};
use crate::support::PATIENCE;
use crate::support::webhooks::Receiver;

fn python(script: &str) -> Command {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let python =
        std::env::var_os("NOTARIUM_TEST_PYTHON").map_or(root.join("target/test-venv/bin/python"), PathBuf::from);
    let mut command = Command::new(python);
    command.arg("-u").arg(root.join("tests/server/notices").join(script));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    command
}

/// A mail server process; it ends when this is dropped.
struct Mails {
    _process: Child,
    lines: Lines<BufReader<ChildStdout>>,
    url: String,
}

impl Mails {
    async fn start() -> Self {
        let mut process = python("mail.py").spawn().expect("`make deps` installs aiosmtpd");
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let port = lines.next_line().await.unwrap().expect("a port");
        Self { _process: process, lines, url: format!("smtp://127.0.0.1:{port}") }
    }

    async fn next(&mut self) -> Value {
        let line =
            tokio::time::timeout(PATIENCE, self.lines.next_line()).await.expect("a mail comes").unwrap().unwrap();
        serde_json::from_str(&line).unwrap()
    }
}

/// A team whose server sends mail, and Bob's address with its code entered.
async fn with_mail(mails: &mut Mails) -> Team {
    let url = mails.url.clone();
    let team = team_with(|config| {
        config.public_url = Some("https://notes.example.org".to_owned());
        config.notices.mail = Some(MailServer { url, password: None, from: "Notarium <notes@example.org>".to_owned() });
    })
    .await;
    let http = team.bob();
    assert_eq!(http.get("/api/notices/settings").await.ok()["mail"], json!({"is_possible": true}));
    http.post("/api/notices/mail", json!({"address": "bob"})).await.refused(400);
    assert!(http.post("/api/notices/mail", json!({"address": "bob@example.org"})).await.status.is_success());
    http.post("/api/notices/mail", json!({"address": "bob@example.org"})).await.refused(429);
    let mail = mails.next().await;
    assert_eq!(mail["to"], json!(["bob@example.org"]));
    let code = mail["headers"]["subject"].as_str().unwrap()[..6].to_owned();
    let wrong = if code == "000000" { "000001" } else { "000000" };
    http.post("/api/notices/mail/confirm", json!({"code": wrong})).await.refused(400);
    assert!(http.post("/api/notices/mail/confirm", json!({"code": code})).await.status.is_success());
    let settings = http.get("/api/notices/settings").await.ok();
    assert_eq!(settings["mail"], json!({"is_possible": true, "address": "bob@example.org"}));
    team
}

#[tokio::test]
async fn a_digest_has_what_came_and_leaves_out_what_was_decided() {
    let mut mails = Mails::start().await;
    let team = with_mail(&mut mails).await;
    let editor = json!({"subject": {"kind": "user", "id": team.bob.id.as_str()}, "role": "editor"});
    team.ann().put("/api/notebooks/n/access", editor).await.ok();
    team.scene.ask("decided").await;
    inbox(&team.bob(), 1).await;
    let hash = team.scene.hash("decided").await;
    team.ann().post("/api/notebooks/n/calls/decided/confirm", json!({"arguments_hash": hash})).await.ok();
    team.mention_bob().await;
    team.scene.ask("waits").await;
    team.bob().until("/api/notices?unread=true", |page| page["unread"] == 2).await;
    team.clock.advance(Duration::from_secs(2 * 60));
    let mail = mails.next().await;
    assert_eq!(mail["headers"]["subject"], "Notarium: 2 notices");
    assert_eq!(mail["headers"]["auto-submitted"], "auto-generated");
    assert!(mail["headers"]["message-id"].as_str().unwrap().ends_with("@notes.example.org>"), "{mail}");
    let text = mail["text"].as_str().unwrap();
    assert!(
        text.contains("Ann mentioned you in a comment in") && text.contains("https://notes.example.org/#/n/n/c"),
        "{text}"
    );
    assert_eq!(text.matches("is waiting for your approval").count(), 1, "{text}");
    // The next mail waits for ten minutes.
    team.mention_bob().await;
    team.bob().until("/api/notices?unread=true", |page| page["unread"] == 3).await;
    team.clock.advance(Duration::from_secs(10 * 60));
    assert!(mails.next().await["headers"]["subject"].as_str().unwrap().starts_with("Notarium: Ann mentioned you"));
    assert!(team.bob().send(team.bob().request(Method::DELETE, "/api/notices/mail")).await.status.is_success());
    assert_eq!(team.bob().get("/api/notices/settings").await.ok()["mail"], json!({"is_possible": true}));
}

#[tokio::test]
async fn a_code_is_good_for_few_attempts_and_minutes() {
    let mut mails = Mails::start().await;
    let team = with_mail(&mut mails).await;
    let http = team.bob();
    let refused = http.post("/api/notices/mail", json!({"address": "bob@refused.example"})).await;
    assert_eq!(refused.status, 502, "{}", refused.text);
    team.clock.advance(Duration::from_secs(61));
    assert!(http.post("/api/notices/mail", json!({"address": "other@example.org"})).await.status.is_success());
    let code = mails.next().await["headers"]["subject"].as_str().unwrap()[..6].to_owned();
    team.clock.advance(Duration::from_secs(15 * 60));
    http.post("/api/notices/mail/confirm", json!({"code": code})).await.refused(400);
    assert!(http.post("/api/notices/mail", json!({"address": "other@example.org"})).await.status.is_success());
    let code = mails.next().await["headers"]["subject"].as_str().unwrap()[..6].to_owned();
    for _ in 0..5 {
        http.post("/api/notices/mail/confirm", json!({"code": "wrong"})).await.refused(400);
    }
    http.post("/api/notices/mail/confirm", json!({"code": code})).await.refused(400);
    assert_eq!(http.get("/api/notices/settings").await.ok()["mail"]["address"], "bob@example.org");
}

#[tokio::test]
async fn the_library_of_standard_webhooks_verifies_both_signatures() {
    let team = team().await;
    let mut receiver = Receiver::start(&[]).await;
    let made = team.bobs_webhook(&receiver.url).await;
    let id = made["webhook"]["id"].as_str().unwrap();
    let rotated = team.bob().post(&format!("/api/webhooks/{id}/rotate"), json!({})).await.ok();
    team.mention_bob().await;
    let received = receiver.next().await;
    let names = ["webhook-id", "webhook-timestamp", "webhook-signature"];
    let headers: serde_json::Map<String, Value> =
        names.iter().map(|name| ((*name).to_owned(), json!(received.header(name)))).collect();
    let asked = json!({"secrets": [made["secret"], rotated["secret"]], "headers": headers, "body": received.body});
    let mut process = python("verify.py").spawn().expect("`make deps` installs standardwebhooks");
    process.stdin.take().unwrap().write_all(asked.to_string().as_bytes()).await.unwrap();
    let output = process.wait_with_output().await.unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "verified");
}

#[tokio::test]
async fn who_takes_an_address_back_may_not_send_the_next_code_at_once() {
    let mut mails = Mails::start().await;
    let team = with_mail(&mut mails).await;
    let (http, address) = (team.bob(), json!({"address": "stranger@example.org"}));
    assert!(http.post("/api/notices/mail", address.clone()).await.status.is_success());
    assert!(http.delete("/api/notices/mail").await.status.is_success());
    http.post("/api/notices/mail", address.clone()).await.refused(429);
    team.clock.advance(Duration::from_secs(60));
    assert!(http.post("/api/notices/mail", address).await.status.is_success());
}
