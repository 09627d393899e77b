//! Tests of attachments: sent by `chat --attach`, included in backups, not copied by forks.

use notarium_server::{Server, ServerConfig};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::chat::{Does, Driver};
use super::support::World;

const PICTURE: &[u8] = b"\x89PNG\r\n\x1a\nnot really a picture";

impl World {
    fn bytes(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.folder.path().join(name), bytes).unwrap();
    }

    /// Returns the attachments named in messages of the notebook's record.
    async fn attached(&self, notebook: &str) -> Vec<Value> {
        let events =
            self.get(&format!("/api/notebooks/{notebook}/events?limit=1000")).await.json::<Value>().await.unwrap();
        let messages = events["events"].as_array().unwrap().iter().map(|event| event["payload"]["blocks"].clone());
        let blocks = messages.filter_map(|blocks| blocks.as_array().cloned()).flatten();
        blocks.filter_map(|block| block.get("attachment").cloned()).collect()
    }

    async fn get(&self, path: &str) -> reqwest::Response {
        let request = crate::support::client().get(format!("{}{path}", self.url())).bearer_auth(self.token());
        request.send().await.unwrap().error_for_status().unwrap()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_attached_goes_with_the_question_and_survives_a_backup_but_not_a_fork() {
    let data = tempfile::tempdir().unwrap();
    let mut world = World::empty();
    let config = ServerConfig { assistants: true, ..ServerConfig::in_folder(data.path()) };
    let server = Server::start(config).await.unwrap();
    let (url, token) = (server.url(), server.owner_token.clone().unwrap());
    world.server = Some(server);
    let login = ["login", "--server", &url, "--token", &token, "--login", "ann", "--name", "Ann"];
    world.run_with(&login, "correct horse\n").await.ok();
    let (notebook, _) = world.notebook("Work", "x = 1").await;
    let driver = Driver::start(&world, &notebook, Does::Talk);
    world.bytes("plot.png", PICTURE);
    world.file("losses.csv", "epoch,loss\n1,0.5\n");
    world.run(&["chat", "Work", "--attach", "plot.png", "--attach", "losses.csv", "why?"]).await.ok();
    let named = |name: &str, media_type: &str, bytes: &[u8]| json!({"name": name, "media_type": media_type, "size_bytes": bytes.len(), "sha256": hex::encode(Sha256::digest(bytes))});
    let expected = [named("plot.png", "image/png", PICTURE), named("losses.csv", "text/csv", b"epoch,loss\n1,0.5\n")];
    let attached = world.attached(&notebook).await;
    assert_eq!(attached, expected);
    let blob = format!("/api/notebooks/{notebook}/blobs/{}", hex::encode(Sha256::digest(PICTURE)));
    assert_eq!(world.get(&blob).await.bytes().await.unwrap(), PICTURE);

    // A fork has the cells, but no conversations.
    let fork = world.run(&["fork", "Work", "--title", "Mine"]).await.ok();
    assert_eq!(world.attached(&fork).await, Vec::<Value>::new());
    world.run(&["verify", &fork, "--blobs"]).await.ok();

    let told = world.run(&["backup", "copy", "--data", data.path().to_str().unwrap()]).await.ok();
    assert!(told.contains("2 blobs (2 copied)"), "{told}");
    driver.abort();
    let server = world.server.take().unwrap();
    let listen = server.local_addr;
    server.shut_down().await;
    world.run(&["restore", "copy", "restored"]).await.ok();
    let restored = ServerConfig { listen, ..ServerConfig::in_folder(world.folder.path().join("restored")) };
    world.server = Some(Server::start(restored).await.unwrap());
    assert_eq!(world.attached(&notebook).await, expected);
    assert_eq!(world.get(&blob).await.bytes().await.unwrap(), PICTURE);
    world.run(&["verify", "Work", "--blobs"]).await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_no_model_takes_is_refused_before_anything_is_asked() {
    let world = World::with_assistants().await;
    let (notebook, _) = world.notebook("Work", "x = 1").await;
    world.bytes("report.pdf", b"%PDF-1.7\0binary");
    world.bytes("huge.png", &[PICTURE, &vec![0; 4_000_000]].concat());
    world.file("empty.txt", "");
    for (file, code, said) in [
        ("report.pdf", 2, "neither a picture (PNG, JPEG, GIF, WebP) nor text"),
        ("nothing.png", 2, "nothing.png"),
        ("huge.png", 1, "a picture at most 3750000"),
        ("empty.txt", 1, "'empty.txt' is empty"),
    ] {
        let refused = world.run(&["chat", "Work", "--attach", file, "why?"]).await;
        assert!(refused.err.contains(said), "{file}: {refused:?}");
        assert_eq!(refused.code, code, "{file}: {}", refused.err);
    }
    let state = world.run(&["show", &notebook, "--json"]).await.json();
    assert!(state["notebook"]["turns"].as_object().is_none_or(serde_json::Map::is_empty), "{state}");
}
