//! Tests of server-sent events.

use futures_util::StreamExt;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Http, PATIENCE, TestServer};

/// State of a simple consumer.
struct Listener {
    response: futures_util::stream::BoxStream<'static, reqwest::Result<bytes::Bytes>>,
    text: String,
}

impl Listener {
    async fn open(http: &Http, path: &str, last_event_id: Option<&str>) -> Self {
        let mut request = http.request(Method::GET, path).header("accept", "text/event-stream");
        if let Some(id) = last_event_id {
            request = request.header("last-event-id", id);
        }
        let response = request.send().await.unwrap();
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { response: response.bytes_stream().boxed(), text: String::new() }
    }

    /// Returns the next event; `None`: the stream has ended.
    async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let data = event.lines().find_map(|line| line.strip_prefix("data: ")).map(str::to_owned);
                let id = event.lines().find_map(|line| line.strip_prefix("id: ")).map(str::to_owned);
                self.text = rest.to_owned();
                if let Some(data) = data {
                    let event: Value = serde_json::from_str(&data).unwrap();
                    assert_eq!(event["version"].to_string(), id.unwrap());
                    return Some(event);
                }
                continue;
            }
            let piece = tokio::time::timeout(PATIENCE, self.response.next()).await.expect("something comes")?;
            self.text.push_str(std::str::from_utf8(&piece.ok()?).unwrap());
        }
    }
}

#[tokio::test]
async fn events_come_as_they_happen_and_from_where_one_left() {
    let server = TestServer::start().await;
    let http = server.http(&server.person("Ann").await);
    let (n, c) = http.notebook("x").await;
    let path = format!("/api/notebooks/{n}/events");
    let mut live = Listener::open(&http, &path, None).await;
    let mut all = Listener::open(&http, &format!("{path}?since=0"), None).await;
    for version in 1..=2 {
        assert_eq!(all.next().await.unwrap()["version"], version);
    }
    for number in 1..=3 {
        http.patch(&format!("/api/notebooks/{n}/cells/{c}"), json!({"flags": {"bookmark": number}})).await.ok();
    }
    for version in 3..=5 {
        for listener in [&mut live, &mut all] {
            let event = listener.next().await.unwrap();
            assert_eq!((&event["version"], &event["type"]), (&json!(version), &json!("CellFlagsSet")));
        }
    }
    let mut resumed = Listener::open(&http, &format!("{path}?since=0"), Some("4")).await;
    assert_eq!(resumed.next().await.unwrap()["version"], 5);
    let request = http.request(Method::GET, &format!("{path}?since=99")).header("accept", "text/event-stream");
    assert_eq!(http.send(request).await.refused(400), "version_in_future");
}

#[tokio::test]
async fn a_stream_ends_with_the_right_to_it() {
    let server = TestServer::start().await;
    let ann = server.person("Ann").await;
    let (n, _) = server.http(&ann).notebook("x").await;
    let token = server.api_token(&ann, &[notarium_core::Scope::Read]).await;
    let path = format!("/api/notebooks/{n}/events");
    let mut live = Listener::open(&server.http_as(&token), &path, None).await;
    server.revoke(&token).await;
    assert_eq!(live.next().await, None);
    let bob = server.person("Bob").await;
    let access = format!("/api/notebooks/{n}/access");
    let subject = json!({"kind": "user", "id": bob.id.as_str()});
    server.http(&ann).put(&access, json!({"subject": subject, "role": "viewer"})).await.ok();
    let mut live = Listener::open(&server.http(&bob), &path, None).await;
    let request = server.http(&ann).request(Method::DELETE, &access).json(&json!({"subject": subject}));
    server.http(&ann).send(request).await.ok();
    while live.next().await.is_some() {}
}

#[tokio::test]
async fn a_slow_consumer_misses_nothing() {
    let server = TestServer::start().await;
    let ann = server.person("Ann").await;
    let http = server.http(&ann);
    let (n, _) = http.notebook("x").await;
    let mut slow = Listener::open(&http, &format!("/api/notebooks/{n}/events"), None).await;
    let source = "x".repeat(100_000);
    for _ in 0..100 {
        let cell = json!({"cell_type": "raw", "source": source});
        tokio::time::timeout(PATIENCE, http.post(&format!("/api/notebooks/{n}/cells"), cell))
            .await
            .expect("the writer is not held up")
            .ok();
    }
    for version in 3..103 {
        assert_eq!(slow.next().await.unwrap()["version"], version);
    }
}
