//! The tools that the server executes: reading, waiting for runs, creating notebooks.
//!
//! A call here has passed the gate and has started. Its runs in a kernel are in the log, and this only waits for them. So a wait that
//! a restart cut off is simply resumed.

mod replies;

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use notarium_core::text::normalise_line_breaks;
use notarium_core::tools::{Arguments, CreateNotebook, DescribeConnection, Executor, NewCell, Tool};
use notarium_core::{
    CellId, CellType, Command, CommandId, Document, Event, Execution, ExecutionId, ExecutionStatus, ExecutionTarget,
    InsertCell, NotebookId, Place, RawObject, Rejection, RequestExecution, ToolCall, ToolCallEnd, ToolCallId,
    effects_in_words, kernel_tools,
};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::Runtime;
use crate::context::messages::{MAX_IMAGE_BYTES, PngResult};
use crate::host::{NotebookHost, with_blobs};
use crate::preview::{self, ReadBlob};
use crate::schema_text;
use crate::state::{CellStatus, TextQuery, state_text, verify};

/// Most bytes of a result; the core's limit is higher, but models should not get more.
pub const MAX_RESULT_BYTES: usize = 60_000;
/// Most characters of one output in `get_cell_outputs`.
const MAX_OUTPUT_CHARACTERS: usize = 20_000;
const MAX_LISTED_NOTEBOOKS: usize = 100;

/// A started call, with the inputs of its execution.
pub(super) struct ToolTask {
    pub runtime: Arc<Runtime>,
    pub notebook: NotebookId,
    pub call_id: ToolCallId,
    pub call: Arc<ToolCall>,
    /// Cells and runs that the call created in the log.
    pub effects: CallEffects,
    /// The notebook's state, updated after changes.
    pub state: WatchedNotebook,
}

/// A watched notebook.
type WatchedNotebook = watch::Receiver<Arc<Document>>;

/// The cells and the runs that a call created when it started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct CallEffects {
    pub cells: Vec<CellId>,
    pub executions: Vec<ExecutionId>,
}

impl CallEffects {
    /// The effects according to the log, for a call that an earlier process started.
    pub async fn recorded(
        host: &dyn NotebookHost,
        notebook: &NotebookId,
        call_id: &ToolCallId,
        call: &ToolCall,
    ) -> Result<Self, Rejection> {
        let mut effects = Self::default();
        let mut since = call.requested_version.saturating_sub(1);
        loop {
            let events = host.events(notebook, since, 2_000).await?;
            let Some(last) = events.last() else { return Ok(effects) };
            since = last.envelope.version;
            for stored in events.iter().filter(|stored| stored.envelope.correlation_id.as_str() == call_id.as_str()) {
                match stored.typed().map(|recorded| recorded.event) {
                    Ok(Event::CellInserted(event)) => effects.cells.push(event.cell_id),
                    Ok(Event::ExecutionRequested(event)) => effects.executions.push(event.execution_id),
                    _ => {}
                }
            }
        }
    }
}

/// Result of a tool.
pub(super) struct CallOutcome {
    pub end: ToolCallEnd,
    pub result: String,
}

impl CallOutcome {
    /// End of a call whose execution panicked.
    pub fn fault() -> Self {
        let result =
            "a fault in the server ended this call, and nobody knows how far it came: look before you try it again";
        Self { end: ToolCallEnd::OutcomeUnknown, result: result.to_owned() }
    }
}

/// Failure of a tool, in words for the model.
enum ToolFailure {
    Certain(String),
    /// The call had begun, and its outcome is unknown: a run was lost, or cannot be read.
    Unknown(String),
}

type ToolAnswer = Result<String, ToolFailure>;

impl From<String> for ToolFailure {
    fn from(sentence: String) -> Self {
        Self::Certain(sentence)
    }
}

/// Executes the call until it ends or its wait times out.
pub(super) async fn execute(task: ToolTask) -> CallOutcome {
    let limit = task.limit();
    let (end, result) = match answer(&task).await {
        Ok(result) => (ToolCallEnd::Ok, result),
        Err(ToolFailure::Certain(sentence)) => (ToolCallEnd::Error, sentence),
        Err(ToolFailure::Unknown(sentence)) => (ToolCallEnd::OutcomeUnknown, sentence),
    };
    CallOutcome { end, result: shortened(result, limit) }
}

