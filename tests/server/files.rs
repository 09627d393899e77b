//! Tests of import and export, and of blobs with large outputs.

use std::path::{Path, PathBuf};

use notarium_wire::ipynb;
use reqwest::Method;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::support::{Answer, Http, TestServer};

fn fixtures() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/notebooks");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "ipynb"));
    files.sort();
    files
}

async fn import(http: &Http, query: &str, file: impl Into<reqwest::Body>) -> Answer {
    http.send(http.request(Method::POST, &format!("/api/import{query}")).body(file)).await
}

async fn export(http: &Http, notebook: &Value) -> Answer {
    let answer = http.get(&format!("/api/notebooks/{}/export", notebook.as_str().unwrap())).await;
    assert!(answer.status.is_success(), "{}", answer.text);
    answer
}

/// Removes cell ids: cells without an id in the file get random ones.
fn but_for_ids(file: &str) -> String {
    file.lines().filter(|line| !line.starts_with("   \"id\": ")).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn importing_an_export_changes_nothing() {
    let server = TestServer::start().await;
    let http = server.http(&server.person("Ann").await);
    let files = fixtures();
    assert!(files.len() >= 8);
    for path in files {
        let imported = import(&http, "?filename=fixture.ipynb", std::fs::read(&path).unwrap()).await.ok();
        let first = export(&http, &imported["notebook"]).await;
        let again = import(&http, "", first.text.clone()).await.ok();
        assert_eq!(again["notices"], json!([]), "{}", path.display());
        assert_eq!(export(&http, &again["notebook"]).await.text, first.text, "{}", path.display());
        let expected = path.parent().unwrap().join("expected").join(path.file_name().unwrap());
        if let Ok(expected) = std::fs::read_to_string(expected) {
            assert_eq!(but_for_ids(&first.text), but_for_ids(&expected), "{}", path.display());
        }
    }
}

#[tokio::test]
async fn the_reply_to_a_prompt_goes_with_the_file_and_with_a_fork() {
    let server = TestServer::start().await;
    let http = server.http(&server.person("Ann").await);
    let (notebook, _) = http.notebook("x = 1").await;
    let reply = json!({"status": "finished", "stop_reason": "end_turn", "prompt": "What is x?", "text": "It is 1."});
    let prompt = json!({"InsertCell": {"cell_id": "ask", "cell_type": "prompt", "source": "What is x?",
        "metadata": {"notarium": {"own": true}}, "reply": reply}});
    http.post(&format!("/api/notebooks/{notebook}/commands"), json!({"body": prompt})).await.ok();
    let first = export(&http, &json!(notebook)).await;
    let cell = &first.json()["cells"][1];
    assert_eq!((cell["cell_type"].as_str(), &cell["metadata"]["notarium"]["reply"]), (Some("markdown"), &reply));

    let imported = import(&http, "", first.text.clone()).await.ok();
    let forked = http.post(&format!("/api/notebooks/{notebook}/fork"), json!({})).await.ok();
    for copy in [&imported["notebook"], &forked["notebook"]] {
        assert_eq!(export(&http, copy).await.text, first.text);
        let state = http.get(&format!("/api/notebooks/{}", copy.as_str().unwrap())).await.ok();
        assert_eq!(state["notebook"]["cells"]["ask"]["reply"], reply);
        assert_eq!(state["notebook"]["cells"]["ask"]["metadata"], json!({"notarium": {"own": true}}));
    }
    let bare = http.get(&format!("/api/notebooks/{notebook}?outputs=false")).await.ok();
    assert_eq!(bare["notebook"]["cells"]["ask"].get("reply"), None);
}

#[tokio::test]
async fn outputs_too_large_to_be_held_are_exported_as_they_came() {
    let server = TestServer::start().await;
    let http = server.http(&server.person("Ann").await);
    let lines = "é \"quoted\" \\ \u{2028}line\r\nanother\rand\n".repeat(200_000);
    let image = "iVBORw0KGgo".repeat(500_000);
    let shown =
        json!({"output_type": "display_data", "metadata": {}, "data": {"image/png": image, "text/plain": "<Figure>"}});
    let stream = |name: &str| json!({"output_type": "stream", "name": name, "text": &lines});
    let points = json!({"data": [{"x": [1, {}, "é\"[\n"]}, []], "a": null, "last": vec![json!({"y": 1.5}); 400_000]});
    let plot = json!({"output_type": "execute_result", "execution_count": 1, "metadata": {"application/json": {"a": [1]}},
        "data": {"application/vnd.plotly.v1+json": points, "application/json": vec![1; 2_500_000], "text/html": &lines,
            "text/plain": "Figure()"}});
    // A field that nbformat does not know is put aside under `metadata.notarium`.
    let cell = json!({"cell_type": "code", "id": "large", "metadata": {}, "source": "x", "execution_count": 1, "own": [1],
        "outputs": [stream("stdout"), shown, stream("stderr"), {"output_type": "stream", "name": "stdout", "text": "end"}, plot]});
    let file = json!({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}).to_string();
    let imported = import(&http, "", file).await.ok();
    let exported = export(&http, &imported["notebook"]).await;
    let outputs = exported.json()["cells"][0]["outputs"].clone();
    let joined = |output: &Value| {
        output["text"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect::<String>()
    };
    assert!(joined(&outputs[0]) == lines && joined(&outputs[2]) == lines);
    assert_eq!(outputs[0]["text"].as_array().unwrap().len(), 4 * 200_000, "a line each");
    assert!(outputs[1]["data"]["image/png"] == image.as_str());
    assert_eq!((&outputs[1]["data"]["text/plain"], joined(&outputs[3])), (&json!(["<Figure>"]), "end".to_owned()));
    assert!(outputs[4]["data"]["application/vnd.plotly.v1+json"] == points);
    let whole = ipynb::read(exported.text.as_bytes(), &ipynb::FileLimits::default(), &mut || "new".to_owned()).unwrap();
    assert!(exported.text == ipynb::write(&whole.document), "it is the text of a file that is written at once");
}

#[tokio::test]
async fn what_is_no_notebook_is_refused_with_the_reason() {
    let server = TestServer::with(|config| config.limits.max_import_bytes = 10_000).await;
    let http = server.http(&server.person("Ann").await);
    for (file, words) in
        [("", "empty"), ("{", "line 1"), ("[]", "not a notebook"), (r#"{"nbformat": 9, "cells": []}"#, "9")]
    {
        let refused = import(&http, "", file).await;
        assert_eq!(refused.refused(400), "not_a_notebook");
        assert!(refused.json()["detail"].as_str().unwrap().contains(words), "{}", refused.text);
    }
    assert_eq!(import(&http, "", vec![b' '; 10_001]).await.refused(413), "limit_exceeded");
    let good = r#"{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}"#;
    assert_eq!(import(&http, "?title=%07", good).await.refused(400), "invalid_value");
    assert_eq!(import(&http, "?filename=Cheryl.ipynb", good).await.ok()["title"], "Cheryl");
    assert_eq!(import(&http, "?title=Own&filename=x.ipynb", good).await.ok()["title"], "Own");
    assert_eq!(import(&http, "", good).await.ok()["title"], "Untitled");
}

#[tokio::test]
async fn an_import_is_repeated_safely() {
    let server = TestServer::start().await;
    let http = server.http(&server.person("Ann").await);
    let path = fixtures().into_iter().find(|path| path.ends_with("v4_5_no_cell_id.ipynb")).unwrap();
    let file = std::fs::read(path).unwrap();
    let send = async || {
        let request = http.request(Method::POST, "/api/import").header("idempotency-key", "import-1");
        http.send(request.body(file.clone())).await.ok()
    };
    assert_eq!(send().await, send().await);
}

/// Returns a notebook whose only output exceeds the size of an event.
fn with_large_output(image: &str) -> String {
    json!({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{
        "id": "figure", "cell_type": "code", "execution_count": 1, "metadata": {}, "source": "plot()",
        "outputs": [{"output_type": "display_data", "metadata": {}, "data": {"image/png": image, "text/plain": "<Figure>"}}]
    }]})
    .to_string()
}

#[tokio::test]
async fn large_parts_are_blobs_of_their_notebook_and_come_back() {
    let server = TestServer::start().await;
    let ann = server.person("Ann").await;
    let http = server.http(&ann);
    let image = "iVBOR".repeat(10_000);
    let imported = import(&http, "", with_large_output(&image)).await.ok();
    let n = imported["notebook"].as_str().unwrap();
    let cell = http.get(&format!("/api/notebooks/{n}/cells/figure")).await.ok();
    let part = &cell["execution"]["outputs"][0]["blobs"][0];
    assert_eq!(part["pointer"], "/data/image~1png");
    let path = format!("/api/notebooks/{n}/blobs/{}", part["sha256"].as_str().unwrap());
    let blob = http.get(&path).await;
    assert_eq!(blob.text, image);
    assert_eq!(blob.header("content-disposition"), "attachment");
    assert_eq!(blob.header("x-content-type-options"), "nosniff");
    assert!(blob.header("content-security-policy").starts_with("sandbox"));
    assert_eq!(blob.header("content-type"), "application/octet-stream");
    let file: Value = export(&http, &imported["notebook"]).await.json();
    assert_eq!(file["cells"][0]["outputs"][0]["data"]["image/png"], image);
    let other = server.http(&server.person("Bob").await);
    assert_eq!(other.get(&path).await.refused(404), "unknown_notebook");
    let fork = http.post(&format!("/api/notebooks/{n}/fork"), json!({})).await.ok();
    let forked: Value = export(&http, &fork["notebook"]).await.json();
    assert_eq!(forked["cells"], file["cells"]);
    let without = http.get(&format!("/api/notebooks/{n}?outputs=false")).await;
    assert!(!without.text.contains("image~1png"));
    without.ok();
}

#[tokio::test]
async fn uploads_are_counted_hashed_and_for_those_who_may() {
    let server = TestServer::with(|config| config.limits.max_blob_bytes = 1_000).await;
    let ann = server.person("Ann").await;
    let (n, _) = server.http(&ann).notebook("x").await;
    let path = |bytes: &[u8]| format!("/api/notebooks/{n}/blobs/{}", hex::encode(Sha256::digest(bytes)));
    let put =
        async |http: &Http, path: &str, bytes: Vec<u8>| http.send(http.request(Method::PUT, path).body(bytes)).await;
    let agent = server.http_as(&server.agent_token(&ann, "gpu").await);
    assert_eq!(put(&agent, &path(b"figure"), b"figure".to_vec()).await.status, 201);
    assert_eq!(put(&agent, &path(b"figure"), b"figure".to_vec()).await.status, 200);
    assert_eq!(agent.get(&path(b"figure")).await.text, "figure");
    assert_eq!(put(&agent, &path(b"other"), b"figure!".to_vec()).await.refused(400), "invalid_value");
    assert_eq!(agent.get(&path(b"other")).await.refused(404), "not_found");
    let large = vec![7; 1_001];
    assert_eq!(put(&agent, &path(&large), large.clone()).await.refused(413), "limit_exceeded");
    assert_eq!(put(&agent, &format!("/api/notebooks/{n}/blobs/XYZ"), vec![1]).await.refused(400), "invalid_value");
    let bob = server.person("Bob").await;
    let viewer = json!({"subject": {"kind": "user", "id": bob.id.as_str()}, "role": "viewer"});
    server.http(&ann).put(&format!("/api/notebooks/{n}/access"), viewer).await.ok();
    assert_eq!(put(&server.http(&bob), &path(b"x"), b"x".to_vec()).await.refused(403), "forbidden");
    assert_eq!(server.http(&bob).get(&path(b"figure")).await.text, "figure");
}

#[tokio::test]
async fn a_cell_that_is_written_output_by_output_is_the_same_file() {
    let server = TestServer::start().await;
    let http = server.http(&server.person("Ann").await);
    let stream = |name: &str, text: &str| json!({"output_type": "stream", "name": name, "text": text.repeat(300_000)});
    let large = |id: &str| {
        let picture =
            json!({"output_type": "display_data", "metadata": {}, "data": {"image/png": "a".repeat(2_000_000)}});
        let odd = json!({"output_type": "display_data", "metadata": {}, "data": {"text/plain": "x"}, "unknown": [1, {"x": 2}]});
        let outputs = json!([
            odd, stream("stdout", "line\n"), stream("stdout", "more "), stream("stderr", "odd\n"), picture,
            {"output_type": "of the future", "value": 1}, stream("stdout", "end")
        ]);
        json!({"cell_type": "code", "id": id, "metadata": {"tags": ["x"]}, "source": "x\ny", "execution_count": 3, "outputs": outputs})
    };
    let small = json!({"cell_type": "markdown", "id": "words", "metadata": {}, "source": "words"});
    let cells = json!([large("first"), small, large("last")]);
    let file = json!({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}).to_string();
    let imported = import(&http, "", file).await.ok();
    let exported = export(&http, &imported["notebook"]).await.text;
    let whole = ipynb::read(exported.as_bytes(), &ipynb::FileLimits::default(), &mut || "new".to_owned()).unwrap();
    assert_eq!(whole.document.cells[0].outputs.len(), 6, "pieces of one stream are one output");
    assert!(exported == ipynb::write(&whole.document), "it is the text of a file that is written at once");
}
