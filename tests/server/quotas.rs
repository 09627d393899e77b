//! Tests of quotas of people and workspaces: each refuses with a sentence that says what to do, and allows what reduces the use.

use notarium_core::{RejectionCode, WorkspaceId};
use notarium_server::{Quotas, ServerConfig};
use notarium_store::accounts::{AccountChange, Workspace};
use reqwest::Method;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::socket::{create, insert};
use crate::support::{Answer, Http, TestServer};

async fn with(change: impl FnOnce(&mut Quotas)) -> TestServer {
    TestServer::with(|config: &mut ServerConfig| change(&mut config.limits.quotas)).await
}

async fn make(http: &Http) -> Answer {
    http.post("/api/notebooks", json!({"title": "Notes"})).await
}

async fn used(http: &Http) -> Value {
    http.get("/api/usage").await.ok()["accounts"][0].clone()
}

#[track_caller]
fn is_limit(answer: &Answer, option: &str) {
    assert_eq!(answer.refused(413), "limit_exceeded");
    assert!(answer.text.contains(option), "{}", answer.text);
}

#[tokio::test]
async fn a_person_makes_so_many_notebooks_and_others_are_not_held_up() {
    let server = with(|quotas| quotas.person.notebooks = 2).await;
    let (ann, bob) = (server.person("Ann").await, server.person("Bob").await);
    let http = server.http(&ann);
    for _ in 0..2 {
        make(&http).await.ok();
    }
    is_limit(&make(&http).await, "--max-notebooks-per-person");
    let file = r#"{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}"#;
    let import = http.request(Method::POST, "/api/import").body(file);
    is_limit(&http.send(import).await, "--max-notebooks-per-person");
    let mut socket = server.connect(&ann).await;
    assert_eq!(socket.run("third", &create("Third")).await.unwrap_err().code, RejectionCode::LimitExceeded);
    make(&server.http(&bob)).await.ok();
    assert_eq!(used(&http).await["used"]["notebooks"], 2);
    assert_eq!(used(&http).await["limits"]["notebooks"], 2);
    let everybody = http.get("/api/usage?all=true").await;
    assert_eq!(everybody.refused(403), "forbidden");
}

#[tokio::test]
async fn over_the_limit_of_records_one_cancels_deletes_and_undoes() {
    let server = with(|quotas| quotas.person.log_bytes = 200_000).await;
    let http = server.http(&server.person("Ann").await);
    let (n, c) = http.notebook("x").await;
    let cells = format!("/api/notebooks/{n}/cells");
    let cell = json!({"cell_type": "raw", "source": "x".repeat(150_000)});
    http.post(&cells, cell.clone()).await.ok();
    let last = http.post(&cells, cell.clone()).await.ok();
    is_limit(&http.post(&cells, cell).await, "--max-log-per-person");
    is_limit(&http.post(&format!("/api/notebooks/{n}/runs"), json!({"cells": [c]})).await, "--max-log-per-person");
    is_limit(&http.post(&format!("{cells}/{c}/threads"), json!({"text": "x"})).await, "--max-log-per-person");
    is_limit(&make(&http).await, "--max-log-per-person");
    http.delete(&format!("{cells}/{}", last["outcome"]["cells"][0].as_str().unwrap())).await.ok();
    http.post(&format!("/api/notebooks/{n}/undo"), json!({})).await.ok();
    http.get(&format!("/api/notebooks/{n}/export")).await.ok();
    assert!(used(&http).await["used"]["log_bytes"].as_u64().unwrap() > 300_000);
}

async fn upload(http: &Http, notebook: &str, bytes: Vec<u8>) -> Answer {
    let path = format!("/api/notebooks/{notebook}/blobs/{}", hex::encode(Sha256::digest(&bytes)));
    http.send(http.request(Method::PUT, &path).body(bytes)).await
}