async fn answer(task: &ToolTask) -> ToolAnswer {
    let Some(tool) = Tool::find(&task.call.function).filter(|tool| tool.executor == Executor::Server) else {
        return in_kernel(task).await;
    };
    let arguments = tool.arguments(&task.call.arguments).map_err(|rejection| rejection.message)?;
    match &arguments {
        Arguments::GetNotebookState(call) => {
            state(task, call.include_outputs.unwrap_or(true), call.cell_ids.as_deref()).await
        }
        Arguments::GetCellOutputs(call) => outputs(task, &call.cell_id).await,
        Arguments::GetCellImage(call) => image(task, &call.cell_id).await,
        Arguments::GetRunStatus(call) => run_status(task, &call.execution_id).await,
        Arguments::DescribeConnection(call) => describe(task, call).await,
        Arguments::ListNotebooks(call) => list(task, call.query.as_deref()).await,
        Arguments::ExecuteCell(_) | Arguments::ExecuteCode(_) => execute_cell(task).await,
        Arguments::ExecutePrompt(call) => replies::reply(task, &call.cell_id).await,
        Arguments::RunAll(_) => run_all(task).await,
        Arguments::CreateCells(_) => create_cells(task).await,
        Arguments::CreateNotebook(call) => create_notebook(task, call).await,
        other => Err(format!("{} is executed elsewhere", other.name()).into()),
    }
}

fn shortened(mut text: String, limit: usize) -> String {
    if text.len() > limit {
        text.truncate(text.floor_char_boundary(limit));
        text.push_str("\n…[truncated: ask for less at once]");
    }
    text
}

fn sentence(rejection: Rejection) -> String {
    rejection.message
}

impl ToolTask {
    fn host(&self) -> &dyn NotebookHost {
        &*self.runtime.host
    }

    /// Timeout of the call's wait for its runs.
    fn run_wait(&self) -> Duration {
        self.runtime.config.run_wait
    }

    fn notebook(&self) -> Arc<Document> {
        self.state.borrow().clone()
    }

    /// Most bytes of the result. A picture may be larger than a text, because the model does not read it as text.
    fn limit(&self) -> usize {
        if self.call.function == "get_cell_image" { 200 << 10 } else { MAX_RESULT_BYTES }
    }

    /// The run, from the notebook's state or the log.
    async fn run(&self, notebook: &Document, id: &ExecutionId) -> Option<Arc<Execution>> {
        if let Some(execution) = notebook.executions.get(id) {
            return Some(execution.clone());
        }
        self.host().execution(&self.notebook, id).await.ok()?.map(Arc::new)
    }

    /// The call's only run, when it has ended or the wait timed out.
    async fn only_run(&self, missing: &str) -> Result<(&ExecutionId, Arc<Execution>), ToolFailure> {
        let id = self.effects.executions.first().ok_or_else(|| missing.to_owned())?;
        let notebook = self.wait_for(&self.state, &self.effects.executions).await;
        let run = self.run(&notebook, id).await;
        let run = run.ok_or_else(|| ToolFailure::Unknown(format!("The record of the run {id} cannot be read.")))?;
        Ok((id, run))
    }

    /// Waits until all runs have ended, one waits for input, or the wait times out. Returns the last state of the notebook.
    async fn wait_for(&self, state: &WatchedNotebook, runs: &[ExecutionId]) -> Arc<Document> {
        let mut runs: Vec<&ExecutionId> = runs.iter().collect();
        let are_over = |notebook: &Document| {
            // Finished runs are not checked again: a run of all cells has thousands.
            runs.retain(|id| notebook.executions.get(*id).is_some_and(|run| !run.status.is_finished()));
            let asks = |id: &&ExecutionId| notebook.executions[*id].pending_input.is_some();
            runs.is_empty() || runs.iter().any(asks)
        };
        self.wait_until(state, are_over).await
    }

    /// Waits until the notebook is as wanted, or the wait times out. Returns the last state of the notebook.
    async fn wait_until(
        &self,
        state: &WatchedNotebook,
        mut is_so: impl FnMut(&Document) -> bool + Send,
    ) -> Arc<Document> {
        let mut state = state.clone();
        let mut timeout = self.host().sleep(self.run_wait());
        loop {
            let notebook = state.borrow_and_update().clone();
            if is_so(&notebook) {
                return notebook;
            }
            let has_changed = tokio::select! {
                biased;
                changed = state.changed() => changed.is_ok(),
                () = &mut timeout => false,
            };
            if !has_changed {
                // The start of a run sends no notice, so the state is read once more.
                return self.host().read(&notebook.notebook_id).await.map_or(notebook, |read| read.document);
            }
        }
    }
}

