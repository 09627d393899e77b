//! Replies of prompt cells, as results of tools: the wait for the turn that a call began, and the reply's text.

use notarium_core::{CellId, CellReply, Document, ReplyStatus, ToolCall, ToolCallId, ToolCallPhase, TurnId};
use serde_json::json;

use super::{ToolAnswer, ToolTask, named_after};

/// Waits for the reply of the turn that the call has begun. The turn has the call's id.
pub(super) async fn reply(task: &ToolTask, cell_id: &CellId) -> ToolAnswer {
    let turn_id: TurnId = named_after(&task.call_id);
    let notebook = task.wait_until(&task.state, |notebook| {
        let is_over = !notebook.turns.contains_key(&turn_id);
        is_over || !waiting_calls(notebook, Some(&turn_id)).is_empty()
    });
    let notebook = notebook.await;
    let shown = notebook.cells.get(cell_id).and_then(|cell| cell.reply.as_deref());
    let Some(reply) = shown.filter(|reply| reply.turn_id.as_ref() == Some(&turn_id)) else {
        let message = format!(
            "The prompt cell {cell_id} does not show this reply any more: it was deleted, or asked again. The conversation \
             has what was said."
        );
        return Err(message.into());
    };
    let said = text(&notebook, cell_id, reply);
    match reply.status.known() {
        Some(ReplyStatus::Running | ReplyStatus::Finished) => Ok(said),
        Some(ReplyStatus::Stopped | ReplyStatus::Failed) | None => Err(said.into()),
    }
}

/// Calls of the turn that wait for a person.
fn waiting_calls<'a>(notebook: &'a Document, turn_id: Option<&TurnId>) -> Vec<&'a ToolCallId> {
    let of_turn = |call: &ToolCall| turn_id.is_some() && call.turn_id.as_ref() == turn_id;
    let waits = |call: &ToolCall| matches!(call.phase, ToolCallPhase::Waiting);
    notebook.tool_calls.iter().filter(|(_, call)| of_turn(call) && waits(call)).map(|(id, _)| id).collect()
}

/// A prompt cell's reply for a model, and what it waits for.
pub(super) fn text(notebook: &Document, cell_id: &CellId, reply: &CellReply) -> String {
    let waiting = waiting_calls(notebook, reply.turn_id.as_ref());
    let mut told = json!({"cell_id": cell_id, "status": reply.status, "reply": reply.text});
    let stopped = reply.cause.as_ref().map(ToString::to_string);
    let why: Vec<String> = stopped.into_iter().chain(reply.detail.clone()).collect();
    if !why.is_empty() {
        told["why"] = json!(why.join(": "));
    }
    if !waiting.is_empty() {
        told["waits_for_person"] = json!(waiting);
        told["notice"] =
            json!("The assistant asks a person to confirm these calls; the reply goes on after that. Tell them.");
    } else if reply.status == ReplyStatus::Running {
        told["notice"] = json!("The reply is still being written: read it later with get_cell_outputs.");
    }
    told.to_string()
}