#[tokio::test]
async fn large_outputs_have_a_limit_that_survives_a_restart() {
    let mut server = with(|quotas| quotas.person.blob_bytes = 100_000).await;
    let ann = server.person("Ann").await;
    let http = server.http(&ann);
    let (n, _) = http.notebook("x").await;
    upload(&http, &n, vec![1; 60_000]).await.ok();
    is_limit(&upload(&http, &n, vec![2; 60_000]).await, "--max-blobs-per-person");
    upload(&http, &n, vec![1; 60_000]).await.ok();
    let before = http.until("/api/usage", |usage| usage["accounts"][0]["used"]["blob_bytes"] == 60_000).await;
    server.stop().await;
    server.start_again().await;
    let http = server.http(&ann);
    let counted = |usage: &Value| usage["accounts"][0]["used"] == before["accounts"][0]["used"];
    http.until("/api/usage", counted).await;
    is_limit(&upload(&http, &n, vec![2; 60_000]).await, "--max-blobs-per-person");
}

#[tokio::test]
async fn what_is_in_a_workspace_counts_for_the_workspace() {
    let server = with(|quotas| {
        quotas.person.notebooks = 1;
        quotas.workspace.notebooks = 1;
    })
    .await;
    let ann = server.person("Ann").await;
    let id: WorkspaceId = "team".parse().unwrap();
    server
        .apply(AccountChange::CreateWorkspace(Workspace { id: id.clone(), name: "Team".into(), created_at: 1 }))
        .await;
    let member =
        AccountChange::SetMember { workspace: id, user: ann.id.clone(), role: Some(notarium_core::Role::Owner) };
    server.apply(member).await;
    let http = server.http(&ann);
    let place = async |notebook: &str| {
        http.put(&format!("/api/notebooks/{notebook}/workspace"), json!({"workspace": "team"})).await
    };
    let (first, _) = http.notebook("x").await;
    is_limit(&make(&http).await, "--max-notebooks-per-person");
    assert!(place(&first).await.status.is_success());
    let (second, _) = http.notebook("x").await;
    is_limit(&place(&second).await, "--max-notebooks-per-workspace");
    let accounts = http.get("/api/usage").await.ok();
    let notebooks: Vec<&Value> =
        accounts["accounts"].as_array().unwrap().iter().map(|one| &one["used"]["notebooks"]).collect();
    assert_eq!(notebooks, [1, 1], "{accounts}");
}

