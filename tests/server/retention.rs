//! Retention: large outputs and snapshots that are old go, events and what the notebook shows stay, and readers are told.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use notarium_server::{Clock, RetentionAges};
use reqwest::Method;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::socket::{create, insert};
use crate::support::{Http, TestServer};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Uploads a blob, and records a run of the cell whose output names it.
async fn run(http: &Http, text: &str) -> String {
    let sha256 = hex::encode(Sha256::digest(text));
    let path = format!("/api/notebooks/n/blobs/{sha256}");
    http.send(http.request(Method::PUT, &path).body(text.to_owned())).await.ok();
    let blob = json!({"pointer": "/text", "sha256": sha256, "size_bytes": text.len()});
    let output = json!({"content": {"output_type": "stream", "name": "stdout", "text": ""}, "blobs": [blob]});
    let ran = json!({"body": {"RecordExecution": {"cell_id": "c", "outputs": [output]}}});
    http.post("/api/notebooks/n/commands", ran).await.ok();
    path
}

#[tokio::test(flavor = "multi_thread")]
async fn old_outputs_go_and_what_is_shown_stays() {
    let time = Arc::new(AtomicU64::new(Clock::system().now()));
    let ages = RetentionAges { blobs: Some(30 * DAY), snapshots: Some(30 * DAY) };
    let server = TestServer::with(|config| {
        config.clock = Clock::manual(time.clone());
        config.limits.retention = ages;
    })
    .await;
    let ann = server.person("Ann").await;
    let mut client = server.connect(&ann).await;
    client.run("n", &create("Notes")).await.unwrap();
    client.run("n", &insert("c", "x")).await.unwrap();
    let http = server.http(&ann);
    let (old, shown) = (run(&http, "an old output").await, run(&http, "the output that is shown").await);
    let running = server.running();
    let count = running.retain(true).await.unwrap();
    assert_eq!((count.blobs, count.snapshots), (0, 0), "all is young");

    time.fetch_add(u64::try_from(31 * DAY.as_millis()).unwrap(), Ordering::SeqCst);
    let bytes = "an old output".len() as u64;
    for is_dry in [true, false] {
        let count = running.retain(is_dry).await.unwrap();
        assert_eq!((count.blobs, count.blob_bytes), (1, bytes));
        let status = http.get(&old).await.status.as_u16();
        assert_eq!(status, if is_dry { 200 } else { 410 });
    }
    let problem: Value = http.get(&old).await.json();
    assert_eq!(problem["code"], "blob_retired");
    assert!(problem["detail"].as_str().unwrap().starts_with("this output was removed by retention on 20"), "{problem}");
    assert_eq!(http.get(&shown).await.status.as_u16(), 200);
    assert_eq!(running.retain(false).await.unwrap().blobs, 0, "once");
    assert_eq!(http.get("/api/notebooks/n/verify").await.ok()["ok"], true, "events stay");

    // Whoever has the bytes brings them back.
    http.send(http.request(Method::PUT, &old).body("an old output")).await.ok();
    assert_eq!(http.get(&old).await.status.as_u16(), 200);
}
