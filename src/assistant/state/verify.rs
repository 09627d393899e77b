//! Checks the cells of a batch and reports their results in one text.

use notarium_core::{CellId, Document, Execution};
use serde::Serialize;

use super::CellStatus;
use crate::preview::{Failure, ReadBlob, truncated};

/// Result of checking every cell that a batch touched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// Report for the model.
    pub text: String,
    /// True if every cell ran to its end without an error.
    pub all_ok: bool,
    /// Cells whose runs have not ended: check again, or tell the person.
    pub unfinished: Vec<CellId>,
}

enum Verdict {
    /// Not a code cell: markdown, raw, a prompt.
    NotRun,
    Ok,
    Unfinished(&'static str),
    Failed(String),
}

/// Judges the cells that a batch touched, in the order given. Cells that cannot run count only if they were removed.
pub fn verify(notebook: &Document, touched: &[CellId], blobs: &ReadBlob) -> Verification {
    let (mut ok, mut failed, mut waiting, mut unfinished) = (0, Vec::new(), Vec::new(), Vec::new());
    for id in touched {
        match verdict(notebook, id, blobs) {
            Verdict::NotRun => {}
            Verdict::Ok => ok += 1,
            Verdict::Failed(why) => failed.push(format!("- Cell {id}: {why}")),
            Verdict::Unfinished(how) => {
                waiting.push(format!("- Cell {id}: {how}"));
                unfinished.push(id.clone());
            }
        }
    }
    let all_ok = failed.is_empty() && waiting.is_empty();
    Verification { text: text(ok, &failed, &waiting), all_ok, unfinished }
}

fn text(ok: usize, failed: &[String], waiting: &[String]) -> String {
    let all = ok + failed.len() + waiting.len();
    let mut lines = Vec::new();
    if !failed.is_empty() {
        lines.push("⚠️ ERRORS DETECTED IN NOTEBOOK:".to_owned());
        lines.extend_from_slice(failed);
    }
    if !waiting.is_empty() {
        lines.push(format!("{} of {all} cells have not finished:", waiting.len()));
        lines.extend_from_slice(waiting);
    }
    match (lines.is_empty(), all) {
        (true, 0) => "No cell of this batch is executable.".to_owned(),
        (true, _) => format!("✓ All {all} cells executed successfully without errors."),
        (false, _) => lines.join("\n"),
    }
}

fn verdict(notebook: &Document, id: &CellId, blobs: &ReadBlob) -> Verdict {
    let Some(cell) = notebook.cells.get(id) else {
        return Verdict::Failed("moved to the trash before it could be verified".to_owned());
    };
    if !cell.content.cell_type.runs() {
        return Verdict::NotRun;
    }
    let Some((_, execution)) = notebook.latest_execution(id) else { return Verdict::Failed("not executed".to_owned()) };
    let because = |word: &str| match execution.end_sentence() {
        Some(notice) => Verdict::Failed(format!("{word}: {notice}")),
        None => Verdict::Failed(word.to_owned()),
    };
    match CellStatus::of(notebook, id) {
        CellStatus::Idle => Verdict::Failed("not executed".to_owned()),
        CellStatus::Imported => Verdict::Failed("not executed here: its outputs came with a file or a copy".to_owned()),
        CellStatus::Queued => Verdict::Unfinished("waits in the queue"),
        CellStatus::Running => Verdict::Unfinished("still running"),
        CellStatus::Cancelled => because("cancelled"),
        CellStatus::Blocked => because("not executed"),
        CellStatus::Lost => because("lost, nobody knows how it ended"),
        CellStatus::Stale => Verdict::Failed("its source was changed after it ran: run it again".to_owned()),
        CellStatus::Error => Verdict::Failed(failure(execution, blobs)),
        // A kernel may show an error and continue, so a run with status ok is judged by its outputs.
        CellStatus::Ok if shows_failure(execution, blobs) => Verdict::Failed(failure(execution, blobs)),
        CellStatus::Ok => Verdict::Ok,
    }
}

fn shows_failure(execution: &Execution, blobs: &ReadBlob) -> bool {
    execution.outputs.iter().any(|output| Failure::of(output, blobs).is_some())
}

/// Type and message of the last error.
fn failure(execution: &Execution, blobs: &ReadBlob) -> String {
    let found = execution.outputs.iter().rev().find_map(|output| Failure::of(output, blobs));
    match (found, execution.end_sentence()) {
        (Some(failure), _) => format!("{}: {}", failure.name, truncated(&failure.message)),
        (None, Some(notice)) => format!("error: {notice}"),
        (None, None) => "error without a message".to_owned(),
    }
}
