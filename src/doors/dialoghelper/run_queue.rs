//! Runs messages: code through the notebook's run queue, prompts as turns of an assistant.

use std::sync::Arc;
use std::time::Duration;

use notarium_core::{
    CellId, CellType, Command, ConversationId, Document, ExecutionId, ExecutionTarget, RequestExecution, StartTurn,
};
use serde_json::{Value, json};

use crate::call::{DialogCall, Reply};
use crate::changes::one;
use crate::error::DoorError;
use crate::messages::{LargeTexts, MessageKind, find, named_or_current, text_of};

/// Time for `run_msgs_`: clients wait 10 s.
const RUN_PATIENCE: Duration = Duration::from_secs(9);

/// The command that runs a message.
pub fn run_command(cell_id: &CellId, cell_type: CellType) -> Result<Command, DoorError> {
    match cell_type {
        CellType::Code | CellType::Sql => {
            let target = ExecutionTarget::Cell { cell_id: cell_id.clone(), cell_version: None };
            Ok(Command::RequestExecution(RequestExecution::new(target)))
        }
        CellType::Prompt => Ok(Command::StartTurn(StartTurn {
            conversation_id: ConversationId::from(ulid::Ulid::generate()),
            turn_id: None,
            text: None,
            cell_id: Some(cell_id.clone()),
            model: None,
            attachments: Vec::new(),
        })),
        CellType::Markdown | CellType::Raw => {
            let kind = MessageKind::of(cell_type).name();
            Err(DoorError::new(format!("message {cell_id} is a {kind}, which does not run: name code or a prompt")))
        }
    }
}

/// `add_runq_`: queues messages, all of them or none.
pub async fn queue(call: &DialogCall) -> Result<Reply, DoorError> {
    let dialog = call.dialog().await?;
    let cells = wanted(call, &dialog.document)?;
    call.session.change(&dialog.id, &one(runs(&dialog.document, &cells)?)).await?;
    Ok(Reply::Json(json!({ "status": "queued" })))
}

/// `run_msgs_`: runs code and waits for its outputs.
pub async fn run(call: &DialogCall) -> Result<Reply, DoorError> {
    let dialog = call.dialog().await?;
    let cells = wanted(call, &dialog.document)?;
    let is_code = |id: &CellId| dialog.document.cells.get(id).is_some_and(|cell| cell.content.cell_type.runs());
    if !cells.iter().all(is_code) {
        return Err(DoorError::new(
            "run_msgs waits for code alone: run_msg queues prompts, and read_msg shows the reply",
        ));
    }
    let change = call.session.change(&dialog.id, &one(runs(&dialog.document, &cells)?)).await?;
    let executions = change.executions;
    let ended = call.session.wait(&dialog.id, RUN_PATIENCE, move |seen| outputs_of(&seen.document, &executions)).await;
    let outputs = ended.map_err(|_| {
        DoorError::new(format!(
            "the run goes on after {} s: read_msg shows the output once it is there",
            RUN_PATIENCE.as_secs()
        ))
    })?;
    Ok(Reply::Json(json!({ "outputs": outputs })))
}

/// The messages that a request names, under the names that clients have used.
fn wanted(call: &DialogCall, document: &Document) -> Result<Vec<CellId>, DoorError> {
    let form = &call.form;
    let listed = [form.ids("ids"), form.ids("msgids")].concat();
    if listed.is_empty() {
        return Ok(vec![named_or_current(document, form.message_id())?.clone()]);
    }
    listed.into_iter().map(|id| find(document, id).cloned()).collect()
}

fn runs(document: &Document, cells: &[CellId]) -> Result<Vec<Command>, DoorError> {
    cells.iter().map(|cell_id| run_command(cell_id, document.cells[cell_id].content.cell_type)).collect()
}

/// Outputs of the runs, once all have ended. A run that is gone was replaced by a later one.
fn outputs_of(document: &Arc<Document>, executions: &[ExecutionId]) -> Option<Vec<Value>> {
    let output = |id: &ExecutionId| match document.executions.get(id) {
        Some(execution) if !execution.status.is_finished() => None,
        Some(execution) => Some(json!(text_of(&execution.outputs, &LargeTexts::new()))),
        None => Some(json!("")),
    };
    executions.iter().map(output).collect()
}
