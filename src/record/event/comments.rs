//! Comments: threads on cells and on ranges of their text, and the comments in them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{CellId, CommentId, ThreadId, UserId};
use crate::text::TextRange;

/// A thread of comments begins. Its first comment follows in the same command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadStarted {
    /// The new thread's id, which later events of the thread carry.
    pub thread_id: ThreadId,
    /// A live cell. The thread stays with the cell, also in the trash.
    pub cell_id: CellId,
    /// The range in the cell's source at this version; not empty. Absent: the thread is about the whole cell.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub range: Option<TextRange>,
    /// The text of the range, cut to 500 characters. Absent: there is no range.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub quote: Option<String>,
}

/// The place of a thread: a cell, and a range of its source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadPlace {
    /// The cell that the thread is about.
    pub cell_id: CellId,
    /// The range in the cell's source. Absent: the whole cell.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub range: Option<TextRange>,
}

/// A thread was moved along with its text, because cells were split or merged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadMoved {
    /// Named by ThreadStarted.
    pub thread_id: ThreadId,
    /// A live cell.
    pub cell_id: CellId,
    /// The range in the cell's source at this version. Absent: the whole cell.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub range: Option<TextRange>,
    /// The previous place, for undo.
    pub previous: ThreadPlace,
}

/// A comment was posted in a thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommentPosted {
    /// Named by ThreadStarted.
    pub thread_id: ThreadId,
    /// The new comment's id.
    pub comment_id: CommentId,
    /// Markdown, with `\n` line breaks only; not empty.
    pub text: String,
    /// Accounts that the comment mentions, sorted. A mention gives no right.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub mentions: Vec<UserId>,
}

/// The author of a comment changed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommentEdited {
    /// Named by ThreadStarted.
    pub thread_id: ThreadId,
    /// Named by CommentPosted.
    pub comment_id: CommentId,
    /// The whole new text. The record has the previous text.
    pub text: String,
    /// All accounts that the comment mentions now, sorted.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub mentions: Vec<UserId>,
}

/// A comment was deleted: it is no longer shown, and stays in the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommentDeleted {
    /// Named by ThreadStarted. If this was its last comment, the thread is removed too.
    pub thread_id: ThreadId,
    /// Named by CommentPosted.
    pub comment_id: CommentId,
}

/// A thread was marked as resolved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadResolved {
    /// Named by ThreadStarted.
    pub thread_id: ThreadId,
}

/// A resolved thread was reopened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadReopened {
    /// Named by ThreadStarted.
    pub thread_id: ThreadId,
}
