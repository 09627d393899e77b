//! Tests of data that a disk has changed: detection, report, repair.

use std::path::{Path, PathBuf};

use notarium_server::{Server, ServerConfig};
use notarium_store::{EventStore, Snapshot, Sqlite};
use serde_json::json;
use tempfile::TempDir;

use super::support::{PATIENCE, World};

struct Scene {
    world: World,
    data: TempDir,
}

impl Scene {
    async fn start() -> Self {
        let data = tempfile::tempdir().unwrap();
        let world = World::start_with(data.path()).await;
        Self { world, data }
    }

    /// Stops the server, applies `change` to its data, and restarts it on the same address.
    async fn stopped<T>(&mut self, change: impl AsyncFnOnce(&Path) -> T) -> T {
        let server = self.world.server.take().expect("it runs");
        let listen = server.local_addr;
        server.shut_down().await;
        let changed = change(self.data.path()).await;
        let config = ServerConfig { listen, ..ServerConfig::in_folder(self.data.path()) };
        self.world.server = Some(Server::start(config).await.expect("it starts again"));
        changed
    }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

/// Imports a notebook whose only output is too large for an event; returns its id and the file of its blob.
async fn with_blob(scene: &Scene) -> (String, PathBuf) {
    let output = json!({"output_type": "stream", "name": "stdout", "text": "long ".repeat(10_000)});
    let cell = json!({"id": "c", "cell_type": "code", "source": "x", "metadata": {}, "execution_count": 1, "outputs": [output]});
    let file = json!({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]});
    scene.world.file("large.ipynb", &file.to_string());
    let notebook = scene.world.run(&["import", "large.ipynb"]).await.ok();
    let blobs = files_below(&scene.data.path().join("blobs"));
    assert_eq!(blobs.len(), 1, "{blobs:?}");
    (notebook, blobs[0].clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_or_missing_blob_is_named_and_a_right_upload_mends_it() {
    let scene = Scene::start().await;
    let (world, (notebook, file)) = (&scene.world, with_blob(&scene).await);
    let sha256 = file.file_name().unwrap().to_str().unwrap();
    let whole = world.run(&["export", &notebook]).await.ok();
    assert!(world.run(&["verify", &notebook, "--blobs"]).await.ok().contains("its 1 blob"));
    let bytes = std::fs::read(&file).unwrap();
    let mut flipped = bytes.clone();
    flipped[1_000] ^= 1;
    for (damage, word) in [(Some(&flipped), "is damaged"), (None, "is missing")] {
        match damage {
            Some(flipped) => std::fs::write(&file, flipped).unwrap(),
            None => std::fs::remove_file(&file).unwrap(),
        }
        let found = world.run(&["verify", &notebook, "--blobs"]).await.fails(1);
        assert!(found.contains(&format!("blob {sha256} {word}")), "{found}");
        world.run(&["verify", &notebook]).await.ok();
        let lacking = world.run(&["export", &notebook, "-o", "out.ipynb"]).await.fails(1);
        assert!(lacking.contains("lacks 1 large output") && lacking.contains(sha256), "{lacking}");
        let told = std::fs::read_to_string(scene.world.folder.path().join("out.ipynb")).unwrap();
        assert!(told.contains("bytes are not stored any more"), "the rest is written: {told}");
        let refused = world.run(&["fork", &notebook]).await.fails(1);
        assert!(refused.contains(sha256) && refused.contains("--blobs") && refused.contains("again"), "{refused}");
        world.run(&["fork", &notebook, "--without-outputs"]).await.ok();

        let url = format!("{}/api/notebooks/{notebook}/blobs/{sha256}", world.url());
        let http = crate::support::client();
        let refused = http.get(&url).bearer_auth(world.token()).send().await.unwrap();
        assert_eq!(refused.status().as_u16(), if damage.is_some() { 500 } else { 404 });
        let stored = http.put(&url).bearer_auth(world.token()).body(bytes.clone()).send().await.unwrap();
        assert_eq!(stored.status().as_u16(), 201);
        assert_eq!(world.run(&["export", &notebook]).await.ok(), whole);
    }
}

/// Scenario: data left by an older server, which did not verify what it read.
#[tokio::test(flavor = "multi_thread")]
async fn verify_says_when_the_server_shows_another_state_than_its_record_leads_to() {
    let mut scene = Scene::start().await;
    let (notebook, _) = scene.world.notebook("Proof", "paid 100").await;
    scene.world.run(&["verify", "Proof"]).await.ok();
    scene
        .stopped(async |folder| {
            let store = Sqlite::open(folder).await.unwrap();
            let id = notebook.parse().unwrap();
            let snapshot = store.snapshot(&id, None).await.unwrap().expect("written when the server stopped");
            let state = String::from_utf8(snapshot.decompress(1 << 20).unwrap()).unwrap();
            let other =
                Snapshot::compress(snapshot.format, snapshot.head, state.replace("paid 100", "paid 900").as_bytes());
            store.put_snapshot(&id, other.unwrap()).await.unwrap();
            store.close().await;
        })
        .await;
    assert!(scene.world.run(&["show", "Proof"]).await.ok().contains("paid 900"));
    let found = scene.world.run(&["verify", "Proof"]).await.fails(1);
    assert!(found.contains("another state than its record leads to"), "{found}");
    scene.world.run(&["replay", "Proof"]).await.fails(1);
}

/// Overwrites bytes in the database file, and deletes snapshots, which would hide it.
async fn overwritten(folder: &Path, notebook: &str, before: &[u8], after: &[u8]) {
    let store = Sqlite::open(folder).await.unwrap();
    let id = notebook.parse().unwrap();
    while let Some(found) = store.snapshot(&id, None).await.unwrap() {
        store.delete_snapshot(&id, found.version).await.unwrap();
    }
    store.close().await;
    let file = folder.join("notarium.db");
    let mut bytes = std::fs::read(&file).unwrap();
    let place = bytes.windows(before.len()).position(|found| found == before).expect("it is there");
    bytes[place..place + after.len()].copy_from_slice(after);
    std::fs::write(file, bytes).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_notebook_with_a_damaged_event_is_shown_as_it_was_before_it() {
    for (after, place) in
        [(&b"paid 900"[..], "the payload of version 3"), (b"paid \xff00", "version 3 of the notebook's record")]
    {
        let mut scene = Scene::start().await;
        let (notebook, cell) = scene.world.notebook("Proof", "x").await;
        scene.world.run(&["edit", "Proof", &cell, "--source", "paid 100"]).await.ok();
        scene.world.run(&["rename", "Proof", "Later"]).await.ok();
        scene.stopped(async |folder| overwritten(folder, &notebook, b"paid 100", after).await).await;
        let world = &scene.world;
        let shown = world.run(&["show", &notebook]).await.ok();
        assert!(shown.contains("Proof") && !shown.contains("paid"), "{shown}");
        let said = "This is the notebook at version 2: its record goes on to version 4";
        assert!(shown.contains(said), "{shown}");
        world.run(&["show", &notebook, "--at", "1"]).await.ok();
        let exported = world.run(&["export", &notebook, "-o", "old.ipynb"]).await.fails(1);
        assert!(exported.contains(said), "{exported}");
        let file = std::fs::read_to_string(world.folder.path().join("old.ipynb")).unwrap();
        assert!(file.contains("nbformat") && !file.contains("paid"), "what is readable is written: {file}");
        world.run(&["export", &notebook, "--at", "1"]).await.ok();
        let ready = crate::support::client().get(format!("{}/readyz", world.url())).send().await.unwrap();
        let ready: serde_json::Value = ready.json().await.unwrap();
        let problem = ready["problems"][0].as_str().unwrap_or_default();
        assert!(problem.contains("cannot be read to the end") && ready["status"] == "degraded", "{ready}");
        assert_eq!(ready["checks"][2], json!({"part": "damage", "problems": [problem]}));
        assert_eq!(world.run(&["log", &notebook, "--since", "0", "--limit", "2"]).await.ok().lines().count(), 2);
        let proof = world.run(&["verify", &notebook]).await.fails(1);
        assert!(proof.contains(place) && proof.contains("proven up to version 2"), "{proof}");
        let answer = crate::support::client()
            .get(format!("{}/api/notebooks/{notebook}/verify", world.url()))
            .bearer_auth(world.token());
        let answer: serde_json::Value = answer.send().await.unwrap().json().await.unwrap();
        assert_eq!((&answer["ok"], &answer["version"]), (&json!(false), &json!(2)), "{answer}");
        let refused = world.run(&["edit", &notebook, &cell, "--source", "y"]).await.fails(1);
        assert!(refused.contains("damaged") && refused.contains("whole up to version 2"), "{refused}");
    }
}

/// Without the check, SQLite would continue to write to a file without a name.
#[tokio::test(flavor = "multi_thread")]
async fn readyz_says_while_nothing_can_be_written() {
    let scene = Scene::start().await;
    let world = &scene.world;
    let (notebook, cell) = world.notebook("Full", "x = 1").await;
    let (database, away) = (scene.data.path().join("notarium.db"), scene.data.path().join("away"));
    let ready = async || crate::support::client().get(format!("{}/readyz", world.url())).send().await.unwrap();
    assert_eq!(ready().await.json::<serde_json::Value>().await.unwrap()["status"], "ok");
    std::fs::rename(&database, &away).unwrap();
    let refused = world.run(&["edit", &notebook, &cell, "--source", "y = 2"]).await.fails(1);
    assert!(refused.contains("nothing was changed") && !refused.contains("notarium.db"), "{refused}");
    std::fs::rename(&away, &database).unwrap();
    let said: serde_json::Value = ready().await.json().await.unwrap();
    assert_eq!(said["status"], "degraded", "until a write succeeds");
    assert!(said["problems"][0].as_str().unwrap().contains("write was refused"), "{said}");
    assert_eq!(said["checks"][0], json!({"part": "store", "problems": [said["problems"][0]]}));
    // The notebook is reloaded after a pause; until then commands are refused with the reason.
    let written = async {
        loop {
            let ran = world.run(&["rename", &notebook, "Written"]).await;
            if ran.code == 0 {
                return;
            }
            assert!(ran.err.contains("nothing was changed"), "{ran:?}");
        }
    };
    tokio::time::timeout(PATIENCE, written).await.expect("the notebook is read again");
    assert_eq!(ready().await.json::<serde_json::Value>().await.unwrap()["status"], "ok");
}
