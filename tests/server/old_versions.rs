//! Tests that every version of a notebook can be read, with any set of snapshots.

use notarium_core::{NotebookId, Version};
use notarium_store::sqlite::Sqlite;
use serde_json::json;

use crate::support::{Http, TestServer};

/// Maximum gap between snapshots, instead of 50,000.
const MAX_GAP: Version = 40;
const RENAMES: Version = 400;

async fn server() -> TestServer {
    TestServer::with(|config| {
        config.rooms.max_snapshot_gap = MAX_GAP;
        config.rooms.room.snapshot_events = 5;
    })
    .await
}

/// Creates a notebook whose title equals its version.
async fn renamed(http: &Http) {
    http.post("/api/notebooks", json!({"id": "n", "title": "1"})).await.ok();
    for version in 2..=RENAMES {
        http.patch("/api/notebooks/n", json!({"title": version.to_string()})).await.ok();
    }
}

async fn title_at(http: &Http, version: Version) -> String {
    let read = http.get(&format!("/api/notebooks/n?at={version}")).await.ok();
    read["notebook"]["title"].as_str().unwrap().to_owned()
}

/// Returns the versions of the snapshots, in order.
async fn snapshots(store: &dyn notarium_store::EventStore) -> Vec<Version> {
    let (mut versions, mut at_most) = (Vec::new(), None);
    while let Some(found) = store.snapshot(&id(), at_most).await.unwrap() {
        versions.insert(0, found.version);
        at_most = Some(found.version - 1);
    }
    versions
}

async fn without_snapshots(store: &dyn notarium_store::EventStore) {
    for version in snapshots(store).await {
        store.delete_snapshot(&id(), version).await.unwrap();
    }
}

fn id() -> NotebookId {
    "n".parse().unwrap()
}

fn largest_gap(versions: &[Version]) -> Version {
    let from_start = std::iter::once(&0).chain(versions).zip(versions);
    from_start.map(|(before, after)| after - before).max().unwrap_or(0)
}

#[tokio::test]
async fn no_gap_between_snapshots_is_larger_than_the_setting_and_every_version_is_read() {
    let mut server = server().await;
    let ann = server.person("Ann").await;
    renamed(&server.http(&ann)).await;
    // A stop waits for snapshots that are being written.
    server.stop().await;
    server.start_again().await;
    let kept = snapshots(&*server.running().app().store).await;
    assert!(largest_gap(&kept) <= MAX_GAP && kept.len() as Version >= RENAMES / MAX_GAP, "{kept:?}");
    let http = server.http(&ann);
    for version in 1..=RENAMES {
        assert_eq!(title_at(&http, version).await, version.to_string());
    }
}

#[tokio::test]
async fn where_snapshots_were_lost_reading_leaves_new_ones_on_its_way() {
    let server = server().await;
    let ann = server.person("Ann").await;
    let http = server.http(&ann);
    renamed(&http).await;
    let store = server.running().app().store.clone();
    without_snapshots(&*store).await;
    // Two concurrent reads: the second continues from the snapshots of the first.
    let (early, late) = tokio::join!(title_at(&http, RENAMES / 2), title_at(&http, RENAMES - 1));
    assert_eq!((early, late), ((RENAMES / 2).to_string(), (RENAMES - 1).to_string()));
    let kept = snapshots(&*store).await;
    assert!(largest_gap(&kept) <= MAX_GAP && kept.last() >= Some(&(RENAMES - 1 - MAX_GAP)), "{kept:?}");
}

#[tokio::test]
async fn a_room_that_loads_without_snapshots_leaves_some_too() {
    let mut server = server().await;
    let ann = server.person("Ann").await;
    renamed(&server.http(&ann)).await;
    server.stop().await;
    let store = Sqlite::open(server.folder()).await.unwrap();
    without_snapshots(&store).await;
    store.close().await;
    server.start_again().await;
    let http = server.http(&ann);
    http.get("/api/notebooks/n").await.ok();
    let kept = snapshots(&*server.running().app().store).await;
    assert!(!kept.is_empty() && largest_gap(&kept) <= MAX_GAP, "{kept:?}");
    http.get("/api/notebooks/n/verify").await.ok();
}
