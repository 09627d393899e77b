//! Cells in the document with the replies of assistants, threads of comments, and `apply` of the events that change them.
//! Events of cells do not change threads; only the ranges move with a cell's text.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::Actor;
use crate::cause::sentence;
use crate::cell::{CellContent, CellFlags, CellType, OrderKey};
use crate::document::Document;
use crate::document::executions::{Execution, forget_unshown};
use crate::envelope::Recorded;
use crate::event::{
    CellMoved, CellRestored, CellSourceEdited, CommentDeleted, CommentPosted, Event, MessagePosted, ThreadStarted,
};
use crate::ids::{CellId, CommentId, Millis, ThreadId, TurnId, UserId, Version};
use crate::json::RawObject;
use crate::message::{CellReply, MessageBlock, MessageRole, ReplyStatus};
use crate::text::{ChangeSet, TextRange};

/// A live cell. In JSON the fields of its content are beside the versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "FlatCell")]
#[schemars(!from)]
pub struct Cell {
    /// Content of the cell, as events carry it. In JSON its fields are beside those below.
    #[serde(flatten)]
    pub content: CellContent,
    /// The reply that a prompt cell shows. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<Arc<CellReply>>,
    /// Version of the last event that changed source, type, place or existence. Preconditions use it.
    pub cell_version: Version,
    /// Version of the last event that changed the source. A change whose base is not older needs no transform.
    pub source_version: Version,
}

/// Form in which a [`Cell`] is read: serde's `flatten` cannot read raw JSON, so the fields are listed.
#[derive(Deserialize)]
struct FlatCell {
    cell_type: CellType,
    source: String,
    order_key: OrderKey,
    #[serde(default)]
    metadata: RawObject,
    #[serde(default)]
    attachments: Option<RawObject>,
    #[serde(default)]
    flags: CellFlags,
    #[serde(default)]
    reply: Option<Arc<CellReply>>,
    cell_version: Version,
    source_version: Version,
}

impl From<FlatCell> for Cell {
    fn from(flat: FlatCell) -> Self {
        let FlatCell { cell_type, source, order_key, metadata, attachments, flags, reply, .. } = flat;
        let content = CellContent { cell_type, source, order_key, metadata, attachments, flags };
        Cell { content, reply, cell_version: flat.cell_version, source_version: flat.source_version }
    }
}

impl CellReply {
    /// Reply of a turn that has just begun.
    pub fn begin(turn_id: &TurnId, prompt: &str) -> Self {
        Self {
            turn_id: Some(turn_id.clone()),
            status: ReplyStatus::Running.into(),
            stop_reason: None,
            cause: None,
            detail: None,
            prompt: prompt.into(),
            text: String::new(),
            is_cut: false,
        }
    }

    /// Folds in one event of its turn.
    pub fn advance(&mut self, event: &Event) {
        match event {
            Event::MessagePosted(event) if event.role == MessageRole::Assistant => self.add(event),
            Event::TurnFinished(event) => {
                self.status = ReplyStatus::Finished.into();
                self.stop_reason = Some(event.stop_reason.clone());
            }
            Event::TurnCancelled(_) => self.status = ReplyStatus::Stopped.into(),
            Event::TurnFailed(event) => {
                self.status = ReplyStatus::Failed.into();
                self.cause = Some(event.cause.clone());
                self.detail.clone_from(&event.detail);
            }
            _ => {}
        }
    }

    /// Sentence for people: why the reply has no more text.
    pub fn end_sentence(&self) -> Option<String> {
        self.cause.as_ref().map(|cause| sentence(cause, self.detail.as_deref()))
    }

    fn add(&mut self, event: &MessagePosted) {
        let texts = event.blocks.iter().filter_map(|block| match block.known()? {
            MessageBlock::Text { text } => Some(text.as_str()),
            _ => None,
        });
        let whole: String = texts.collect();
        let shown = event.reply_units.map_or(&*whole, |units| first_units(&whole, units));
        self.is_cut |= shown.len() < whole.len();
        if !self.text.is_empty() && !shown.is_empty() {
            self.text.push_str("\n\n");
        }
        self.text.push_str(shown);
    }
}

/// Beginning of a text, at most `units` UTF-16 code units long.
fn first_units(text: &str, units: usize) -> &str {
    let bytes = str_indices::utf16::to_byte_idx(text, units);
    &text[..text.floor_char_boundary(bytes)]
}

