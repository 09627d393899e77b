//! Commands of a tool call, and its arguments as people are asked about them.

use serde_json::{Map, Value, json};

use crate::assistants::call_risk::code_cells;
use crate::cells::undo;
use crate::command::Command;
use crate::context::{Context, IdSource};
use crate::functions::tools::{Arguments, CreateCell, CreateCells, SetCellFlags, Undo};
use crate::notebook::Notebook;
use crate::runs::kernels;
use crate::values::decision::{RejectionCode, Result};
use crate::values::details::RejectionDetails;
use crate::values::kernel_commands::RestartKernel;
use crate::values::{CellFlagChanges, ExecutionTarget, InsertCell, Place, RequestExecution};
use notarium_record::text::normalise_line_breaks;
use notarium_record::{CellId, CellType, Document, KernelSessionId, RawObject, Version};

pub(crate) fn undo_command(call: &Undo) -> Command {
    let correlation_id = call.call_id.as_ref().and_then(|id| id.as_str().parse().ok());
    Command::Undo { steps: 1, correlation_id, turn_id: call.turn_id.clone(), cell_id: None }
}

/// Arguments as a person is asked to confirm them. An undo of the latest change gets the id of that change, and a position
/// the id of the cell that is there, so that later changes do not alter them.
pub(crate) fn said_in_full(
    notebook: &Notebook,
    context: &Context,
    arguments: RawObject,
    typed: &Arguments,
) -> Result<RawObject> {
    if let Arguments::CreateCell(CreateCell { index: Some(index), .. })
    | Arguments::CreateCells(CreateCells { index: Some(index), .. }) = typed
    {
        return beside_a_cell(notebook, &arguments, *index);
    }
    let Arguments::Undo(Undo { call_id: None, turn_id: None }) = typed else { return Ok(arguments) };
    let Some(latest) = undo::latest(notebook, context) else {
        let refusal = RejectionCode::NothingToUndo.because("nothing of yours is left to undo here");
        return Err(refusal.with(RejectionDetails::NothingToUndo));
    };
    object(&json!({"call_id": latest}))
}

fn object(said: &Value) -> Result<RawObject> {
    RawObject::parse(&said.to_string()).map_err(|error| RejectionCode::InvalidValue.because(error.to_string()))
}

/// The arguments with a cell in place of a position.
fn beside_a_cell(notebook: &Document, arguments: &RawObject, index: usize) -> Result<RawObject> {
    let mut said: Map<String, Value> = serde_json::from_str(arguments.get())
        .map_err(|error| RejectionCode::InvalidArguments.because(error.to_string()))?;
    said.shift_remove("index");
    if let Some(cell) = notebook.order.get(index) {
        said.insert("before".to_owned(), json!(cell));
    }
    object(&Value::Object(said))
}

/// Returns the commands of a call. For a call that the server or an agent executes, these are the commands that begin
/// it.
///
/// `ids` names cells that are created and run in one batch. Without `ids` (when only looking ahead) such cells are
/// created and not run.
pub(crate) fn commands(notebook: &Document, arguments: &Arguments, ids: Option<&mut IdSource>) -> Result<Vec<Command>> {
    Ok(match arguments {
        Arguments::CreateCell(call) => {
            let place = place(notebook, call.after.as_ref(), call.before.as_ref(), call.index)?;
            vec![insertion(None, call.cell_type, &call.source, place)]
        }
        Arguments::CreateCells(call) => creations(notebook, call, ids)?,
        Arguments::ModifyCell(call) => vec![Command::ReplaceSource {
            cell_id: call.cell_id.clone(),
            cell_version: call.cell_version,
            source: call.source.clone(),
        }],
        Arguments::MoveCell(call) => {
            let place = place(notebook, call.after.as_ref(), call.before.as_ref(), None)?;
            vec![Command::MoveCell { cell_id: call.cell_id.clone(), place, cell_version: None }]
        }
        Arguments::DeleteCell(call) => {
            vec![Command::DeleteCell { cell_id: call.cell_id.clone(), cell_version: Some(call.cell_version) }]
        }
        Arguments::RestoreCell(call) => vec![Command::RestoreCell { cell_id: call.cell_id.clone() }],
        Arguments::ExecuteCell(call) => vec![execution(&call.cell_id, call.cell_version)],
        Arguments::ExecuteCellAsync(call) => vec![execution(&call.cell_id, call.cell_version)],
        Arguments::SetCellFlags(call) => vec![marks(call)],
        Arguments::ClearOutputs(call) => vec![Command::ClearOutputs { cell_id: call.cell_id.clone() }],
        Arguments::ExecuteCode(call) => vec![scratch(&call.source)],
        Arguments::RunAll(_) => code_cells(notebook).map(|id| execution(id, None)).collect(),
        Arguments::Interrupt(_) => vec![Command::InterruptKernel { kernel_session: session(notebook)? }],
        Arguments::RestartKernel(_) => vec![Command::RestartKernel(RestartKernel::on_its_agent(session(notebook)?))],
        _ => Vec::new(),
    })
}

