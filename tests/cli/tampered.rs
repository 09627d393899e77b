//! Records that somebody with the disk has changed: each way is found, and named.

use std::path::Path;

use notarium_assistant::host::NotebookHost;
use notarium_core::{Actor, Command, Hash, RawObject, RequestToolCall};
use notarium_server::{Server, ServerConfig};
use notarium_store::{EventStore, Snapshot, Sqlite};
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
        let version = host.read(&notebook).await.unwrap().document.cells[&cell.parse().unwrap()].cell_version;
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
    async fn stopped(&mut self, change: impl AsyncFnOnce(&Path)) {
        let server = self.world.server.take().expect("it runs");
        let listen = server.local_addr;
        server.shut_down().await;
        change(self.data.path()).await;
        let config = ServerConfig { listen, ..ServerConfig::in_folder(self.data.path()) };
        self.world.server = Some(Server::start(config).await.expect("it starts again"));
    }

    /// Changes the database in one way; returns what was there before.
    async fn tampered(&mut self, way: &str) -> Vec<u8> {
        let notebook = self.notebook.clone();
        let mut before = Vec::new();
        self.stopped(async |data| {
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
        self.stopped(async |data| std::fs::write(data.join("notarium.db"), before).unwrap()).await;
    }

    /// Changes the newest snapshot, or makes one of an earlier version from it.
    async fn tampered_snapshot(&mut self, change: impl FnOnce(Snapshot, &[notarium_core::Stored]) -> Snapshot) {
        let id = self.notebook.parse().unwrap();
        self.stopped(async |data| {
            let store = Sqlite::open(data).await.unwrap();
            let newest = store.snapshot(&id, None).await.unwrap().expect("a stop leaves one");
            let changed = change(newest, &store.read(&id, 0, 100).await.unwrap());
            store.put_snapshot(&id, changed).await.unwrap();
            store.close().await;
        })
        .await;
    }

    async fn verified(&self) -> String {
        self.world.run(&["verify", &self.notebook]).await.ok()
    }

    /// Version of the newest event.
    async fn version(&self) -> u64 {
        let json: Value = self.world.run(&["verify", &self.notebook, "--json"]).await.json();
        json["version"].as_u64().unwrap()
    }

    async fn found(&self) -> String {
        self.world.run(&["verify", &self.notebook]).await.fails(1)
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
    scene.stopped(async |data| std::fs::remove_file(data.join("signing-key.pk8")).unwrap()).await;
    let signed = scene.world.run(&["head", &scene.notebook, "--sign", "-o", "new.txt"]).await;
    assert!(signed.err.contains("the server's key since"), "{signed:?}");
    let arguments = [&verify[0], &verify[1], "--against", "new.txt", "--key", &scene.key];
    let other = scene.world.run(&arguments).await.fails(1);
    assert!(other.contains("none of the known keys has signed"), "{other}");
    for head in ["head.txt", "new.txt"] {
        let agrees = scene.world.run(&[&verify[0], &verify[1], "--against", head]).await.ok();
        assert!(agrees.contains("(its key since "), "{agrees}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn changed_answers_to_commands_are_found_and_named() {
    let mut scene = Scene::new().await;
    let whole = scene.verified().await;
    assert!(whole.contains("the kept answers to ") && whole.contains(" commands and 0 snapshots agree"), "{whole}");
    let end = format!("the record is whole up to version {}", scene.version().await);
    assert!(!whole.contains("led to no event"), "{whole}");
    let ways = [
        ("command-gone", "its row in the table of commands is missing"),
        ("command-sender", "its row in the table of commands is missing, or has another sender"),
        ("command-version", "its row names version 2, and its last event is version 3"),
        ("command-answer", "the answer in its row has other executions than its events"),
    ];
    for (way, told) in ways {
        let before = scene.tampered(way).await;
        let found = scene.found().await;
        assert!(found.contains(told) && found.contains(", version 3: "), "{way}: {found}");
        assert!(found.contains(&end), "{way}: {found}");
        let all = scene.world.run(&["verify", "--all"]).await;
        assert!(all.code == 1 && all.out.contains("NOT WHOLE"), "{way}: {all:?}");
        scene.put_back(before).await;
    }
    // Nothing proves an answer without events, for or against.
    scene.tampered("command-added").await;
    let told = scene.verified().await;
    assert!(told.contains("1 other command led to no event: nothing proves the kept answers"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn changed_snapshots_are_found_and_named() {
    let mut scene = Scene::new().await;
    let end = format!("the snapshot of version {}", scene.version().await);
    let forged = |snapshot: &Snapshot| {
        let state = String::from_utf8(snapshot.decompress(1 << 20).unwrap()).unwrap();
        assert!(state.contains("\"two\""), "{state}");
        state.replace("\"two\"", "\"six\"").into_bytes()
    };
    // With a right checksum: the server shows what it says, and the events lead elsewhere.
    scene
        .tampered_snapshot(|newest, _| Snapshot::compress(newest.format, newest.head, &forged(&newest)).unwrap())
        .await;
    let found = scene.found().await;
    assert!(found.contains("the server shows another state than its record leads to"), "{found}");
    assert!(found.contains(&format!("{end} is not what the events lead to")), "{found}");
    let damaged = |newest: Snapshot, _: &[notarium_core::Stored]| Snapshot { checksum: Hash::ZERO, ..newest };
    scene.tampered_snapshot(damaged).await;
    let found = scene.found().await;
    assert!(found.contains(&format!("{end} was changed on the disk: its checksum")), "{found}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_snapshot_of_the_past_is_found_and_named() {
    let mut scene = Scene::new().await;
    scene.stopped(async |_| {}).await;
    let whole = scene.verified().await;
    assert!(whole.contains(" commands and 1 snapshot agree with the events"), "{whole}");
    scene
        .tampered_snapshot(|newest, events| {
            let state = newest.decompress(1 << 20).unwrap();
            Snapshot::compress(newest.format, events[3].head(), &state).unwrap()
        })
        .await;
    let found = scene.found().await;
    assert!(found.contains("the snapshot of version 4 is not what the events lead to"), "{found}");
    assert!(found.contains("it holds another state of the notebook"), "{found}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_large_output_is_found_and_named() {
    let mut scene = Scene::new().await;
    let (client, bytes) = (reqwest::Client::new(), "large ".repeat(5_000));
    let sha256 = hex::encode(<sha2::Sha256 as sha2::Digest>::digest(&bytes));
    let url = |path: &str| format!("{}/api/notebooks/{}{path}", scene.world.url(), scene.notebook);
    let put = client.put(url(&format!("/blobs/{sha256}"))).bearer_auth(scene.world.token()).body(bytes.clone());
    put.send().await.unwrap().error_for_status().unwrap();
    let cell = scene.world.run(&["cell", "add", &scene.notebook, "--source", "big"]).await.ok();
    let blobs = json!([{"pointer": "/text", "sha256": sha256, "size_bytes": bytes.len()}]);
    let output = json!({"content": {"output_type": "stream", "name": "stdout", "text": ""}, "blobs": blobs});
    let command = json!({"body": {"RecordExecution": {"cell_id": cell.trim(), "outputs": [output]}}});
    let post = client.post(url("/commands")).bearer_auth(scene.world.token()).json(&command);
    post.send().await.unwrap().error_for_status().unwrap();
    let verify = ["verify".to_owned(), scene.notebook.clone(), "--blobs".to_owned()];
    let verify: Vec<&str> = verify.iter().map(String::as_str).collect();
    assert!(scene.world.run(&verify).await.ok().contains("its 1 blob are whole"));
    let folder = scene.data.path().join("blobs").join(&scene.notebook);
    scene
        .stopped(async |_| {
            let mut file = folder.clone();
            while file.is_dir() {
                file = std::fs::read_dir(&file).unwrap().next().expect("one file is there").unwrap().path();
            }
            std::fs::write(&file, bytes.replacen("large", "lArge", 1)).unwrap();
        })
        .await;
    let found = scene.world.run(&verify).await.fails(1);
    assert!(found.contains(&format!("blob {sha256} is damaged")), "{found}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_list_of_keys_is_found_and_named() {
    let mut scene = Scene::new().await;
    let verify = ["verify".to_owned(), scene.notebook.clone(), "--against".to_owned(), "head.txt".to_owned()];
    let verify: Vec<&str> = verify.iter().map(String::as_str).collect();
    let ways = [
        ("key-replaced", "none of the known keys has signed this head"),
        ("key-later", "its list of keys was changed, or its clock"),
    ];
    for (way, told) in ways {
        let before = scene.tampered(way).await;
        let found = scene.world.run(&verify).await.fails(1);
        assert!(found.contains(told) && found.contains(" since "), "{way}: {found}");
        scene.put_back(before).await;
    }
    // A key that was kept needs no list.
    scene.tampered("key-replaced").await;
    let kept = [&verify[..], &["--key", &scene.key]].concat();
    scene.world.run(&kept).await.ok();
}
