//! Cells: inserting, editing, moving, retyping, deleting and restoring them.
//!
//! The reply of an assistant stays with its prompt cell, as outputs stay with a code cell. A new answer replaces it;
//! older ones are in the record.

pub(crate) mod comments;
pub(crate) mod next_input;
pub(crate) mod redact_content;
pub(crate) mod restore_notebook;
pub(crate) mod undo;
pub(crate) mod undo_text;

use crate::checks::{check_attachments, check_metadata, check_source, find_deleted, live_cell};
use crate::command::Command;
use crate::context::{self, Context, Limits};
use crate::notebook::Notebook;
use crate::reactive::removal_after;
use crate::runs::blocked_after;
use crate::values::decision::{Decided, Decision, Outcome, Rejection, RejectionCode, Result};
use crate::values::details::LimitName;
use crate::values::{CellFlagChanges, ExecutionTarget, InsertCell, Place, RequestExecution};
use notarium_record::text::{self, ChangeSet, TextError, utf16_len};
use notarium_record::{
    Cell, CellAttachmentsSet, CellContent, CellDeleted, CellFlags, CellFlagsSet, CellId, CellInserted, CellMetadataSet,
    CellMoved, CellOutputsCleared, CellReply, CellRestored, CellSourceEdited, CellType, CellTypeChanged, Document,
    EndCause, Execution, ExecutionCancelled, ExecutionId, ExecutionStatus, HistoryQuery, MessageBlock, MessageRole,
    OrderKey, PastExecution, RawObject, ReplyStatus, TurnFailure, TurnId, Version,
};

/// Queries the edits since the base of a change. If the cell is not live, queries its deletion: it may be in the trash.
pub(crate) fn required_for_edit(notebook: &Document, cell_id: &CellId, base: Version) -> Option<HistoryQuery> {
    match notebook.cells.get(cell_id) {
        None => required_for_restore(notebook, cell_id),
        Some(cell) if cell.source_version <= base => None,
        Some(_) => Some(HistoryQuery::Cells { cells: vec![cell_id.clone()], since: base, with_notebook: false }),
    }
}

fn required_for_restore(notebook: &Document, cell_id: &CellId) -> Option<HistoryQuery> {
    (!notebook.cells.contains_key(cell_id)).then(|| HistoryQuery::DeletedCell { cell_id: cell_id.clone() })
}

/// Queries the deletions of cells that a command names and that are not live: they may be in the trash.
pub(crate) fn required_for_named(notebook: &Document, command: &Command) -> impl Iterator<Item = HistoryQuery> {
    let named = subject(command).into_iter().chain(anchor(command));
    named.filter_map(|cell_id| required_for_restore(notebook, cell_id))
}

/// The cell before or after which the command puts a cell.
fn anchor(command: &Command) -> Option<&CellId> {
    match command {
        Command::InsertCell(InsertCell { place: Place::Before(id) | Place::After(id), .. })
        | Command::MoveCell { place: Place::Before(id) | Place::After(id), .. } => Some(id),
        _ => None,
    }
}

/// The cell that a command is about.
fn subject(command: &Command) -> Option<&CellId> {
    match command {
        Command::InsertCell(InsertCell { cell_id, .. }) => cell_id.as_ref(),
        Command::ReplaceSource { cell_id, .. }
        | Command::MoveCell { cell_id, .. }
        | Command::ChangeCellType { cell_id, .. }
        | Command::DeleteCell { cell_id, .. }
        | Command::SetCellMetadata { cell_id, .. }
        | Command::SetCellAttachments { cell_id, .. }
        | Command::SetCellFlags { cell_id, .. }
        | Command::ClearOutputs { cell_id }
        | Command::RecordExecution { cell_id, .. }
        | Command::RestoreCell { cell_id }
        | Command::RequestExecution(RequestExecution { target: ExecutionTarget::Cell { cell_id, .. }, .. }) => {
            Some(cell_id)
        }
        _ => None,
    }
}

