//! Tests of working files through REST: with a real runtime agent and its folder, and with faulty agents.

use std::path::PathBuf;

use bytes::Bytes;
use futures_util::stream;
use notarium_agent::agent::{AgentNotice, AgentOptions, STOP_TIMEOUT};
use notarium_agent::kernel::LaunchOptions;
use notarium_agent::session::KernelSessionLimits;
use notarium_client::{ConnectOptions, Connection, ConnectionEvent};
use notarium_wire::{ClientMessage, FileAnswer, FileEntry, FileKind, FileRequest, ServerMessage, WORKING_FILES};
use reqwest::Method;
use serde_json::json;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::support::{Answer, Http, PATIENCE, Person, TestServer};

const FILES: &str = "/api/notebooks/n/files";
const MAX_BYTES: u64 = 1 << 20;

struct Scene {
    server: TestServer,
    ann: Person,
    http: Http,
    folder: tempfile::TempDir,
}

impl Scene {
    async fn new() -> Self {
        let server = TestServer::with(|config| config.limits.max_working_file_bytes = MAX_BYTES).await;
        let ann = server.person("Ann").await;
        let http = server.http(&ann);
        http.post("/api/notebooks", json!({"id": "n", "title": "Notes"})).await.ok();
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("work/data")).unwrap();
        std::fs::write(folder.path().join("secret"), "secret").unwrap();
        Self { server, ann, http, folder }
    }

    fn work(&self, name: &str) -> PathBuf {
        self.folder.path().join("work").join(name)
    }

    /// Starts a real agent, until it is aborted. It never launches a kernel.
    async fn agent(&self, name: &str) -> tokio::task::JoinHandle<()> {
        let spec = self.folder.path().join("share/jupyter/kernels/fake");
        std::fs::create_dir_all(&spec).unwrap();
        let text = r#"{"argv": ["true"], "display_name": "Fake", "language": "none"}"#;
        std::fs::write(spec.join("kernel.json"), text).unwrap();
        let token = self.server.agent_token(&self.ann, name).await;
        let options = AgentOptions {
            labels: Default::default(),
            connect: ConnectOptions::new(self.server.url(), token, "test"),
            kernel_paths: vec![self.folder.path().to_owned()],
            launch: LaunchOptions {
                working_dir: self.work(""),
                hidden: vec![self.work("keys")],
                runtime_dir: self.folder.path().to_owned(),
                ..LaunchOptions::default()
            },
            limits: KernelSessionLimits::default(),
            state_dir: None,
            displaced_patience: PATIENCE,
            stop_timeout: STOP_TIMEOUT,
        };
        let ready = std::sync::Arc::new(Notify::new());
        let is_ready = ready.clone();
        let notice = move |notice| {
            if notice == AgentNotice::Ready {
                is_ready.notify_one();
            }
        };
        let agent = tokio::spawn(async move {
            let _ = notarium_agent::agent::run(options, std::future::pending(), notice).await;
        });
        timeout(PATIENCE, ready.notified()).await.expect("the agent is ready");
        self.until_offered("fake").await;
        agent
    }

    async fn until_offered(&self, name: &str) {
        self.http.until("/api/notebooks/n/kernels", |it| it["kernelspecs"][0]["name"] == name).await;
    }

    /// Connects an agent that the test controls.
    async fn puppet(&self, features: &[&str]) -> (Connection, String) {
        let token = self.server.agent_token(&self.ann, "puppet").await;
        let mut options = ConnectOptions::new(self.server.url(), &token, "test");
        options.features = features.iter().map(|feature| (*feature).to_owned()).collect();
        let (connection, _) = Connection::open(options).await.unwrap();
        let offer = json!({"name": "puppet", "display_name": "Puppet", "language": "none"});
        connection.sender().offer(serde_json::from_value(json!({"kernelspecs": [offer]})).unwrap());
        self.until_offered("puppet").await;
        (connection, token)
    }

    async fn upload(&self, http: &Http, path: &str, more: &str, body: impl Into<reqwest::Body>) -> Answer {
        let request = http.request(Method::PUT, &format!("{FILES}/content?path={path}{more}"));
        http.send(request.body(body)).await
    }

    async fn download(&self, path: &str) -> Answer {
        self.http.get(&format!("{FILES}/content?path={path}")).await
    }
}

