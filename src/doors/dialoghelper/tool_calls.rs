//! Changes of an assistant's code: each command becomes a tool call of the assistant's conversation. The core decides if it passes or
//! waits for a person, as for every call of that assistant.
//!
//! A call that waits has an error as its answer, because the code cannot wait for a person. Once the call is confirmed the server does it,
//! so the code must not repeat it.

use std::collections::HashMap;

use notarium_core::{
    CellFlagChanges, CellId, Command, Document, EditSource, ExecutionTarget, InsertCell, NotebookId, Place, RawObject,
    RequestExecution, RequestToolCall, ToolCallId, ToolCallPhase,
};
use serde_json::{Value, json};

use crate::error::DoorError;
use crate::session::{DialogChange, Session};

/// A tool call to request.
#[derive(Debug, Clone, PartialEq)]
struct ToolUse {
    function: &'static str,
    arguments: Value,
    /// The cell that the call makes, by the id that the command names.
    makes: Option<CellId>,
}

/// Makes the change by tool calls, one after the other. Stops at the first that waits or fails.
pub async fn make(session: &Session, notebook: &NotebookId, command: &Command) -> Result<DialogChange, DoorError> {
    let seen = session.seen(notebook).await?;
    let mut change = DialogChange::default();
    for ToolUse { function, mut arguments, makes } in tool_uses(&seen.document, command)? {
        rename(&mut arguments, &change.renamed);
        let call = request(session, notebook, function, &arguments).await?;
        change.executions.extend(call.outcome.executions);
        if let (Some(named), Some(made)) = (makes, call.outcome.cells.into_iter().next()) {
            change.renamed.insert(named, made);
        }
    }
    Ok(change)
}

async fn request(
    session: &Session,
    notebook: &NotebookId,
    function: &str,
    arguments: &Value,
) -> Result<notarium_wire::AckMessage, DoorError> {
    let call_id = ToolCallId::from(ulid::Ulid::generate());
    let arguments = RawObject::parse(&arguments.to_string()).map_err(|error| DoorError::new(error.to_string()))?;
    let request = Command::RequestToolCall(RequestToolCall {
        call_id: Some(call_id.clone()),
        turn_id: None,
        function: function.to_owned(),
        arguments,
        after: None,
        conversation_title: None,
        token: None,
    });
    let ack = session.send(notebook, &request).await?;
    let open = session.seen(notebook).await?.document.tool_calls.get(&call_id).map(|call| call.phase.clone());
    match (session.ended_call(&call_id), open) {
        (Some(answer), _) if answer.is_error => Err(DoorError::new(answer.text)),
        (Some(_), _) => Ok(ack),
        (None, Some(ToolCallPhase::Waiting)) => Err(DoorError::new(format!(
            "{function} waits for a person, who decides on the page (call {call_id}): it is done once somebody confirms it, so do not \
             call it again"
        ))),
        (None, _) => {
            Err(DoorError::new(format!("call {call_id} of {function} goes on: read the dialog to see its end")))
        }
    }
}

/// Puts the ids that new cells got in place of those that the arguments name.
fn rename(arguments: &mut Value, renamed: &HashMap<CellId, CellId>) {
    for name in ["cell_id", "after", "before"] {
        let made = arguments[name].as_str().and_then(|id| CellId::new(id).ok()).and_then(|id| renamed.get(&id));
        if let Some(made) = made {
            arguments[name] = json!(made);
        }
    }
}

fn tool_uses(document: &Document, command: &Command) -> Result<Vec<ToolUse>, DoorError> {
    let of = |function, arguments| Ok(vec![ToolUse { function, arguments, makes: None }]);
    match command {
        Command::Batch { commands } => {
            let uses = commands.iter().map(|command| tool_uses(document, command)).collect::<Result<Vec<_>, _>>()?;
            Ok(uses.concat())
        }
        Command::InsertCell(cell) => creation(cell),
        Command::EditSource(edit) => of("modify_cell", modification(document, edit)?),
        Command::SetCellFlags { cell_id, flags } => of("set_cell_flags", marks(cell_id, flags)?),
        Command::DeleteCell { cell_id, .. } => {
            of("delete_cell", json!({ "cell_id": cell_id, "cell_version": version(document, cell_id)? }))
        }
        Command::ClearOutputs { cell_id } => of("clear_outputs", json!({ "cell_id": cell_id })),
        Command::RequestExecution(RequestExecution { target: ExecutionTarget::Cell { cell_id, .. }, .. }) => {
            of("execute_cell_async", json!({ "cell_id": cell_id }))
        }
        Command::RestartKernel(_) => of("restart_kernel", json!({})),
        _ => Err(DoorError::new(
            "code that an assistant runs changes messages and runs code, and nothing else: ask a person to do this",
        )),
    }
}

