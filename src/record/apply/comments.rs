//! Applies events of comment threads. Events of cells do not change threads; only the ranges move with a cell's text.

use std::sync::Arc;

use crate::document::Document;
use crate::envelope::Recorded;
use crate::event::{CommentDeleted, CommentPosted, Event, ThreadStarted};
use crate::ids::{CellId, ThreadId};
use crate::state::{Comment, Resolution, Thread};
use crate::text::ChangeSet;

pub(crate) fn apply(document: &mut Document, recorded: &Recorded) {
    let at = recorded.envelope.recorded_at;
    match &recorded.event {
        Event::ThreadStarted(event) => start(document, event),
        Event::ThreadMoved(event) => change(document, &event.thread_id, |thread| {
            thread.cell_id = event.cell_id.clone();
            thread.range = event.range;
        }),
        Event::ThreadResolved(event) => change(document, &event.thread_id, |thread| {
            thread.resolved = Some(Resolution { by: recorded.envelope.actor.clone(), at });
        }),
        Event::ThreadReopened(event) => change(document, &event.thread_id, |thread| thread.resolved = None),
        Event::CommentPosted(event) => change(document, &event.thread_id, |thread| {
            thread.comments.push(posted(recorded, event));
        }),
        Event::CommentEdited(event) => change(document, &event.thread_id, |thread| {
            let edited = thread.comments.iter_mut().filter(|comment| comment.comment_id == event.comment_id);
            edited.for_each(|comment| {
                comment.text.clone_from(&event.text);
                comment.mentions.clone_from(&event.mentions);
                comment.edited_at = Some(at);
            });
        }),
        Event::CommentDeleted(event) => delete(document, event),
        _ => {}
    }
}

fn change(document: &mut Document, thread_id: &ThreadId, with: impl FnOnce(&mut Thread)) {
    if let Some(thread) = document.threads.get_mut(thread_id) {
        with(Arc::make_mut(thread));
    }
}

fn start(document: &mut Document, event: &ThreadStarted) {
    let ThreadStarted { thread_id, cell_id, range, quote } = event.clone();
    let thread = Thread { cell_id, range, quote, comments: Vec::new(), resolved: None };
    document.threads.insert(thread_id, Arc::new(thread));
}

fn posted(recorded: &Recorded, event: &CommentPosted) -> Comment {
    let CommentPosted { comment_id, text, mentions, .. } = event.clone();
    let (author, posted_at) = (recorded.envelope.actor.clone(), recorded.envelope.recorded_at);
    Comment { comment_id, text, mentions, author, posted_at, edited_at: None }
}

fn delete(document: &mut Document, event: &CommentDeleted) {
    change(document, &event.thread_id, |thread| {
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
