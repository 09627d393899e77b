//! Comments: threads on cells and on ranges of their text, and the comments in them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{CellId, CommentId, ThreadId, UserId};
use crate::text::TextRange;

/// A thread of comments begins. Its first comment follows in the same command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadStarted {
    /// New; comments name it.
    pub thread_id: ThreadId,
    /// A live cell. The thread stays with it, in the trash too.
    pub cell_id: CellId,
    /// Of the cell's source as it is then, not empty; absent: the thread is about the whole cell.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub range: Option<TextRange>,
    /// The text of the range, or its beginning; absent without a range.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub quote: Option<String>,
}

/// Where a thread is: a cell, and a range of its source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadPlace {
    /// The cell that it is about.
    pub cell_id: CellId,
    /// Absent: the whole cell.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub range: Option<TextRange>,
}

/// A thread follows its text to another place: cells were split or merged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadMoved {
    /// Named by ThreadStarted.
    pub thread_id: ThreadId,
    /// A live cell.
    pub cell_id: CellId,
    /// Of the cell's source as it is then; absent: the whole cell.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub range: Option<TextRange>,
    /// Where it was before, for undo.
    pub previous: ThreadPlace,
}

/// Somebody said something in a thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommentPosted {
    /// Named by ThreadStarted.
    pub thread_id: ThreadId,
    /// New.
    pub comment_id: CommentId,
    /// Markdown, with `\n` line breaks only; not empty.
    pub text: String,
    /// The accounts that it names, sorted. A mention gives nobody a right.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub mentions: Vec<UserId>,
}

/// Its author has changed a comment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommentEdited {
    /// Named by ThreadStarted.
    pub thread_id: ThreadId,
    /// Named by CommentPosted.
    pub comment_id: CommentId,
    /// The whole new text. What it was before is in the record.
    pub text: String,
    /// All accounts that it names now, sorted.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub mentions: Vec<UserId>,
}

/// A comment is no longer shown. It stays in the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommentDeleted {
    /// Named by ThreadStarted. With its last comment the thread goes.
    pub thread_id: ThreadId,
    /// Named by CommentPosted.
    pub comment_id: CommentId,
}

/// What a thread was about is settled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadResolved {
    /// Named by ThreadStarted.
    pub thread_id: ThreadId,
}

/// A resolved thread is open again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadReopened {
    /// Named by ThreadStarted.
    pub thread_id: ThreadId,
}
