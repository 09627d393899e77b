//! Tests of roles, and that a change of access takes effect immediately.

use notarium_core::{RejectionCode, Role, Scope};
use notarium_wire::ServerMessage;
use serde_json::json;

use super::socket::{create, insert};
use crate::support::{Person, TestServer};

async fn share(server: &TestServer, by: &Person, with: &Person, role: &str) {
    let body = json!({"subject": {"kind": "user", "id": with.id.as_str()}, "role": role});
    server.http(by).put("/api/notebooks/n/access", body).await.ok();
}

#[tokio::test]
async fn each_role_may_do_its_part() {
    let server = TestServer::start().await;
    let ann = server.person("Ann").await;
    let mut owner = server.connect(&ann).await;
    owner.run("n", &create("Notes")).await.unwrap();
    owner.run("n", &insert("c", "1")).await.unwrap();
    let bob = server.person("Bob").await;
    let http = server.http(&bob);
    let edit = || json!({"flags": {"pinned": true}});
    let run = || json!({"cells": ["c"]});
    for (role, may_edit, may_run) in
        [("viewer", false, false), ("author", true, false), ("runner", false, true), ("editor", true, true)]
    {
        share(&server, &ann, &bob, role).await;
        assert_eq!(http.get("/api/notebooks/n").await.ok()["role"], role);
        let edited = http.patch("/api/notebooks/n/cells/c", edit()).await;
        let ran = http.post("/api/notebooks/n/runs", run()).await;
        for (answer, allowed) in [(edited, may_edit), (ran, may_run)] {
            if allowed {
                answer.ok();
            } else {
                assert_eq!(answer.refused(403), "forbidden", "{role}");
            }
        }
        assert_eq!(http.put("/api/notebooks/n/access", json!({})).await.refused(403), "forbidden");
    }
    let reader = server.http_as(&server.api_token(&bob, &[Scope::Read]).await);
    reader.get("/api/notebooks/n").await.ok();
    assert_eq!(reader.patch("/api/notebooks/n/cells/c", edit()).await.refused(403), "forbidden");
}

#[tokio::test]
async fn taking_a_role_away_is_felt_by_live_connections() {
    let server = TestServer::start().await;
    let (ann, bob) = (server.person("Ann").await, server.person("Bob").await);
    let mut owner = server.connect(&ann).await;
    owner.run("n", &create("Notes")).await.unwrap();
    share(&server, &ann, &bob, "editor").await;
    let mut guest = server.connect(&bob).await;
    guest.subscribe("n").await;
    assert_eq!(guest.replica("n").role, Role::Editor);
    guest.run("n", &insert("c", "")).await.unwrap();
    share(&server, &ann, &bob, "viewer").await;
    guest.until(|guest| (guest.replica("n").role == Role::Viewer).then_some(())).await;
    assert_eq!(guest.run("n", &insert("d", "")).await.unwrap_err().code, RejectionCode::Forbidden);
    let body = json!({"subject": {"kind": "user", "id": bob.id.as_str()}});
    let request = server.http(&ann).request(reqwest::Method::DELETE, "/api/notebooks/n/access").json(&body);
    server.http(&ann).send(request).await.ok();
    guest
        .until(|guest| {
            let gone = |message: &&ServerMessage| matches!(message, ServerMessage::Access { role: None, .. });
            guest.others.iter().find(gone).map(|_| ())
        })
        .await;
    assert!(guest.replicas.is_empty());
    owner.run("n", &insert("secret", "x")).await.unwrap();
    assert_eq!(guest.run("n", &insert("e", "")).await.unwrap_err().code, RejectionCode::UnknownNotebook);
    assert_eq!(server.http(&bob).get("/api/notebooks/n").await.refused(404), "unknown_notebook");
}

