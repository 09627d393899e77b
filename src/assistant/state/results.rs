//! Texts of results: the notebook's state, and the outcome of a batch of cells.
//!
//! The state is complete if it fits, else it has as many cells as fit, with short sources and outputs. Omitted cells cost
//! nothing: cells are parsed, previewed and written one by one until the result is full. So a notebook of 10,000 cells costs
//! little more than one of 100.

use std::collections::{BTreeMap, BTreeSet};

use notarium_core::{CellId, Document, Execution, effects_in_words, is_python};
use serde::Serialize;
use serde_json::value::RawValue;

use super::{CellDetail, CellState, CellStatus, FunctionState, StateError, cell_state, frame, known, names_of};
use crate::preview::{ErrorOutput, ReadBlob, truncated};

/// Least bytes of a cell's text beside its source.
const MIN_CELL_BYTES: usize = 64;
/// Bytes reserved for the fields around the cells.
const FRAME_BYTES: usize = 2_000;
/// Most running, and most queued, executions that are listed of a large notebook.
const MAX_LISTED_RUNS: usize = 20;
/// Most functions that are listed of a large notebook, with shortened descriptions.
const MAX_LISTED_FUNCTIONS: usize = 40;

/// Arguments of `get_notebook_state`.
#[derive(Debug, Clone, Copy, Default)]
pub struct TextQuery<'a> {
    pub include_outputs: bool,
    /// Reasons why cells of a reactive notebook are not fresh.
    pub stale: Option<&'a BTreeMap<CellId, String>>,
    /// Only these cells; `None` means all.
    pub cell_ids: Option<&'a [CellId]>,
    /// Most bytes of the text.
    pub most: usize,
}

/// The answer of `get_notebook_state`, as JSON.
pub fn state_text(notebook: &Document, query: TextQuery, blobs: &ReadBlob) -> Result<String, StateError> {
    if let Some(ids) = query.cell_ids {
        known(notebook, ids)?;
    }
    let is_python = is_python(notebook);
    let writer = StateWriter { notebook, is_python, stale: query.stale, blobs: query.include_outputs.then_some(blobs) };
    let asked: Option<BTreeSet<&CellId>> = query.cell_ids.map(|ids| ids.iter().collect());
    let is_wanted = |id: &&CellId| asked.as_ref().is_none_or(|ids| ids.contains(id));
    let wanted: Vec<&CellId> = notebook.order.iter().filter(is_wanted).collect();
    Ok(writer.whole(&wanted, query.most).unwrap_or_else(|| writer.shortened(&wanted, query.most)))
}

struct StateWriter<'a> {
    notebook: &'a Document,
    is_python: bool,
    stale: Option<&'a BTreeMap<CellId, String>>,
    /// `None`: outputs are not requested.
    blobs: Option<&'a ReadBlob<'a>>,
}

impl StateWriter<'_> {
    fn text(&self, id: &CellId, detail: CellDetail) -> Option<Box<RawValue>> {
        let cell = self.notebook.cells.get(id)?;
        let names = names_of(cell, self.is_python);
        let stale_because = self.stale.and_then(|stale| stale.get(id)).map(String::as_str);
        let state: CellState = cell_state(self.notebook, id, cell, names.as_ref(), stale_because, self.blobs, detail);
        serde_json::value::to_raw_value(&state).ok()
    }

    /// True if the sources alone fit: otherwise no cell needs to be rendered.
    fn may_fit(&self, wanted: &[&CellId], most: usize) -> bool {
        let mut sources =
            wanted.iter().filter_map(|id| self.notebook.cells.get(*id)).map(|cell| cell.content.source.len());
        sources.try_fold(most, |left, bytes| left.checked_sub(bytes + MIN_CELL_BYTES)).is_some()
    }

    /// The complete text; `None` if it does not fit.
    fn whole(&self, wanted: &[&CellId], most: usize) -> Option<String> {
        if !self.may_fit(wanted, most) {
            return None;
        }
        let mut left = most;
        let mut cells = Vec::with_capacity(wanted.len());
        for id in wanted {
            let text = self.text(id, CellDetail::Whole)?;
            left = left.checked_sub(text.get().len())?;
            cells.push(text);
        }
        let text = serde_json::to_string(&frame(self.notebook, cells)).ok()?;
        (text.len() <= most).then_some(text)
    }

    /// The first cells, as many as fit, and a notice.
    fn shortened(&self, wanted: &[&CellId], most: usize) -> String {
        let mut state = frame(self.notebook, Vec::new());
        state.running.truncate(MAX_LISTED_RUNS);
        state.queued.truncate(MAX_LISTED_RUNS);
        state.functions.truncate(MAX_LISTED_FUNCTIONS);
        state.functions.iter_mut().for_each(FunctionState::shorten);
        let mut bytes = FRAME_BYTES.max(serde_json::to_string(&state).map_or(0, |text| text.len() + FRAME_BYTES / 2));
        for id in wanted {
            let Some(text) = self.text(id, CellDetail::Short) else { break };
            bytes += text.get().len() + 1;
            if bytes > most {
                break;
            }
            state.cells.push(text);
        }
        state.notice = Some(format!(
            "The notebook is large: {} of {} cells are shown here, with short sources and outputs. Ask for others, or for \
             these in full, with cell_ids.",
            state.cells.len(),
            wanted.len()
        ));
        serde_json::to_string(&state).unwrap_or_default()
    }
}

