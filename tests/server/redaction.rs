//! Redaction over REST: the content is gone from every answer and every file, and the record still proves the rest.

use std::path::Path;

use reqwest::Method;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::support::{Http, Person, TestClient, TestServer};

const SECRET: &str = "hunter2-\u{1f511}";

struct Scene {
    server: TestServer,
    ann: Person,
    notebook: String,
    cell: String,
}

impl Scene {
    /// A notebook that has the secret in pieces, in copies, in outputs, in a blob, in a comment and in its title.
    async fn new() -> Self {
        let server = TestServer::start().await;
        let ann = server.person("Ann").await;
        let (notebook, cell) = server.http(&ann).notebook("key = ''").await;
        let scene = Self { server, ann, notebook, cell };
        let mut typed = String::new();
        for letter in SECRET.chars() {
            typed.push(letter);
            scene.edit(&format!("key = '{typed}'")).await;
        }
        let record = |outputs: Value| json!({"RecordExecution": {"cell_id": scene.cell, "outputs": outputs}});
        let stream = |text: String| json!({"content": {"output_type": "stream", "name": "stdout", "text": text}});
        scene.command(record(json!([stream(format!("it is {SECRET}\n"))]))).await;
        let blob = scene.blob(format!("{}{SECRET}", "long ".repeat(4_000))).await;
        let in_blob = json!({"content": {"output_type": "stream", "name": "stdout", "text": ""},
            "blobs": [{"pointer": "/text", "sha256": blob, "size_bytes": 4_000 * 5 + SECRET.len()}]});
        scene.command(record(json!([in_blob]))).await;
        scene.command(json!({"RenameNotebook": {"title": format!("Work {SECRET}")}})).await;
        let place = json!({"cell": {"cell_id": scene.cell}});
        scene.command(json!({"AddComment": {"target": place, "text": format!("remove {SECRET}")}})).await;
        scene.command(json!({"DeleteCell": {"cell_id": scene.cell}})).await;
        scene.command(json!({"RestoreCell": {"cell_id": scene.cell}})).await;
        scene
    }

    fn http(&self) -> Http {
        self.server.http(&self.ann)
    }

    fn path(&self, rest: &str) -> String {
        format!("/api/notebooks/{}{rest}", self.notebook)
    }

    async fn edit(&self, source: &str) {
        let state = self.http().get(&self.path("")).await.ok();
        let version = &state["notebook"]["cells"][&self.cell]["cell_version"];
        let path = self.path(&format!("/cells/{}", self.cell));
        self.http().patch(&path, json!({"source": source, "cell_version": version})).await.ok();
    }

    async fn command(&self, body: Value) {
        self.http().post(&self.path("/commands"), json!({ "body": body })).await.ok();
    }

    async fn blob(&self, text: String) -> String {
        let sha256 = hex::encode(Sha256::digest(&text));
        let request = self.http().request(Method::PUT, &self.path(&format!("/blobs/{sha256}"))).body(text);
        self.http().send(request).await.ok();
        sha256
    }

    async fn redact(&self, target: Value) -> Value {
        let body = json!({"target": target, "reason": "it leaked"});
        self.http().post(&self.path("/redactions"), body).await.ok()
    }

    /// Every text of the record.
    async fn record(&self) -> String {
        self.http().get(&self.path("/events?limit=1000")).await.ok()["events"].to_string()
    }
}

/// Files below a folder that have these bytes.
fn files_with(folder: &Path, bytes: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_with(&path, bytes));
        } else if std::fs::read(&path).unwrap().windows(bytes.len()).any(|window| window == bytes) {
            found.push(path.display().to_string());
        }
    }
    found
}

