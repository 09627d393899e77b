//! Comments.

use std::collections::BTreeMap;
use std::sync::Arc;

use notarium_core::text::TextRange;
use notarium_core::{CommentPlace, Thread, ThreadId, UserId, Version};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The comments of a notebook.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Threads {
    /// Of the notebook.
    pub version: Version,
    /// By id: open and resolved ones, and those whose cell is in the trash.
    pub threads: BTreeMap<ThreadId, Arc<Thread>>,
}

/// A comment that begins a thread on a cell.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewThread {
    /// Markdown, 1 to 10,000 characters.
    pub text: String,
    /// `[start, end]` in the cell's source, in UTF-16 code units, not empty; absent: the whole cell.
    pub range: Option<TextRange>,
    /// The notebook's version whose text the range is of; absent: the text as it is.
    pub base: Option<Version>,
    /// The accounts that it names, by id; at most 50. A mention gives nobody a right.
    #[serde(default)]
    pub mentions: Vec<UserId>,
}

/// What a comment says.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommentText {
    /// Markdown, 1 to 10,000 characters.
    pub text: String,
    /// The accounts that it names, by id; at most 50. A mention gives nobody a right.
    #[serde(default)]
    pub mentions: Vec<UserId>,
}

/// Where a thread's text is now.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThreadMove {
    /// The cell, and the range of its text.
    pub place: CommentPlace,
}
