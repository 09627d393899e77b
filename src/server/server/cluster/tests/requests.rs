//! REST through any node.

use std::convert::Infallible;
use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use futures_util::{StreamExt, stream};
use http::{Method, StatusCode};
use notarium_core::{NotebookId, Role};
use notarium_store::accounts::AccountChange;
use serde_json::json;
use tokio::time::timeout;

use super::scene::{SECRET, Scene, TestNode};
use super::support::PATIENCE;
use crate::auth::{AuthError, ForwardedCaller, TokenText};
use crate::blobs::sweep::Sweeper;
use crate::cluster::{Cluster, HOPS, IDENTITY, Peers};
use crate::http::forward::while_alive;

#[tokio::test]
async fn commands_and_reads_go_through_the_wrong_node() {
    let (scene, nodes) = Scene::of(2).await;
    let [here, there] = [scene.http(&nodes[0]), scene.http(&nodes[1])];
    let notebook = scene.notebook_of(&nodes[1]).await;
    here.post("/api/notebooks", json!({"id": notebook, "title": "Notes"})).await.ok();
    let path = format!("/api/notebooks/{notebook}");
    here.patch(&path, json!({"title": "Renamed"})).await.ok();
    here.post(&format!("{path}/cells"), json!({"cell_id": "c", "cell_type": "code", "source": "1"})).await.ok();
    let id: NotebookId = notebook.parse().unwrap();
    let app = nodes[0].running().app();
    let who = app.accounts.authenticate(&scene.token).await.unwrap();
    let from_the_store = app.read(&who, &id).await.unwrap();
    assert_eq!((from_the_store.notebook.title.as_str(), from_the_store.role), ("Renamed", Role::Owner));
    assert_eq!(app.rooms.open_ids(), []);
    assert_eq!(nodes[1].running().app().rooms.open_ids(), [id]);
    for http in [&here, &there] {
        let listed = http.get("/api/notebooks").await.ok();
        assert_eq!(
            (&listed["notebooks"][0]["title"], &listed["notebooks"][0]["cells"]),
            (&json!("Renamed"), &json!(1))
        );
        let read = http.get(&path).await.ok();
        assert_eq!(read["notebook"]["cells"]["c"]["source"], "1");
    }
    assert_eq!(here.patch(&path, json!({"title": ""})).await.status, StatusCode::BAD_REQUEST);
    assert_eq!(here.without_token().get(&path).await.refused(401), "unauthenticated");
    let large = "x".repeat(2 << 20);
    let hash = hex::encode(<sha2::Sha256 as sha2::Digest>::digest(&large));
    let upload = here.request(Method::PUT, &format!("{path}/blobs/{hash}")).body(large.clone());
    assert!(here.send(upload).await.status == StatusCode::PAYLOAD_TOO_LARGE, "the owner's limit holds");
}

#[tokio::test]
async fn the_nodes_are_listed_with_their_state() {
    let (scene, nodes) = Scene::of(2).await;
    assert_eq!(scene.http(&nodes[0]).get("/api/nodes").await.refused(403), "forbidden");
    let admin = AccountChange::SetAdmin { user: scene.ann.clone(), is_admin: true };
    nodes[0].change(admin, "user.admin", "ann").await;
    let listed = scene.http(&nodes[0]).get("/api/nodes").await.ok();
    let of = |listed: &serde_json::Value, instance: &str| {
        let found = listed["nodes"].as_array().unwrap().iter().find(|node| node["node"] == instance);
        found.unwrap_or_else(|| panic!("{instance}: {listed}")).clone()
    };
    let [one, two] = [0, 1].map(|node: usize| nodes[node].cluster.instance().to_string());
    let [this, other] = [of(&listed, &one), of(&listed, &two)];
    assert_eq!(
        (&this["is_this"], &this["rooms"], &this["is_alive"]),
        (&json!(true), &json!(0), &json!(true)),
        "{listed}"
    );
    assert_eq!((&other["is_this"], other.get("rooms")), (&json!(false), None), "{listed}");
    assert_eq!((&other["url"], &other["version"]), (&json!(nodes[1].cluster.url()), &json!(env!("CARGO_PKG_VERSION"))));
    nodes[1].cluster.drain().await;
    let listed = scene.http(&nodes[0]).get("/api/nodes").await.ok();
    assert_eq!(of(&listed, &two)["is_draining"], true, "{listed}");
}

#[tokio::test]
async fn a_clock_that_differs_from_the_store_s_is_a_problem() {
    let (scene, nodes) = Scene::of(1).await;
    let http = scene.http(&nodes[0]);
    let ready = http.get("/readyz").await.ok();
    assert_eq!((&ready["status"], ready["checks"][4]["part"].as_str()), (&json!("ok"), Some("clock")), "{ready}");
    scene.nodes.set_clock_back(Duration::from_secs(95));
    // The node's own beat may be under way, and report the time before.
    let mut ready = ready;
    for _ in 0..3 {
        nodes[0].cluster.beat().await.unwrap();
        ready = http.get("/readyz").await.ok();
        if ready["status"] == "degraded" {
            break;
        }
    }
    assert_eq!(ready["status"], "degraded", "{ready}");
    let said = ready["checks"][4]["problems"][0].as_str().unwrap();
    assert!(said.contains("clock is 9") && said.contains("ahead of"), "{said}");
    assert_eq!(ready["problems"][0], said);
}

#[tokio::test]
async fn a_page_that_opened_at_one_node_is_known_at_the_others() {
    let (scene, nodes) = Scene::of(2).await;
    let [first, second] = [&nodes[0], &nodes[1]].map(|node| node.running().app().accounts.clone());
    let session = TokenText::parse(&scene.token).unwrap().id;
    let page = first.page_token_of(&session).unwrap();
    assert_eq!(second.authenticate(&page).await.unwrap().token_id, session);
    let mut forged = page.clone();
    let last = if forged.pop() == Some('0') { '1' } else { '0' };
    forged.push(last);
    assert_eq!(second.authenticate(&forged).await.unwrap_err(), AuthError::Invalid);
}