fn text() -> Value {
    json!({"text": {"text": SECRET}})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_is_gone_from_answers_and_files_and_the_record_still_verifies() {
    let mut scene = Scene::new().await;
    // Rows of the list and lines of the past are written.
    scene.http().get("/api/notebooks").await.ok();
    let find = scene.path("/find?ever=true&text=hunter2");
    scene
        .http()
        .until(&find, |found| found["is_complete"] == true && !found["found"].as_array().unwrap().is_empty())
        .await;
    assert!(!files_with(scene.server.folder(), SECRET.as_bytes()).is_empty(), "the test would see it");
    let preview = json!({"target": text(), "preview": true});
    let preview = scene.http().post(&scene.path("/redactions"), preview).await.ok();
    assert!(preview["epoch"].is_null() && scene.record().await.contains("it is hunter2"), "nothing is changed");

    let done = scene.redact(text()).await;
    assert_eq!((&done["versions"], &done["blobs"]), (&preview["versions"], &json!(1)));
    let record = scene.record().await;
    assert!(!record.contains("hunter2") && record.contains("it is ██████████"), "{record}");
    let state = scene.http().get(&scene.path("")).await.ok();
    let source = state["notebook"]["cells"][&scene.cell]["source"].as_str().unwrap().to_owned();
    assert_eq!(source, "key = '██████████'");
    assert_eq!(state["notebook"]["redaction_epoch"], done["epoch"]);
    let listed = scene.http().get("/api/notebooks").await.ok().to_string();
    assert!(!listed.contains("hunter2"), "{listed}");
    let proof = scene.http().get(&scene.path("/verify")).await.ok();
    assert_eq!((&proof["ok"], &proof["state_is_replayed"]), (&json!(true), &json!(true)), "{proof}");
    scene
        .http()
        .until(&find, |found| found["is_complete"] == true && found["found"].as_array().unwrap().is_empty())
        .await;
    for version in [3, 6, 12] {
        let past = scene.http().get(&scene.path(&format!("?at={version}"))).await.ok().to_string();
        assert!(!past.contains("hunter2"), "version {version}: {past}");
    }
    assert_eq!(files_with(scene.server.folder(), b"hunter2"), [""; 0]);
    let again = scene.http().post(&scene.path("/redactions"), json!({"target": text(), "reason": "again"})).await;
    assert_eq!(again.refused(409), "nothing_to_redact");

    // Nothing of it comes back with a restart, an undo or a restoration.
    scene.server.stop().await;
    assert_eq!(files_with(scene.server.folder(), b"hunter2"), [""; 0]);
    scene.server.start_again().await;
    scene.http().post(&scene.path("/restore"), json!({"version": 12})).await.ok();
    assert!(!scene.record().await.contains("hunter2"));
}

#[tokio::test(flavor = "multi_thread")]
async fn owners_alone_redact_and_the_reason_is_needed() {
    let scene = Scene::new().await;
    let bob = scene.server.person("Bob").await;
    let grant = json!({"GrantAccess": {"subject": {"kind": "user", "id": bob.id}, "role": "editor"}});
    scene.command(grant).await;
    let body = |target: Value| json!({"target": target, "reason": "it leaked"});
    let path = scene.path("/redactions");
    scene.server.http(&bob).post(&path, body(text())).await.refused(403);
    scene.server.http(&bob).post(&path, json!({"target": text(), "preview": true})).await.refused(403);
    scene.http().post(&path, json!({"target": text()})).await.refused(400);
    scene.http().post(&path, body(json!({"text": {"text": "abc"}}))).await.refused(400);
    scene.http().post(&path, body(json!({"event": {"version": 100_000}}))).await.refused(409);
    scene.http().post(&path, body(json!({"cell": {"cell_id": "nowhere"}}))).await.refused(409);
    let over_commands = json!({"body": {"RedactContent": {"reason": "x", "target": {"text": {}}}}});
    scene.http().post(&scene.path("/commands"), over_commands).await.refused(400);
    assert!(scene.record().await.contains("it is hunter2"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_live_client_gets_the_notebook_anew_and_one_that_was_away_too() {
    let scene = Scene::new().await;
    let mut live = TestClient::connect(scene.server.address(), &scene.ann.token).await;
    live.subscribe(&scene.notebook).await;
    let cell = scene.cell.parse().unwrap();
    let (notebook, held) = (scene.notebook.clone(), |client: &TestClient, notebook: &str| {
        client.state(notebook).cells.get(&cell).map(|cell| cell.content.source.to_string())
    });
    assert_eq!(held(&live, &notebook).as_deref(), Some("key = 'hunter2-\u{1f511}'"));
    let mut away = TestClient::connect(scene.server.address(), &scene.ann.token).await;
    away.subscribe(&scene.notebook).await;

    let epoch = scene.redact(json!({"cell": {"cell_id": scene.cell}})).await["epoch"].as_u64().unwrap();
    let is_black = |source: &str| source.chars().all(|character| character == '█');
    live.until(|client| held(client, &notebook).filter(|source| is_black(source))).await;
    assert_eq!(live.state(&notebook).redaction_epoch, epoch);
    away.reconnect(scene.server.address(), &scene.ann.token).await;
    away.until(|client| held(client, &notebook).filter(|source| is_black(source))).await;
    // Editing goes on over the stand-in.
    scene.edit("key = os.environ['KEY']").await;
    live.until(|client| held(client, &notebook).filter(|source| source.starts_with("key ="))).await;
}
