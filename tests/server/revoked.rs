//! Tests of a revoked token, a sign-out and a deactivated account: waiting calls, running downloads.

use futures_util::StreamExt;
use notarium_assistant::host::NotebookHost;
use notarium_core::{
    Actor, Command, ConversationId, RawObject, RejectionCode, RequestToolCall, Scope, TokenId, ToolCallId,
};
use notarium_server::auth::TokenText;
use notarium_store::accounts::AccountChange;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{PATIENCE, Person, TestServer};

pub struct Scene {
    pub server: TestServer,
    pub ann: Person,
    pub notebook: String,
    pub cell: String,
}

pub fn id_of(token: &str) -> TokenId {
    TokenText::parse(token).unwrap().id
}

fn call_id(text: &str) -> ToolCallId {
    text.parse().unwrap()
}

impl Scene {
    async fn new() -> Self {
        Self::of(TestServer::start().await).await
    }

    pub async fn of(server: TestServer) -> Self {
        let ann = server.person("Ann").await;
        let (notebook, cell) = server.http(&ann).notebook("x = 1").await;
        Self { server, ann, notebook, cell }
    }

    pub fn assistant(&self) -> Actor {
        let conversation = ConversationId::new("outside").unwrap();
        Actor::Assistant { for_user: self.ann.id.clone(), conversation }
    }

    /// Requests to delete the cell, as an external assistant with this token.
    pub async fn ask(&self, id: &str, token: &str) {
        let (host, notebook) = (self.server.running().assistant_host(), self.notebook.parse().unwrap());
        let version = host.read(&notebook).await.unwrap().document.cells[&self.cell.parse().unwrap()].cell_version;
        let arguments = json!({"cell_id": self.cell, "cell_version": version}).to_string();
        let command = Command::RequestToolCall(RequestToolCall {
            call_id: Some(call_id(id)),
            turn_id: None,
            function: "delete_cell".to_owned(),
            arguments: RawObject::parse(&arguments).unwrap(),
            after: None,
            conversation_title: None,
            token: Some(id_of(token)),
        });
        host.execute(&self.assistant(), &notebook, &command).await.unwrap();
    }

    pub fn path(&self, id: &str) -> String {
        format!("/api/notebooks/{}/calls/{id}", self.notebook)
    }

    pub async fn until_withdrawn(&self, person: &Person, id: &str) -> Value {
        self.server.http(person).until(&self.path(id), |call| call["call"]["state"] == "withdrawn").await
    }
}

#[tokio::test]
async fn calls_of_a_revoked_token_are_withdrawn_while_they_wait() {
    let scene = Scene::new().await;
    let scopes = [Scope::Read, Scope::Edit, Scope::Run];
    let (one, other) =
        (scene.server.api_token(&scene.ann, &scopes).await, scene.server.api_token(&scene.ann, &scopes).await);
    scene.ask("one", &one).await;
    scene.ask("other", &other).await;
    scene.server.revoke(&one).await;
    let call = scene.until_withdrawn(&scene.ann, "one").await;
    assert!(call["call"]["reason"].as_str().unwrap().contains("has ended"), "{call}");
    let other = scene.server.http(&scene.ann).get(&scene.path("other")).await.ok();
    assert_eq!(other["call"]["state"], "waiting");
}

#[tokio::test]
async fn calls_for_a_person_whose_account_is_closed_are_withdrawn() {
    let scene = Scene::new().await;
    let bob = scene.server.person("Bob").await;
    let access = json!({"subject": {"kind": "user", "id": bob.id.as_str()}, "role": "owner"});
    let path = format!("/api/notebooks/{}/access", scene.notebook);
    scene.server.http(&scene.ann).put(&path, access).await.ok();
    scene.ask("one", &scene.ann.token).await;
    scene.server.apply(AccountChange::DeactivateUser { user: scene.ann.id.clone(), at: 1 }).await;
    scene.until_withdrawn(&bob, "one").await;
}

#[tokio::test]
async fn what_a_revoked_token_asked_for_does_not_start_where_it_was_not_withdrawn_yet() {
    let scene = Scene::new().await;
    let token = scene.server.api_token(&scene.ann, &[Scope::Read, Scope::Edit]).await;
    // Revoked without the server's knowledge, as by another process that died right after.
    let accounts = &scene.server.running().app().accounts;
    let revoke = AccountChange::RevokeToken { token: id_of(&token), at: 1 };
    let audit = accounts.audit(&Actor::System, "test", "test");
    accounts.store().apply(&[revoke], &audit).await.unwrap();
    scene.ask("one", &token).await;
    let ann = scene.server.http(&scene.ann);
    let hash = ann.get(&scene.path("one")).await.ok()["call"]["arguments_hash"].clone();
    ann.post(&format!("{}/confirm", scene.path("one")), json!({"arguments_hash": hash})).await.ok();
    let (host, notebook) = (scene.server.running().assistant_host(), scene.notebook.parse().unwrap());
    let start = Command::StartToolCall { call_id: call_id("one") };
    let refused = host.execute(&scene.assistant(), &notebook, &start).await.unwrap_err();
    assert_eq!(refused.code, RejectionCode::Forbidden);
    assert!(host.read(&notebook).await.unwrap().document.cells.contains_key(&scene.cell.parse().unwrap()));
}

#[tokio::test]
async fn a_download_of_the_record_is_compressed_on_request() {
    let scene = Scene::new().await;
    let ann = scene.server.http(&scene.ann);
    let path = format!("/api/notebooks/{}/events", scene.notebook);
    let request = ann.request(Method::GET, &path).header("accept", "application/x-ndjson");
    let answer = request.header("accept-encoding", "gzip").send().await.unwrap();
    assert_eq!(answer.headers()["content-encoding"], "gzip");
    let bytes = answer.bytes().await.unwrap();
    assert_eq!(bytes[..2], [0x1f, 0x8b], "the mark of gzip");
}

#[tokio::test]
async fn a_download_of_the_record_ends_with_its_token() {
    let scene = Scene::new().await;
    let ann = scene.server.http(&scene.ann);
    let cell = json!({"cell_type": "raw", "source": "x".repeat(500_000)});
    for _ in 0..60 {
        ann.post(&format!("/api/notebooks/{}/cells", scene.notebook), cell.clone()).await.ok();
    }
    let token = scene.server.api_token(&scene.ann, &[Scope::Read]).await;
    let reader = scene.server.http_as(&token);
    let path = format!("/api/notebooks/{}/events", scene.notebook);
    let whole = reader.send(reader.request(Method::GET, &path).header("accept", "application/x-ndjson")).await;
    assert_eq!(whole.text.lines().count(), 62, "while the token holds");

    let request = reader.request(Method::GET, &path).header("accept", "application/x-ndjson");
    let mut pieces = request.send().await.unwrap().bytes_stream();
    pieces.next().await.unwrap().unwrap();
    scene.server.revoke(&token).await;
    let reading = async {
        let mut bytes = 0;
        loop {
            match pieces.next().await {
                Some(Ok(piece)) => bytes += piece.len(),
                Some(Err(_)) => return bytes,
                None => panic!("it seems to be whole after {bytes} bytes"),
            }
        }
    };
    let bytes = tokio::time::timeout(PATIENCE, reading).await.expect("it ends");
    assert!(bytes < whole.text.len() - 1_000_000, "{bytes} of {}", whole.text.len());
}