/// Result of checking every cell that a batch touched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BatchCheck {
    /// Report for the model.
    pub text: String,
    /// True if every cell ran to its end without an error.
    pub all_ok: bool,
    /// Cells whose runs have not ended: check again, or tell the person.
    pub unfinished: Vec<CellId>,
}

enum CellVerdict {
    /// Not a code cell: markdown, raw, a prompt.
    NotRun,
    Ok,
    Unfinished(&'static str),
    Failed(String),
}

/// Judges the cells that a batch touched, in the order given. Cells that cannot run count only if they were removed.
pub fn verify(notebook: &Document, touched: &[CellId], blobs: &ReadBlob) -> BatchCheck {
    let (mut ok, mut failed, mut waiting, mut unfinished) = (0, Vec::new(), Vec::new(), Vec::new());
    let mut refused = Vec::new();
    for id in touched {
        let effects = notebook.latest_execution(id).and_then(|(_, execution)| effects_in_words(execution));
        refused.extend(effects.map(|effects| format!("- Cell {id}: {effects}")));
        match verdict(notebook, id, blobs) {
            CellVerdict::NotRun => {}
            CellVerdict::Ok => ok += 1,
            CellVerdict::Failed(why) => failed.push(format!("- Cell {id}: {why}")),
            CellVerdict::Unfinished(how) => {
                waiting.push(format!("- Cell {id}: {how}"));
                unfinished.push(id.clone());
            }
        }
    }
    let all_ok = failed.is_empty() && waiting.is_empty();
    let lines: Vec<String> = [text(ok, &failed, &waiting)].into_iter().chain(refused).collect();
    BatchCheck { text: lines.join("\n"), all_ok, unfinished }
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

fn verdict(notebook: &Document, id: &CellId, blobs: &ReadBlob) -> CellVerdict {
    let Some(cell) = notebook.cells.get(id) else {
        return CellVerdict::Failed("moved to the trash before it could be verified".to_owned());
    };
    if !cell.content.cell_type.runs() {
        return CellVerdict::NotRun;
    }
    let Some((_, execution)) = notebook.latest_execution(id) else {
        return CellVerdict::Failed("not executed".to_owned());
    };
    let because = |word: &str| match execution.end_sentence() {
        Some(notice) => CellVerdict::Failed(format!("{word}: {notice}")),
        None => CellVerdict::Failed(word.to_owned()),
    };
    match CellStatus::of(notebook, id) {
        CellStatus::Idle => CellVerdict::Failed("not executed".to_owned()),
        CellStatus::Imported => {
            CellVerdict::Failed("not executed here: its outputs came with a file or a copy".to_owned())
        }
        CellStatus::Queued => CellVerdict::Unfinished("waits in the queue"),
        CellStatus::Running => CellVerdict::Unfinished("still running"),
        CellStatus::Cancelled => because("cancelled"),
        CellStatus::Blocked => because("not executed"),
        CellStatus::Lost => because("lost, nobody knows how it ended"),
        CellStatus::Stale => CellVerdict::Failed("its source was changed after it ran: run it again".to_owned()),
        CellStatus::Error => CellVerdict::Failed(failure(execution, blobs)),
        // A kernel may show an error and continue, so a run with status ok is judged by its outputs.
        CellStatus::Ok if shows_failure(execution, blobs) => CellVerdict::Failed(failure(execution, blobs)),
        CellStatus::Ok => CellVerdict::Ok,
    }
}

fn shows_failure(execution: &Execution, blobs: &ReadBlob) -> bool {
    execution.outputs.iter().any(|output| ErrorOutput::of(output, blobs).is_some())
}

/// Type and message of the last error.
fn failure(execution: &Execution, blobs: &ReadBlob) -> String {
    let found = execution.outputs.iter().rev().find_map(|output| ErrorOutput::of(output, blobs));
    match (found, execution.end_sentence()) {
        (Some(failure), _) => format!("{}: {}", failure.name, truncated(&failure.message)),
        (None, Some(notice)) => format!("error: {notice}"),
        (None, None) => "error without a message".to_owned(),
    }
}
