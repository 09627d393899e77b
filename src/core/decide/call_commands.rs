//! Translates a tool call into commands.

use serde_json::json;

use crate::assistants::call_risk::code_cells;
use crate::cells::undo;
use crate::command::Command;
use crate::context::{Context, IdSource};
use crate::functions::tools::{Arguments, CreateCells, Undo};
use crate::notebook::Notebook;
use crate::runs::kernel_sessions;
use crate::values::rejection::{RejectionCode, Result};
use crate::values::{CellFlagChanges, ExecutionTarget, InsertCell, Place, RequestExecution};
use notarium_record::{CellId, CellType, Document, KernelSessionId, RawObject, Version};

pub(crate) fn undo_command(call: &Undo) -> Command {
    let correlation_id = call.call_id.as_ref().and_then(|id| id.as_str().parse().ok());
    Command::Undo { steps: 1, correlation_id, turn_id: call.turn_id.clone(), cell_id: None }
}

/// Arguments as a person is asked to confirm them. An undo of the latest change gets the id of that change, so that
/// later changes do not alter it.
pub(crate) fn said_in_full(
    notebook: &Notebook,
    context: &Context,
    arguments: RawObject,
    typed: &Arguments,
) -> Result<RawObject> {
    let Arguments::Undo(Undo { call_id: None, turn_id: None }) = typed else { return Ok(arguments) };
    let Some(latest) = undo::latest(notebook, context) else {
        return Err(RejectionCode::NothingToUndo.because("nothing of yours is left to undo here"));
    };
    let said = json!({"call_id": latest}).to_string();
    RawObject::parse(&said).map_err(|error| RejectionCode::InvalidValue.because(error.to_string()))
}

/// Returns the commands of a call. For a call that the server or an agent executes, these are the commands that begin
/// it.
///
/// `ids` names cells that are created and run in one batch. Without `ids` (when only looking ahead) such cells are
/// created and not run.
pub(crate) fn commands(notebook: &Document, arguments: &Arguments, ids: Option<&mut IdSource>) -> Result<Vec<Command>> {
    Ok(match arguments {
        Arguments::CreateCell(call) => {
            let place = place(call.after.as_ref(), call.before.as_ref())?;
            vec![insertion(None, call.cell_type, &call.source, place)]
        }
        Arguments::CreateCells(call) => creations(call, ids),
        Arguments::ModifyCell(call) => vec![Command::ReplaceSource {
            cell_id: call.cell_id.clone(),
            cell_version: call.cell_version,
            source: call.source.clone(),
        }],
        Arguments::MoveCell(call) => {
            let place = place(call.after.as_ref(), call.before.as_ref())?;
            vec![Command::MoveCell { cell_id: call.cell_id.clone(), place, cell_version: None }]
        }
        Arguments::DeleteCell(call) => {
            vec![Command::DeleteCell { cell_id: call.cell_id.clone(), cell_version: Some(call.cell_version) }]
        }
        Arguments::RestoreCell(call) => vec![Command::RestoreCell { cell_id: call.cell_id.clone() }],
        Arguments::ExecuteCell(call) => vec![execution(&call.cell_id, call.cell_version)],
        Arguments::ExecuteCellAsync(call) => vec![execution(&call.cell_id, call.cell_version)],
        Arguments::RunAll(_) => code_cells(notebook).map(|id| execution(id, None)).collect(),
        Arguments::Interrupt(_) => vec![Command::InterruptKernel { kernel_session: session(notebook)? }],
        Arguments::RestartKernel(_) => vec![Command::RestartKernel { kernel_session: session(notebook)? }],
        _ => Vec::new(),
    })
}

/// Insertions of consecutive cells, then their runs.
fn creations(call: &CreateCells, ids: Option<&mut IdSource>) -> Vec<Command> {
    let mut place = call.after.clone().map_or(Place::End, Place::After);
    let Some(ids) = ids else {
        let made = call.cells.iter().map(|cell| insertion(None, cell.cell_type, &cell.source, place.clone()));
        return made.collect();
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
    made
}

fn insertion(cell_id: Option<CellId>, cell_type: CellType, source: &str, place: Place) -> Command {
    Command::InsertCell(InsertCell {
        cell_id,
        cell_type,
        source: source.replace("\r\n", "\n").replace('\r', "\n"),
        place,
        metadata: RawObject::default(),
        attachments: None,
        flags: CellFlagChanges::default(),
        reply: None,
    })
}

fn place(after: Option<&CellId>, before: Option<&CellId>) -> Result<Place> {
    match (after, before) {
        (Some(_), Some(_)) => Err(RejectionCode::InvalidArguments.because("give after or before, not both")),
        (Some(id), None) => Ok(Place::After(id.clone())),
        (None, Some(id)) => Ok(Place::Before(id.clone())),
        (None, None) => Ok(Place::End),
    }
}

fn execution(cell_id: &CellId, cell_version: Option<Version>) -> Command {
    Command::RequestExecution(RequestExecution {
        execution_id: None,
        target: ExecutionTarget::Cell { cell_id: cell_id.clone(), cell_version },
        kernel_session: None,
        timeout_ms: None,
        stop_on_error: true,
    })
}

fn session(notebook: &Document) -> Result<KernelSessionId> {
    kernel_sessions::default_session(notebook).cloned().ok_or_else(|| {
        RejectionCode::UnknownKernelSession.because("the notebook has no kernel: run a cell to start one")
    })
}