fn check_cell_version(cell_id: &CellId, cell: &Cell, expected: Option<Version>) -> Result<()> {
    match expected {
        Some(expected) if expected != cell.cell_version => {
            Err(Rejection::conflict(&format!("cell {cell_id}"), expected, cell.cell_version))
        }
        _ => Ok(()),
    }
}

// --- insert, move ---

pub(crate) fn decide_insert(notebook: &Document, context: &mut Context, command: InsertCell) -> Result<Decision> {
    let InsertCell { cell_id, cell_type, source, place, metadata, attachments, flags, reply } = command;
    check_room_for_cell(notebook, &context.limits)?;
    let cell_id = cell_id.unwrap_or_else(|| context.ids.ulid().into());
    let exists = notebook.cells.contains_key(&cell_id) || find_deleted(&context.history, &cell_id).is_some();
    RejectionCode::CellExists
        .when(exists, || format!("a cell {cell_id} exists or is in the trash: choose another id"))?;
    check_source(&context.limits, &source)?;
    check_metadata(&context.limits, &metadata)?;
    check_attachments(&context.limits, attachments.as_ref())?;
    let order_key = key_at(notebook, context, None, &place)?;
    let flags = changed_flags(CellFlags::default(), &flags)?;
    let reply = reply.map(|reply| brought_reply(&context.limits, cell_type, *reply)).transpose()?;
    let cell = CellContent { cell_type, source, order_key, metadata, attachments, flags };
    let outcome = Outcome { cells: vec![cell_id.clone()], ..Outcome::default() };
    Ok(Decision::with(vec![CellInserted { cell_id, cell, reply }.into()], outcome))
}

fn check_room_for_cell(notebook: &Document, limits: &Limits) -> Result<()> {
    LimitName::Cells.when(notebook.cells.len() >= limits.max_cells, limits.max_cells, || {
        format!("a notebook holds at most {} cells: split it", limits.max_cells)
    })
}

pub(crate) fn decide_move(
    notebook: &Document,
    context: &Context,
    cell_id: CellId,
    place: &Place,
    cell_version: Option<Version>,
) -> Result<Decision> {
    let cell = live_cell(notebook, context, &cell_id)?;
    check_cell_version(&cell_id, cell, cell_version)?;
    let is_itself = matches!(place, Place::Before(anchor) | Place::After(anchor) if *anchor == cell_id);
    RejectionCode::InvalidPlace.when(is_itself, || "a cell cannot stand before or after itself: name another cell")?;
    if stands_at(notebook, &cell_id, place) {
        return Ok(Decision::nothing());
    }
    let order_key = key_at(notebook, context, Some(&cell_id), place)?;
    Ok(Decision::one(CellMoved { cell_id, order_key, previous: cell.content.order_key.clone() }))
}

fn stands_at(notebook: &Document, cell_id: &CellId, place: &Place) -> bool {
    let Some(index) = notebook.position(cell_id) else { return false };
    match place {
        Place::Start => index == 0,
        Place::End => index + 1 == notebook.order.len(),
        Place::Before(anchor) => notebook.order.get(index + 1) == Some(anchor),
        Place::After(anchor) => index > 0 && notebook.order.get(index - 1) == Some(anchor),
    }
}

/// Computes the order key for a place, as if `moving` were absent.
fn key_at(notebook: &Document, context: &Context, moving: Option<&CellId>, place: &Place) -> Result<OrderKey> {
    let order = &notebook.order;
    // Index of the gap: 0 is before the first cell.
    let gap = match place {
        Place::Start => 0,
        Place::End => order.len(),
        Place::Before(anchor) => index_of_live(notebook, context, anchor)?,
        Place::After(anchor) => index_of_live(notebook, context, anchor)? + 1,
    };
    let lower = order[..gap].iter().rev().find(|id| Some(*id) != moving);
    let upper = order[gap..].iter().find(|id| Some(*id) != moving);
    let key_of = |id: Option<&CellId>| Some(&notebook.cells.get(id?)?.content.order_key);
    let key = OrderKey::between(key_of(lower), key_of(upper));
    RejectionCode::LimitExceeded.when(
        key.as_str().len() > context.limits.max_order_key_bytes,
        || "too much was put between these two cells: move one of them away and back, then try again",
    )?;
    Ok(key)
}

