//! State of a notebook for models: `get_notebook_state`, and the results of a batch of cells (R28, R29).
//!
//! Cells are in document order. The same notebook at the same version gives the same bytes.

mod results;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use notarium_core::{
    Cell, CellId, CellType, Document, Execution, ExecutionId, ExecutionStatus, ExecutionSubject, KernelPhase,
    KernelSessionId, NotebookId, RawObject, Reactivity, Version, effects_in_words,
};
use notarium_judge::{CellNames, cell_names};
use serde::Serialize;

use crate::preview::{ReadBlob, joined_streams, preview, truncated};

pub use results::{BatchCheck, TextQuery, state_text, verify};

/// Most outputs of one cell that are shown; further ones are counted. An error is always shown.
pub const MAX_OUTPUTS_PER_CELL: usize = 10;
/// The same, for a shortened cell.
const MAX_SHORT_OUTPUTS: usize = 2;

/// Reasons why there is no state to show.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    #[error("no such cells in this notebook: {}. They are in the trash, or never were. Call get_notebook_state without cell_ids to see which there are.", listed(.0))]
    UnknownCells(Vec<CellId>),
}

fn listed(ids: &[CellId]) -> String {
    ids.iter().take(20).map(CellId::as_str).collect::<Vec<_>>().join(", ")
}

/// Status of a cell, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CellStatus {
    /// Never ran here, or is not a code cell.
    Idle,
    Queued,
    Running,
    Ok,
    Error,
    Cancelled,
    /// Not run, because an earlier cell failed.
    Blocked,
    /// The outcome of its run is unknown.
    Lost,
    /// Its outputs were imported or copied: no kernel here has run it.
    Imported,
    /// Its source was changed after its run: outputs are of another text.
    Stale,
}

impl CellStatus {
    /// The status of a cell of this notebook; `Idle` for an unknown cell.
    pub fn of(notebook: &Document, cell_id: &CellId) -> Self {
        let cell = notebook.cells.get(cell_id).map(|cell| &**cell);
        let execution = notebook.latest_execution(cell_id).map(|(_, execution)| &**execution);
        cell.zip(execution).map_or(Self::Idle, |(cell, execution)| Self::after(cell, execution))
    }

    /// The status of a cell after its latest run. Takes both, so that 10,000 cells need one lookup each.
    fn after(cell: &Cell, execution: &Execution) -> Self {
        let text = cell.content.text_to_run();
        let is_stale = matches!(&execution.subject, ExecutionSubject::Cell { source, .. } if **source != *text);
        match execution.status {
            ExecutionStatus::Queued | ExecutionStatus::Assigned => Self::Queued,
            ExecutionStatus::Running => Self::Running,
            _ if is_stale => Self::Stale,
            _ if execution.is_imported() => Self::Imported,
            ExecutionStatus::Ok => Self::Ok,
            ExecutionStatus::Error => Self::Error,
            ExecutionStatus::Cancelled => Self::Cancelled,
            ExecutionStatus::Blocked => Self::Blocked,
            ExecutionStatus::Lost => Self::Lost,
        }
    }
}

/// The answer of `get_notebook_state`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NotebookState<'a, C = CellState<'a>> {
    pub notebook_id: &'a NotebookId,
    pub title: &'a str,
    pub version: Version,
    /// Effects of a run of a cell on other cells.
    pub reactivity: Reactivity,
    /// All cells of the notebook, including those that were not requested.
    pub cell_count: usize,
    pub cells: Vec<C>,
    /// Running executions.
    pub running: Vec<RunState<'a>>,
    /// Queued executions, in the order of the queue.
    pub queued: Vec<RunState<'a>>,
    pub kernels: Vec<KernelState<'a>>,
    /// Functions that can be called like tools.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<FunctionState<'a>>,
    /// Reason why not everything is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// One cell.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CellState<'a> {
    pub cell_id: &'a CellId,
    /// Version to name in calls that change the cell.
    pub version: Version,
    pub kind: CellType,
    pub source: Cow<'a, str>,
    pub status: CellStatus,
    /// The kernel's number of its run; later runs have higher numbers.
    pub execution_order: Option<u64>,
    /// Cause of a cancellation or loss, or a notice about an unusual end.
    pub notice: Option<String>,
    /// Prompt of the input request for which its run waits.
    pub waits_for_input: Option<Cow<'a, str>>,
    /// Names that must exist before it runs. Absent, with `writes`: not requested, no Python, or it does not parse.
    pub reads: Option<&'a BTreeSet<String>>,
    /// Names that the cell binds or deletes.
    pub writes: Option<&'a BTreeSet<String>>,
    /// Reason why the cell's outputs, or its effects in the kernel, differ from those of a run now; only in a reactive notebook.
    pub stale_because: Option<&'a str>,
    /// Previews; absent if outputs were not requested or there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<String>,
}