#[tokio::test]
async fn a_signed_identity_counts_for_nodes_alone_and_a_second_hop_is_refused() {
    let (scene, nodes) = Scene::of(2).await;
    let http = scene.http(&nodes[0]);
    let theirs = scene.notebook_of(&nodes[1]).await;
    http.post("/api/notebooks", json!({"id": theirs, "title": "Theirs"})).await.ok();
    let path = format!("/api/notebooks/{theirs}");
    let who = nodes[0].running().app().accounts.authenticate(&scene.token).await.unwrap();
    let caller = ForwardedCaller::from(&who);
    let ask = async |node: usize, peers: &Peers, signed_path: &str| {
        let identity = peers.sign(&Method::GET, signed_path, &caller).unwrap();
        let http = scene.http(&nodes[node]).without_token();
        let request = http.request(Method::GET, &path).header(IDENTITY, identity).header(HOPS, "1");
        http.send(request).await
    };
    let (ours, others) = (Peers::new(&SECRET.into(), None), Peers::new(&"another".into(), None));
    assert_eq!(ask(1, &ours, &path).await.ok()["notebook"]["title"], "Theirs");
    assert_eq!(ask(1, &others, &path).await.refused(401), "unauthenticated");
    assert_eq!(ask(1, &ours, "/api/notebooks/other").await.refused(401), "unauthenticated");
    // A node whose clock is behind takes no signature for what it is not, and no caller for a stranger.
    scene.nodes.set_clock_back(Duration::from_secs(95));
    nodes[1].cluster.beat().await.unwrap();
    assert_eq!(ask(1, &ours, &path).await.refused(503), "unavailable");
    scene.nodes.set_clock_back(Duration::ZERO);
    nodes[1].cluster.beat().await.unwrap();
    let misled = ask(0, &ours, &path).await;
    assert_eq!(misled.refused(421), "not_owner");
    assert!(misled.text.contains(nodes[1].cluster.instance().as_str()), "{}", misled.text);
}

#[tokio::test]
async fn a_token_that_ends_on_the_way_to_the_owner_counts_no_more() {
    let (scene, nodes) = Scene::of(2).await;
    let who = nodes[0].running().app().accounts.authenticate(&scene.token).await.unwrap();
    let token = who.token_id.clone();
    let subject = token.to_string();
    nodes[1].change(AccountChange::RevokeToken { token, at: 1 }, "token.revoke", &subject).await;
    let identity =
        Peers::new(&SECRET.into(), None).sign(&Method::GET, "/api/me", &ForwardedCaller::from(&who)).unwrap();
    let http = scene.http(&nodes[1]).without_token();
    let request = http.request(Method::GET, "/api/me").header(IDENTITY, identity).header(HOPS, "1");
    assert_eq!(http.send(request).await.refused(401), "token_revoked");
}

#[tokio::test]
async fn a_large_file_is_imported_through_the_wrong_node() {
    let (scene, nodes) = Scene::of(2).await;
    let theirs = scene.notebook_of(&nodes[1]).await;
    let source = "one line of a long text\n".repeat(40_000);
    let cell = json!({"cell_type": "markdown", "metadata": {}, "source": source});
    let file = json!({"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": vec![cell; 20]}).to_string();
    assert!(file.len() > 18_000_000);
    let http = scene.http(&nodes[0]);
    let request = http.request(Method::POST, &format!("/api/import?id={theirs}&title=Large"));
    http.send(request.header("content-type", "application/x-ipynb+json").body(file)).await.ok();
    assert!(nodes[1].running().app().rooms.is_open(&theirs.parse().unwrap()));
    let read = http.get(&format!("/api/notebooks/{theirs}")).await.ok();
    assert_eq!(read["notebook"]["order"].as_array().map(Vec::len), Some(20));
}

#[tokio::test]
async fn what_a_killed_node_did_not_sweep_the_next_owner_does() {
    let (scene, mut nodes) = Scene::of(2).await;
    let theirs: NotebookId = scene.notebook_of(&nodes[1]).await.parse().unwrap();
    let blobs = |node: &TestNode| node.running().app().blobs.clone();
    blobs(&nodes[1]).put_bytes(&theirs, "abandoned".into()).await.unwrap();
    scene.clock.advance(Duration::from_secs(2 * 24 * 60 * 60));
    let (mut sweeper, ours) = (Sweeper::default(), blobs(&nodes[0]));
    assert_eq!(sweeper.sweep(&ours).await.unwrap().examined, 0, "it is the other node's");
    nodes[1].kill();
    nodes[0].sees(1).await;
    assert_eq!(sweeper.sweep(&ours).await.unwrap().removed, 1);
}

#[tokio::test]
async fn an_answer_of_a_node_that_dies_breaks_off() {
    let (scene, nodes) = Scene::of(2).await;
    let cluster: Arc<dyn Cluster> = nodes[0].cluster.clone();
    let answer = Body::from_stream(stream::once(ready(Ok::<_, Infallible>("begun"))).chain(stream::pending()));
    let mut chunks = while_alive(answer, &cluster, nodes[1].cluster.instance()).into_data_stream();
    assert_eq!(chunks.next().await.unwrap().unwrap(), "begun");
    // Its connections stay open, as those of a paused process do.
    scene.nodes.freeze(&nodes[1], true);
    assert!(
        timeout(PATIENCE, chunks.next()).await.unwrap().unwrap().is_err(),
        "a file that is cut off is no whole file"
    );
}