fn index_of_live(notebook: &Document, context: &Context, cell_id: &CellId) -> Result<usize> {
    live_cell(notebook, context, cell_id)?;
    Ok(notebook.position(cell_id).unwrap_or(notebook.order.len()))
}

/// Returns the key if no other live cell has it, else the next free one: the place of a restored cell may be taken.
pub(crate) fn free_key(notebook: &Document, cell_id: &CellId, key: &OrderKey) -> OrderKey {
    let key_of = |id: &CellId| notebook.cells.get(id).map(|cell| &cell.content.order_key);
    let first = notebook.order.partition_point(|id| key_of(id) < Some(key));
    let mut from_there = notebook.order[first..].iter().filter(|id| *id != cell_id).filter_map(key_of).peekable();
    if from_there.peek().is_none_or(|other| *other != key) {
        return key.clone();
    }
    OrderKey::between(Some(key), from_there.find(|other| *other > key))
}

// --- text ---

pub(crate) fn decide_edit(
    notebook: &Document,
    context: &Context,
    cell_id: CellId,
    base: Version,
    change: ChangeSet,
) -> Result<Decision> {
    let cell = live_cell(notebook, context, &cell_id)?;
    let late = late_edits(notebook, context, &cell_id, cell, base)?;
    let change = change.map_over_all(late).map_err(invalid_change)?;
    edited(context, cell_id, cell, change)
}

/// Edits of a cell after `base`; a change or range made at `base` is mapped over them.
pub(crate) fn late_edits<'a>(
    notebook: &Document,
    context: &'a Context,
    cell_id: &CellId,
    cell: &Cell,
    base: Version,
) -> Result<Vec<&'a ChangeSet>> {
    RejectionCode::VersionInFuture.when(base > notebook.version, || {
        format!("base {base} is not reached yet: the notebook is at {}", notebook.version)
    })?;
    if cell.source_version > base { edits_since(context, cell_id, base) } else { Ok(Vec::new()) }
}

/// Edits of a cell after `base`. An insertion after `base` resets the list: the sender typed before it knew the ack.
fn edits_since<'a>(context: &'a Context, cell_id: &CellId, base: Version) -> Result<Vec<&'a ChangeSet>> {
    let edits = context::edits_after(&context.history, cell_id, base);
    RejectionCode::BaseTooOld.when(
        context.history.forgotten.contains(cell_id) || edits.len() > context.limits.max_late_edits,
        || {
            "the base is too old to merge here: subscribe again with the cell as unconfirmed, and send the mapped change \
             under a new id; or read the cell again and repeat the change"
        },
    )?;
    Ok(edits)
}

fn edited(context: &Context, cell_id: CellId, cell: &Cell, change: ChangeSet) -> Result<Decision> {
    let applied = change.apply(&cell.content.source).map_err(invalid_change)?;
    if change.is_identity() {
        return Ok(Decision::nothing());
    }
    check_source(&context.limits, &applied.text)?;
    Ok(Decision::one(CellSourceEdited { cell_id, change, removed: applied.removed }))
}

pub(crate) fn decide_replace(
    notebook: &Document,
    context: &Context,
    cell_id: CellId,
    cell_version: Version,
    source: &str,
) -> Result<Decision> {
    let cell = live_cell(notebook, context, &cell_id)?;
    check_cell_version(&cell_id, cell, Some(cell_version))?;
    check_source(&context.limits, source)?;
    edited(context, cell_id, cell, text::diff(&cell.content.source, source))
}

