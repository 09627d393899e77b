//! Tests of the REST interface.

use notarium_core::Scope;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::TestServer;

#[tokio::test]
async fn notebooks_are_made_listed_searched_renamed_and_archived() {
    let server = TestServer::start().await;
    let http = server.http(&server.person("Ann").await);
    let made = http.post("/api/notebooks", json!({"id": "n", "title": "Tides", "with_cell": true})).await;
    assert_eq!(made.status, 201);
    assert_eq!(made.ok()["version"], 2);
    assert_eq!(made.header("etag"), "\"2\"");
    let cell = json!({"cell_type": "code", "source": "moon = 'phases'"});
    http.post("/api/notebooks/n/cells", cell).await.ok();
    http.post("/api/notebooks", json!({"title": "Bread"})).await.ok();
    let titles = |page: &Value| -> Vec<String> {
        page["notebooks"].as_array().unwrap().iter().map(|line| line["title"].as_str().unwrap().to_owned()).collect()
    };
    let listed = async |query: &str, expected: &[&str]| {
        // Without a wait: authors see their changes in the list immediately.
        assert_eq!(titles(&http.get(&format!("/api/notebooks{query}")).await.ok()), expected, "{query}");
    };
    listed("", &["Bread", "Tides"]).await;
    listed("?text=phas", &["Tides"]).await;
    let first = http.get("/api/notebooks?limit=1").await.ok();
    let next = first["next"].as_str().unwrap();
    assert_eq!(http.get(&format!("/api/notebooks?limit=1&cursor={next}")).await.ok()["notebooks"][0]["title"], "Tides");
    http.patch("/api/notebooks/n", json!({"title": "Ebb", "metadata": {"authors": []}})).await.ok();
    let read = http.get("/api/notebooks/n").await.ok();
    assert_eq!((&read["notebook"]["title"], &read["role"]), (&json!("Ebb"), &json!("owner")));
    assert_eq!(read["notebook"]["metadata"], json!({"authors": []}));
    http.post("/api/notebooks/n/archive", json!({})).await.ok();
    let refused = http.patch("/api/notebooks/n", json!({"title": "x"})).await;
    assert_eq!(refused.refused(409), "notebook_archived");
    listed("?archived=true", &["Ebb"]).await;
    http.post("/api/notebooks/n/unarchive", json!({})).await.ok();
    let other = server.http(&server.person("Bob").await);
    assert_eq!(other.get("/api/notebooks").await.ok()["notebooks"], json!([]));
    assert_eq!(other.get("/api/notebooks/n").await.refused(404), "unknown_notebook");
}

#[tokio::test]
async fn cells_are_made_edited_moved_deleted_and_restored() {
    let server = TestServer::start().await;
    let http = server.http(&server.person("Ann").await);
    let (n, c) = http.notebook("one").await;
    let at = |rest: &str| format!("/api/notebooks/{n}/cells/{c}{rest}");
    let read = http.get(&at("")).await.ok();
    let cell_version = read["cell"]["cell_version"].as_u64().unwrap();
    let edited = http.patch(&at(""), json!({"source": "two", "cell_version": cell_version})).await.ok();
    let late = http.patch(&at(""), json!({"source": "three", "cell_version": cell_version})).await;
    assert_eq!(late.refused(409), "conflict");
    assert_eq!(late.json()["expected_version"], cell_version);
    assert_eq!(late.json()["actual_version"], edited["version"]);
    let change = json!({"change": [3, [0, "!"]], "base": edited["version"], "flags": {"pinned": true}});
    http.patch(&at(""), change).await.ok();
    let read = http.get(&at("")).await.ok();
    assert_eq!((&read["cell"]["source"], &read["cell"]["flags"]), (&json!("two!"), &json!({"pinned": true})));
    assert_eq!(http.patch(&at(""), json!({"source": "x"})).await.refused(400), "invalid_value");
    assert_eq!(http.patch(&at(""), json!({})).await.refused(400), "invalid_value");
    let new = json!({"cell_id": "d", "cell_type": "markdown", "source": "# d", "place": "start"});
    http.post(&format!("/api/notebooks/{n}/cells"), new).await.ok();
    let order = async || http.get(&format!("/api/notebooks/{n}")).await.ok()["notebook"]["order"].clone();
    assert_eq!(order().await, json!(["d", c]));
    http.post(&at("/move"), json!({"place": {"before": "d"}})).await.ok();
    assert_eq!(order().await, json!([c, "d"]));
    http.delete(&at("")).await.ok();
    assert_eq!(http.patch(&at(""), json!({"flags": {}})).await.refused(410), "cell_deleted");
    assert_eq!(http.get(&at("")).await.refused(410), "cell_deleted");
    assert_eq!(http.get(&format!("/api/notebooks/{n}/cells/never")).await.refused(404), "unknown_cell");
    let trash = http.get(&format!("/api/notebooks/{n}/trash")).await.ok();
    assert_eq!((&trash["cells"][0]["cell_id"], &trash["cells"][0]["cell"]["source"]), (&json!(c), &json!("two!")));
    http.post(&at("/restore"), json!({})).await.ok();
    assert_eq!(order().await, json!([c, "d"]));
    assert_eq!(http.get(&format!("/api/notebooks/{n}/trash")).await.ok()["cells"], json!([]));
    http.post(&format!("/api/notebooks/{n}/undo"), json!({})).await.ok();
    assert_eq!(order().await, json!(["d"]));
    let redone = http.send(http.request(Method::POST, &format!("/api/notebooks/{n}/redo"))).await;
    redone.ok();
    assert_eq!(order().await, json!([c, "d"]));
}

