//! Comments: threads on cells and on ranges of their text. Undo leaves comments unchanged; it only moves a thread back
//! to the place from which an edit of cells had moved it.

use std::collections::BTreeSet;

use crate::access::authorise;
use crate::account_status::{check_active, user};
use crate::authority::Operation;
use crate::cells::{late_edits, required_for_edit};
use crate::checks::live_cell;
use crate::context::Context;
use crate::values::decision::{Decision, Outcome, RejectionCode, Result};
use crate::values::details::LimitName;
use crate::values::{AddComment, CommentPlace, CommentTarget, EditComment};
use notarium_record::text::{TextRange, normalise_line_breaks, utf16_len};
use notarium_record::{
    Comment, CommentDeleted, CommentEdited, CommentId, CommentPosted, Document, HistoryQuery, Thread, ThreadId,
    ThreadMoved, ThreadPlace, ThreadReopened, ThreadResolved, ThreadStarted, UserId,
};

/// Characters of one comment, at most.
const MAX_COMMENT_CHARACTERS: usize = 10_000;
/// Accounts that one comment mentions, at most.
const MAX_MENTIONS: usize = 50;
/// Comments of one thread, at most.
const MAX_COMMENTS: usize = 500;
/// Threads of one notebook, at most, with resolved ones and those in the trash.
const MAX_THREADS: usize = 2_000;
/// Comments of all threads of a notebook together, at most.
const MAX_COMMENTS_OF_NOTEBOOK: usize = 10_000;
/// Bytes of all comments of a notebook together, at most. The right to comment alone must not suffice to fill the
/// notebook's state.
const MAX_TEXT_BYTES: usize = 8 << 20;
/// Characters of a quote; the rest is cut off.
const MAX_QUOTE_CHARACTERS: usize = 500;

/// Queries the edits since the base of a place, or the deletion of its cell.
pub(crate) fn required_for_place(notebook: &Document, place: &CommentPlace) -> Option<HistoryQuery> {
    required_for_edit(notebook, &place.cell_id, place.base.unwrap_or(notebook.version))
}

// --- comments ---

pub(crate) fn decide_add(notebook: &Document, context: &mut Context, command: AddComment) -> Result<Decision> {
    let AddComment { target, text, mentions } = command;
    let text = checked_text(&text)?;
    check_room_in_notebook(notebook, 1, text.len())?;
    let mentions = checked_mentions(context, mentions, &[])?;
    let (thread_id, started) = match target {
        CommentTarget::Thread { thread_id } => {
            check_room_for_comment(thread(notebook, &thread_id)?)?;
            (thread_id, None)
        }
        CommentTarget::Cell(place) => {
            let started = start(notebook, context, &place)?;
            (started.thread_id.clone(), Some(started))
        }
    };
    let comment_id: CommentId = context.ids.ulid().into();
    let (thread, comment) = (Some(thread_id.clone()), Some(comment_id.clone()));
    let posted = CommentPosted { thread_id, comment_id, text, mentions };
    let events = started.into_iter().map(Into::into).chain([posted.into()]).collect();
    Ok(Decision::with(events, Outcome { thread, comment, ..Outcome::default() }))
}

fn start(notebook: &Document, context: &mut Context, place: &CommentPlace) -> Result<ThreadStarted> {
    LimitName::Threads.when(notebook.threads.len() >= MAX_THREADS, MAX_THREADS, || {
        format!("a notebook holds at most {MAX_THREADS} threads: delete the comments of settled ones")
    })?;
    if place.range.is_some_and(TextRange::is_empty) {
        let message = "a range holds at least one character: leave it out to comment on the whole cell";
        return Err(RejectionCode::InvalidValue.because(message));
    }
    let (range, text) = placed(notebook, context, place)?.unzip();
    if range.is_some_and(TextRange::is_empty) {
        let message = "the text of that range was deleted meanwhile: choose another, or comment on the whole cell";
        return Err(RejectionCode::Conflict.because(message));
    }
    let quote = text.map(|text| text.chars().take(MAX_QUOTE_CHARACTERS).collect());
    let thread_id = context.ids.ulid().into();
    Ok(ThreadStarted { thread_id, cell_id: place.cell_id.clone(), range, quote })
}