/// One unfinished run.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunState<'a> {
    pub execution_id: &'a ExecutionId,
    pub cell_id: Option<&'a CellId>,
    /// Set for a run without a cell.
    pub purpose: Option<&'a str>,
}

/// One kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KernelState<'a> {
    pub kernel_session: &'a KernelSessionId,
    pub kernelspec: &'a str,
    pub phase: KernelPhase,
}

/// The state with all fields around the cells.
fn frame<C>(notebook: &Document, cells: Vec<C>) -> NotebookState<'_, C> {
    NotebookState {
        notebook_id: &notebook.notebook_id,
        title: &notebook.title,
        version: notebook.version,
        reactivity: notebook.reactivity,
        cell_count: notebook.order.len(),
        cells,
        running: runs(notebook, |status| status == ExecutionStatus::Running),
        queued: runs(notebook, ExecutionStatus::is_queued),
        kernels: kernels(notebook),
        functions: functions(notebook),
        notice: None,
    }
}

fn known(notebook: &Document, ids: &[CellId]) -> Result<(), StateError> {
    let unknown: Vec<CellId> = ids.iter().filter(|id| !notebook.cells.contains_key(*id)).cloned().collect();
    if unknown.is_empty() { Ok(()) } else { Err(StateError::UnknownCells(unknown)) }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CellDetail {
    Whole,
    /// The beginning of the source, and of the first outputs; for many cells in one result.
    Short,
}

fn cell_state<'a>(
    notebook: &'a Document,
    id: &'a CellId,
    cell: &'a Cell,
    names: Option<&'a CellNames>,
    stale_because: Option<&'a str>,
    blobs: Option<&ReadBlob>,
    detail: CellDetail,
) -> CellState<'a> {
    let execution = notebook.latest_execution(id).map(|(_, execution)| &**execution);
    let source = cell.content.source.as_str();
    let input = execution.and_then(|execution| execution.pending_input.as_ref());
    CellState {
        cell_id: id,
        version: cell.cell_version,
        kind: cell.content.cell_type,
        source: if detail == CellDetail::Short { truncated(source) } else { source.into() },
        status: execution.map_or(CellStatus::Idle, |execution| CellStatus::after(cell, execution)),
        execution_order: execution.and_then(|execution| execution.execution_count),
        notice: execution.and_then(notice),
        waits_for_input: input.map(|input| truncated(&input.prompt)),
        reads: names.map(|names| &names.reads),
        writes: names.map(|names| &names.writes),
        stale_because,
        outputs: execution.zip(blobs).map(|(execution, blobs)| previews(execution, blobs, detail)).unwrap_or_default(),
    }
}

/// An unusual end of the run, and its refused effects.
fn notice(execution: &Execution) -> Option<String> {
    let sentences: Vec<String> =
        [execution.end_sentence(), effects_in_words(execution)].into_iter().flatten().collect();
    (!sentences.is_empty()).then(|| sentences.join(". "))
}

/// The first outputs of a run, the count of further ones, and its error wherever it is.
fn previews(execution: &Execution, blobs: &ReadBlob, detail: CellDetail) -> Vec<String> {
    let outputs = joined_streams(&execution.outputs);
    if detail == CellDetail::Short {
        let first = outputs.iter().take(MAX_SHORT_OUTPUTS);
        return first.map(|output| truncated(&preview(output, blobs)).into_owned()).collect();
    }
    let mut rendered: Vec<String> =
        outputs.iter().take(MAX_OUTPUTS_PER_CELL).map(|output| preview(output, blobs)).collect();
    let rest = outputs.get(MAX_OUTPUTS_PER_CELL..).unwrap_or_default();
    if !rest.is_empty() {
        rendered.push(format!("…[{} more outputs]", rest.len()));
        // The kernel stops at an error, so the error is the last output.
        let last = rest.last().filter(|_| execution.status == ExecutionStatus::Error);
        rendered.extend(last.map(|output| preview(output, blobs)));
    }
    rendered
}

