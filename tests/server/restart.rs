//! Tests of a restart: the server keeps everything, and connected clients resume.

use notarium_wire::ErrorCode;
use serde_json::json;

use super::socket::{create, edit, insert};
use crate::support::TestServer;

#[tokio::test]
async fn a_restart_keeps_everything_and_clients_resume() {
    let mut server = TestServer::start().await;
    let ann = server.person("Ann").await;
    let mut client = server.connect(&ann).await;
    client.run("n", &create("Notes")).await.unwrap();
    client.run("n", &insert("c", "abc")).await.unwrap();
    client.subscribe("n").await;
    client.run("n", &edit("c", 2, r#"[3,[0,"def"]]"#)).await.unwrap();
    let before = client.state("n").clone();
    let mut verified = server.http(&ann).get("/api/notebooks/n/verify").await.ok();
    server.stop().await;
    client.until_closed().await;
    assert_eq!(client.errors.last().map(|error| (error.code, error.fatal)), Some((ErrorCode::Unavailable, true)));
    server.start_again().await;
    // A stop leaves a snapshot.
    verified["snapshots"] = serde_json::json!(1);
    assert_eq!(server.http(&ann).get("/api/notebooks/n/verify").await.ok(), verified);
    client.reconnect(server.address(), &ann.token).await;
    client.run("n", &insert("d", "after")).await.unwrap();
    let version = before.version + 1;
    client.until(|client| (client.state("n").version == version).then_some(())).await;
    assert_eq!(client.state("n").cells.len(), 2);
    let read = server.http(&ann).get("/api/notebooks/n").await.ok();
    assert_eq!(read["notebook"], serde_json::to_value(client.state("n")).unwrap());
}

#[tokio::test]
async fn a_retry_across_a_restart_is_applied_once() {
    let mut server = TestServer::start().await;
    let ann = server.person("Ann").await;
    let send = async |server: &TestServer| {
        let http = server.http(&ann);
        let request = http.request(reqwest::Method::POST, "/api/notebooks").header("idempotency-key", "k");
        http.send(request.json(&json!({"title": "Notes"}))).await.ok()
    };
    let first = send(&server).await;
    server.stop().await;
    server.start_again().await;
    assert_eq!(send(&server).await, first);
}

#[tokio::test]
async fn a_second_server_on_the_same_folder_is_refused() {
    let server = TestServer::start().await;
    let second = notarium_server::Server::start(notarium_server::ServerConfig::in_folder(server.folder())).await;
    let error = second.err().expect("the folder is locked").to_string();
    assert!(error.contains("another server"), "{error}");
}

#[tokio::test]
async fn the_owner_token_is_printed_until_it_was_used() {
    let mut server = TestServer::start().await;
    assert!(server.running().owner_token.is_some());
    server.stop().await;
    server.start_again().await;
    let token = server.running().owner_token.clone().expect("nobody has signed in");
    let http = server.http_as("none").without_token();
    let body = json!({"token": token, "name": "Ann", "login": "ann", "password": "correct horse", "label": "test"});
    let session = http.post("/api/session", body.clone()).await.ok();
    assert!(http.post("/api/session", body).await.status.is_client_error(), "once");
    let owner = server.http_as(session["token"].as_str().unwrap());
    owner.post("/api/notebooks", json!({"title": "Mine"})).await.ok();
    server.stop().await;
    server.start_again().await;
    assert_eq!(server.running().owner_token, None);
}
