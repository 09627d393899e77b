//! Tests of imports that need more than a copy: large cells, pasted pictures, files without a kernelspec.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, Http, TestServer};

fn file(metadata: Value, cells: &[(&str, String)]) -> String {
    let cell = |(index, (kind, source)): (usize, &(&str, String))| {
        let mut cell = json!({"id": format!("c{index}"), "cell_type": kind, "metadata": {}, "source": source});
        if *kind == "code" {
            cell["outputs"] = json!([]);
            cell["execution_count"] = Value::Null;
        }
        cell
    };
    let cells: Vec<Value> = cells.iter().enumerate().map(cell).collect();
    json!({"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": cells}).to_string()
}

async fn import(http: &Http, file: String) -> Answer {
    http.send(http.request(Method::POST, "/api/import").body(file)).await
}

async fn export(http: &Http, notebook: &Value) -> Value {
    http.get(&format!("/api/notebooks/{}/export", notebook.as_str().unwrap())).await.ok()
}

#[tokio::test]
async fn pasted_pictures_become_attachments() {
    let server = TestServer::start().await;
    let http = server.http(&server.person("Ann").await);
    let data = "iVBORw0K".repeat(200_000);
    let source = format!("# Map\n\n![map](data:image/png;base64,{data})");
    let imported = import(&http, file(json!({}), &[("markdown", source)])).await.ok();
    assert_eq!(imported["notices"][0]["code"], "pictures_attached", "{imported}");
    let exported = export(&http, &imported["notebook"]).await;
    let cell = &exported["cells"][0];
    assert_eq!(cell["source"], json!(["# Map\n", "\n", "![map](attachment:picture-1.png)"]));
    assert_eq!(cell["attachments"]["picture-1.png"]["image/png"], json!(data));
}

#[tokio::test]
async fn a_cell_that_is_too_large_is_named_with_the_setting() {
    let server = TestServer::start().await;
    let http = server.http(&server.person("Ann").await);
    let refused = import(&http, file(json!({}), &[("code", "1".into()), ("code", "x".repeat(1_200_000))])).await;
    assert_eq!(refused.refused(413), "limit_exceeded");
    let detail = refused.json()["detail"].as_str().unwrap().to_owned();
    for part in ["cell 2 (c1)", "1200000 bytes", "--max-cell-size"] {
        assert!(detail.contains(part), "{detail}");
    }
}

#[tokio::test]
async fn a_notebook_made_here_is_exported_with_a_kernelspec_and_an_imported_file_as_it_was() {
    let server = TestServer::start().await;
    let http = server.http(&server.person("Ann").await);
    let (made, _) = http.notebook("x = 1").await;
    let metadata = export(&http, &json!(made)).await["metadata"].clone();
    assert_eq!(
        metadata["kernelspec"],
        json!({"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"})
    );
    assert_eq!(metadata["language_info"]["name"], "python");
    for metadata in [
        json!({}),
        json!({"title": "t"}),
        json!({"kernelspec": {"name": "ir", "display_name": "R", "language": "R"}}),
        json!({"language_info": {"name": "julia", "version": "1.9"}}),
    ] {
        let imported = import(&http, file(metadata.clone(), &[("code", "1".into())])).await.ok();
        assert_eq!(export(&http, &imported["notebook"]).await["metadata"], metadata);
    }
}