#[tokio::test]
async fn the_past_can_be_read_and_forked() {
    let server = TestServer::start().await;
    let http = server.http(&server.person("Ann").await);
    let (n, c) = http.notebook("first").await;
    let then = http.get(&format!("/api/notebooks/{n}")).await.ok();
    let edit = json!({"source": "second", "cell_version": then["version"]});
    http.patch(&format!("/api/notebooks/{n}/cells/{c}"), edit).await.ok();
    let past = http.get(&format!("/api/notebooks/{n}?at={}", then["version"])).await.ok();
    assert_eq!(past["notebook"], then["notebook"]);
    assert_eq!(http.get(&format!("/api/notebooks/{n}?at=99")).await.refused(400), "version_in_future");
    assert_eq!(http.get(&format!("/api/notebooks/{n}?at=0")).await.refused(400), "version_in_future");
    let fork = json!({"id": "fork", "title": "Fork", "version": then["version"]});
    http.post(&format!("/api/notebooks/{n}/fork"), fork).await.ok();
    let forked = http.get("/api/notebooks/fork").await.ok();
    assert_eq!(forked["notebook"]["cells"][&c]["source"], "first");
    let events = http.get("/api/notebooks/fork/events").await.ok();
    let types: Vec<&str> =
        events["events"].as_array().unwrap().iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["NotebookCreated", "CellInserted"]);
    assert_eq!(events["events"][0]["payload"]["forked_from"], json!({"notebook": n, "version": then["version"]}));
    http.post(&format!("/api/notebooks/{n}/versions"), json!({"version": 1, "name": "the beginning"})).await.ok();
    let named = http.get(&format!("/api/notebooks/{n}")).await.ok();
    assert_eq!(named["notebook"]["named_versions"], json!({"1": "the beginning"}));
}

#[tokio::test]
async fn a_repeated_request_is_applied_once() {
    let server = TestServer::start().await;
    let http = server.http(&server.person("Ann").await);
    let send = async |title: &str| {
        let request = http.request(Method::POST, "/api/notebooks").header("idempotency-key", "key-1");
        http.send(request.json(&json!({"title": title}))).await
    };
    let first = send("Notes").await.ok();
    assert_eq!(send("Notes").await.ok(), first);
    assert_eq!(send("Other").await.refused(409), "command_id_reused");
    let n = first["notebook"].as_str().unwrap();
    let rename = |version: &str| {
        let request =
            http.request(Method::PATCH, &format!("/api/notebooks/{n}")).header("if-match", version.to_owned());
        request.json(&json!({"title": "New"}))
    };
    let late = http.send(rename("\"9\"")).await;
    assert_eq!(late.refused(409), "conflict");
    assert_eq!((&late.json()["expected_version"], &late.json()["actual_version"]), (&json!(9), &json!(1)));
    http.send(rename("\"1\"")).await.ok();
    assert_eq!(http.send(rename("new")).await.refused(400), "invalid_value");
    let read = http.request(Method::GET, &format!("/api/notebooks/{n}")).header("if-none-match", "\"2\"");
    assert_eq!(http.send(read).await.status, 304);
    let bad_key = http.request(Method::POST, "/api/notebooks").header("idempotency-key", "no spaces");
    assert_eq!(http.send(bad_key.json(&json!({"title": "x"}))).await.refused(400), "invalid_value");
}