/// A thread of comments on a cell, or on a range of its text. It is not shown while its cell is in the trash.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Thread {
    /// The cell that the thread is about.
    pub cell_id: CellId,
    /// The range of text, which edits move. Empty: the text was deleted. Absent: the thread is about the whole cell.
    pub range: Option<TextRange>,
    /// The text of the range when the thread began, cut to 500 characters. Absent: the thread began without a range.
    pub quote: Option<String>,
    /// The comments, in the order in which they were posted.
    pub comments: Vec<Comment>,
    /// The thread's resolution. Absent: the thread is open.
    pub resolved: Option<Resolution>,
}

/// A comment in a thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Comment {
    /// Named by CommentPosted.
    pub comment_id: CommentId,
    /// The comment's text, as Markdown.
    pub text: String,
    /// Accounts that the comment mentions, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<UserId>,
    /// The actor that posted the comment.
    pub author: Actor,
    /// Time of posting, in milliseconds since 1970.
    pub posted_at: Millis,
    /// Time of the author's last change, in milliseconds since 1970. Absent: never changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_at: Option<Millis>,
}

/// The resolution of a thread: actor and time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Resolution {
    /// The actor that resolved the thread.
    pub by: Actor,
    /// Time of the resolution, in milliseconds since 1970.
    pub at: Millis,
}

impl Thread {
    /// The comment with that id.
    pub fn comment(&self, comment_id: &CommentId) -> Option<&Comment> {
        self.comments.iter().find(|comment| comment.comment_id == *comment_id)
    }
}

pub(crate) fn apply(document: &mut Document, recorded: &Recorded) {
    let version = recorded.envelope.version;
    match &recorded.event {
        Event::CellInserted(event) => insert(document, &event.cell_id, &event.cell, event.reply.as_ref(), version),
        Event::CellRestored(event) => restore(document, event, version),
        Event::CellDeleted(event) => remove(document, &event.cell_id),
        Event::CellMoved(event) => apply_moved(document, event, version),
        Event::CellSourceEdited(event) => edit(document, event, version),
        Event::CellTypeChanged(event) => change(document, &event.cell_id, |cell| {
            cell.content.cell_type = event.cell_type;
            cell.cell_version = version;
        }),
        Event::CellMetadataSet(event) => {
            change(document, &event.cell_id, |cell| cell.content.metadata = event.metadata.clone());
        }
        Event::CellAttachmentsSet(event) => {
            change(document, &event.cell_id, |cell| cell.content.attachments.clone_from(&event.attachments));
        }
        Event::CellFlagsSet(event) => change(document, &event.cell_id, |cell| cell.content.flags = event.flags),
        Event::CellOutputsCleared(event) => {
            document.latest.remove(&event.cell_id);
            forget_unshown(document, &event.execution_id);
        }
        _ => {}
    }
}

fn change(document: &mut Document, cell_id: &CellId, with: impl FnOnce(&mut Cell)) {
    if let Some(cell) = document.cells.get_mut(cell_id) {
        with(Arc::make_mut(cell));
    }
}

/// Applies an edit. `decide` makes only changes that fit; otherwise the text and the ranges in it stay as they are.
fn edit(document: &mut Document, event: &CellSourceEdited, version: Version) {
    let Some(cell) = document.cells.get_mut(&event.cell_id) else { return };
    let cell = Arc::make_mut(cell);
    if event.change.apply_to(&mut cell.content.source).is_ok() {
        cell.source_version = version;
        cell.cell_version = version;
        follow(document, &event.cell_id, &event.change);
    }
}

fn insert(
    document: &mut Document,
    cell_id: &CellId,
    content: &CellContent,
    reply: Option<&CellReply>,
    version: Version,
) {
    remove(document, cell_id);
    let reply = reply.cloned().map(Arc::new);
    let cell = Cell { content: content.clone(), reply, cell_version: version, source_version: version };
    document.cells.insert(cell_id.clone(), Arc::new(cell));
    place(document, cell_id);
}

/// Puts a cell of `cells` into `order`, by order key, then id.
fn place(document: &mut Document, cell_id: &CellId) {
    let Some(cell) = document.cells.get(cell_id) else { return };
    let index = document.place_of(&cell.content.order_key, cell_id);
    document.order.insert(index, cell_id.clone());
}

