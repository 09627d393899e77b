//! Tests that concurrent reads of large outputs need little more server memory than one read.

use notarium_core::{Command, NotebookId};
use reqwest::Method;
use serde_json::{Value, json};

use super::floods::{peak_kib, status_kib};
use crate::processes::Fixture;

const READERS: usize = 5;
/// Size of the test data: 200 MB of outputs, as 25 cells with eight each.
const CELLS: usize = 25;
const OUTPUTS: usize = 8;
const OUTPUT_BYTES: usize = 1_000_000;
/// Maximum growth of the server's memory.
const MAX_GROWTH_KIB: u64 = 300 << 10;

/// Reads with all readers concurrently; returns the bytes that each got, and the server's growth.
async fn read_by_all(fixture: &Fixture, path: &str) -> (Vec<usize>, u64) {
    let server = fixture.server_id();
    std::fs::write(format!("/proc/{server}/clear_refs"), "5").unwrap();
    let before = status_kib(server, "VmRSS:");
    let url = format!("http://{}{path}", fixture.address().trim_start_matches("http://"));
    let read = || {
        let request = crate::support::client().request(Method::GET, &url).bearer_auth(fixture.session());
        tokio::spawn(async move {
            let mut response = request.send().await.unwrap().error_for_status().unwrap();
            let mut bytes = 0;
            while let Some(piece) = response.chunk().await.unwrap() {
                bytes += piece.len();
            }
            bytes
        })
    };
    let readers: Vec<_> = (0..READERS).map(|_| read()).collect();
    let mut bytes = Vec::new();
    for reader in readers {
        bytes.push(reader.await.unwrap());
    }
    (bytes, peak_kib(server).saturating_sub(before))
}

async fn import(fixture: &Fixture, id: &str, file: &Value) {
    let url = format!("http://{}/api/import?id={id}", fixture.address().trim_start_matches("http://"));
    let import = crate::support::client().post(&url).bearer_auth(fixture.session()).body(file.to_string());
    import.send().await.unwrap().error_for_status().unwrap();
}

fn outputs_text(file: &Value) -> String {
    let cells = file["cells"].as_array().unwrap().iter();
    let outputs = cells.flat_map(|cell| cell["outputs"].as_array().unwrap());
    outputs.map(|output| output["text"].as_str().unwrap()).collect()
}

async fn check_export(fixture: &Fixture, id: &str) {
    let (bytes, growth) = read_by_all(fixture, &format!("/api/notebooks/{id}/export")).await;
    println!("export of {id}: {} MB each, {} MiB more", bytes[0] / 1_000_000, growth >> 10);
    assert!(bytes.iter().all(|bytes| *bytes > CELLS * OUTPUTS * OUTPUT_BYTES), "{bytes:?}");
    assert!(growth < MAX_GROWTH_KIB, "the export of {id} took {growth} KiB");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "moves gigabytes: `make soak`"]
#[cfg(target_os = "linux")]
async fn five_readers_of_200_mb_of_outputs_take_little_memory() {
    let fixture = Fixture::start().await;
    let text = "0123456789".repeat(OUTPUT_BYTES / 10);
    let cell = |number: usize| {
        let output = |index| {
            json!({"output_type": "stream", "name": if index % 2 == 0 { "stdout" } else { "stderr" },
            "text": format!("{number} {index} {text}")})
        };
        json!({"cell_type": "code", "id": format!("c{number}"), "metadata": {}, "source": "x", "execution_count": 1,
            "outputs": (0..OUTPUTS).map(output).collect::<Vec<_>>()})
    };
    let cells: Vec<_> = (0..CELLS).map(cell).collect();
    let file = json!({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells});
    import(&fixture, "large", &file).await;
    check_export(&fixture, "large").await;

    // The same outputs in one cell.
    let outputs = file["cells"].as_array().unwrap().iter().flat_map(|cell| cell["outputs"].as_array().unwrap().clone());
    let mut one = file.clone();
    one["cells"] = json!([{"cell_type": "code", "id": "one", "metadata": {}, "source": "x", "execution_count": 1,
        "outputs": outputs.collect::<Vec<_>>()}]);
    import(&fixture, "one", &one).await;
    check_export(&fixture, "one").await;

    // The same outputs as one output.
    let text: String = outputs_text(&file);
    one["cells"][0]["outputs"] = json!([{"output_type": "stream", "name": "stdout", "text": text}]);
    import(&fixture, "output", &one).await;
    check_export(&fixture, "output").await;

    // The same size as one JSON value, in a cell with an entry put aside.
    let points = vec![json!({"x": 1, "y": [2.5, "0123456789"]}); CELLS * OUTPUTS * OUTPUT_BYTES / 32];
    one["cells"][0]["own"] = json!(1);
    one["cells"][0]["outputs"] = json!([{"output_type": "display_data", "metadata": {},
        "data": {"application/vnd.plotly.v1+json": points}}]);
    import(&fixture, "plot", &one).await;
    check_export(&fixture, "plot").await;

    // The same size in pieces that are too small to leave the state.
    let ada = fixture.person().await;
    let notebook: NotebookId = ada.notebook().clone();
    let piece = json!({"content": {"output_type": "stream", "name": "stdout", "text": "x".repeat(8_000)}});
    for number in 0..50 {
        let id = format!("c{number}");
        let insert = json!({"InsertCell": {"cell_id": id, "cell_type": "code", "source": "x"}});
        let record = json!({"RecordExecution": {"cell_id": id, "outputs": vec![piece.clone(); 500]}});
        for command in [insert, record] {
            ada.command(serde_json::from_value::<Command>(command).unwrap()).await;
        }
    }
    let (bytes, growth) = read_by_all(&fixture, &format!("/api/notebooks/{notebook}")).await;
    println!("state: {} MB each, {} MiB more", bytes[0] / 1_000_000, growth >> 10);
    assert!(bytes.iter().all(|bytes| *bytes > 200_000_000), "{bytes:?}");
    assert!(growth < MAX_GROWTH_KIB, "reading the state took {growth} KiB");
}