/// Returns the range in the present text, and its text. `None`: the whole cell.
fn placed<'a>(notebook: &'a Document, context: &Context, place: &CommentPlace) -> Result<Option<(TextRange, &'a str)>> {
    let CommentPlace { cell_id, range, base } = place;
    let cell = live_cell(notebook, context, cell_id)?;
    let Some(range) = range else { return Ok(None) };
    let late = late_edits(notebook, context, cell_id, cell, base.unwrap_or(notebook.version))?;
    let range = late.into_iter().fold(*range, |range, edit| range.map(edit));
    let text = range.of(&cell.content.source).map_err(|error| {
        RejectionCode::InvalidValue.because(format!("the range does not fit the cell's text: {error}"))
    })?;
    Ok(Some((range, text)))
}

pub(crate) fn decide_edit(notebook: &Document, context: &Context, command: EditComment) -> Result<Decision> {
    let EditComment { thread_id, comment_id, text, mentions } = command;
    let comment = comment(notebook, &thread_id, &comment_id)?;
    let is_others = comment.author != context.actor;
    RejectionCode::Forbidden.when(is_others, || "only its author edits a comment: reply to it instead")?;
    let text = checked_text(&text)?;
    check_room_in_notebook(notebook, 0, text.len().saturating_sub(comment.text.len()))?;
    let mentions = checked_mentions(context, mentions, &comment.mentions)?;
    let is_same = (&text, &mentions) == (&comment.text, &comment.mentions);
    Ok(Decision::unless(is_same, CommentEdited { thread_id, comment_id, text, mentions }))
}

/// Deletes a comment of the sender, or with the right to moderate another's.
pub(crate) fn decide_delete(
    notebook: &Document,
    context: &Context,
    thread_id: ThreadId,
    comment_id: CommentId,
) -> Result<Decision> {
    if comment(notebook, &thread_id, &comment_id)?.author != context.actor {
        authorise(notebook, context, Operation::Moderate)?;
    }
    Ok(Decision::one(CommentDeleted { thread_id, comment_id }))
}

fn checked_text(text: &str) -> Result<String> {
    let text = normalise_line_breaks(text.trim());
    RejectionCode::InvalidValue.when(text.is_empty(), || "a comment has at least one visible character")?;
    LimitName::Comment.when(text.chars().count() > MAX_COMMENT_CHARACTERS, MAX_COMMENT_CHARACTERS, || {
        format!("a comment has at most {MAX_COMMENT_CHARACTERS} characters: write several")
    })?;
    Ok(text.into_owned())
}

fn checked_mentions(context: &Context, mentions: Vec<UserId>, known: &[UserId]) -> Result<Vec<UserId>> {
    let mentions: BTreeSet<UserId> = mentions.into_iter().collect();
    LimitName::Mentions.when(mentions.len() > MAX_MENTIONS, MAX_MENTIONS, || {
        format!("a comment mentions at most {MAX_MENTIONS} people: write several")
    })?;
    let mut new = mentions.iter().filter(|id| !known.contains(id));
    new.try_for_each(|id| check_active(&context.account_status, &user(id)))?;
    Ok(mentions.into_iter().collect())
}

fn check_room_for_comment(thread: &Thread) -> Result<()> {
    LimitName::ThreadComments.when(thread.comments.len() >= MAX_COMMENTS, MAX_COMMENTS, || {
        format!("a thread holds at most {MAX_COMMENTS} comments: begin another")
    })
}

/// Checks that so many more comments and bytes of text fit into the notebook.
fn check_room_in_notebook(notebook: &Document, comments: usize, bytes: usize) -> Result<()> {
    let threads = || notebook.threads.values();
    let count: usize = threads().map(|thread| thread.comments.len()).sum();
    LimitName::Comments.when(comments > 0 && count >= MAX_COMMENTS_OF_NOTEBOOK, MAX_COMMENTS_OF_NOTEBOOK, || {
        format!("a notebook holds at most {MAX_COMMENTS_OF_NOTEBOOK} comments: delete those of settled threads")
    })?;
    let held: usize = threads().flat_map(|thread| &thread.comments).map(|comment| comment.text.len()).sum();
    LimitName::CommentText.when(bytes > 0 && held + bytes > MAX_TEXT_BYTES, MAX_TEXT_BYTES, || {
        let most = MAX_TEXT_BYTES >> 20;
        format!(
            "the comments of a notebook have at most {most} MiB of text: write less, or delete those of settled threads"
        )
    })
}