#[tokio::test]
async fn a_notebook_is_handed_over() {
    let server = TestServer::start().await;
    let (ann, bob) = (server.person("Ann").await, server.person("Bob").await);
    let http = server.http(&ann);
    http.post("/api/notebooks", json!({"id": "n", "title": "Notes"})).await.ok();
    let leave = json!({"subject": {"kind": "user", "id": ann.id.as_str()}, "role": "viewer"});
    assert_eq!(http.put("/api/notebooks/n/access", leave).await.refused(409), "last_owner");
    http.post("/api/notebooks/n/owner", json!({"user": bob.id.as_str()})).await.ok();
    assert_eq!(http.get("/api/notebooks/n/access").await.ok()["role"], "editor");
    let access = server.http(&bob).get("/api/notebooks/n/access").await.ok();
    assert_eq!(access["role"], "owner");
    assert_eq!(access["access"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_share_link_opens_one_notebook_until_it_is_revoked() {
    let server = TestServer::start().await;
    let ann = server.person("Ann").await;
    let http = server.http(&ann);
    http.post("/api/notebooks", json!({"id": "n", "title": "Notes"})).await.ok();
    http.post("/api/notebooks", json!({"id": "other", "title": "Other"})).await.ok();
    let link = http.post("/api/notebooks/n/share-links", json!({"role": "viewer", "label": "class"})).await.ok();
    let token = link["token"].as_str().unwrap_or_else(|| panic!("{link}"));
    let guest = server.http_as(token);
    assert_eq!(guest.get("/api/notebooks/n").await.ok()["role"], "viewer");
    assert_eq!(guest.get("/api/notebooks/other").await.refused(404), "unknown_notebook");
    let mut socket = server.connect_as(token).await;
    socket.subscribe("n").await;
    let id = link["link"]["id"].as_str().or(link["id"].as_str()).unwrap_or_else(|| panic!("{link}"));
    assert!(http.delete(&format!("/api/notebooks/n/share-links/{id}")).await.status.is_success());
    socket.until_closed().await;
    assert!(socket.errors.iter().any(|error| error.fatal), "{:?}", socket.errors);
    assert_eq!(guest.get("/api/notebooks/n").await.status, 401);
}

#[tokio::test]
async fn a_guest_by_link_edits_and_does_not_archive() {
    let server = TestServer::start().await;
    let http = server.http(&server.person("Ann").await);
    http.post("/api/notebooks", json!({"id": "n", "title": "Notes"})).await.ok();
    let link = http.post("/api/notebooks/n/share-links", json!({"role": "editor", "label": "class"})).await.ok();
    let guest = server.http_as(link["token"].as_str().unwrap());
    guest.patch("/api/notebooks/n", json!({"title": "Ours"})).await.ok();
    let archive = json!({"body": {"ArchiveNotebook": {}}});
    assert_eq!(guest.post("/api/notebooks/n/archive", json!({})).await.refused(403), "forbidden");
    assert_eq!(guest.post("/api/notebooks/n/commands", archive).await.refused(403), "forbidden");
    http.post("/api/notebooks/n/archive", json!({})).await.ok();
    assert_eq!(guest.post("/api/notebooks/n/unarchive", json!({})).await.refused(403), "forbidden");
    assert_eq!(guest.get("/api/notebooks/n").await.ok()["notebook"]["title"], "Ours");
}

#[tokio::test]
async fn members_of_a_workspace_list_and_read_what_is_in_it() {
    let server = TestServer::start().await;
    let (ann, bob) = (server.person("Ann").await, server.person("Bob").await);
    let http = server.http(&ann);
    http.post("/api/notebooks", json!({"id": "n", "title": "Shared"})).await.ok();
    http.post("/api/notebooks", json!({"id": "own", "title": "Private"})).await.ok();
    let workspace = http.post("/api/workspaces", json!({"name": "Team"})).await.ok();
    let w = workspace["id"].as_str().unwrap_or_else(|| panic!("{workspace}"));
    let member = format!("/api/workspaces/{w}/members/{}", bob.id);
    assert!(http.put(&member, json!({"role": "viewer"})).await.status.is_success());
    let placed = http.put("/api/notebooks/n/workspace", json!({"workspace": w})).await;
    assert!(placed.status.is_success(), "{}", placed.text);
    let theirs = server.http(&bob);
    let listed = theirs.until("/api/notebooks", |page| page["notebooks"] != json!([])).await;
    assert_eq!(listed["notebooks"].as_array().unwrap().len(), 1);
    assert_eq!((&listed["notebooks"][0]["id"], &listed["notebooks"][0]["workspace"]), (&json!("n"), &json!(w)));
    assert_eq!(theirs.get("/api/notebooks/n").await.ok()["role"], "viewer");
    assert_eq!(theirs.get(&format!("/api/notebooks?workspace={w}")).await.ok()["notebooks"][0]["id"], "n");
    assert_eq!(http.get("/api/notebooks?workspace=other").await.ok()["notebooks"], json!([]));
    assert_eq!(theirs.get("/api/notebooks/own").await.refused(404), "unknown_notebook");
}

#[tokio::test]
async fn what_a_workspace_is_granted_its_members_have_until_they_leave() {
    let server = TestServer::start().await;
    let (ann, bob) = (server.person("Ann").await, server.person("Bob").await);
    let http = server.http(&ann);
    http.post("/api/notebooks", json!({"id": "n", "title": "Shared"})).await.ok();
    let workspace = http.post("/api/workspaces", json!({"name": "Team"})).await.ok();
    let w = workspace["id"].as_str().unwrap();
    let member = format!("/api/workspaces/{w}/members/{}", bob.id);
    assert!(http.put(&member, json!({"role": "viewer"})).await.status.is_success());
    let theirs = server.http(&bob);
    assert_eq!(theirs.get("/api/notebooks/n").await.refused(404), "unknown_notebook");
    // Only the grant counts, not the role in the workspace, as the notebook is not in it.
    let grant = json!({"subject": {"kind": "workspace", "id": w}, "role": "editor"});
    http.put("/api/notebooks/n/access", grant).await.ok();
    assert_eq!(theirs.get("/api/notebooks/n").await.ok()["role"], "editor");
    let listed = theirs.until("/api/notebooks", |page| page["notebooks"] != json!([])).await;
    assert_eq!(listed["notebooks"][0]["id"], "n");
    let mut socket = server.connect(&bob).await;
    socket.subscribe("n").await;
    socket.run("n", &insert("c", "x")).await.unwrap();
    assert!(http.delete(&member).await.status.is_success());
    let is_gone = |message: &ServerMessage| matches!(message, ServerMessage::Access { role: None, .. });
    socket.until(|socket| socket.others.iter().any(is_gone).then_some(())).await;
    assert_eq!(socket.run("n", &insert("d", "x")).await.unwrap_err().code, RejectionCode::UnknownNotebook);
}
