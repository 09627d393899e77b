//! A server whose blobs are in a bucket (moto): uploads, downloads, redirects, and everything that removes blobs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use notarium_server::{Clock, RetentionAges};
use notarium_store::BlobLocation;
use reqwest::Method;
use reqwest::redirect::Policy;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::socket::{create, insert};
use crate::support::moto::Moto;
use crate::support::{Http, Person, TestServer, client_builder};

const DAY: u64 = 24 * 60 * 60 * 1000;
/// Size of a blob that is redirected.
const LARGE: usize = 9 << 20;

struct Scene {
    moto: Moto,
    server: TestServer,
    ann: Person,
    time: Arc<AtomicU64>,
}

impl Scene {
    /// A notebook of Ann's with a cell; `None`: there is no moto.
    async fn new() -> Option<Self> {
        let time = Arc::new(AtomicU64::new(Clock::system().now()));
        Self::with_clock(Clock::manual(time.clone()), time).await
    }

    async fn with_clock(clock: Clock, time: Arc<AtomicU64>) -> Option<Self> {
        let moto = Moto::start()?;
        let location = BlobLocation::parse("s3://notes/team", moto.variables()).unwrap();
        let server = TestServer::with(|config| {
            config.blobs = Some(location);
            config.clock = clock;
            config.limits.redirect_blobs_from = Some(8 << 20);
            config.limits.retention = RetentionAges { blobs: Some(Duration::from_millis(30 * DAY)), snapshots: None };
            config.limits.quotas.state_bytes = 300_000;
            config.rooms.room.catalog_delay_ms = 0;
        })
        .await;
        let ann = server.person("Ann").await;
        let mut client = server.connect(&ann).await;
        client.run("n", &create("Notes")).await.unwrap();
        client.run("n", &insert("c", "x")).await.unwrap();
        Some(Self { moto, server, ann, time })
    }

    fn http(&self) -> Http {
        self.server.http(&self.ann)
    }

    fn advance(&self, millis: u64) {
        self.time.fetch_add(millis, Ordering::SeqCst);
    }

    /// Uploads a blob to the notebook `n`; returns its path.
    async fn upload(&self, bytes: Vec<u8>) -> String {
        let path = path_of(&bytes);
        self.http().send(self.http().request(Method::PUT, &path).body(bytes)).await.ok();
        path
    }

    /// Records a run of the cell whose output names the blob.
    async fn name(&self, path: &str, size: usize) {
        let blob = json!({"pointer": "/text", "sha256": path.rsplit('/').next().unwrap(), "size_bytes": size});
        let output = json!({"content": {"output_type": "stream", "name": "stdout", "text": ""}, "blobs": [blob]});
        let ran = json!({"body": {"RecordExecution": {"cell_id": "c", "outputs": [output]}}});
        self.http().post("/api/notebooks/n/commands", ran).await.ok();
    }

    async fn status(&self, path: &str) -> u16 {
        self.http().get(path).await.status.as_u16()
    }

    /// Keys in the bucket.
    fn keys(&self) -> Vec<String> {
        let listed = self.moto.send("GET", "/notes?list-type=2", "");
        let keys = listed.split("<Key>").skip(1);
        keys.map(|rest| rest.split_once("</Key>").unwrap().0.to_owned()).collect()
    }

    fn has(&self, path: &str) -> bool {
        let sha256 = path.rsplit('/').next().unwrap();
        self.keys().iter().any(|key| key.ends_with(sha256))
    }
}

fn path_of(bytes: &[u8]) -> String {
    format!("/api/notebooks/n/blobs/{}", hex::encode(Sha256::digest(bytes)))
}

