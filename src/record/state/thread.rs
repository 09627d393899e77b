//! Threads of comments.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::ids::{CellId, CommentId, Millis, UserId};
use crate::text::TextRange;

/// A thread of comments on a cell, or on a range of its text. While its cell is in the trash, so is the thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Thread {
    /// The cell that it is about.
    pub cell_id: CellId,
    /// Moves with the text. Empty: the text is gone. Absent: the thread is about the whole cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<TextRange>,
    /// The text of the range when the thread began, or its beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
    /// In the order in which they were posted.
    pub comments: Vec<Comment>,
    /// Absent: it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved: Option<Resolution>,
}

/// What somebody said in a thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Comment {
    /// Named by CommentPosted.
    pub comment_id: CommentId,
    /// Markdown.
    pub text: String,
    /// The accounts that it names, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<UserId>,
    /// Who posted it.
    pub author: Actor,
    /// Milliseconds since 1970.
    pub posted_at: Millis,
    /// When its author changed it last; absent: never. Milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_at: Option<Millis>,
}

/// Who settled a thread, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Resolution {
    /// Who resolved it.
    pub by: Actor,
    /// Milliseconds since 1970.
    pub at: Millis,
}

impl Thread {
    /// The comment with that id.
    pub fn comment(&self, comment_id: &CommentId) -> Option<&Comment> {
        self.comments.iter().find(|comment| comment.comment_id == *comment_id)
    }
}
