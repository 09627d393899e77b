//! A notebook is erased: everybody is told, nothing of it is left on the disk, and what it was stays provable.

use std::path::Path;

use notarium_core::{Command, EraseNotebook, Event, RejectionCode, RejectionDetails};
use notarium_wire::{ErrorCode, ServerMessage};
use reqwest::Method;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::socket::{create, edit, insert};
use crate::support::{Http, Person, TestServer};

const SECRET: &str = "hunter2secretword";

struct Scene {
    server: TestServer,
    ann: Person,
}

impl Scene {
    /// A notebook of Ann's with a secret in a cell, its past, its title, an output and a blob. Bo may view it.
    async fn new() -> Self {
        let server = TestServer::start().await;
        let (ann, bo) = (server.person("Ann").await, server.person("Bo").await);
        let mut client = server.connect(&ann).await;
        client.run("n", &create(&format!("Title {SECRET}"))).await.unwrap();
        client.run("n", &insert("c", &format!("key = '{SECRET}'"))).await.unwrap();
        client.run("n", &edit("c", 2, &format!(r##"[[0, "# {SECRET}", ""], {}]"##, 8 + SECRET.len()))).await.unwrap();
        let scene = Self { server, ann };
        let http = scene.http();
        let large = SECRET.repeat(3);
        let path = format!("/api/notebooks/n/blobs/{}", hex::encode(Sha256::digest(&large)));
        http.send(http.request(Method::PUT, &path).body(large)).await.ok();
        let output = json!({"content": {"output_type": "stream", "name": "stdout", "text": format!("{SECRET}\n")}});
        let ran = json!({"body": {"RecordExecution": {"cell_id": "c", "outputs": [output]}}});
        http.post("/api/notebooks/n/commands", ran).await.ok();
        let access = json!({"subject": {"kind": "user", "id": bo.id}, "role": "viewer"});
        http.put("/api/notebooks/n/access", access).await.ok();
        http.get(&format!("/api/notebooks/n/find?text={SECRET}&ever=true")).await.ok();
        http.get("/api/notebooks/n/blame").await.ok();
        let link = json!({"role": "viewer", "label": SECRET});
        http.post("/api/notebooks/n/share-links", link).await.ok();
        http.get(&format!("/api/notebooks?text={SECRET}")).await.ok();
        scene
    }

    fn http(&self) -> Http {
        self.server.http(&self.ann)
    }

    async fn erase(&self) -> Value {
        let http = self.http();
        let request = http.request(Method::DELETE, "/api/notebooks/n").json(&json!({"reason": "Ann asked for it"}));
        http.send(request).await.ok()
    }
}

/// Files below `folder` that have the text.
fn files_with(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_with(&path, text));
        } else if std::fs::read(&path).unwrap().windows(text.len()).any(|bytes| bytes == text.as_bytes()) {
            found.push(path.display().to_string());
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_an_erased_notebook_is_left_in_the_data_folder_but_who_erased_it() {
    let mut scene = Scene::new().await;
    let before = scene.http().get("/api/notebooks/n").await.ok()["head"].clone();
    assert!(!files_with(scene.server.folder(), SECRET).is_empty(), "the secret is in files");
    let answer = scene.erase().await;
    assert_eq!(answer["version"].as_u64(), before["version"].as_u64().map(|version| version + 1));
    assert_eq!(files_with(scene.server.folder(), SECRET), Vec::<String>::new(), "while the server runs");

    for path in ["", "/events", "/signed-head", "/verify", "/blame", "/export?format=markdown"] {
        let refused = scene.http().get(&format!("/api/notebooks/n{path}")).await;
        assert_eq!((refused.status.as_u16(), &refused.json()["code"]), (410, &json!("erased")), "{path}");
    }
    let problem = scene.http().get("/api/notebooks/n").await.json();
    let details = &problem["details"]["erasure"];
    assert_eq!((&details["reason"], &details["by"]["id"]), (&json!("Ann asked for it"), &json!(scene.ann.id)));
    assert_eq!(
        (&details["version"], &details["hash"]),
        (&before["version"], &before["hash"]),
        "the end that was erased"
    );
    assert_eq!(scene.http().get("/api/notebooks").await.ok()["notebooks"], json!([]));
    let eve = scene.server.person("Eve").await;
    assert!(scene.server.http(&eve).get("/api/notebooks/n").await.refused(404).contains("unknown_notebook"));

    scene.server.stop().await;
    assert_eq!(files_with(scene.server.folder(), SECRET), Vec::<String>::new(), "after it has stopped");
    scene.server.start_again().await;
    assert_eq!(scene.http().get("/api/notebooks/n").await.status.as_u16(), 410);
    assert_eq!(scene.http().get("/api/notebooks").await.ok()["notebooks"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_connected_are_told_and_shut_out() {
    let scene = Scene::new().await;
    let mut client = scene.server.connect(&scene.ann).await;
    client.subscribe("n").await;
    let last = client.state("n").version;
    let erase = Command::EraseNotebook(EraseNotebook { reason: "over".to_owned() });
    let id = client.command("n", &erase).await;
    assert_eq!(client.answer(&id).await.unwrap().version, last + 1);
    assert_eq!(client.state("n").erased.as_ref().map(|erasure| erasure.version), Some(last));
    let access = client.next_other().await;
    assert!(matches!(access, ServerMessage::Access { role: None, .. }), "{access:?}");

    client.acks.clear();
    client.command_as(&id, "n", None, &erase).await;
    assert_eq!(client.answer(&id).await.unwrap().version, last + 1, "a repeat of the same command");
    let second = client.run("n", &erase).await.unwrap_err();
    assert_eq!(second.rejection.code, RejectionCode::Erased);
    client.send_text(r#"{"subscribe": {"notebook": "n"}}"#).await;
    let error = client.error("a subscription").await;
    assert_eq!(error.code, ErrorCode::UnknownNotebook);
    assert!(matches!(error.details.as_deref(), Some(RejectionDetails::Erased { .. })), "{error:?}");
    let made = client.run("n", &create("the same id")).await.unwrap_err();
    assert_eq!(made.rejection.code, RejectionCode::NotebookExists);
}

#[tokio::test]
async fn an_erasure_that_a_crash_broke_off_goes_on_at_the_next_start() {
    let mut scene = Scene::new().await;
    // The event alone, as if the server had died right after its append.
    let (store, id) = (scene.server.running().app().store.clone(), "n".parse().unwrap());
    scene.server.running().app().rooms.shut_down().await;
    let epoch = store.take_lease(&id, &"crashed".parse().unwrap()).await.unwrap();
    let mut head = store.head(&id).await.unwrap().unwrap();
    let before = head;
    let event = Event::NotebookErased(notarium_core::NotebookErased {
        reason: "crash".to_owned(),
        version: head.version,
        hash: head.hash,
        access: Vec::new(),
    });
    let envelope = notarium_core::Envelope {
        id: "e".parse().unwrap(),
        notebook_id: id.clone(),
        version: head.version + 1,
        event_type: event.event_type().to_owned(),
        schema: 1,
        actor: notarium_core::Actor::User { id: scene.ann.id.clone() },
        command_id: "x".parse().unwrap(),
        correlation_id: "x".parse().unwrap(),
        causation_id: None,
        undoes: None,
        recorded_at: head.recorded_at,
    };
    let salt = notarium_core::Salt([7; 16]);
    let stored = notarium_core::Stored::seal(&mut head, envelope, event.payload().unwrap(), salt);
    let events = vec![notarium_core::NewEvent::new(stored, &event)];
    let append =
        notarium_core::Append { notebook_id: id.clone(), epoch, expected: before, events, commands: Vec::new() };
    store.append(append).await.unwrap();
    drop(store);
    scene.server.stop().await;
    assert!(!files_with(scene.server.folder(), SECRET).is_empty());

    scene.server.start_again().await;
    assert_eq!(files_with(scene.server.folder(), SECRET), Vec::<String>::new());
}
