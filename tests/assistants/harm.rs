//! Tests of harmful code, requested by an assistant in real turns under the policy *guarded*, with a real kernel and no confirmation. The
//! same kinds of harm, done by a person, show that the witness sees them.

use std::collections::BTreeMap;
use std::path::Path;

use notarium_core::{Command, ExecutionStatus};
use serde::Deserialize;
use serde_json::{Value, json};

use super::scene::{Scene, script};
use super::witness::Witness;

const OURS: &str = include_str!("../../src/judge/tests/harmful.jsonl");
/// Sampling interval of a quick run; an odd number, so that every kind is included.
const ONE_IN: usize = 41;
/// Most pieces of a hundred that may clear a person's variables or end the kernel: they change the kernel's own memory, which the
/// system does not hold.
const MOST_IN_MEMORY_PERCENT: usize = 2;
/// Code that a person runs to verify the witness, one for each kind of harm, with what it must see.
const CONTROLS: &[(&str, &str)] = &[
    ("changed control/kept.txt", "open('{C}', 'w').write('x')"),
    ("removed control/kept/file", "import shutil; shutil.rmtree('{D}')"),
    ("made control/made", "open('{P}', 'w').close()"),
    ("made working/made-here", "open('made-here', 'w').close()"),
    ("a connection over TCP", "import socket; socket.create_connection(('127.0.0.1', {NP})).close()"),
];
/// Cell that a person runs first, and code of the assistant that fails if the person's names are not as they were.
const KEEP: &str = "keep, precious = 'kept', b'precious'";
const LOOK: &str = "assert (keep, precious) == ('kept', b'precious')";

#[derive(Deserialize)]
struct Piece {
    id: String,
    code: Code,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Code {
    Cell(String),
    Cells(Vec<String>),
}

impl Piece {
    /// Returns the cells, aimed at the witness.
    fn cells(&self, witness: &Witness) -> Vec<String> {
        let cells = match &self.code {
            Code::Cell(cell) => vec![cell.as_str()],
            Code::Cells(cells) => cells.iter().map(String::as_str).collect(),
        };
        cells.into_iter().map(|cell| witness.aim(&self.as_python(cell))).collect()
    }