#[tokio::test]
async fn any_command_can_be_sent() {
    let server = TestServer::start().await;
    let http = server.http(&server.person("Ann").await);
    let (n, c) = http.notebook("x").await;
    let path = format!("/api/notebooks/{n}/commands");
    let command = json!({"id": "mine", "body": {"SetCellFlags": {"cell_id": c, "flags": {"bookmark": 3}}}});
    let answer = http.post(&path, command.clone()).await.ok();
    assert_eq!(answer["command_id"], "mine");
    assert_eq!(http.post(&path, command).await.ok(), answer);
    let stale = json!({"expected_version": 1, "body": {"RenameNotebook": {"title": "x"}}});
    assert_eq!(http.post(&path, stale).await.refused(409), "conflict");
    assert_eq!(http.post(&path, json!({"body": {"Sudo": {}}})).await.refused(400), "invalid_value");
    let unknown = json!({"body": {"RecordExecution": {"cell_id": c, "outputs": [{"content": {"output_type": "stream"},
        "blobs": [{"pointer": "/text", "sha256": "00".repeat(32), "size_bytes": 1}]}]}}});
    let refused = http.post(&path, unknown).await;
    assert_eq!(refused.refused(400), "invalid_value");
    assert!(refused.json()["detail"].as_str().unwrap().contains("upload"), "{}", refused.text);
}

#[tokio::test]
async fn runs_wait_without_an_agent_and_are_cancelled() {
    let server = TestServer::start().await;
    let http = server.http(&server.person("Ann").await);
    let (n, c) = http.notebook("1+1").await;
    let words = json!({"cell_type": "markdown", "source": "# words", "cell_id": "m"});
    http.post(&format!("/api/notebooks/{n}/cells"), words).await.ok();
    let runs = format!("/api/notebooks/{n}/runs");
    let requested = http.post(&runs, json!({"all": true})).await;
    assert_eq!(requested.status, 201);
    let run = requested.ok()["outcome"]["executions"][0].as_str().unwrap().to_owned();
    let read = http.get(&format!("{runs}/{run}")).await.ok();
    assert_eq!(read["execution"]["status"], "queued");
    assert_eq!(read["execution"]["subject"]["source"], "1+1");
    assert_eq!(http.post(&runs, json!({"cells": ["m"]})).await.refused(400), "not_runnable");
    assert_eq!(http.post(&runs, json!({})).await.refused(400), "invalid_value");
    assert_eq!(http.post(&runs, json!({"all": true, "cells": [c]})).await.refused(400), "invalid_value");
    http.post(&runs, json!({"scratch": {"source": "dir()", "purpose": "look around"}})).await.ok();
    let listed = http.get(&runs).await.ok();
    let sources: Vec<&Value> =
        listed["runs"].as_array().unwrap().iter().map(|run| &run["execution"]["subject"]["source"]).collect();
    assert_eq!(sources, ["dir()", "1+1"]);
    assert_eq!(http.get(&format!("{runs}?limit=1")).await.ok()["runs"].as_array().unwrap().len(), 1);
    let next = &http.get(&format!("{runs}?limit=1")).await.ok()["next"];
    assert_eq!(http.get(&format!("{runs}?before={next}")).await.ok()["runs"][0]["id"], run);
    assert_eq!(http.get(&format!("{runs}?cell={c}")).await.ok()["runs"].as_array().unwrap().len(), 1);
    let kernels = http.get(&format!("/api/notebooks/{n}/kernels")).await.ok();
    let session = kernels["kernels"].as_object().unwrap().keys().next().unwrap().clone();
    assert_eq!(kernels["kernels"][&session]["phase"], "requested");
    http.post(&format!("{runs}/{run}/cancel"), json!({})).await.ok();
    assert_eq!(http.get(&format!("{runs}/{run}")).await.ok()["execution"]["status"], "cancelled");
    assert_eq!(http.post(&format!("{runs}/{run}/cancel"), json!({})).await.refused(409), "execution_state");
    assert_eq!(
        http.post(&format!("{runs}/{run}/input"), json!({"value": "x"})).await.refused(409),
        "no_input_requested"
    );
    assert_eq!(http.get(&format!("{runs}/nothing")).await.refused(404), "unknown_execution");
    http.post(&format!("/api/notebooks/{n}/stop"), json!({})).await.ok();
    let interrupt = http.post(&format!("/api/notebooks/{n}/kernels/{session}/interrupt"), json!({})).await;
    assert_eq!(interrupt.refused(409), "kernel_state");
    http.delete(&format!("/api/notebooks/{n}/kernels/{session}")).await.ok();
    assert_eq!(http.get(&format!("/api/notebooks/{n}/kernels")).await.ok()["kernels"], json!({}));
    assert_eq!(
        http.delete(&format!("/api/notebooks/{n}/kernels/{session}")).await.refused(404),
        "unknown_kernel_session"
    );
}