fn creation(cell: &InsertCell) -> Result<Vec<ToolUse>, DoorError> {
    if cell.reply.is_some() || cell.attachments.as_ref().is_some_and(|files| files.get() != "{}") {
        return Err(DoorError::new(
            "code that an assistant runs adds no replies and no attachments: leave them out, or ask a person to do this",
        ));
    }
    let mut arguments = json!({ "cell_type": cell.cell_type, "source": cell.source });
    match &cell.place {
        Place::Start => arguments["index"] = json!(0),
        Place::After(beside) => arguments["after"] = json!(beside),
        Place::Before(beside) => arguments["before"] = json!(beside),
        Place::End => {}
    }
    let mut uses = vec![ToolUse { function: "create_cell", arguments, makes: cell.cell_id.clone() }];
    if let Some(cell_id) = cell.cell_id.as_ref().filter(|_| cell.flags != CellFlagChanges::default()) {
        uses.push(ToolUse { function: "set_cell_flags", arguments: marks(cell_id, &cell.flags)?, makes: None });
    }
    Ok(uses)
}

fn marks(cell_id: &CellId, flags: &CellFlagChanges) -> Result<Value, DoorError> {
    let mut arguments = serde_json::to_value(flags).map_err(|error| DoorError::new(error.to_string()))?;
    arguments["cell_id"] = json!(cell_id);
    Ok(arguments)
}

fn modification(document: &Document, edit: &EditSource) -> Result<Value, DoorError> {
    let cell_version = version(document, &edit.cell_id)?;
    let before = &document.cells[&edit.cell_id].content.source;
    let changed = || DoorError::new("the message has changed meanwhile: read it again");
    let source = edit.change.apply(before).map_err(|_| changed())?.text;
    Ok(json!({ "cell_id": edit.cell_id, "cell_version": cell_version, "source": source }))
}

fn version(document: &Document, cell_id: &CellId) -> Result<u64, DoorError> {
    let cell = document.cells.get(cell_id).ok_or_else(|| DoorError::new("the message was deleted"))?;
    Ok(cell.cell_version)
}

#[cfg(test)]
mod tests {
    use super::*;
    use notarium_core::{CellType, LaunchKernel};

    fn id(text: &str) -> CellId {
        text.parse().unwrap()
    }

    fn uses(command: &Command) -> Result<Vec<(&'static str, Value)>, DoorError> {
        let document = Document::new("n".parse().unwrap());
        Ok(tool_uses(&document, command)?.into_iter().map(|used| (used.function, used.arguments)).collect())
    }

    #[test]
    fn a_message_that_runs_is_several_calls() {
        let flags = CellFlagChanges { pinned: Some(true), ..CellFlagChanges::default() };
        let cell = InsertCell::new(CellType::Code, "1".to_owned(), Place::After(id("a")));
        let cell = InsertCell { cell_id: Some(id("new")), flags, ..cell };
        let target = ExecutionTarget::Cell { cell_id: id("new"), cell_version: None };
        let run = Command::RequestExecution(RequestExecution::new(target));
        let commands = vec![Command::InsertCell(cell), run];
        let wanted = [
            ("create_cell", json!({"cell_type": "code", "source": "1", "after": "a"})),
            ("set_cell_flags", json!({"cell_id": "new", "pinned": true})),
            ("execute_cell_async", json!({"cell_id": "new"})),
        ];
        assert_eq!(uses(&Command::Batch { commands }).unwrap(), wanted);
        let mut arguments = json!({"cell_id": "new", "pinned": true});
        rename(&mut arguments, &HashMap::from([(id("new"), id("made"))]));
        assert_eq!(arguments, json!({"cell_id": "made", "pinned": true}));
    }

    #[test]
    fn commands_without_a_tool_are_refused() {
        for command in [
            Command::ArchiveNotebook {},
            Command::LaunchKernel(LaunchKernel::of(None)),
            Command::Batch { commands: vec![Command::ClearOutputs { cell_id: id("a") }, Command::StopAll {}] },
            Command::DeleteCell { cell_id: id("gone"), cell_version: None },
        ] {
            assert!(uses(&command).is_err(), "{command:?}");
        }
    }
}