// --- reading ---

async fn state(task: &ToolTask, include_outputs: bool, cell_ids: Option<&[CellId]>) -> ToolAnswer {
    let notebook = task.notebook();
    let stale = task.host().stale_cells(&task.notebook).await;
    let query = TextQuery { include_outputs, stale: Some(&stale), cell_ids, most: MAX_RESULT_BYTES };
    let render = |blobs: &ReadBlob| state_text(&notebook, query, blobs).map_err(|error| error.to_string());
    Ok(with_blobs(task.host(), &task.notebook, render).await?)
}

fn latest<'a>(notebook: &'a Document, cell_id: &CellId) -> Result<(&'a ExecutionId, &'a Arc<Execution>), String> {
    if !notebook.cells.contains_key(cell_id) {
        return Err(format!(
            "There is no cell {cell_id}: it is in the trash, or never was. Read the notebook with get_notebook_state."
        ));
    }
    notebook.latest_execution(cell_id).ok_or_else(|| format!("Cell {cell_id} was never executed: it has no outputs."))
}

async fn outputs(task: &ToolTask, cell_id: &CellId) -> ToolAnswer {
    let notebook = task.notebook();
    let prompt = notebook.cells.get(cell_id).filter(|cell| cell.content.cell_type == CellType::Prompt);
    if let Some(reply) = prompt.and_then(|cell| cell.reply.as_deref()) {
        return Ok(replies::text(&notebook, cell_id, reply));
    }
    let (id, execution) = latest(&notebook, cell_id)?;
    let rendered = with_blobs(task.host(), &task.notebook, |blobs| {
        json!({"cell_id": cell_id, "status": CellStatus::of(&notebook, cell_id), "execution_id": id,
            "outputs": whole(execution, blobs)})
        .to_string()
    });
    Ok(rendered.await)
}

fn whole(execution: &Execution, blobs: &ReadBlob) -> Vec<String> {
    preview::joined_streams(&execution.outputs)
        .iter()
        .map(|output| preview::whole(output, blobs, MAX_OUTPUT_CHARACTERS))
        .collect()
}

async fn image(task: &ToolTask, cell_id: &CellId) -> ToolAnswer {
    let notebook = task.notebook();
    let (_, execution) = latest(&notebook, cell_id)?;
    let Some(output) = execution.outputs.iter().find(|output| preview::has_png(output)) else {
        return Err(format!("Cell {cell_id} shows no PNG. get_cell_outputs tells what it shows.").into());
    };
    let png = with_blobs(task.host(), &task.notebook, |blobs| preview::png(output, blobs)).await;
    let png = png.ok_or_else(|| "The picture cannot be read: it is no PNG, or its data is gone.".to_owned())?;
    if png.len() > MAX_IMAGE_BYTES {
        return Err(format!("The picture has {} bytes, more than a model takes.", png.len()).into());
    }
    Ok(PngResult::text(cell_id, output, &png))
}

async fn run_status(task: &ToolTask, id: &ExecutionId) -> ToolAnswer {
    let notebook = task.notebook();
    let run = task.run(&notebook, id).await.ok_or_else(|| format!("There is no run {id} here: check the id."))?;
    // True for the run of a tool whose wait had timed out before its end.
    let is_answer = run.outputs.iter().any(|output| output.content.get().contains(kernel_tools::RESULT_MIME));
    let rendered =
        if is_answer && run.status.is_finished() { answer_of(task, &run).await } else { render(task, id, &run).await };
    Ok(rendered?)
}

/// The kernel's answer in a run of a tool.
async fn answer_of(task: &ToolTask, run: &Execution) -> Result<String, String> {
    let read = |blobs: &ReadBlob| kernel_tools::answer(run, &|part| blobs(part, preview::MAX_READ_BYTES));
    let answer = with_blobs(task.host(), &task.notebook, read).await;
    let Some(effects) = effects_in_words(run) else { return answer };
    answer.map(|text| format!("{text}\n{effects}")).map_err(|text| format!("{text}\n{effects}"))
}

