//! Copies, cuts and pastes messages. Each token has a clipboard, in memory alone.

use notarium_core::{Cell, CellFlagChanges, Command, InsertCell, Output, Place};
use serde_json::json;

use crate::call::{DialogCall, Reply};
use crate::changes::{new_id, one};
use crate::error::DoorError;
use crate::messages::{find, message_of, named_or_current};

/// Largest content of a clipboard.
const MAX_CLIPBOARD_BYTES: usize = 4 << 20;

/// Copied messages, with the outputs that they showed.
pub type Clipboard = Vec<(Cell, Vec<Output>)>;

/// `msg_clipboard_`: copies messages; `cmd=cut` also deletes them.
pub async fn copy(call: &DialogCall) -> Result<Reply, DoorError> {
    let dialog = call.dialog().await?;
    let document = &dialog.document;
    let listed = call.form.ids("ids");
    let cells = match listed.is_empty() {
        true => vec![named_or_current(document, call.form.message_id())?],
        false => listed.into_iter().map(|id| find(document, id)).collect::<Result<_, _>>()?,
    };
    let copied: Clipboard = cells
        .iter()
        .filter_map(|id| message_of(document, id))
        .map(|message| {
            let outputs = message.execution.map_or_else(Vec::new, |execution| execution.outputs.clone());
            (message.cell.clone(), outputs)
        })
        .collect();
    let bytes: usize = copied
        .iter()
        .map(|(cell, outputs)| cell.content.source.len() + outputs.iter().map(Output::size_bytes).sum::<usize>())
        .sum();
    if bytes > MAX_CLIPBOARD_BYTES {
        return Err(DoorError::new(format!(
            "a clipboard has at most {MAX_CLIPBOARD_BYTES} bytes: copy fewer messages at a time"
        )));
    }
    *call.session.clipboard.lock() = copied;
    if call.form.text("cmd") == Some("cut") {
        let delete =
            |cell_id: &&notarium_core::CellId| Command::DeleteCell { cell_id: (*cell_id).clone(), cell_version: None };
        call.session.change(&dialog.id, &one(cells.iter().map(delete).collect())).await?;
    }
    Ok(Reply::Text(format!("{} in the clipboard", cells.len())))
}

/// `msg_paste_`: inserts the copied messages after or before a message, under new ids.
pub async fn paste(call: &DialogCall) -> Result<Reply, DoorError> {
    let dialog = call.dialog().await?;
    let copied = call.session.clipboard.lock().clone();
    if copied.is_empty() {
        return Err(DoorError::new("the clipboard is empty: copy messages first"));
    }
    let beside = named_or_current(&dialog.document, call.form.message_id())?.clone();
    let mut place = match call.form.flag("after")?.unwrap_or(true) {
        true => Place::After(beside),
        false => Place::Before(beside),
    };
    let (mut commands, mut ids) = (Vec::new(), Vec::new());
    for (cell, outputs) in copied {
        let cell_id = new_id(&dialog.document)?;
        let content = cell.content;
        let cell = InsertCell {
            cell_id: Some(cell_id.clone()),
            metadata: content.metadata,
            attachments: content.attachments,
            flags: CellFlagChanges { bookmark: None, ..content.flags.into() },
            reply: cell.reply.map(|reply| Box::new((*reply).clone().closed())),
            ..InsertCell::new(content.cell_type, content.source, place)
        };
        commands.push(Command::InsertCell(cell));
        if !outputs.is_empty() {
            let execution_count = None;
            commands.push(Command::RecordExecution { cell_id: cell_id.clone(), outputs, execution_count });
        }
        place = Place::After(cell_id.clone());
        ids.push(cell_id);
    }
    let change = call.session.change(&dialog.id, &one(commands)).await?;
    let ids: Vec<_> = ids.iter().map(|id| change.id_of(id)).collect();
    Ok(Reply::Json(json!({ "ids": ids })))
}