fn invalid_change(error: TextError) -> Rejection {
    RejectionCode::InvalidChange.because(format!("the change does not fit the cell's text: {error}"))
}

// --- type, metadata, attachments, flags ---

pub(crate) fn decide_type(
    notebook: &Document,
    context: &Context,
    cell_id: CellId,
    cell_type: CellType,
    cell_version: Option<Version>,
) -> Result<Decision> {
    let cell = live_cell(notebook, context, &cell_id)?;
    check_cell_version(&cell_id, cell, cell_version)?;
    let previous = cell.content.cell_type;
    Ok(Decision::unless(previous == cell_type, CellTypeChanged { cell_id, cell_type, previous }))
}

pub(crate) fn decide_metadata(
    notebook: &Document,
    context: &Context,
    cell_id: CellId,
    metadata: RawObject,
) -> Result<Decision> {
    check_metadata(&context.limits, &metadata)?;
    let previous = live_cell(notebook, context, &cell_id)?.content.metadata.clone();
    Ok(Decision::unless(previous == metadata, CellMetadataSet { cell_id, metadata, previous }))
}

pub(crate) fn decide_attachments(
    notebook: &Document,
    context: &Context,
    cell_id: CellId,
    attachments: Option<RawObject>,
) -> Result<Decision> {
    check_attachments(&context.limits, attachments.as_ref())?;
    let previous = live_cell(notebook, context, &cell_id)?.content.attachments.clone();
    Ok(Decision::unless(previous == attachments, CellAttachmentsSet { cell_id, attachments, previous }))
}

pub(crate) fn decide_flags(
    notebook: &Document,
    context: &Context,
    cell_id: CellId,
    changes: &CellFlagChanges,
) -> Result<Decision> {
    let previous = live_cell(notebook, context, &cell_id)?.content.flags;
    let flags = changed_flags(previous, changes)?;
    Ok(Decision::unless(flags == previous, CellFlagsSet { cell_id, flags, previous }))
}

fn changed_flags(flags: CellFlags, changes: &CellFlagChanges) -> Result<CellFlags> {
    let is_odd = changes.bookmark.is_some_and(|bookmark| bookmark > 9);
    RejectionCode::InvalidValue.when(is_odd, || "a bookmark is 1 to 9, or 0 for none")?;
    Ok(CellFlags {
        pinned: changes.pinned.unwrap_or(flags.pinned),
        skipped: changes.skipped.unwrap_or(flags.skipped),
        source_hidden: changes.source_hidden.unwrap_or(flags.source_hidden),
        outputs_hidden: changes.outputs_hidden.unwrap_or(flags.outputs_hidden),
        heading_collapsed: changes.heading_collapsed.unwrap_or(flags.heading_collapsed),
        exported: changes.exported.unwrap_or(flags.exported),
        bookmark: changes.bookmark.map_or(flags.bookmark, |bookmark| (bookmark > 0).then_some(bookmark)),
    })
}

pub(crate) fn decide_clear(notebook: &Document, context: &Context, cell_id: CellId) -> Result<Decision> {
    live_cell(notebook, context, &cell_id)?;
    let Some((execution_id, execution)) = notebook.latest_execution(&cell_id) else { return Ok(Decision::nothing()) };
    RejectionCode::ExecutionState
        .when(!execution.status.is_finished(), || "the cell is running: cancel the run first, or wait for its end")?;
    Ok(Decision::one(CellOutputsCleared { execution_id: execution_id.clone(), cell_id }))
}

// --- delete, restore ---

pub(crate) fn decide_delete(
    notebook: &Notebook,
    context: &mut Context,
    cell_id: CellId,
    cell_version: Option<Version>,
) -> Result<Decision> {
    let cell = live_cell(notebook, context, &cell_id)?;
    check_cell_version(&cell_id, cell, cell_version)?;
    let events = deletion(notebook, &cell_id, cell);
    Ok(Decision::of(events.into_iter().chain(removal_after(notebook, context, &cell_id))))
}