fn runs(notebook: &Document, is_meant: impl Fn(ExecutionStatus) -> bool) -> Vec<RunState<'_>> {
    let mut found: Vec<_> = notebook.executions.iter().filter(|(_, execution)| is_meant(execution.status)).collect();
    found.sort_by_key(|(_, execution)| execution.requested_version);
    let rendered = found.into_iter().map(|(execution_id, execution)| RunState {
        execution_id,
        cell_id: execution.subject.cell_id(),
        purpose: match &execution.subject {
            ExecutionSubject::Scratch { purpose, .. } => Some(purpose.as_str()),
            ExecutionSubject::Tool { tool, .. } => Some(tool.as_str()),
            ExecutionSubject::Cell { .. } => None,
        },
    });
    rendered.collect()
}

fn kernels(notebook: &Document) -> Vec<KernelState<'_>> {
    let rendered = notebook.kernels.iter().map(|(kernel_session, kernel)| KernelState {
        kernel_session,
        kernelspec: &kernel.kernelspec,
        phase: kernel.phase,
    });
    rendered.collect()
}

/// Most characters of a shortened description.
const MAX_SHORT_DESCRIPTION: usize = 80;

/// One function that can be called now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FunctionState<'a> {
    pub name: &'a str,
    pub description: Cow<'a, str>,
    /// JSON Schema; absent in a shortened state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<&'a RawObject>,
}

impl FunctionState<'_> {
    fn shorten(&mut self) {
        self.arguments = None;
        if let Some((end, _)) = self.description.char_indices().nth(MAX_SHORT_DESCRIPTION) {
            self.description = format!("{}…", &self.description[..end]).into();
        }
    }
}

/// The functions whose kernel is running.
fn functions(notebook: &Document) -> Vec<FunctionState<'_>> {
    let callable = notebook.functions.values().filter(|known| known.kernel_session.is_some());
    let rendered = callable.map(|known| FunctionState {
        name: &known.function.name,
        description: truncated(&known.function.description),
        arguments: Some(&known.function.schema),
    });
    rendered.collect()
}

/// The names of the cells of one notebook. Holds as many entries as the notebook has code cells.
#[derive(Debug, Clone, Default)]
pub struct NamesCache(BTreeMap<CellId, (Version, Option<CellNames>)>);

impl NamesCache {
    /// Parses new and changed cells and forgets removed ones. Only Python is parsed; other notebooks have no names.
    pub fn refresh(&mut self, notebook: &Document, is_python: bool) {
        // Both are sorted by id and walked in parallel, without lookups.
        let parsed = || notebook.cells.iter().filter(|(_, cell)| is_parsed(cell, is_python));
        let versions = self.0.iter().map(|(id, (version, _))| (id, *version));
        if versions.eq(parsed().map(|(id, cell)| (id, cell.source_version))) {
            return;
        }
        let mut known = std::mem::take(&mut self.0).into_iter().peekable();
        let names = parsed().map(|(id, cell)| {
            while known.next_if(|(other, _)| other < id).is_some() {}
            let is_current = |(other, (version, _)): &(CellId, _)| other == id && *version == cell.source_version;
            known
                .next_if(is_current)
                .unwrap_or_else(|| (id.clone(), (cell.source_version, cell_names(&cell.content.text_to_run()))))
        });
        self.0 = names.collect();
    }

    /// `None` for a cell that does not parse, is no Python, or was absent at the last refresh.
    pub fn of(&self, cell_id: &CellId) -> Option<&CellNames> {
        self.0.get(cell_id)?.1.as_ref()
    }

    /// All cells whose names are known, sorted by id.
    pub fn iter(&self) -> impl Iterator<Item = (&CellId, &CellNames)> {
        self.0.iter().filter_map(|(id, (_, names))| Some((id, names.as_ref()?)))
    }
}

fn is_parsed(cell: &Cell, is_python: bool) -> bool {
    is_python && cell.content.cell_type.runs()
}

/// The names of one cell, parsed now; `None` as in [`NamesCache::of`].
fn names_of(cell: &Cell, is_python: bool) -> Option<CellNames> {
    is_parsed(cell, is_python).then(|| cell_names(&cell.content.text_to_run())).flatten()
}