fn restore(document: &mut Document, event: &CellRestored, version: Version) {
    insert(document, &event.cell_id, &event.cell, event.reply.as_ref(), version);
    let Some(id) = &event.latest_execution else { return };
    document.latest.insert(event.cell_id.clone(), id.clone());
    if let Some(past) = &event.execution {
        document.executions.entry(id.clone()).or_insert_with(|| Arc::new(Execution::from((**past).clone())));
    }
}

fn remove(document: &mut Document, cell_id: &CellId) {
    take_out_of_order(document, cell_id);
    if document.cells.remove(cell_id).is_none() {
        return;
    }
    if let Some(execution_id) = document.latest.remove(cell_id) {
        forget_unshown(document, &execution_id);
    }
}

fn apply_moved(document: &mut Document, event: &CellMoved, version: Version) {
    take_out_of_order(document, &event.cell_id);
    change(document, &event.cell_id, |cell| {
        cell.content.order_key = event.order_key.clone();
        cell.cell_version = version;
    });
    place(document, &event.cell_id);
}

/// Call while the cell still has the key by which `order` has it.
fn take_out_of_order(document: &mut Document, cell_id: &CellId) {
    if let Some(index) = document.position(cell_id) {
        document.order.remove(index);
    }
}

pub(crate) fn apply_comments(document: &mut Document, recorded: &Recorded) {
    let at = recorded.envelope.recorded_at;
    match &recorded.event {
        Event::ThreadStarted(event) => start_thread(document, event),
        Event::ThreadMoved(event) => change_thread(document, &event.thread_id, |thread| {
            thread.cell_id = event.cell_id.clone();
            thread.range = event.range;
        }),
        Event::ThreadResolved(event) => change_thread(document, &event.thread_id, |thread| {
            thread.resolved = Some(Resolution { by: recorded.envelope.actor.clone(), at });
        }),
        Event::ThreadReopened(event) => change_thread(document, &event.thread_id, |thread| thread.resolved = None),
        Event::CommentPosted(event) => change_thread(document, &event.thread_id, |thread| {
            thread.comments.push(posted(recorded, event));
        }),
        Event::CommentEdited(event) => change_thread(document, &event.thread_id, |thread| {
            let edited = thread.comments.iter_mut().filter(|comment| comment.comment_id == event.comment_id);
            edited.for_each(|comment| {
                comment.text.clone_from(&event.text);
                comment.mentions.clone_from(&event.mentions);
                comment.edited_at = Some(at);
            });
        }),
        Event::CommentDeleted(event) => delete_comment(document, event),
        _ => {}
    }
}

fn change_thread(document: &mut Document, thread_id: &ThreadId, with: impl FnOnce(&mut Thread)) {
    if let Some(thread) = document.threads.get_mut(thread_id) {
        with(Arc::make_mut(thread));
    }
}

fn start_thread(document: &mut Document, event: &ThreadStarted) {
    let ThreadStarted { thread_id, cell_id, range, quote } = event.clone();
    let thread = Thread { cell_id, range, quote, comments: Vec::new(), resolved: None };
    document.threads.insert(thread_id, Arc::new(thread));
}

fn posted(recorded: &Recorded, event: &CommentPosted) -> Comment {
    let CommentPosted { comment_id, text, mentions, .. } = event.clone();
    let (author, posted_at) = (recorded.envelope.actor.clone(), recorded.envelope.recorded_at);
    Comment { comment_id, text, mentions, author, posted_at, edited_at: None }
}

fn delete_comment(document: &mut Document, event: &CommentDeleted) {
    change_thread(document, &event.thread_id, |thread| {
        thread.comments.retain(|comment| comment.comment_id != event.comment_id);
    });
    if document.threads.get(&event.thread_id).is_some_and(|thread| thread.comments.is_empty()) {
        document.threads.remove(&event.thread_id);
    }
}

/// Moves the ranges in a cell whose source has changed.
pub(crate) fn follow(document: &mut Document, cell_id: &CellId, edit: &ChangeSet) {
    for thread in document.threads.values_mut().filter(|thread| thread.cell_id == *cell_id) {
        let Some(range) = thread.range else { continue };
        let moved = range.map(edit);
        if moved != range {
            Arc::make_mut(thread).range = Some(moved);
        }
    }
}
