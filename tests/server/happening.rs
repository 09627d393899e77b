//! Tests of live information in the notebook list (presence, runs), and of names that guests choose.

use notarium_core::Role;
use serde_json::{Value, json};

use super::socket::{create, insert};
use crate::support::{TestClient, TestServer};

/// Returns the names of people in a notebook; none if it is closed.
fn names(line: &Value) -> Vec<&str> {
    let people = line["now"]["people"].as_array().into_iter().flatten();
    people.map(|person| person["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn the_list_tells_who_is_where_and_what_runs_to_those_who_may_read() {
    let server = TestServer::start().await;
    let (ann, bob, eve) = (server.person("Ann").await, server.person("Bob").await, server.person("Eve").await);
    let mut owner = server.connect(&ann).await;
    owner.run("n", &create("Notes")).await.unwrap();
    owner.run("n", &insert("c", "1")).await.unwrap();
    let body = json!({"subject": {"kind": "user", "id": bob.id.as_str()}, "role": "viewer"});
    server.http(&ann).put("/api/notebooks/n/access", body).await.ok();

    let line = async |person| {
        let page = server.http(person).get("/api/notebooks?live=true").await.ok();
        page["notebooks"][0].clone()
    };
    assert_eq!(names(&line(&bob).await), [] as [&str; 0]);
    owner.subscribe("n").await;
    let mut again = server.connect(&ann).await;
    again.subscribe("n").await;
    server.http(&ann).post("/api/notebooks/n/runs", json!({"cells": ["c"]})).await.ok();
    let told = line(&bob).await;
    assert_eq!(names(&told), ["Ann"], "each once");
    assert_eq!((&told["now"]["running"], &told["now"]["queued"]), (&json!(0), &json!(1)));
    assert_eq!(told["now"]["people"][0]["actor"], json!({"kind": "user", "id": ann.id.as_str()}));

    let page = server.http(&bob).get("/api/notebooks").await.ok();
    assert!(page["notebooks"][0].get("now").is_none(), "nobody asked: {page}");
    assert_eq!(server.http(&eve).get("/api/notebooks?live=true").await.ok()["notebooks"], json!([]));
}

#[tokio::test]
async fn many_tabs_of_one_person_hide_nobody() {
    let server = TestServer::start().await;
    let (ann, bob) = (server.person("Ann").await, server.person("Bob").await);
    let mut tabs = vec![server.connect(&ann).await];
    tabs[0].run("n", &create("Notes")).await.unwrap();
    let body = json!({"subject": {"kind": "user", "id": bob.id.as_str()}, "role": "viewer"});
    server.http(&ann).put("/api/notebooks/n/access", body).await.ok();
    for _ in 0..20 {
        tabs.push(server.connect(&ann).await);
    }
    for tab in &mut tabs {
        tab.subscribe("n").await;
    }
    let mut other = server.connect(&bob).await;
    other.subscribe("n").await;
    let page = server.http(&bob).get("/api/notebooks?live=true").await.ok();
    assert_eq!(names(&page["notebooks"][0]), ["Ann", "Bob"]);
}

/// Returns the display name of a connection, as others see it.
async fn name_of(owner: &mut TestClient, of: &TestClient) -> String {
    let connection = of.welcome.as_ref().unwrap().connection.clone();
    owner.until(|owner| owner.replica("n").peers.get(&connection).map(|peer| peer.name.clone())).await
}

#[tokio::test]
async fn a_guest_chooses_a_name_and_is_still_told_by_the_link() {
    let server = TestServer::start().await;
    let ann = server.person("Ann").await;
    let mut owner = server.connect(&ann).await;
    owner.run("n", &create("Notes")).await.unwrap();
    let label = json!({"role": "viewer", "label": "class"});
    let link = server.http(&ann).post("/api/notebooks/n/share-links", label).await.ok();
    let token = link["token"].as_str().unwrap();
    owner.subscribe("n").await;
    assert_eq!(owner.replica("n").role, Role::Owner);

    let mut zoe = TestClient::open(server.address(), &[]).await.unwrap();
    zoe.hello_named(token, " Zoë ").await;
    zoe.until(|client| client.welcome.is_some().then_some(())).await;
    zoe.subscribe("n").await;
    assert_eq!(name_of(&mut owner, &zoe).await, "Zoë (class)");

    let long = "x".repeat(41);
    for name in ["", "two\nlines", "turned \u{202e} round", &long] {
        let mut guest = TestClient::open(server.address(), &[]).await.unwrap();
        guest.hello_named(token, name).await;
        let said = guest.until(|guest| guest.errors.first().map(|error| error.message.clone())).await;
        assert!(said.contains("hello.name has 1 to 40 characters"), "{name:?}: {said}");
    }

    // A person has the name of the account.
    let mut bob = TestClient::open(server.address(), &[]).await.unwrap();
    bob.hello_named(&ann.token, "Somebody else").await;
    bob.until(|client| client.welcome.is_some().then_some(())).await;
    bob.subscribe("n").await;
    assert_eq!(name_of(&mut owner, &bob).await, "Ann");
}

#[tokio::test]
async fn the_models_are_told_to_those_who_are_signed_in() {
    let server = TestServer::start().await;
    let ann = server.person("Ann").await;
    assert_eq!(server.http(&ann).get("/api/models").await.ok(), json!({"models": []}));
    assert_eq!(server.http_as("nt_api_nobody").get("/api/models").await.status, 401);
}