/// A run, with previews of its outputs and its full error.
async fn render(task: &ToolTask, id: &ExecutionId, run: &Execution) -> Result<String, String> {
    with_blobs(task.host(), &task.notebook, |blobs| {
        let outputs = preview::joined_streams(&run.outputs);
        let outputs: Vec<String> = outputs.iter().map(|output| preview::preview(output, blobs)).collect();
        let mut rendered = json!({"execution_id": id, "status": run.status, "outputs": outputs});
        if let Some(cell_id) = run.subject.cell_id() {
            rendered["cell_id"] = json!(cell_id);
        }
        if let Some(notice) = run.end_sentence() {
            rendered["notice"] = json!(notice);
        }
        if let Some(effects) = effects_in_words(run) {
            rendered["effects"] = json!(effects);
        }
        if let Some(input) = &run.pending_input {
            rendered["waits_for_input"] = json!(input.prompt);
            rendered["notice"] = json!("The run asks a person for input; only a person can answer. Tell them.");
        } else if !run.status.is_finished() {
            rendered["notice"] =
                json!(format!("Still {}: the run goes on. Ask again with get_run_status.", word(run.status)));
        }
        Ok(rendered.to_string())
    })
    .await
}

fn word(status: ExecutionStatus) -> &'static str {
    if status.is_queued() { "queued" } else { "running" }
}

async fn list(task: &ToolTask, query: Option<&str>) -> ToolAnswer {
    let actor = &task.call.requested_by;
    let found = task.host().notebooks(actor, query, MAX_LISTED_NOTEBOOKS).await.map_err(sentence)?;
    Ok(json!({ "notebooks": found }).to_string())
}

async fn describe(task: &ToolTask, call: &DescribeConnection) -> ToolAnswer {
    let (host, actor, notebook) = (task.host(), &task.call.requested_by, &task.notebook);
    let Some(connection) = &call.connection else {
        let named = host.connections(actor, notebook).await.map_err(sentence)?;
        return Ok(schema_text::connections(&named));
    };
    // Databases elsewhere need the gate in SQL cells, so this tool refuses them.
    if notarium_judge::is_elsewhere(connection) {
        let message =
            format!("{connection} is not in the working folder: databases there, and those with a name, are listed");
        return Err(message.into());
    }
    let matching = call.matching.clone().unwrap_or_default();
    let schema = host.describe(actor, notebook, connection.clone(), matching).await?;
    Ok(schema_text::tables(connection, &schema))
}

// --- runs ---

async fn execute_cell(task: &ToolTask) -> ToolAnswer {
    let (id, run) = task.only_run("The run was not requested: read the notebook and try again.").await?;
    let rendered = render(task, id, &run).await?;
    match run.status {
        ExecutionStatus::Lost => Err(ToolFailure::Unknown(rendered)),
        ExecutionStatus::Error | ExecutionStatus::Cancelled | ExecutionStatus::Blocked => {
            Err(ToolFailure::Certain(rendered))
        }
        _ => Ok(rendered),
    }
}

async fn run_all(task: &ToolTask) -> ToolAnswer {
    let notebook = task.wait_for(&task.state, &task.effects.executions).await;
    let cells = cells_of(task, &notebook).await;
    verified(task, &task.notebook, &notebook, &cells, None).await
}

async fn cells_of(task: &ToolTask, notebook: &Document) -> Vec<CellId> {
    let mut cells = Vec::new();
    for id in &task.effects.executions {
        let run = task.run(notebook, id).await;
        cells.extend(run.and_then(|run| run.subject.cell_id().cloned()));
    }
    cells
}

async fn create_cells(task: &ToolTask) -> ToolAnswer {
    let notebook = task.wait_for(&task.state, &task.effects.executions).await;
    let version = |id: &CellId| notebook.cells.get(id).map(|cell| cell.cell_version);
    let cells = task.effects.cells.iter();
    let cells: Vec<Value> = cells.map(|id| json!({"cell_id": id, "cell_version": version(id)})).collect();
    let made = json!({ "cells": cells });
    verified(task, &task.notebook, &notebook, &task.effects.cells, Some(made)).await
}

/// Waits for the kernel's answer to a tool that is a run.
async fn in_kernel(task: &ToolTask) -> ToolAnswer {
    let (id, run) = task.only_run("The kernel was not asked: read the notebook and try again.").await?;
    if !run.status.is_finished() {
        // The run goes on; the model must not request it again.
        let state = word(run.status);
        let notice = format!(
            "Still {state} after {} s: the kernel is busy, or there is none. It goes on; do not call it again. Ask \
             get_run_status for this execution, or tell the person.",
            task.run_wait().as_secs()
        );
        return Ok(json!({"execution_id": id, "status": state, "notice": notice}).to_string());
    }
    answer_of(task, &run).await.map_err(|sentence| match run.status {
        ExecutionStatus::Lost => ToolFailure::Unknown(sentence),
        _ => ToolFailure::Certain(sentence),
    })
}