// --- threads ---

pub(crate) fn decide_resolve(notebook: &Document, thread_id: ThreadId) -> Result<Decision> {
    let is_resolved = thread(notebook, &thread_id)?.resolved.is_some();
    Ok(Decision::unless(is_resolved, ThreadResolved { thread_id }))
}

pub(crate) fn decide_reopen(notebook: &Document, thread_id: ThreadId) -> Result<Decision> {
    let is_open = thread(notebook, &thread_id)?.resolved.is_none();
    Ok(Decision::unless(is_open, ThreadReopened { thread_id }))
}

pub(crate) fn decide_move(
    notebook: &Document,
    context: &Context,
    thread_id: ThreadId,
    place: &CommentPlace,
) -> Result<Decision> {
    let previous = place_of(thread(notebook, &thread_id)?);
    let range = placed(notebook, context, place)?.map(|(range, _)| range);
    let cell_id = place.cell_id.clone();
    let is_there = previous == (ThreadPlace { cell_id: cell_id.clone(), range });
    Ok(Decision::unless(is_there, ThreadMoved { thread_id, cell_id, range, previous }))
}

fn place_of(thread: &Thread) -> ThreadPlace {
    ThreadPlace { cell_id: thread.cell_id.clone(), range: thread.range }
}

/// Text that a thread covers now.
fn covered<'a>(notebook: &'a Document, place: &ThreadPlace) -> Option<&'a str> {
    place.range?.of(&notebook.cells.get(&place.cell_id)?.content.source).ok()
}

/// A thread that an edit of cells had moved, while that edit is being undone.
pub(crate) struct ReturningThreads {
    moved: ThreadMoved,
    /// Place of the thread before the undo, and the text that it covers there.
    place: ThreadPlace,
    text: Option<String>,
}

impl ReturningThreads {
    /// Returns `None` if the thread was moved again since, or its comments were deleted.
    pub(crate) fn new(notebook: &Document, moved: &ThreadMoved) -> Option<Self> {
        let thread = notebook.threads.get(&moved.thread_id).filter(|thread| thread.cell_id == moved.cell_id)?;
        let place = place_of(thread);
        let text = covered(notebook, &place).map(str::to_owned);
        Some(Self { moved: moved.clone(), place, text })
    }

    /// Moves the thread back after the undo. `None`: its former cell is in the trash. If its former range has other
    /// text now, the range becomes empty.
    pub(crate) fn back(self, notebook: &Document) -> Option<ThreadMoved> {
        let ThreadMoved { thread_id, previous, .. } = self.moved;
        let cell = notebook.cells.get(&previous.cell_id)?;
        let is_there = covered(notebook, &previous) == self.text.as_deref();
        let range = previous.range.map(|range| match is_there {
            true => range,
            false => TextRange::from([range.start.min(utf16_len(&cell.content.source)); 2]),
        });
        Some(ThreadMoved { thread_id, cell_id: previous.cell_id, range, previous: self.place })
    }
}

// --- lookup ---

fn thread<'a>(notebook: &'a Document, thread_id: &ThreadId) -> Result<&'a Thread> {
    notebook.threads.get(thread_id).map(|thread| &**thread).ok_or_else(|| {
        let message =
            format!("no thread {thread_id} in this notebook: check the id; its comments may have been deleted");
        RejectionCode::UnknownThread.because(message)
    })
}

fn comment<'a>(notebook: &'a Document, thread_id: &ThreadId, comment_id: &CommentId) -> Result<&'a Comment> {
    thread(notebook, thread_id)?.comment(comment_id).ok_or_else(|| {
        let message = format!("no comment {comment_id} in that thread: check the id; it may have been deleted");
        RejectionCode::UnknownComment.because(message)
    })
}
