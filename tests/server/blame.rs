//! Authors of characters and differences between versions over REST, compared with every version.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::{Http, Person, TestServer};

struct Scene {
    server: TestServer,
    ann: Person,
    bob: Person,
    notebook: String,
    cell: String,
}

impl Scene {
    async fn new() -> Self {
        let server = TestServer::start().await;
        let (ann, bob) = (server.person("Ann").await, server.person("Bob").await);
        let (notebook, cell) = server.http(&ann).notebook("ab").await;
        let access = json!({"subject": {"kind": "user", "id": bob.id.as_str()}, "role": "editor"});
        server.http(&ann).put(&format!("/api/notebooks/{notebook}/access"), access).await.ok();
        Self { server, ann, bob, notebook, cell }
    }

    fn http(&self, person: &Person) -> Http {
        self.server.http(person)
    }

    async fn get(&self, rest: &str) -> Value {
        self.http(&self.ann).get(&format!("/api/notebooks/{}{rest}", self.notebook)).await.ok()
    }

    /// Replaces the cell's text; returns the version.
    async fn write(&self, person: &Person, source: &str) -> u64 {
        let path = format!("/api/notebooks/{}/cells/{}", self.notebook, self.cell);
        let now = self.http(person).get(&path).await.ok()["cell"]["cell_version"].clone();
        let change = json!({"cell_version": now, "source": source});
        self.http(person).patch(&path, change).await.ok()["version"].as_u64().unwrap()
    }

    /// Version of each character of the cell's text.
    async fn spread(&self, query: &str) -> Vec<u64> {
        let blame = self.get(&format!("/blame?{query}")).await;
        let runs = blame["cells"][0]["runs"].as_array().unwrap();
        let spread = runs.iter().flat_map(|run| {
            let (length, version) = (run["length"].as_u64().unwrap(), run["version"].as_u64().unwrap());
            assert!(blame["events"][version.to_string()]["recorded_at"].is_u64(), "{blame}");
            std::iter::repeat_n(version, usize::try_from(length).unwrap())
        });
        let spread: Vec<u64> = spread.collect();
        let source = blame["cells"][0]["source"].as_str().unwrap();
        assert_eq!(spread.len(), source.encode_utf16().count(), "runs are as long as the text");
        spread
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_character_has_its_author_at_every_version() {
    let scene = Scene::new().await;
    let insert = scene.get("/events?limit=1000").await["events"]
        .as_array()
        .unwrap()
        .iter()
        .rev()
        .find_map(|event| (event["type"] == "CellInserted").then(|| event["version"].as_u64().unwrap()));
    let first = insert.unwrap();
    let second = scene.write(&scene.bob, "a😀b").await;
    let third = scene.write(&scene.ann, "a😀bc\nd").await;
    let fourth = scene.write(&scene.bob, "😀bc").await;
    let expected = [
        (first, vec![first, first]),
        (second, vec![first, second, second, first]),
        (third, vec![first, second, second, first, third, third, third]),
        (fourth, vec![second, second, first, third]),
    ];
    let at_each = expected.into_iter().collect::<BTreeMap<_, _>>();
    for (version, spread) in &at_each {
        let cell = &scene.cell;
        assert_eq!(scene.spread(&format!("cell={cell}&at={version}")).await, *spread, "at {version}");
        assert_eq!(scene.spread(&format!("at={version}")).await, *spread, "all cells at {version}");
    }
    let blame = scene.get("/blame").await;
    assert_eq!(blame["events"][second.to_string()]["actor"]["id"], scene.bob.id.as_str());

    // In the trash it keeps its authors, and brings them back.
    let http = scene.http(&scene.ann);
    let path = format!("/api/notebooks/{}/cells/{}", scene.notebook, scene.cell);
    http.delete(&path).await.ok();
    let cell = &scene.cell;
    assert_eq!(scene.spread(&format!("cell={cell}")).await, at_each[&fourth]);
    assert_eq!(scene.get("/blame").await["cells"], json!([]));
    http.post(&format!("{path}/restore"), json!({})).await.ok();
    assert_eq!(scene.spread(&format!("cell={cell}")).await, at_each[&fourth]);

    let unknown = http.get(&format!("/api/notebooks/{}/blame?cell=nothing", scene.notebook)).await;
    assert_eq!(unknown.refused(404), "unknown_cell");
    let future = http.get(&format!("/api/notebooks/{}/blame?at=1000", scene.notebook)).await;
    assert_eq!(future.refused(400), "version_in_future");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_difference_names_what_changed() {
    let scene = Scene::new().await;
    let from = scene.get("").await["notebook"]["version"].as_u64().unwrap();
    let to = scene.write(&scene.bob, "ac").await;
    let diff = scene.get(&format!("/diff?from={from}")).await;
    let source = "@@ -1 +1 @@\n-ab\n+ac\n";
    let cell = json!({"cell_id": scene.cell, "changes": ["edited"], "source": source});
    assert_eq!(diff, json!({"from": from, "to": to, "cells": [cell]}));
    assert_eq!(scene.get(&format!("/diff?from={to}&to={to}")).await["cells"], json!([]));
    let back = scene.get(&format!("/diff?from={to}&to={from}")).await;
    assert!(back["cells"][0]["source"].as_str().unwrap().contains("-ac\n+ab"), "{back}");
    let future = scene.http(&scene.ann).get(&format!("/api/notebooks/{}/diff?from=1000", scene.notebook)).await;
    assert_eq!(future.refused(400), "version_in_future");
    let unclear = scene.http(&scene.ann).get(&format!("/api/notebooks/{}/diff", scene.notebook)).await;
    assert_eq!(unclear.refused(400), "invalid_value");
}