/// Results of a batch's cells (R29). An error if one failed, so that the model sees it as one. Unknown if the run of
/// one was lost.
async fn verified(
    task: &ToolTask,
    id: &NotebookId,
    notebook: &Document,
    cells: &[CellId],
    made: Option<Value>,
) -> ToolAnswer {
    let judged = with_blobs(task.host(), id, |blobs| verify(notebook, cells, blobs)).await;
    let head = made.map(|made| format!("{made}\n")).unwrap_or_default();
    let text = format!("{head}{}", judged.text);
    let is_lost =
        |cell: &CellId| notebook.latest_execution(cell).is_some_and(|(_, run)| run.status == ExecutionStatus::Lost);
    match judged.all_ok || !judged.unfinished.is_empty() {
        _ if cells.iter().any(is_lost) => Err(ToolFailure::Unknown(text)),
        true => Ok(text),
        false => Err(ToolFailure::Certain(text)),
    }
}

// --- a new notebook ---

async fn create_notebook(task: &ToolTask, call: &CreateNotebook) -> ToolAnswer {
    let id = call.notebook_id.clone().unwrap_or_else(|| named_after(&task.call_id));
    let cells = call.cells.as_deref().unwrap_or_default();
    let command = creation(&task.call_id, call, cells);
    // The command's id derives from the call's: resumed after a restart it is the same command, which is applied once.
    let command_id: CommandId = named_after(&task.call_id);
    task.host().execute_as(command_id, &task.call.requested_by, &id, &command).await.map_err(sentence)?;
    let ids: Vec<CellId> = (0..cells.len()).map(|place| cell_id(&task.call_id, place)).collect();
    let made = json!({"notebook_id": id, "title": call.title, "cells": ids});
    if !call.run {
        return Ok(made.to_string());
    }
    let mut state = task.runtime.watch(&id);
    let notebook = task.host().read_as(&task.call.requested_by, &id).await;
    let notebook = notebook.map_err(|rejection| ToolFailure::Unknown(format!("{made}\n{}", rejection.message)))?;
    // The first watched state may be older than the read one, and without these cells and runs.
    tokio::select! {
        biased;
        _ = state.wait_for(|seen| seen.version >= notebook.version) => {}
        () = task.host().sleep(task.run_wait()) => {}
    }
    let runs: Vec<ExecutionId> = ids.iter().filter_map(|cell| notebook.latest.get(cell).cloned()).collect();
    let notebook = task.wait_for(&state, &runs).await;
    verified(task, &id, &notebook, &ids, Some(made)).await
}

/// An id for the call's product. All ids have one shape, so the call's id can serve.
fn named_after<T: FromStr + From<ulid::Ulid>>(call_id: &ToolCallId) -> T {
    call_id.as_str().parse().unwrap_or_else(|_| ulid::Ulid::generate().into())
}

fn cell_id(call_id: &ToolCallId, place: usize) -> CellId {
    let name = format!("{}-{place}", call_id.as_str());
    name.parse().unwrap_or_else(|_| ulid::Ulid::generate().into())
}

fn creation(call_id: &ToolCallId, call: &CreateNotebook, cells: &[NewCell]) -> Command {
    let mut commands =
        vec![Command::CreateNotebook { title: call.title.clone(), metadata: RawObject::default(), forked_from: None }];
    commands.extend(cells.iter().enumerate().map(|(place, cell)| {
        let source = normalise_line_breaks(&cell.source).into_owned();
        let insert = InsertCell::new(cell.cell_type, source, Place::End);
        Command::InsertCell(InsertCell { cell_id: Some(cell_id(call_id, place)), ..insert })
    }));
    let runs = |cell: &NewCell| call.run && cell.cell_type.runs() && !cell.source.trim().is_empty();
    let runnable = cells.iter().enumerate().filter(|(_, cell)| runs(cell));
    commands.extend(runnable.map(|(place, _)| {
        let target = ExecutionTarget::Cell { cell_id: cell_id(call_id, place), cell_version: None };
        Command::RequestExecution(RequestExecution { stop_on_error: true, ..RequestExecution::new(target) })
    }));
    Command::Batch { commands }
}
