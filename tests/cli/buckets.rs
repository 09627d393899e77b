//! The program with blobs in a bucket (moto): start messages, backup, restore, and moving from a folder.

use notarium_server::{Server, ServerConfig};
use notarium_store::BlobLocation;
use serde_json::json;

use super::support::{Lines, Ran, World, ended};
use crate::support::moto::{self, Moto};

/// Runs the program with keys of the server at `address`.
async fn run(world: &World, address: &str, arguments: &[&str]) -> Ran {
    ended(world.spawn_after(&keys(address), arguments)).await
}

/// A line of shell that sets the keys.
fn keys(address: &str) -> String {
    let set = moto::variables(address).into_iter().map(|(name, value)| format!("export {name}={value}"));
    set.collect::<Vec<_>>().join("; ")
}

fn file_with_output() -> String {
    let output = json!({"output_type": "stream", "name": "stdout", "text": "long ".repeat(10_000)});
    let cell = json!({"id": "c", "cell_type": "code", "source": "x", "metadata": {}, "execution_count": 1, "outputs": [output]});
    json!({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}).to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn blobs_of_a_bucket_are_backed_up_and_restored_into_a_folder_or_a_bucket() {
    let Some(moto) = Moto::start() else { return };
    let place = |url: &str| Some(BlobLocation::parse(url, moto.variables()).unwrap());
    let data = tempfile::tempdir().unwrap();
    let mut world = World::start_as(|config| {
        config.folder = data.path().to_owned();
        config.blobs = place("s3://notes/first");
    })
    .await;
    world.file("large.ipynb", &file_with_output());
    let notebook = world.run(&["import", "large.ipynb"]).await.ok();
    let folder = data.path().to_str().unwrap();
    let backup = ["backup", "nightly", "--data", folder, "--blobs", "s3://notes/first"];
    for copied in ["1 blob (1 copied)", "1 blob (0 copied)"] {
        let told = run(&world, &moto.address, &backup).await.ok();
        assert!(told.contains(copied), "{told}");
    }
    run(&world, &moto.address, &["backup", "one.tar.zst", "--data", folder, "--blobs", "s3://notes/first"]).await.ok();
    // A backup that forgets the bucket says what it lacks.
    let lacking = world.run(&["backup", "lacking", "--data", folder]).await.fails(1);
    assert!(lacking.contains("missing or damaged") && lacking.contains("--blobs"), "{lacking}");

    let server = world.server.take().unwrap();
    let listen = server.local_addr;
    server.shut_down().await;
    world.run(&["restore", "nightly", "in-a-folder"]).await.ok();
    let restore = ["restore", "one.tar.zst", "in-a-bucket", "--blobs", "s3://notes/second/team"];
    let told = run(&world, &moto.address, &restore).await.ok();
    assert!(told.contains("1 blob (1 copied)"), "{told}");
    for (folder, blobs) in [("in-a-folder", None), ("in-a-bucket", place("s3://notes/second/team"))] {
        let config = ServerConfig { listen, blobs, ..ServerConfig::in_folder(world.folder.path().join(folder)) };
        world.server = Some(Server::start(config).await.unwrap());
        world.run(&["verify", &notebook, "--blobs"]).await.ok();
        let exported = world.run(&["export", &notebook]).await.ok();
        assert!(exported.contains("long long long"));
        world.server.take().unwrap().shut_down().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn serve_takes_a_bucket_and_says_why_it_cannot() {
    let Some(moto) = Moto::start() else { return };
    let world = World::empty();
    let serve = ["serve", "--data", "data", "--listen", "127.0.0.1:0"];
    world.file("settings.toml", "[serve]\nblobs = \"s3://notes/team\"\nblob-redirects = \"1MiB\"\n");
    for options in [["--blobs", "s3://notes/team"], ["--config", "settings.toml"]] {
        let mut process = world.spawn_after(&keys(&moto.address), &[&serve[..], &options].concat());
        Lines::of(process.stdout.take().unwrap()).until(" on http://").await;
        super::support::interrupt(&process);
        assert_eq!(ended(process).await.code, 0);
    }
    let refused = world.run(&serve).await.fails(1);
    assert!(refused.contains("start with --blobs s3://notes/team"), "{refused}");
    for (address, url, code, told) in [
        (moto.address.as_str(), "s3://nowhere", 1, "there is no bucket for s3://nowhere: create it"),
        ("127.0.0.1:1", "s3://notes", 1, "does not answer"),
        (moto.address.as_str(), "gs://notes", 2, "write a folder, or s3://BUCKET/PREFIX"),
        (moto.address.as_str(), "s3://key:planted-in-url@notes", 2, "set AWS_ACCESS_KEY_ID"),
    ] {
        let said = run(&world, address, &[&serve[..], &["--blobs", url]].concat()).await.fails(code);
        assert!(said.contains(told) && !said.contains("planted"), "{said}");
    }
}
