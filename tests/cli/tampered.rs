//! Records that somebody with the disk has changed: each way is found, and named.

use std::path::Path;

use notarium_assistant::host::NotebookHost;
use notarium_core::{Actor, Command, RawObject, RequestToolCall};
use notarium_server::{Server, ServerConfig};
use serde_json::{Value, json};

use super::support::World;

struct Scene {
    world: World,
    data: tempfile::TempDir,
    notebook: String,
    key: String,
}

impl Scene {
    /// A notebook in which an assistant deleted a cell that Ann let it delete; its signed head in `head.txt`.
    async fn new() -> Self {
        let data = tempfile::tempdir().unwrap();
        let world = World::start_with(data.path()).await;
        let (notebook, kept) = world.notebook("Work", "one").await;
        world.run(&["edit", &notebook, &kept, "--source", "two"]).await.ok();
        let cell = world.run(&["cell", "add", &notebook, "--source", "goes"]).await.ok();
        // Another notebook with as many events.
        let (other, _) = world.notebook("Other", "x").await;
        for title in ["a", "b", "c", "d"] {
            world.run(&["rename", &other, title]).await.ok();
        }
        let scene = Self { world, data, notebook, key: String::new() };
        scene.delete(&cell).await;
        scene.world.run(&["cell", "add", &scene.notebook, "--source", "last"]).await.ok();
        scene.world.run(&["head", &scene.notebook, "--sign", "-o", "head.txt"]).await.ok();
        let listed = reqwest::get(format!("{}/.well-known/notarium-keys", scene.world.url())).await.unwrap();
        let listed: Value = listed.json().await.unwrap();
        let key = listed["keys"][0]["key"].as_str().unwrap().to_owned();
        Self { key, ..scene }
    }

    async fn delete(&self, cell: &str) {
        let host = self.world.server.as_ref().unwrap().assistant_host();
        let notebook = self.notebook.parse().unwrap();
        let me: Value = self.world.run(&["whoami", "--json"]).await.json();
        let for_user = me["actor"]["id"].as_str().unwrap().parse().unwrap();
        let assistant = Actor::Assistant { for_user, conversation: "talk".parse().unwrap() };
        let version = host.read(&notebook).await.unwrap().cells[&cell.parse().unwrap()].cell_version;
        let arguments = json!({"cell_id": cell, "cell_version": version}).to_string();
        let request = Command::RequestToolCall(RequestToolCall {
            call_id: Some("gone".parse().unwrap()),
            turn_id: None,
            function: "delete_cell".to_owned(),
            arguments: RawObject::parse(&arguments).unwrap(),
            after: None,
            conversation_title: None,
            token: None,
        });
        host.execute(&assistant, &notebook, &request).await.unwrap();
        self.world.run_at_terminal(&["confirm", &self.notebook, "--yes", "gone"]).await.ok();
        let start = Command::StartToolCall { call_id: "gone".parse().unwrap() };
        host.execute(&assistant, &notebook, &start).await.unwrap();
    }

    /// Stops the server, changes its data, and starts it again at the same address.
    async fn stopped(&mut self, change: impl FnOnce(&Path)) {
        let server = self.world.server.take().expect("it runs");
        let listen = server.local_addr;
        server.shut_down().await;
        change(self.data.path());
        let config = ServerConfig { listen, ..ServerConfig::in_folder(self.data.path()) };
        self.world.server = Some(Server::start(config).await.expect("it starts again"));
    }

    /// Changes the database in one way; returns what was there before.
    async fn tampered(&mut self, way: &str) -> Vec<u8> {
        let notebook = self.notebook.clone();
        let mut before = Vec::new();
        self.stopped(|data| {
            let database = data.join("notarium.db");
            before = std::fs::read(&database).unwrap();
            let python = std::env::var("NOTARIUM_TEST_PYTHON").expect("NOTARIUM_TEST_PYTHON: see CONTRIBUTING.md");
            let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/tamper/tamper.py");
            let done = std::process::Command::new(python).arg(script).arg(&database).args([&notebook, way]).output();
            let done = done.unwrap();
            assert!(done.status.success(), "{way}: {}", String::from_utf8_lossy(&done.stderr));
        })
        .await;
        before
    }

    async fn put_back(&mut self, before: Vec<u8>) {
        self.stopped(|data| std::fs::write(data.join("notarium.db"), before).unwrap()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_way_to_change_a_record_is_found_and_named() {
    let mut scene = Scene::new().await;
    let verify = ["verify".to_owned(), scene.notebook.clone()];
    let whole = scene.world.run(&[&verify[0], &verify[1], "--against", "head.txt", "--key", &scene.key]).await.ok();
    assert!(whole.contains("every author had the right to do it"), "{whole}");
    let ways = [
        ("byte", "the payload of version 3 is not the one that was recorded"),
        ("row", "version 4 follows version 2"),
        ("swapped", "version 3 is not the one that was recorded"),
        ("elsewhere", "version 3 is not the one that was recorded"),
        ("clock-rehashed", "version 3 is dated before the one it follows"),
        ("decision-rehashed", "no person"),
        ("author-rehashed", "version 3: CellSourceEdited of an assistant outside of its calls"),
        ("guest-rehashed", "version 3: CellSourceEdited by guest:nobody with no role"),
    ];
    for (way, told) in ways {
        let before = scene.tampered(way).await;
        let found = scene.world.run(&[&verify[0], &verify[1]]).await;
        assert_ne!(found.code, 0, "{way}: {found:?}");
        assert!(found.err.contains(told), "{way}: {found:?}");
        scene.put_back(before).await;
    }
    // Whole in themselves, and found by the head that was kept.
    for (way, told) in [("tail", "before the expected"), ("byte-rehashed", "the record was rewritten")] {
        let before = scene.tampered(way).await;
        scene.world.run(&[&verify[0], &verify[1]]).await.ok();
        let found =
            scene.world.run(&[&verify[0], &verify[1], "--against", "head.txt", "--key", &scene.key]).await.fails(1);
        assert!(found.contains(told), "{way}: {found}");
        scene.put_back(before).await;
    }
    // Another key signs from now on: what it signs is not what the old key vouches for.
    scene.stopped(|data| std::fs::remove_file(data.join("signing-key.pk8")).unwrap()).await;
    scene.world.run(&["head", &scene.notebook, "--sign", "-o", "new.txt"]).await.ok();
    let arguments = [&verify[0], &verify[1], "--against", "new.txt", "--key", &scene.key];
    let other = scene.world.run(&arguments).await.fails(1);
    assert!(other.contains("none of the known keys has signed"), "{other}");
    scene.world.run(&[&verify[0], &verify[1], "--against", "head.txt"]).await.ok();
}