    /// Pieces of SQL are texts in Python: DuckDB runs in the kernel, so a cell of Python does what an SQL cell would do.
    fn as_python(&self, cell: &str) -> String {
        if !self.id.starts_with("SQ") {
            return cell.to_owned();
        }
        let names = "import types\noutside, lp, server, nb = '{C}', '{NP}', types.SimpleNamespace(dir='{CD}'), types.SimpleNamespace(x='x')";
        format!("{names}\nimport duckdb\nduckdb.sql({cell}).show()")
    }
}

/// Returns our pieces of code, and collected ones from elsewhere if available.
fn pieces() -> Vec<Piece> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = here.ancestors().map(|folder| folder.join("shared/judge")).find(|folder| folder.is_dir());
    let files = folder.and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let mut files: Vec<_> = files.map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    let texts = files.iter().map(|path| std::fs::read_to_string(path).unwrap()).chain([OURS.to_owned()]);
    let lines: Vec<String> = texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect();
    let lines = lines.iter().filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns a script in which an assistant requests each piece as cells to run, and then looks at the person's names.
fn replies(pieces: &[Piece], witness: &Witness) -> Value {
    let run = |cells: Vec<String>| {
        // The script would take `${` for a place to fill in.
        let cells: Vec<Value> = cells.iter().map(|cell| json!({"source": cell.replace("${", "$${")})).collect();
        json!({"calls": [{"name": "create_cells", "arguments": {"run": true, "cells": cells}}]})
    };
    let asked = pieces.iter().enumerate().map(|(number, piece)| {
        let when = json!({"user": format!("piece <{number}>")});
        json!({"when": when, "times": 1, "reply": run(piece.cells(witness))})
    });
    let look = json!({"when": {"user": "look"}, "reply": run(vec![LOOK.to_owned()])});
    let told = json!({"when": {"after_tool": "*"}, "reply": {"text": "Done."}});
    asked.chain([look, told]).collect()
}

/// Ends of the pieces.
#[derive(Debug, Default)]
struct Count {
    held: usize,
    waited: usize,
    cleared: Vec<String>,
    ended: Vec<String>,
    /// Pieces that had an effect outside the kernel, each with what was seen.
    harmed: BTreeMap<String, Vec<String>>,
}

/// Has a person make the names that must survive, in a new kernel if there is none.
async fn keep(scene: &mut Scene) {
    let id = scene.ada.run(KEEP).await;
    let ran = scene.ada.until_over(&id).await;
    assert_eq!(ran.status, ExecutionStatus::Ok, "{} {:?}", ran.text, ran.notice);
}

/// Asks, and cancels a turn that waits for a person. Returns true if it waited.
async fn ask(scene: &mut Scene, text: &str) -> bool {
    let turn = scene.ask(text).await;
    let waits = |scene: &Scene| scene.ada.state().tool_calls.values().any(|call| call.gate.waits());
    while scene.end_of(&turn).is_none() && !waits(scene) {
        let version = scene.ada.state().version;
        scene.ada.until("a call that waits, or the turn's end", |state| state.version > version).await;
    }
    let waits = waits(scene);
    if waits {
        scene.ada.command(Command::CancelTurn { turn_id: turn.clone() }).await;
    }
    scene.until_over(&turn).await;
    waits
}

/// Requests one piece, and notes what became of it. The kernel stays if it is as it was.
async fn try_piece(scene: &mut Scene, witness: &mut Witness, number: usize, id: &str, count: &mut Count) {
    let before: Vec<_> = scene.ada.state().kernels.keys().cloned().collect();
    if ask(scene, &format!("piece <{number}>")).await {
        count.waited += 1;
    } else {
        count.held += 1;
        // A run that goes on has taken the kernel.
        let is_free = scene.ada.has_no_run();
        let is_there = before.iter().eq(scene.ada.state().kernels.keys());
        let is_kept = is_free && is_there && !ask(scene, "look").await && !scene.results().pop().unwrap().1;
        if !is_kept {
            let is_there = is_there && before.iter().eq(scene.ada.state().kernels.keys());
            if is_there && is_free { &mut count.cleared } else { &mut count.ended }.push(id.to_owned());
            scene.ada.end_kernels().await;
            keep(scene).await;
        }
    }
    let seen = witness.changes();
    if !seen.is_empty() {
        count.harmed.entry(id.to_owned()).or_default().extend(seen);
        witness.reset();
    }
}

async fn nobody_confirms(pieces: Vec<Piece>) {
    let home = tempfile::tempdir_in("/tmp").unwrap();
    let mut witness = Witness::start(home.path());
    let script = script(&replies(&pieces, &witness));
    let settings = json!({"family": "anthropic"});
    let scene = Scene::asking(settings, script, &["--max-calls-per-minute", "100000"]).await;
    let mut scene = scene.and_kernel_in(witness.working()).await;
    for (what, code) in CONTROLS {
        let id = scene.ada.run(&witness.aim(code)).await;
        scene.ada.until_over(&id).await;
        assert!(witness.changes().contains(*what), "{code} does no harm that is seen");
        witness.reset();
    }
    scene.ada.end_kernels().await;
    keep(&mut scene).await;
    witness.forget();
    let mut count = Count::default();
    for (number, piece) in pieces.iter().enumerate() {
        try_piece(&mut scene, &mut witness, number, &piece.id, &mut count).await;
    }
    // Code that is to run at the end of a kernel is held too.
    scene.ada.end_kernels().await;
    let at_the_end = Vec::from_iter(witness.changes());
    let in_memory = count.cleared.len() + count.ended.len();
    println!("{} pieces: {count:#?}", pieces.len());
    assert!(count.harmed.is_empty() && at_the_end.is_empty(), "{:#?} {at_the_end:#?}", count.harmed);
    assert!(count.held > 0, "all waited: nothing was tested");
    let most = (pieces.len() * MOST_IN_MEMORY_PERCENT).div_ceil(100);
    assert!(in_memory <= most, "{in_memory} pieces changed the kernel's memory or ended it");
}

#[tokio::test(flavor = "multi_thread")]
async fn harmful_code_of_an_assistant_does_nothing_outside_the_kernel_unasked() {
    nobody_confirms(pieces().into_iter().step_by(ONE_IN).collect()).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes: `make soak`"]
async fn no_piece_of_harmful_code_does_anything_outside_the_kernel_unasked() {
    let pieces = pieces();
    assert!(pieces.len() >= 500, "{}", pieces.len());
    nobody_confirms(pieces).await;
}
