//! Tests of `notarium backup` beside a running server, `notarium restore`, and a server on the restored data.

use notarium_server::{Server, ServerConfig};
use reqwest::Method;
use serde_json::json;

use super::support::World;

#[tokio::test(flavor = "multi_thread")]
async fn a_running_server_is_backed_up_under_writes_and_the_copy_starts_and_verifies() {
    let data = tempfile::tempdir().unwrap();
    let mut world = World::start_with(data.path()).await;
    let (notebook, _) = world.notebook("Work", "x = 1").await;
    let output = json!({"output_type": "stream", "name": "stdout", "text": "long ".repeat(10_000)});
    let cell = json!({"id": "c", "cell_type": "code", "source": "x", "metadata": {}, "execution_count": 1, "outputs": [output]});
    let file = json!({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]});
    world.file("large.ipynb", &file.to_string());
    let with_blob = world.run(&["import", "large.ipynb"]).await.ok();

    let (url, token) = (format!("{}/api/notebooks/{notebook}/commands", world.url()), world.token());
    let writing = tokio::spawn(async move {
        let http = crate::support::client();
        loop {
            let body = json!({"body": {"InsertCell": {"cell_type": "code", "source": "y".repeat(2_000)}}});
            let request = http.request(Method::POST, &url).bearer_auth(&token).json(&body);
            assert!(request.send().await.unwrap().status().is_success());
        }
    });
    let folder = data.path().to_str().unwrap();
    let mut acked = 0;
    for copied in ["1 blob (1 copied)", "1 blob (0 copied)"] {
        acked = world.run(&["verify", "Work", "--json"]).await.json()["version"].as_u64().unwrap();
        let told = world.run(&["backup", "nightly", "--data", folder]).await.ok();
        assert!(told.contains("2 notebooks") && told.contains(copied), "{told}");
    }
    world.run(&["backup", "monday.tar.zst", "--data", folder]).await.ok();
    let left = |name: &str| world.folder.path().join(name).exists();
    assert!(left("monday.tar.zst") && !left("monday.tar.zst.part") && !left("monday.tar.zst.part.d"));
    writing.abort();
    let refused = world.run(&["restore", "nightly", folder]).await.fails(1);
    assert!(refused.contains("is not empty"), "{refused}");
    let none = world.run(&["backup", "elsewhere", "--data", "nothing-here"]).await.fails(1);
    assert!(none.contains("there is no database"), "{none}");

    let server = world.server.take().unwrap();
    let listen = server.local_addr;
    server.shut_down().await;
    world.run(&["restore", "nightly", "restored"]).await.ok();
    world.run(&["restore", "monday.tar.zst", "of-the-file"]).await.ok();
    let files = |folder: &str| std::fs::read_dir(world.folder.path().join(folder)).unwrap().count();
    assert_eq!(files("of-the-file"), files("restored"));
    world.file("cut.tar.zst", "no archive");
    let cut = world.run(&["restore", "cut.tar.zst", "nowhere"]).await.fails(1);
    assert!(cut.contains("no whole archive"), "{cut}");
    let restored = ServerConfig { listen, ..ServerConfig::in_folder(world.folder.path().join("restored")) };
    world.server = Some(Server::start(restored).await.unwrap());
    let proven = world.run(&["verify", "Work", "--json"]).await.json();
    assert!(proven["version"].as_u64().unwrap() >= acked, "{proven} has what was acked before: {acked}");
    assert_eq!(proven["state_is_replayed"], true);
    world.run(&["verify", &with_blob, "--blobs"]).await.ok();
    world.run(&["export", &with_blob]).await.ok();
}

/// Kills a restore at ten moments: the server refuses the partial data, and another restore completes it.
#[tokio::test(flavor = "multi_thread")]
async fn a_killed_restore_is_refused_by_the_server_and_taken_up_by_the_next() {
    let data = tempfile::tempdir().unwrap();
    let mut world = World::start_with(data.path()).await;
    world.notebook("Work", &"x = 1\n".repeat(1_000)).await;
    world.server.take().unwrap().shut_down().await;
    world.run(&["backup", "nightly.tar.zst", "--data", data.path().to_str().unwrap()]).await.ok();
    let begun = std::time::Instant::now();
    world.run(&["restore", "nightly.tar.zst", "whole"]).await.ok();
    let whole = begun.elapsed();
    let mut refusals = 0;
    for tenth in 1..=10 {
        let folder = format!("restored{tenth}");
        let into = world.folder.path().join(&folder);
        let mut restore = world.spawn(&["restore", "nightly.tar.zst", &folder]);
        // Kills after a fixed time, as the moment of the kill is under test.
        let _ = tokio::time::timeout(whole * tenth / 10, restore.wait()).await;
        let _ = restore.kill().await;
        if !into.exists() {
            continue;
        }
        match Server::start(ServerConfig::in_folder(&into)).await {
            Err(error) => {
                refusals += 1;
                assert!(error.to_string().contains("notarium restore"), "{error}");
                let said = world.run(&["serve", "--listen", "127.0.0.1:0", "--data", &folder]).await.fails(1);
                assert!(said.contains("broke off"), "{said}");
                world.run(&["restore", "nightly.tar.zst", &folder]).await.ok();
            }
            // The restore was complete.
            Ok(server) => server.shut_down().await,
        }
        let server = Server::start(ServerConfig::in_folder(&into)).await.unwrap();
        assert!(server.owner_token.is_none(), "no new life");
        server.shut_down().await;
    }
    println!("{refusals} of 10 were refused");
}