#[tokio::test]
async fn files_are_imported_so_many_at_a_time() {
    let server = TestServer::with(|config| config.limits.max_imports = 1).await;
    let http = server.http(&server.person("Ann").await);
    let import = || http.request(Method::POST, "/api/import").body(r#"{"nbformat": 4, "metadata": {}, "cells": []}"#);
    let permit = server.running().app().imports.acquire().await.unwrap();
    let refused = http.send(import()).await;
    assert_eq!(refused.refused(429), "rate_limited");
    assert!(refused.text.contains("try again"), "{}", refused.text);
    drop(permit);
    http.send(import()).await.ok();
}

#[tokio::test]
async fn a_notebook_that_shows_too_much_takes_no_more_until_something_is_cleared() {
    let server = TestServer::with(|config| {
        config.limits.quotas.state_bytes = 100_000;
        config.rooms.room.catalog_delay_ms = 0;
    })
    .await;
    let ann = server.person("Ann").await;
    let mut socket = server.connect(&ann).await;
    socket.run("n", &create("Notes")).await.unwrap();
    let mut number = 0;
    // The size is measured in the background.
    let refused = loop {
        number += 1;
        assert!(number < 2_000, "it is never refused");
        match socket.run("n", &insert(&format!("c{number}"), &"x".repeat(1_000))).await {
            Ok(_) => {}
            Err(refused) => break refused,
        }
    };
    assert_eq!(refused.code, RejectionCode::LimitExceeded);
    assert!(refused.message.contains("clear the outputs"), "{}", refused.message);
    let http = server.http(&ann);
    for cell in 2..number {
        http.delete(&format!("/api/notebooks/n/cells/c{cell}")).await.ok();
    }
    let inserting = async { while socket.run("n", &insert("again", "x")).await.is_err() {} };
    tokio::time::timeout(crate::support::PATIENCE, inserting).await.expect("it is measured anew");
}

#[tokio::test]
async fn a_restart_does_not_forget_that_a_notebook_shows_too_much() {
    let mut server = TestServer::with(|config| {
        config.limits.quotas.state_bytes = 100_000;
        config.rooms.room.catalog_delay_ms = 0;
    })
    .await;
    let ann = server.person("Ann").await;
    let mut socket = server.connect(&ann).await;
    socket.run("n", &create("Notes")).await.unwrap();
    let mut numbers = 1..;
    let refused = loop {
        let cell = format!("c{}", numbers.next().expect("it has no end"));
        if let Err(refused) = socket.run("n", &insert(&cell, &"x".repeat(1_000))).await {
            break refused;
        }
    };
    assert_eq!(refused.code, RejectionCode::LimitExceeded);
    server.stop().await;
    server.start_again().await;
    let mut socket = server.connect(&ann).await;
    socket.subscribe("n").await;
    let refused = socket.run("n", &insert("more", "x")).await.expect_err("it is measured when it opens");
    assert_eq!(refused.code, RejectionCode::LimitExceeded, "{refused:?}");
}

/// Returns a file whose cells printed many small outputs.
fn printed_in_pieces() -> Value {
    let piece = |number: usize| json!({"output_type": "stream", "name": "stdout", "text": format!("{number:>2999}\n")});
    let outputs: Vec<Value> = (0..40).map(piece).collect();
    let cell = |id: &str| json!({"id": id, "cell_type": "code", "source": "walk()", "metadata": {}, "execution_count": 1, "outputs": outputs});
    let cells = ["a", "b", "c"].map(cell);
    json!({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells})
}

#[tokio::test]
async fn outputs_leave_the_state_of_a_notebook_that_shows_too_much_and_stay_visible() {
    let server = TestServer::with(|config| {
        config.limits.quotas.state_bytes = 300_000;
        config.rooms.room.catalog_delay_ms = 0;
    })
    .await;
    let ann = server.person("Ann").await;
    let http = server.http(&ann);
    let file = printed_in_pieces();
    let import = http.request(Method::POST, "/api/import").body(file.to_string());
    let n = http.send(import).await.ok()["notebook"].as_str().unwrap().to_owned();
    let mut socket = server.connect(&ann).await;
    socket.subscribe(&n).await;
    let pieces = |state: &notarium_core::Document| -> Vec<usize> {
        state.executions.values().map(|run| run.outputs.len()).collect()
    };
    let moved = async {
        socket.until(|socket| pieces(socket.state(&n)).contains(&1).then_some(())).await;
    };
    tokio::time::timeout(crate::support::PATIENCE, moved).await.expect("outputs move");
    let inserting = async { while socket.run(&n, &insert("again", "x")).await.is_err() {} };
    tokio::time::timeout(crate::support::PATIENCE, inserting).await.expect("the notebook takes more");
    let one = socket.state(&n).executions.values().find(|run| run.outputs.len() == 1).unwrap().outputs[0].clone();
    assert_eq!((one.blobs.len(), one.blobs[0].pointer.as_str(), one.blobs[0].size_bytes), (1, "/text", 120_000));

    // Shown, exported and reported outputs are unchanged.
    let exported = http.get(&format!("/api/notebooks/{n}/export")).await.ok();
    for (index, cell) in file["cells"].as_array().unwrap().iter().enumerate() {
        let text = |cell: &Value| -> String {
            let pieces = cell["outputs"].as_array().unwrap().iter();
            let lines = |text: &Value| match text {
                Value::Array(lines) => lines.iter().map(|line| line.as_str().unwrap()).collect::<String>(),
                text => text.as_str().unwrap().to_owned(),
            };
            pieces.map(|piece| lines(&piece["text"])).collect()
        };
        assert_eq!(text(&exported["cells"][index]), text(cell));
    }
    let log = http.get(&format!("/api/notebooks/{n}/events")).await.ok().to_string();
    assert!(log.contains("ExecutionOutputsMoved") && log.contains(r#""kind":"system""#), "the record says so");
}
