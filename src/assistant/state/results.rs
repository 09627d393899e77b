//! The state as text of a result: complete if it fits, else as many cells as fit, with short sources and outputs.
//!
//! Omitted cells cost nothing: cells are parsed, previewed and written one by one until the result is full. So a notebook
//! of 10,000 cells costs little more than one of 100.

use std::collections::{BTreeMap, BTreeSet};

use notarium_core::{CellId, Document, is_python};
use serde_json::value::RawValue;

use super::names::{names_of, stale};
use super::{CellDetail, CellState, FunctionState, StateError, cell_state, frame, known};
use crate::preview::ReadBlob;

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
    let stale = stale(notebook, is_python);
    let writer = Writer { notebook, is_python, stale, blobs: query.include_outputs.then_some(blobs) };
    let asked: Option<BTreeSet<&CellId>> = query.cell_ids.map(|ids| ids.iter().collect());
    let is_wanted = |id: &&CellId| asked.as_ref().is_none_or(|ids| ids.contains(id));
    let wanted: Vec<&CellId> = notebook.order.iter().filter(is_wanted).collect();
    Ok(writer.whole(&wanted, query.most).unwrap_or_else(|| writer.shortened(&wanted, query.most)))
}

struct Writer<'a> {
    notebook: &'a Document,
    is_python: bool,
    /// Reasons why cells of a reactive notebook are stale.
    stale: BTreeMap<CellId, String>,
    /// `None`: outputs are not requested.
    blobs: Option<&'a ReadBlob<'a>>,
}

impl Writer<'_> {
    fn text(&self, id: &CellId, detail: CellDetail) -> Option<Box<RawValue>> {
        let cell = self.notebook.cells.get(id)?;
        let names = names_of(cell, self.is_python);
        let stale_because = self.stale.get(id).map(String::as_str);
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
