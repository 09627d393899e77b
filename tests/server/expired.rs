//! Tests of expired tokens: waiting calls, running turns, sockets and downloads.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::StreamExt;
use notarium_core::{Millis, Scope};
use notarium_server::Clock;
use reqwest::Method;
use serde_json::json;

use super::revoked::Scene;
use crate::support::{PATIENCE, TestServer};

/// Lifetime of tokens here by the server's clock, which only the test advances.
const LIFE_MS: Millis = 100;

struct Time(Arc<AtomicU64>);

impl Time {
    async fn scene() -> (Self, Scene) {
        let time = Self(Arc::new(AtomicU64::new(Clock::system().now())));
        let clock = Clock::manual(time.0.clone());
        let server = TestServer::with(|config| {
            config.clock = clock;
            config.assistants = true;
        });
        (time, Scene::of(server.await).await)
    }

    fn expiry(&self) -> Millis {
        self.0.load(Ordering::SeqCst) + LIFE_MS
    }

    fn pass(&self) {
        self.0.fetch_add(LIFE_MS, Ordering::SeqCst);
    }
}

const SCOPES: [Scope; 3] = [Scope::Read, Scope::Edit, Scope::Run];

#[tokio::test]
async fn calls_and_turns_of_a_token_end_when_it_expires() {
    let (time, scene) = Time::scene().await;
    let token = scene.server.expiring_token(&scene.ann, &SCOPES, Some(time.expiry())).await;
    let lasting = scene.server.api_token(&scene.ann, &SCOPES).await;
    scene.ask("one", &token).await;
    scene.ask("other", &lasting).await;
    let asker = scene.server.http_as(&token);
    let question = asker.request(Method::POST, &format!("/api/notebooks/{}/chat", scene.notebook));
    let answer = question.json(&json!({"text": "Look", "turn": "turn"})).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let ann = scene.server.http(&scene.ann);
    assert_eq!(ann.get(&scene.path("one")).await.ok()["call"]["state"], "waiting");
    time.pass();
    let call = scene.until_withdrawn(&scene.ann, "one").await;
    assert!(call["call"]["reason"].as_str().unwrap().contains("has ended"), "{call}");
    let path = format!("/api/notebooks/{}", scene.notebook);
    ann.until(&path, |state| state["notebook"]["turns"].as_object().is_none_or(|turns| turns.is_empty())).await;
    tokio::time::timeout(PATIENCE, answer.bytes()).await.expect("who follows the turn is told no more").unwrap();
    assert_eq!(ann.get(&scene.path("other")).await.ok()["call"]["state"], "waiting");
}

#[tokio::test]
async fn calls_of_a_token_that_expired_while_the_server_was_down_are_withdrawn_at_its_start() {
    let (time, mut scene) = Time::scene().await;
    let token = scene.server.expiring_token(&scene.ann, &SCOPES, Some(time.expiry())).await;
    scene.ask("one", &token).await;
    scene.server.stop().await;
    time.pass();
    scene.server.start_again().await;
    scene.until_withdrawn(&scene.ann, "one").await;
}

#[tokio::test]
async fn a_socket_and_a_download_end_when_their_token_expires() {
    let (time, scene) = Time::scene().await;
    let ann = scene.server.http(&scene.ann);
    let cell = json!({"cell_type": "raw", "source": "x".repeat(500_000)});
    // More than the system's buffers of a connection can take: 32 and 4 MB.
    for _ in 0..90 {
        ann.post(&format!("/api/notebooks/{}/cells", scene.notebook), cell.clone()).await.ok();
    }
    let token = scene.server.expiring_token(&scene.ann, &[Scope::Read], Some(time.expiry())).await;
    let mut client = scene.server.connect_as(&token).await;
    let reader = scene.server.http_as(&token);
    let path = format!("/api/notebooks/{}/events", scene.notebook);
    let request = reader.request(Method::GET, &path).header("accept", "application/x-ndjson");
    let mut pieces = request.send().await.unwrap().bytes_stream();
    pieces.next().await.unwrap().unwrap();
    time.pass();
    client.until_closed().await;
    let is_cut = async { pieces.any(async |piece| piece.is_err()).await };
    assert!(tokio::time::timeout(PATIENCE, is_cut).await.expect("it ends"), "it seems to be whole");
}