#[tokio::test]
async fn the_record_is_paged_exported_and_proven() {
    let server = TestServer::start().await;
    let http = server.http(&server.person("Ann").await);
    let (n, c) = http.notebook("x").await;
    for number in 0..5 {
        let flags = json!({"flags": {"bookmark": number + 1}});
        http.patch(&format!("/api/notebooks/{n}/cells/{c}"), flags).await.ok();
    }
    let events = format!("/api/notebooks/{n}/events");
    let page = http.get(&format!("{events}?after=1&limit=2")).await.ok();
    assert_eq!(page["events"].as_array().unwrap().len(), 2);
    assert_eq!((&page["events"][0]["version"], &page["next"]), (&json!(2), &json!(3)));
    assert_eq!(page["head"]["version"], 7);
    let last = http.get(&format!("{events}?after=5")).await.ok();
    assert!(last.get("next").is_none());
    assert_eq!(last["events"][1]["hash"], last["head"]["hash"]);
    let lines = http.request(Method::GET, &events).header("accept", "application/x-ndjson");
    let lines = http.send(lines).await;
    let stored: Vec<notarium_core::Stored> =
        lines.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let head = notarium_core::verify_chain(notarium_core::Head::START, &stored).unwrap();
    assert_eq!((head.version, head.hash.to_string()), (7, last["head"]["hash"].as_str().unwrap().to_owned()));
    let proof = http.get(&format!("/api/notebooks/{n}/verify")).await.ok();
    assert_eq!((&proof["ok"], &proof["version"], &proof["state_is_replayed"]), (&json!(true), &json!(7), &json!(true)));
    let earlier = http.get(&format!("/api/notebooks/{n}/verify?at=3")).await.ok();
    assert_eq!((&earlier["version"], &earlier["hash"]), (&json!(3), &page["events"][1]["hash"]));
    assert_ne!(earlier["state_hash"], proof["state_hash"]);
}

#[tokio::test]
async fn the_server_says_how_it_is() {
    let server = TestServer::start().await;
    let http = server.http(&server.person("Ann").await).without_token();
    assert_eq!(http.get("/healthz").await.ok()["status"], "ok");
    assert_eq!(http.get("/readyz").await.ok()["status"], "ok");
    let page = http.get("/").await;
    assert!(page.status.is_success() && page.text.contains("Notarium") && !page.text.contains("{style}"));
    assert!(http.get("/notebooks/n").await.status.is_success(), "where share links lead");
    let policy = page.header("content-security-policy");
    // The client's page if it is built, else a page with build instructions.
    assert!(policy.starts_with("default-src 'none'; ") && !policy.contains("unsafe"), "{policy}");
    let missing = http.get("/assets/missing.js").await;
    assert_eq!(missing.status.as_u16(), 404);
    let document = http.get("/api/openapi.json").await;
    assert!(document.ok()["openapi"].as_str().unwrap().starts_with("3.1"));
    assert_eq!(document.header("x-content-type-options"), "nosniff");
}

#[tokio::test]
async fn a_notebook_may_be_made_by_a_command_and_only_by_those_who_may() {
    let server = TestServer::start().await;
    let (ann, bob) = (server.person("Ann").await, server.person("Bob").await);
    let create = json!({"body": {"CreateNotebook": {"title": "Notes", "metadata": {}}}});
    let made = server.http(&ann).post("/api/notebooks/mine/commands", create.clone()).await.ok();
    assert_eq!(made["version"], 1);
    assert_eq!(server.http(&ann).get("/api/notebooks/mine").await.ok()["role"], "owner");
    let taken = server.http(&bob).post("/api/notebooks/mine/commands", create.clone()).await;
    assert!(taken.status.is_client_error(), "{}", taken.text);
    let rename = json!({"body": {"RenameNotebook": {"title": "His"}}});
    assert_eq!(server.http(&bob).post("/api/notebooks/mine/commands", rename).await.refused(404), "unknown_notebook");
    let reader = server.http_as(&server.api_token(&bob, &[Scope::Read]).await);
    assert_eq!(reader.post("/api/notebooks/his/commands", create.clone()).await.refused(403), "forbidden");
    let agent = server.http_as(&server.agent_token(&ann, "gpu").await);
    assert_eq!(agent.post("/api/notebooks/its/commands", create.clone()).await.refused(403), "forbidden");
    server.http_as("").without_token().post("/api/notebooks/x/commands", create).await.refused(401);
}
