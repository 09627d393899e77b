//! Tests that ordinary cells run held as they run for a person: without a question, a refusal, or another output.

use std::collections::BTreeSet;

use notarium_core::{Execution, ExecutionStatus, Output};
use serde_json::Value;

use super::{Called, HeldScene, Json};

const CELLS: &str = include_str!("../../fixtures/held/harmless.ipy");
/// Start of the title of a cell whose outputs differ from run to run.
const VARIES: &str = "varies: ";
/// Text of an output in which numbers differ from run to run: addresses in memory, names of temporary files, processes.
const PASSING: &[&str] = &["0x", "/tmp/", "ipykernel_"];

/// Notice of matplotlib in a kernel without a cache of fonts, if making it takes longer than some seconds.
const SLOW_START: &str = "building the font cache";

/// One cell of the file.
struct Harmless {
    title: &'static str,
    code: &'static str,
    varies: bool,
}

fn cells() -> Vec<Harmless> {
    let parts = CELLS.split("\n# %% ").skip(1);
    let cell = |part: &'static str| {
        let (title, code) = part.split_once('\n').expect("a title and code");
        Harmless { title, code, varies: title.starts_with(VARIES) }
    };
    parts.map(cell).collect()
}

/// Returns the outputs in a form that two runs share. Streams are joined: where one is cut depends on time.
fn shown(run: &Execution, varies: bool) -> Vec<String> {
    let mut shown: Vec<(String, String)> = Vec::new();
    for output in &run.outputs {
        let (kind, text) = one(output, varies);
        if text.contains(SLOW_START) {
            continue;
        }
        match shown.iter_mut().find(|(found, _)| *found == kind && kind.starts_with("stream")) {
            Some((_, before)) => before.push_str(&text),
            None => shown.push((kind, text)),
        }
    }
    let passing = |text: String| if varies { String::new() } else { without_passing(&text) };
    let mut lines: Vec<String> = shown.into_iter().map(|(kind, text)| format!("{kind}: {}", passing(text))).collect();
    // The order between the streams depends on the kernel's threads.
    lines.sort();
    lines
}

fn one(output: &Output, varies: bool) -> (String, String) {
    let mut json = output.json();
    // Tables of assistants' runs are JSON, so that keys in them are masked; those of people are Arrow where pyarrow is there.
    if let Some(data) = json["data"].as_object_mut() {
        data.retain(|kind, _| !kind.starts_with("application/vnd.notarium.table"));
    }
    let word = |name: &str| json[name].as_str().unwrap_or_default().to_owned();
    let kinds = json["data"].as_object().map(|data| data.keys().cloned().collect::<Vec<_>>().join(" "));
    let kind = format!("{} {}{}", word("output_type"), word("name"), kinds.unwrap_or_default());
    let text = match &json["data"] {
        Value::Object(data) if !varies => serde_json::to_string(data).unwrap(),
        _ => format!("{}{}", word("text"), word("ename")),
    };
    (kind.trim().to_owned(), text)
}

/// Cuts words that name something passing.
fn without_passing(text: &str) -> String {
    let is_passing = |word: &&str| PASSING.iter().any(|passing| word.contains(passing));
    text.split(' ').map(|word| if is_passing(&word) { "…" } else { word }).collect::<Vec<_>>().join(" ")
}

#[tokio::test(flavor = "multi_thread")]
async fn ordinary_cells_run_held_as_they_run_for_a_person() {
    let mut scene = HeldScene::start().await;
    let mut by_person = Vec::new();
    for cell in cells() {
        by_person.push(scene.cell(cell.code).await);
    }
    scene.ada.end_kernels().await;
    scene.witness.forget();
    let mut problems = Vec::new();
    for (cell, person) in cells().iter().zip(&by_person) {
        assert_eq!(person.status, ExecutionStatus::Ok, "{}: {:#?}", cell.title, person.outputs);
        let assistant = match scene.held(&[cell.code]).await {
            Called::Ran(mut runs) => runs.remove(0),
            Called::Waited(reasons) => {
                problems.push(format!("{}: asks {reasons:?}", cell.title));
                // Later cells may need its names.
                scene.confirmed(&[cell.code], &[]).await.0.remove(0)
            }
        };
        let (expected, found) = (shown(person, cell.varies), shown(&assistant, cell.varies));
        if assistant.status != ExecutionStatus::Ok || expected != found {
            let status = assistant.status;
            problems.push(format!("{}: {status:?}\n  person    {expected:?}\n  assistant {found:?}", cell.title));
        }
        if !assistant.refused.is_empty() {
            problems.push(format!("{}: refused {:?}", cell.title, assistant.refused));
        }
    }
    scene.assert_holds();
    assert!(by_person.len() >= 60, "{} cells", by_person.len());
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert_eq!(scene.changes(), BTreeSet::new(), "nothing is left beside the kernel");
}
