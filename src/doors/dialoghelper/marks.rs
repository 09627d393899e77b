//! Toggles of messages: collapsed headings, exports, bookmarks, comments in code.

use notarium_core::{CellFlagChanges, CellId, Command};
use serde_json::json;

use crate::call::{DialogCall, Reply};
use crate::changes::{edit, one};
use crate::edits;
use crate::error::DoorError;
use crate::messages::{find, named_or_current};

/// `toggle_header_collapse_`.
pub async fn header(call: &DialogCall) -> Result<Reply, DoorError> {
    let dialog = call.dialog().await?;
    let cell_id = named_or_current(&dialog.document, call.form.message_id())?;
    let collapsed = !dialog.document.cells[cell_id].content.flags.heading_collapsed;
    let flags = CellFlagChanges { heading_collapsed: Some(collapsed), ..CellFlagChanges::default() };
    call.session.change(&dialog.id, &set(cell_id, flags)).await?;
    Ok(Reply::Text(if collapsed { "collapsed" } else { "expanded" }.to_owned()))
}

/// `toggle_export_`: all messages follow the first one's new state.
pub async fn export(call: &DialogCall) -> Result<Reply, DoorError> {
    let dialog = call.dialog().await?;
    let cells = call.form.ids("ids").into_iter().map(|id| find(&dialog.document, id)).collect::<Result<Vec<_>, _>>()?;
    let first =
        cells.first().ok_or_else(|| DoorError::new("the field 'ids' is missing: name messages by their ids"))?;
    let exported = !dialog.document.cells[*first].content.flags.exported;
    let flags = CellFlagChanges { exported: Some(exported), ..CellFlagChanges::default() };
    let commands = cells.iter().map(|cell_id| set(cell_id, flags.clone())).collect();
    call.session.change(&dialog.id, &one(commands)).await?;
    Ok(Reply::Json(json!({ "success": "complete", "exported": exported })))
}

/// `bookmark_`: sets bookmark `n`, which leaves another message that has it; a second time removes it.
pub async fn bookmark(call: &DialogCall) -> Result<Reply, DoorError> {
    let dialog = call.dialog().await?;
    let cell_id = named_or_current(&dialog.document, call.form.message_id())?;
    let number =
        call.form.count("n")?.and_then(|number| u8::try_from(number).ok()).filter(|number| (1..=9).contains(number));
    let number = number.ok_or_else(|| DoorError::new("n must be a number from 1 to 9"))?;
    let has = |id: &CellId| dialog.document.cells[id].content.flags.bookmark == Some(number);
    let bookmark = |number| CellFlagChanges { bookmark: Some(number), ..CellFlagChanges::default() };
    let is_set = !has(cell_id);
    let others = dialog.document.order.iter().filter(|id| *id != cell_id && has(id));
    let mut commands: Vec<Command> = others.map(|id| set(id, bookmark(0))).collect();
    commands.push(set(cell_id, bookmark(if is_set { number } else { 0 })));
    call.session.change(&dialog.id, &one(commands)).await?;
    Ok(Reply::Json(json!({ "success": "complete", "bookmark": if is_set { number } else { 0 } })))
}

/// `toggle_comment_`: comments code, or removes the comment signs.
pub async fn comment(call: &DialogCall) -> Result<Reply, DoorError> {
    let dialog = call.dialog().await?;
    let listed = call.form.ids("ids");
    let cells = match listed.is_empty() {
        true => vec![named_or_current(&dialog.document, call.form.message_id())?],
        false => listed.into_iter().map(|id| find(&dialog.document, id)).collect::<Result<_, _>>()?,
    };
    let toggled = cells.into_iter().filter_map(|cell_id| {
        let source = &dialog.document.cells[cell_id].content.source;
        edit(&dialog.document, cell_id, source, &edits::toggle_comment(source))
    });
    let commands: Vec<Command> = toggled.collect();
    if !commands.is_empty() {
        call.session.change(&dialog.id, &one(commands)).await?;
    }
    Ok(Reply::Text("complete".to_owned()))
}

fn set(cell_id: &CellId, flags: CellFlagChanges) -> Command {
    Command::SetCellFlags { cell_id: cell_id.clone(), flags }
}