/// Returns the next request to the agent.
async fn asked(connection: &mut Connection) -> (u64, FileRequest) {
    loop {
        match timeout(PATIENCE, connection.next()).await.expect("a request comes") {
            ConnectionEvent::Message(ServerMessage::FileRequest { id, request, .. }) => return (id, request),
            ConnectionEvent::Failed(error) => panic!("{error}"),
            _ => {}
        }
    }
}

fn found(size_bytes: u64) -> FileAnswer {
    let (name, kind) = ("f".to_owned(), FileKind::File);
    FileAnswer::Found(FileEntry { name, kind, size_bytes: Some(size_bytes), modified_at: None })
}

#[tokio::test(flavor = "multi_thread")]
async fn files_go_there_and_back_and_nothing_is_recorded() {
    let scene = Scene::new().await;
    let agent = scene.agent("gpu").await;
    let before = scene.http.get("/api/notebooks/n").await.ok()["version"].clone();
    let bytes: Vec<u8> = (0..700_000_u32).map(|at| (at % 251) as u8).collect();
    let stored = scene.upload(&scene.http, "data/%C3%A9t%C3%A9%20%F0%9F%98%80.bin", "", bytes.clone()).await;
    assert_eq!(stored.status, 201);
    let stored = stored.ok();
    assert_eq!((stored["path"].as_str(), stored["size_bytes"].as_u64()), (Some("data/été 😀.bin"), Some(700_000)));
    assert_eq!(std::fs::read(scene.work("data/été 😀.bin")).unwrap(), bytes);
    let list = scene.http.get(&format!("{FILES}?path=data")).await.ok();
    assert_eq!(list["files"][0]["name"], "été 😀.bin", "{list:#}");
    assert_eq!((list["agent"].as_str(), list["max_file_bytes"].as_u64()), (Some("gpu"), Some(MAX_BYTES)));
    let request =
        scene.http.request(Method::GET, &format!("{FILES}/content?path=data/%C3%A9t%C3%A9%20%F0%9F%98%80.bin"));
    let answer = request.send().await.unwrap();
    let disposition = answer.headers()["content-disposition"].to_str().unwrap().to_owned();
    assert!(disposition.starts_with("attachment") && disposition.contains("%C3%A9t%C3%A9%20"), "{disposition}");
    assert_eq!(answer.headers()["x-content-type-options"], "nosniff");
    assert_eq!(answer.bytes().await.unwrap(), bytes);
    std::fs::write(scene.work("empty"), "").unwrap();
    assert_eq!(scene.download("empty").await.text, "");
    let about = scene.http.get(&format!("{FILES}/about?path=data")).await.ok();
    assert_eq!(about["kind"], "folder");
    assert_eq!(scene.http.get("/api/notebooks/n").await.ok()["version"], before, "the record has grown");
    agent.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_replaced_only_when_that_is_asked_for() {
    let scene = Scene::new().await;
    let agent = scene.agent("gpu").await;
    scene.upload(&scene.http, "a.csv", "", "1").await.ok();
    assert_eq!(scene.upload(&scene.http, "a.csv", "", "2").await.refused(409), "file_exists");
    assert_eq!(scene.download("a.csv").await.text, "1");
    let replaced = scene.upload(&scene.http, "a.csv", "&overwrite=true", "3").await;
    assert_eq!((replaced.status.as_u16(), replaced.ok()["replaced"].as_bool()), (200, Some(true)));
    assert_eq!(scene.download("a.csv").await.text, "3");
    agent.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_out_of_reach_or_too_large_is_refused_with_a_code() {
    let scene = Scene::new().await;
    let agent = scene.agent("gpu").await;
    std::os::unix::fs::symlink("../secret", scene.work("out")).unwrap();
    for (path, status, code) in [
        ("../secret", 400, "invalid_path"),
        ("/etc/passwd", 400, "invalid_path"),
        ("out", 403, "out_of_reach"),
        ("keys/mine", 403, "out_of_reach"),
        ("nothing", 404, "not_found"),
        ("data", 409, "wrong_kind"),
    ] {
        if path != "keys/mine" {
            assert_eq!(scene.download(path).await.refused(status), code, "{path}");
        }
        if path != "nothing" && path != "out" {
            assert_eq!(scene.upload(&scene.http, path, "&overwrite=true", "x").await.refused(status), code, "{path}");
        }
    }
    let large = vec![0; MAX_BYTES as usize + 1];
    assert_eq!(scene.upload(&scene.http, "large", "", large.clone()).await.refused(413), "too_large");
    // An upload without a declared size.
    let unsaid = reqwest::Body::wrap_stream(stream::iter(
        large.chunks(1 << 16).map(|it| Ok::<_, String>(it.to_vec())).collect::<Vec<_>>(),
    ));
    assert_eq!(scene.upload(&scene.http, "large", "", unsaid).await.refused(413), "too_large");
    std::fs::write(scene.work("large"), large).unwrap();
    assert_eq!(scene.download("large").await.refused(413), "too_large");
    agent.abort();
}

/// A small disk, until it is dropped.
#[cfg(target_os = "linux")]
struct SmallDisk(PathBuf);

#[cfg(target_os = "linux")]
impl SmallDisk {
    /// Mounts the disk; `None`: this account may not mount.
    fn at(place: PathBuf) -> Option<Self> {
        let mut mount = std::process::Command::new("mount");
        let mounted = mount.args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"]).arg(&place).output().ok()?;
        match mounted.status.success() {
            true => Some(Self(place)),
            false => {
                println!("skipped: {}", String::from_utf8_lossy(&mounted.stderr));
                None
            }
        }
    }
}

#[cfg(target_os = "linux")]
impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_disk_that_fills_during_an_upload_leaves_nothing_of_it() {
    let scene = Scene::new().await;
    let Some(_disk) = SmallDisk::at(scene.work("data")) else { return };
    let agent = scene.agent("gpu").await;
    // The disk has room when the upload begins.
    let (sender, mut pieces) = tokio::sync::mpsc::unbounded_channel();
    let body = reqwest::Body::wrap_stream(stream::poll_fn(move |context| pieces.poll_recv(context)));
    let uploading = scene.http.request(Method::PUT, &format!("{FILES}/content?path=data/large")).body(body).send();
    let uploading = tokio::spawn(uploading);
    let piece = || Ok::<_, String>(Bytes::from(vec![7; 64 << 10]));
    sender.send(piece()).unwrap();
    let full = std::fs::write(scene.work("data/other"), vec![0; 2 << 20]);
    assert!(full.is_err(), "the disk is small");
    for _ in 0..8 {
        let _ = sender.send(piece());
    }
    drop(sender);
    let refused = uploading.await.unwrap().unwrap();
    assert_eq!(refused.status(), 507);
    let refused: serde_json::Value = refused.json().await.unwrap();
    assert_eq!(refused["code"], "disk_full");
    assert!(refused["detail"].as_str().unwrap().contains("make room, and try again"), "{refused}");
    let names = || -> Vec<String> {
        let found = std::fs::read_dir(scene.work("data")).unwrap();
        found.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    };
    assert_eq!(names(), ["other"]);
    std::fs::remove_file(scene.work("data/other")).unwrap();
    scene.upload(&scene.http, "data/large", "", vec![7; 512 << 10]).await.ok();
    assert_eq!(names(), ["large"]);
    agent.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_not_run_code_has_no_files() {
    let scene = Scene::new().await;
    let agent = scene.agent("gpu").await;
    let bob = scene.server.person("Bob").await;
    let http = scene.server.http(&bob);
    for (role, status) in [("viewer", 403), ("commenter", 403), ("author", 403), ("runner", 200), ("editor", 200)] {
        let subject = json!({"kind": "user", "id": bob.id.as_str()});
        scene.http.put("/api/notebooks/n/access", json!({"subject": subject, "role": role})).await.ok();
        assert_eq!(http.get(FILES).await.status.as_u16(), status, "{role}");
        let stored = scene.upload(&http, "f", "&overwrite=true", "x").await.status;
        assert_eq!((stored.is_success(), stored == 403), (status == 200, status == 403), "{role}");
        assert_eq!(http.get(&format!("{FILES}/content?path=f")).await.status.is_success(), status == 200, "{role}");
    }
    agent.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_known_whose_folder_is_meant_or_said_why_not() {
    let scene = Scene::new().await;
    assert_eq!(scene.http.get(FILES).await.refused(503), "agent_unreachable");
    let (old, _) = scene.puppet(&[]).await;
    assert_eq!(scene.http.get(FILES).await.refused(501), "agent_too_old");
    let agent = scene.agent("gpu").await;
    assert_eq!(scene.http.get(FILES).await.refused(409), "no_kernel", "two agents, and no kernel runs");
    assert_eq!(scene.http.get(&format!("{FILES}?kernel=none")).await.refused(404), "unknown_kernel_session");
    drop(old);
    scene.http.until("/api/notebooks/n/kernels", |it| it["kernelspecs"].as_array().unwrap().len() == 1).await;
    scene.http.get(FILES).await.ok();
    scene.http.post("/api/notebooks/n/archive", json!({})).await;
    assert_eq!(scene.http.get(FILES).await.refused(409), "notebook_archived");
    agent.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_leaves_or_lies_leads_to_no_half_files() {
    let scene = Scene::new().await;
    let (mut agent, token) = scene.puppet(&[WORKING_FILES]).await;
    let http = scene.http.clone();
    let download = || {
        let request = http.request(Method::GET, &format!("{FILES}/content?path=f"));
        tokio::spawn(request.send())
    };
    let agent_http = scene.server.http_as(&token);
    for (said, sent) in [(4_u64, "abc"), (2, "abc")] {
        let downloading = download();
        let (id, FileRequest::Read { transfer, .. }) = asked(&mut agent).await else { panic!() };
        // Only the agent may deliver the bytes.
        let other = scene.http.request(Method::PUT, &format!("/api/transfers/{transfer}")).body("forged");
        assert_eq!(scene.http.send(other).await.refused(403), "forbidden");
        agent.sender().ephemeral(ClientMessage::AnswerFile { id, answer: found(said) });
        let bytes = stream::iter([Ok::<_, String>(Bytes::from_static(sent.as_bytes()))]);
        let bring = agent_http.request(Method::PUT, &format!("/api/transfers/{transfer}"));
        let bringing = tokio::spawn(bring.body(reqwest::Body::wrap_stream(bytes)).send());
        let answer = async { downloading.await.unwrap()?.bytes().await };
        assert!(answer.await.is_err(), "{said} said, {sent} sent");
        let _ = bringing.await.unwrap();
    }
    let downloading = download();
    asked(&mut agent).await;
    drop(agent);
    assert_eq!(downloading.await.unwrap().unwrap().status(), 503);
}

/// The puppet reads the whole body and answers nothing: the server alone bounds it.
#[tokio::test(flavor = "multi_thread")]
async fn a_body_without_a_length_is_bounded_whatever_the_agent_does() {
    let scene = Scene::new().await;
    let (mut connection, token) = scene.puppet(&[WORKING_FILES]).await;
    let agent = scene.server.http_as(&token);
    let reads = tokio::spawn(async move {
        let (_, request) = asked(&mut connection).await;
        let FileRequest::Write { transfer, size_bytes, .. } = request else { panic!("{request:?}") };
        assert_eq!(size_bytes, None);
        let answer = agent.request(Method::GET, &format!("/api/transfers/{transfer}")).send().await.unwrap();
        let body = answer.bytes().await;
        (connection, body.is_err())
    });
    let piece = Bytes::from(vec![0; 64 << 10]);
    let pieces = stream::iter((0..=(MAX_BYTES >> 16)).map(move |_| Ok::<_, std::io::Error>(piece.clone())));
    let answer = scene.upload(&scene.http, "large.bin", "", reqwest::Body::wrap_stream(pieces)).await;
    assert_eq!(answer.refused(413), "too_large");
    let (_connection, is_broken_off) = timeout(PATIENCE, reads).await.expect("the body ends").unwrap();
    assert!(is_broken_off);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_download_ends_with_its_token() {
    let scene = Scene::new().await;
    let (mut agent, token) = scene.puppet(&[WORKING_FILES]).await;
    let request = scene.http.request(Method::GET, &format!("{FILES}/content?path=f"));
    let downloading = tokio::spawn(async move { request.send().await.unwrap() });
    let (id, FileRequest::Read { transfer, .. }) = asked(&mut agent).await else { panic!() };
    agent.sender().ephemeral(ClientMessage::AnswerFile { id, answer: found(1_000) });
    let endless = futures_util::StreamExt::chain(
        stream::iter([Ok::<_, String>(Bytes::from_static(b"begun"))]),
        stream::pending(),
    );
    let bring = scene.server.http_as(&token).request(Method::PUT, &format!("/api/transfers/{transfer}"));
    let bringing = tokio::spawn(bring.body(reqwest::Body::wrap_stream(endless)).send());
    let mut answer = downloading.await.unwrap();
    assert_eq!(answer.chunk().await.unwrap().unwrap(), "begun");
    scene.server.revoke(&scene.ann.token).await;
    assert!(timeout(PATIENCE, answer.chunk()).await.expect("it ends").is_err());
    bringing.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_that_is_given_up_leaves_nothing() {
    let scene = Scene::new().await;
    let agent = scene.agent("gpu").await;
    let arrived = std::sync::Arc::new(Notify::new());
    let polled = arrived.clone();
    let mut first = true;
    let pieces = stream::poll_fn(move |_| {
        if std::mem::take(&mut first) {
            return std::task::Poll::Ready(Some(Ok::<_, String>(Bytes::from(vec![1; 1 << 17]))));
        }
        polled.notify_one();
        std::task::Poll::Pending
    });
    let request = scene.http.request(Method::PUT, &format!("{FILES}/content?path=new.bin"));
    let uploading = tokio::spawn(request.body(reqwest::Body::wrap_stream(pieces)).send());
    arrived.notified().await;
    uploading.abort();
    let _ = uploading.await;
    // The name is free, and the folder unchanged, including hidden files.
    scene.upload(&scene.http, "new.bin", "", "whole").await.ok();
    let list = scene.http.get(&format!("{FILES}?all=true")).await.ok();
    let names: Vec<&str> = list["files"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["data", "new.bin"]);
    assert_eq!(scene.download("new.bin").await.text, "whole");
    agent.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_moved_and_come_back_from_the_trash_and_nothing_is_recorded() {
    let scene = Scene::new().await;
    let agent = scene.agent("gpu").await;
    let before = scene.http.get("/api/notebooks/n").await.ok()["version"].clone();
    std::fs::write(scene.work("a.csv"), "1").unwrap();
    std::fs::write(scene.work("b.csv"), "2").unwrap();
    assert_eq!(scene.http.get(FILES).await.ok()["can_change"], true);
    let mv =
        async |from: &str, to: &str| scene.http.post(&format!("{FILES}/move"), json!({"from": from, "to": to})).await;
    assert_eq!(mv("a.csv", "b.csv").await.refused(409), "file_exists");
    assert_eq!(mv("a.csv", "../b").await.refused(400), "invalid_path");
    assert_eq!(mv("keys", "b").await.refused(403), "out_of_reach");
    assert_eq!(mv("a.csv", "data/new/c.csv").await.ok()["path"], "data/new/c.csv");
    assert_eq!(std::fs::read_to_string(scene.work("data/new/c.csv")).unwrap(), "1");

    let remove = async |path: &str| scene.http.delete(&format!("{FILES}/content?path={path}")).await;
    let folder = remove("data").await.ok();
    let file = remove("b.csv").await.ok();
    assert_eq!(remove("b.csv").await.refused(404), "not_found");
    assert_eq!((folder["kind"].as_str(), folder["size_bytes"].as_u64()), (Some("folder"), Some(1)));
    assert!(scene.http.get(FILES).await.ok()["files"].as_array().unwrap().is_empty());
    let trash = scene.http.get(&format!("{FILES}/trash")).await.ok();
    assert_eq!((trash["count"].as_u64(), trash["agent"].as_str()), (Some(2), Some("gpu")), "{trash:#}");

    // The trash is known to another process of the agent.
    agent.abort();
    let _ = agent.await;
    scene.http.until("/api/notebooks/n/kernels", |it| it["kernelspecs"].as_array().unwrap().is_empty()).await;
    assert_eq!(scene.http.get(&format!("{FILES}/trash")).await.refused(503), "agent_unreachable");
    let agent = scene.agent("other").await;
    let restore = async |trashed: &serde_json::Value, body| {
        let id = trashed["id"].as_str().unwrap();
        scene.http.post(&format!("{FILES}/trash/{id}/restore"), body).await
    };
    assert_eq!(restore(&folder, json!({})).await.ok()["path"], "data");
    assert_eq!(std::fs::read_to_string(scene.work("data/new/c.csv")).unwrap(), "1");
    std::fs::write(scene.work("b.csv"), "newer").unwrap();
    assert_eq!(restore(&file, json!({})).await.refused(409), "file_exists");
    assert_eq!(restore(&file, json!({"to": "b (2).csv"})).await.ok()["path"], "b (2).csv");
    assert_eq!(restore(&file, json!({})).await.refused(404), "not_found");
    let gone = remove("b.csv").await.ok()["id"].as_str().unwrap().to_owned();
    let left = scene.http.delete(&format!("{FILES}/trash/{gone}")).await.ok();
    assert_eq!(left["count"], 0);
    assert_eq!(scene.http.delete(&format!("{FILES}/trash")).await.ok()["count"], 0);
    assert_eq!(scene.http.get("/api/notebooks/n").await.ok()["version"], before, "the record has grown");
    agent.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_not_run_code_changes_no_files_and_an_old_agent_says_that_it_cannot() {
    let scene = Scene::new().await;
    let agent = scene.agent("gpu").await;
    std::fs::write(scene.work("a"), "1").unwrap();
    let id = scene.http.delete(&format!("{FILES}/content?path=a")).await.ok()["id"].as_str().unwrap().to_owned();
    let bob = scene.server.person("Bob").await;
    let http = scene.server.http(&bob);
    for role in ["viewer", "commenter", "author"] {
        let subject = json!({"kind": "user", "id": bob.id.as_str()});
        scene.http.put("/api/notebooks/n/access", json!({"subject": subject, "role": role})).await.ok();
        let restore = format!("{FILES}/trash/{id}/restore");
        assert_eq!(http.post(&restore, json!({})).await.refused(403), "forbidden", "{role}");
        let mv = json!({"from": "data", "to": "b"});
        assert_eq!(http.post(&format!("{FILES}/move"), mv).await.refused(403), "forbidden", "{role}");
        assert_eq!(http.get(&format!("{FILES}/trash")).await.refused(403), "forbidden", "{role}");
        for path in [format!("{FILES}/content?path=data"), format!("{FILES}/trash"), format!("{FILES}/trash/{id}")] {
            assert_eq!(http.delete(&path).await.refused(403), "forbidden", "{role} {path}");
        }
    }
    assert!(scene.work("data").exists());
    agent.abort();
    let _ = agent.await;
    scene.http.until("/api/notebooks/n/kernels", |it| it["kernelspecs"].as_array().unwrap().is_empty()).await;
    let (mut old, _) = scene.puppet(&[WORKING_FILES]).await;
    assert_eq!(scene.http.delete(&format!("{FILES}/content?path=data")).await.refused(501), "agent_too_old");
    let http = scene.http.clone();
    let listing = tokio::spawn(async move { http.get(FILES).await });
    let (id, FileRequest::List { .. }) = asked(&mut old).await else {
        panic!("it was asked for what it does not know")
    };
    let page = notarium_wire::FolderPage::default();
    old.sender().ephemeral(ClientMessage::AnswerFile { id, answer: FileAnswer::Listed(page) });
    assert_eq!(listing.await.unwrap().ok()["can_change"], false);
}
