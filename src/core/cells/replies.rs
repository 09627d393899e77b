//! Replies of an assistant in prompt cells. A reply stays with its cell, as outputs stay with a code cell. A new answer
//! replaces it; older ones are in the record.

use crate::checks::check_source;
use crate::context::limits::Limits;
use crate::notebook::Notebook;
use crate::values::rejection::{RejectionCode, Result};
use notarium_record::text::utf16_len;
use notarium_record::{
    CellDeleted, CellId, CellReply, CellType, MessageBlock, MessageRole, ReplyStatus, TurnFailure, TurnId,
};

/// UTF-16 code units of a reply that a cell shows, at most. The conversation's messages have the whole text.
pub const MAX_REPLY_UNITS: usize = 256 << 10;

/// Checks a reply that a cell brings from a file or another notebook. No assistant answers it here, so a running reply
/// is stopped.
pub(crate) fn brought(limits: &Limits, cell_type: CellType, reply: CellReply) -> Result<CellReply> {
    if cell_type != CellType::Prompt {
        let message = "only a prompt cell has a reply: leave it out, or insert a prompt cell";
        return Err(RejectionCode::InvalidValue.because(message));
    }
    if let Some(word) = reply.unknown_word() {
        let message =
            format!("this server does not know the word '{word}' in a reply: see protocol/schema/command.json");
        return Err(RejectionCode::InvalidValue.because(message));
    }
    check_source(limits, &reply.prompt)?;
    let mut reply = CellReply { turn_id: None, ..reply };
    reply.detail = limits.detail(reply.detail);
    if reply.status == ReplyStatus::Running {
        stop(&mut reply, TurnFailure::Copied);
    }
    if utf16_len(&reply.text) > MAX_REPLY_UNITS {
        reply.text.truncate(reply.text.floor_char_boundary(MAX_REPLY_UNITS));
        reply.is_cut = true;
    }
    Ok(reply)
}

fn stop(reply: &mut CellReply, cause: TurnFailure) {
    reply.status = ReplyStatus::Stopped.into();
    reply.cause = Some(cause.into());
}

/// Reply of a restored cell, with its progress during the deletion.
pub(crate) fn come_back(notebook: &Notebook, cell_id: &CellId, deleted: &CellDeleted) -> Option<CellReply> {
    let followed = notebook.ledger.reply_in_trash(cell_id).map(CellReply::from);
    let mut reply = followed.or_else(|| deleted.reply.clone())?;
    let goes_on = reply.turn_id.as_ref().is_some_and(|turn_id| notebook.turns.contains_key(turn_id));
    if reply.status == ReplyStatus::Running && !goes_on {
        stop(&mut reply, TurnFailure::CellDeleted);
    }
    Some(reply)
}

/// UTF-16 code units of a message that the prompt cell of its turn shows; `None`: all.
pub(crate) fn units_shown(
    notebook: &Notebook,
    turn_id: &TurnId,
    role: MessageRole,
    blocks: &[MessageBlock],
) -> Option<usize> {
    let cell_id = notebook.turns.get(turn_id)?.cell_id.as_ref().filter(|_| role == MessageRole::Assistant)?;
    let shown = match notebook.cells.get(cell_id) {
        Some(cell) => cell.reply.as_ref().map_or(0, |reply| utf16_len(&reply.text)),
        None => notebook.ledger.reply_in_trash(cell_id).map_or(0, |reply| utf16_len(&reply.text)),
    };
    let texts = blocks.iter().map(|block| match block {
        MessageBlock::Text { text } => utf16_len(text),
        _ => 0,
    });
    let room = MAX_REPLY_UNITS.saturating_sub(shown);
    (texts.sum::<usize>() > room).then_some(room)
}