/// Insertions of consecutive cells, then their runs.
fn creations(notebook: &Document, call: &CreateCells, ids: Option<&mut IdSource>) -> Result<Vec<Command>> {
    let mut place = place(notebook, call.after.as_ref(), call.before.as_ref(), call.index)?;
    let Some(ids) = ids else {
        let made = call.cells.iter().map(|cell| insertion(None, cell.cell_type, &cell.source, place.clone()));
        return Ok(made.collect());
    };
    let (mut made, mut runs) = (Vec::new(), Vec::new());
    for cell in &call.cells {
        let id: CellId = ids.ulid().into();
        made.push(insertion(Some(id.clone()), cell.cell_type, &cell.source, place));
        if call.run && cell.cell_type.runs() && !cell.source.trim().is_empty() {
            runs.push(execution(&id, None));
        }
        place = Place::After(id);
    }
    made.extend(runs);
    Ok(made)
}

fn insertion(cell_id: Option<CellId>, cell_type: CellType, source: &str, place: Place) -> Command {
    let source = normalise_line_breaks(source).into_owned();
    Command::InsertCell(InsertCell { cell_id, ..InsertCell::new(cell_type, source, place) })
}

fn place(notebook: &Document, after: Option<&CellId>, before: Option<&CellId>, index: Option<usize>) -> Result<Place> {
    match (after, before, index) {
        (Some(id), None, None) => Ok(Place::After(id.clone())),
        (None, Some(id), None) => Ok(Place::Before(id.clone())),
        (None, None, index) => {
            let there = index.and_then(|index| notebook.order.get(index));
            Ok(there.map_or(Place::End, |id| Place::Before(id.clone())))
        }
        _ => Err(RejectionCode::InvalidArguments.because("give one of after, before and index")),
    }
}

fn execution(cell_id: &CellId, cell_version: Option<Version>) -> Command {
    let target = ExecutionTarget::Cell { cell_id: cell_id.clone(), cell_version };
    Command::RequestExecution(RequestExecution { stop_on_error: true, ..RequestExecution::new(target) })
}

fn scratch(source: &str) -> Command {
    let source = normalise_line_breaks(source).into_owned();
    let target = ExecutionTarget::Scratch { source, purpose: "execute_code".to_owned() };
    Command::RequestExecution(RequestExecution { stop_on_error: true, ..RequestExecution::new(target) })
}

fn marks(call: &SetCellFlags) -> Command {
    let SetCellFlags { cell_id, pinned, skipped, source_hidden, outputs_hidden, heading_collapsed, exported, bookmark } =
        call.clone();
    let flags =
        CellFlagChanges { pinned, skipped, source_hidden, outputs_hidden, heading_collapsed, exported, bookmark };
    Command::SetCellFlags { cell_id, flags }
}

fn session(notebook: &Document) -> Result<KernelSessionId> {
    kernels::default_session(notebook).cloned().ok_or_else(|| {
        RejectionCode::UnknownKernelSession.because("the notebook has no kernel: run a cell to start one")
    })
}