#[tokio::test(flavor = "multi_thread")]
async fn blobs_go_to_the_bucket_and_large_ones_come_from_there_by_redirect() {
    let Some(scene) = Scene::new().await else { return };
    let large: Vec<u8> = (0..LARGE).map(|index| u8::try_from(index % 251).unwrap()).collect();
    let (small, path) = (scene.upload(b"some bytes".to_vec()).await, scene.upload(large.clone()).await);
    assert!(scene.has(&small) && scene.has(&path));
    assert!(scene.keys().iter().all(|key| key.starts_with("team/n/")), "{:?}", scene.keys());
    let local = scene.server.folder().join("blobs");
    assert_eq!(local.read_dir().unwrap().count(), 0, "nothing is in the data folder");

    let http = client_builder().redirect(Policy::none()).build().unwrap();
    let ask = |path: &str| http.get(format!("{}{path}", scene.server.url())).bearer_auth(&scene.ann.token);
    assert_eq!(ask(&small).send().await.unwrap().bytes().await.unwrap(), &b"some bytes"[..]);
    let redirected = ask(&path).send().await.unwrap();
    assert_eq!(
        (redirected.status().as_u16(), &redirected.headers()["cache-control"]),
        (307, &"no-store".parse().unwrap())
    );
    let address = redirected.headers()["location"].to_str().unwrap().to_owned();
    assert!(address.starts_with(&format!("http://{}/notes/team/n/", scene.moto.address)), "{address}");
    assert!(address.contains("X-Amz-Expires=300") && !address.contains("planted-secret"), "{address}");
    assert!(http.get(&address).send().await.unwrap().bytes().await.unwrap() == large, "without a token");
    let followed = scene.http().send(scene.http().request(Method::GET, &path)).await;
    assert_eq!((followed.status.as_u16(), followed.header("server").contains("Werkzeug")), (200, true));
    // A script of the page may fetch from this server only.
    let page = ask(&path).header("sec-fetch-mode", "cors").send().await.unwrap();
    assert_eq!(page.status().as_u16(), 200);
    assert!(page.bytes().await.unwrap() == large);
    assert_eq!(ask(&path_of(b"never uploaded")).send().await.unwrap().status().as_u16(), 404);
    let stranger = scene.http().without_token();
    assert_eq!(stranger.send(stranger.request(Method::GET, &path)).await.status.as_u16(), 401);

    // The hash is checked when bytes come through the server.
    let key = scene.keys().into_iter().find(|key| small.ends_with(key.rsplit('/').next().unwrap())).unwrap();
    let blobs = &scene.server.running().app().blobs;
    blobs.put_file(key.strip_prefix("team/").unwrap(), "other bytes".into()).await.unwrap();
    assert_eq!(scene.http().get(&small).await.refused(500), "damaged");
    scene.upload(b"some bytes".to_vec()).await;
    assert_eq!(scene.status(&small).await, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn large_outputs_spill_into_the_bucket_and_stay_visible() {
    // The size of a state is measured after a time.
    let Some(scene) = Scene::with_clock(Clock::system(), Arc::default()).await else { return };
    let piece = |number: usize| json!({"output_type": "stream", "name": "stdout", "text": format!("{number:>2999}\n")});
    let outputs: Vec<Value> = (0..350).map(piece).collect();
    let cell = json!({"id": "a", "cell_type": "code", "source": "walk()", "metadata": {}, "execution_count": 1, "outputs": outputs});
    let file = json!({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]});
    let http = scene.http();
    let import = http.request(Method::POST, "/api/import").body(file.to_string());
    let id = http.send(import).await.ok()["notebook"].as_str().unwrap().to_owned();
    let mut socket = scene.server.connect(&scene.ann).await;
    socket.subscribe(&id).await;
    let run = |state: &notarium_core::Document| state.executions.values().next().unwrap().outputs.clone();
    let moved = socket.until(|socket| Some(run(socket.state(&id))).filter(|outputs| outputs.len() == 1));
    let moved = tokio::time::timeout(crate::support::PATIENCE, moved).await.expect("outputs move");
    assert_eq!(moved[0].blobs[0].size_bytes, 1_050_000, "more than a MiB");
    let path = format!("/api/notebooks/{id}/blobs/{}", moved[0].blobs[0].sha256);
    assert!(scene.has(&path));
    assert_eq!(http.get(&path).await.text.len(), 1_050_000);
    let exported = http.get(&format!("/api/notebooks/{id}/export")).await.ok();
    assert!(exported.to_string().contains(&format!("{:>2999}", 349)));
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_removes_blobs_removes_them_from_the_bucket() {
    let Some(mut scene) = Scene::new().await else { return };
    let stray = scene.upload(b"stray".to_vec()).await;
    let old = scene.upload(b"an old output".to_vec()).await;
    scene.name(&old, 13).await;
    let shown = scene.upload(b"planted hunter2".to_vec()).await;
    scene.name(&shown, 15).await;
    let running = scene.server.running();
    assert_eq!(running.sweep_blobs().await.unwrap().removed, 0, "all are young");
    scene.advance(DAY + 60_000);
    assert_eq!(running.sweep_blobs().await.unwrap().removed, 1);
    assert!(!scene.has(&stray) && scene.has(&old) && scene.has(&shown));

    scene.advance(31 * DAY);
    assert_eq!(running.retain(false).await.unwrap().blobs, 1);
    assert!(!scene.has(&old) && scene.has(&shown));
    assert_eq!(scene.http().get(&old).await.refused(410), "blob_retired");

    // Files of the tree of heads.
    assert!(scene.http().get("/api/notebooks/n/proven-head").await.text.contains("index"));
    assert!(scene.keys().iter().any(|key| key.starts_with("team/tree.log/") && key.ends_with("/checkpoint")));

    let text = json!({"target": {"text": {"text": "hunter2"}}, "reason": "a key"});
    let redacted = scene.http().post("/api/notebooks/n/redactions", text).await;
    assert!(redacted.status.is_success(), "{}", redacted.text);
    assert!(!scene.has(&shown));
    assert_eq!(scene.status(&shown).await, 404);

    let again = scene.upload(b"once more".to_vec()).await;
    scene.name(&again, 9).await;
    scene.server.stop().await;
    scene.server.start_again().await;
    assert_eq!(scene.status(&again).await, 200, "a restart finds all");
    let http = scene.http();
    let erase = http.request(Method::DELETE, "/api/notebooks/n").json(&json!({"reason": "Ann asked for it"}));
    http.send(erase).await.ok();
    assert!(!scene.keys().iter().any(|key| key.starts_with("team/n/")), "{:?}", scene.keys());
}
