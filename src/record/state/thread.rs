//! Threads of comments.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::ids::{CellId, CommentId, Millis, UserId};
use crate::text::TextRange;

/// A thread of comments on a cell, or on a range of its text. It is not shown while its cell is in the trash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Thread {
    /// The cell that the thread is about.
    pub cell_id: CellId,
    /// The range of text, which edits move. Empty: the text was deleted. Absent: the thread is about the whole cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<TextRange>,
    /// The text of the range when the thread began, cut to 500 characters. Absent: the thread began without a range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
    /// The comments, in the order in which they were posted.
    pub comments: Vec<Comment>,
    /// The thread's resolution. Absent: the thread is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
