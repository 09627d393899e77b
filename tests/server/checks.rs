//! Tests of state digests: sent with snapshots, checked on request, and corrected after a difference.

use notarium_core::{Document, Hash, NotebookId};
use notarium_wire::{CheckMessage, CheckedMessage, ClientMessage, ErrorCode, ServerMessage};

use super::socket::{create, insert};
use crate::support::{TestClient, TestServer};

fn notebook() -> NotebookId {
    "n".parse().unwrap()
}

async fn ask(client: &mut TestClient, version: u64, digest: Option<Hash>) {
    client.send(&ClientMessage::Check(CheckMessage { notebook: notebook(), version, digest })).await;
}

async fn checked(client: &mut TestClient) -> CheckedMessage {
    match client.next_other().await {
        ServerMessage::Checked(checked) => checked,
        other => panic!("{other:?}"),
    }
}

/// Connects a client that follows a notebook with `cells` cells, at version `cells + 1`.
async fn following(server: &TestServer, cells: u64) -> TestClient {
    let ann = server.person("Ann").await;
    let mut client = server.connect(&ann).await;
    client.run("n", &create("Notes")).await.unwrap();
    client.subscribe("n").await;
    for cell in 0..cells {
        client.run("n", &insert(&format!("c{cell}"), "1")).await.unwrap();
    }
    client
}

/// Starts a server that serves its metrics at an address of their own.
async fn with_metrics() -> TestServer {
    TestServer::with(|config| config.metrics_listen = Some(([127, 0, 0, 1], 0).into())).await
}

async fn differences(server: &TestServer) -> String {
    let address = server.running().metrics_addr.unwrap();
    let metrics = crate::support::client().get(format!("http://{address}/metrics")).send().await.unwrap();
    let metrics = metrics.error_for_status().unwrap().text().await.unwrap();
    let line = metrics.lines().find(|line| line.starts_with("notarium_check_differences_total ")).unwrap();
    assert!(metrics.contains("notarium_checks_total "), "{metrics}");
    line.rsplit(' ').next().unwrap().to_owned()
}

#[tokio::test]
async fn a_client_that_holds_the_state_is_told_so_also_of_a_version_left_behind() {
    let server = with_metrics().await;
    let mut client = following(&server, 1).await;
    let past = client.state("n").digest().unwrap();
    client.run("n", &insert("d", "2")).await.unwrap();
    let now = client.state("n").digest().unwrap();
    for (version, digest) in [(3, now), (2, past), (2, past)] {
        ask(&mut client, version, Some(digest)).await;
        let expected = CheckedMessage { notebook: notebook(), version, digest: Some(digest), differs: false };
        assert_eq!(checked(&mut client).await, expected);
    }
    ask(&mut client, 1, None).await;
    assert!(checked(&mut client).await.digest.is_some_and(|digest| digest != past && digest != now));
    assert_eq!(client.replica("n").resyncs, 0);
    assert_eq!(differences(&server).await, "0");
}

#[tokio::test]
async fn a_planted_difference_is_counted_and_healed() {
    let server = with_metrics().await;
    let mut client = following(&server, 1).await;
    client.replicas.get_mut(&notebook()).unwrap().notebook.title = "planted".to_owned();
    let (version, planted) = (client.state("n").version, client.state("n").digest().unwrap());
    ask(&mut client, version, Some(planted)).await;
    let checked = checked(&mut client).await;
    assert!(checked.differs && checked.digest.is_some());
    client.until(|client| (client.replica("n").snapshots == 2).then_some(())).await;
    assert_eq!(client.replica("n").resyncs, 1);
    assert_eq!(client.state("n").digest().ok(), checked.digest);
    assert_eq!(differences(&server).await, "1");
    // The subscription continues from there.
    client.run("n", &insert("d", "2")).await.unwrap();
    assert_eq!(client.state("n").cells.len(), 2);
}

#[tokio::test]
async fn what_cannot_be_checked_is_a_typed_error() {
    let server = TestServer::with(|config| config.limits.max_checked_events = 2).await;
    let mut client = following(&server, 4).await;
    ask(&mut client, 6, None).await;
    assert_eq!(client.error("a version to come").await.code, ErrorCode::VersionInFuture);
    ask(&mut client, 4, None).await;
    let error = client.error("a version far back").await;
    assert_eq!((error.code, error.fatal), (ErrorCode::VersionTooOld, false), "{}", error.message);
    ask(&mut client, 2, None).await;
    assert!(checked(&mut client).await.digest.is_some());
    client.send(&ClientMessage::Unsubscribe { notebook: notebook() }).await;
    ask(&mut client, 2, None).await;
    assert_eq!(client.error("a notebook that is not followed").await.code, ErrorCode::UnknownNotebook);
}

#[tokio::test]
async fn one_connection_checks_one_version_at_a_time() {
    let server = TestServer::start().await;
    let mut client = following(&server, 1).await;
    let frames = [1, 2].map(|version| {
        let message = ClientMessage::Check(CheckMessage { notebook: notebook(), version, digest: None });
        serde_json::to_string(&message).unwrap()
    });
    // So many at a time that some are read before the first is answered.
    for frame in frames.iter().cycle().take(32) {
        client.send_text(frame.clone()).await;
    }
    let answered = async |client: &mut TestClient| {
        let mut refused = 0;
        for _ in 0..32 {
            let error = client.until(|client| Some(client.errors.len() + client.others.len()).filter(|all| *all > 0));
            error.await;
            if let Some(error) = client.errors.pop() {
                assert_eq!(error.code, ErrorCode::TooManyRequests);
                refused += 1;
            } else {
                client.others.remove(0);
            }
        }
        refused
    };
    assert!(answered(&mut client).await > 0, "not all of them at once");
}

#[tokio::test]
async fn the_state_that_comes_with_a_subscription_has_its_digest() {
    let server = TestServer::start().await;
    let mut client = following(&server, 3).await;
    client.replicas.clear();
    client.subscribe("n").await;
    let state: &Document = client.state("n");
    assert_eq!(client.replica("n").digest, Some(state.digest().unwrap()));
}