/// Deletes a cell: its queued run is cancelled, and runs that wait for that one are blocked. A running one goes on and
/// stays in the record.
pub(crate) fn deletion(notebook: &Notebook, cell_id: &CellId, cell: &Cell) -> Vec<Decided> {
    let queued = notebook.executions.iter().filter(|(_, execution)| {
        execution.status == ExecutionStatus::Queued && execution.subject.cell_id() == Some(cell_id)
    });
    let queued: Vec<&ExecutionId> = queued.map(|(execution_id, _)| execution_id).collect();
    let blocked = blocked_after(notebook, &queued).into_iter().map(Decided::from);
    let cancelled = queued.into_iter().map(|execution_id| {
        let (cause, detail) = (EndCause::CellDeleted.into(), None);
        Decided::from(ExecutionCancelled { execution_id: execution_id.clone(), cause, detail })
    });
    let deleted = CellDeleted {
        cell_id: cell_id.clone(),
        cell: cell.content.clone(),
        latest_execution: notebook.latest.get(cell_id).cloned(),
        reply: cell.reply.as_deref().cloned(),
    };
    cancelled.chain(blocked).chain([deleted.into()]).collect()
}

pub(crate) fn decide_restore(notebook: &Notebook, context: &Context, cell_id: CellId) -> Result<Decision> {
    RejectionCode::CellNotDeleted.when(notebook.cells.contains_key(&cell_id), || {
        format!("cell {cell_id} is not in the trash: nothing to restore")
    })?;
    check_room_for_cell(notebook, &context.limits)?;
    let unknown = || RejectionCode::UnknownCell.because(format!("no cell {cell_id} in the trash: check the id"));
    let deleted = find_deleted(&context.history, &cell_id).ok_or_else(unknown)?;
    let execution = deleted.latest_execution.as_ref().and_then(|id| context.history.executions.get(id));
    let execution = execution.map(|replayed| replayed.execution.clone());
    let restored = restoration(notebook, &cell_id, deleted, execution);
    let outcome = Outcome { cells: vec![cell_id], ..Outcome::default() };
    Ok(Decision::with(vec![restored.into()], outcome))
}

/// Returns the event that restores a cell as it was at its last deletion, with the outputs that it showed.
pub(crate) fn restoration(
    notebook: &Notebook,
    cell_id: &CellId,
    deleted: &CellDeleted,
    execution: Option<Execution>,
) -> CellRestored {
    let mut cell = deleted.cell.clone();
    cell.order_key = free_key(notebook, cell_id, &cell.order_key);
    let latest_execution = deleted.latest_execution.clone().filter(|_| execution.is_some());
    let is_there = latest_execution.as_ref().is_some_and(|id| notebook.executions.contains_key(id));
    let execution = execution.filter(|_| !is_there).map(|execution| Box::new(PastExecution::from(execution)));
    let reply = returning_reply(notebook, cell_id, deleted);
    CellRestored { cell_id: cell_id.clone(), cell, latest_execution, execution, reply }
}

// --- replies in prompt cells ---

/// UTF-16 code units of a reply that a cell shows, at most. The conversation's messages have the whole text.
pub const MAX_REPLY_UNITS: usize = 256 << 10;

/// Checks a reply that a cell brings from a file or another notebook. No assistant answers it here, so a running reply
/// is stopped.
fn brought_reply(limits: &Limits, cell_type: CellType, reply: CellReply) -> Result<CellReply> {
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
fn returning_reply(notebook: &Notebook, cell_id: &CellId, deleted: &CellDeleted) -> Option<CellReply> {
    let followed = notebook.ledger.reply_in_trash(cell_id).cloned();
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
