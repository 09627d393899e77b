//! Comment threads on cells.

use std::collections::BTreeMap;
use std::sync::Arc;

use notarium_core::text::TextRange;
use notarium_core::{CommentPlace, Thread, ThreadId, UserId, Version};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Comment threads of a notebook.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Threads {
    /// Version of the notebook.
    pub version: Version,
    /// Threads by id: open and resolved ones, and those whose cell is in the trash.
    pub threads: BTreeMap<ThreadId, Arc<Thread>>,
}

/// First comment of a new thread on a cell.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewThread {
    /// Markdown, 1 to 10,000 characters.
    pub text: String,
    /// `[start, end]` in the cell's source, in UTF-16 code units, not empty; absent: the whole cell.
    pub range: Option<TextRange>,
    /// The notebook's version to which the range refers; absent: the current one.
    pub base: Option<Version>,
    /// Ids of mentioned accounts; at most 50. A mention grants no right.
    #[serde(default)]
    pub mentions: Vec<UserId>,
}

/// Text of a comment.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommentText {
    /// Markdown, 1 to 10,000 characters.
    pub text: String,
    /// Ids of mentioned accounts; at most 50. A mention grants no right.
    #[serde(default)]
    pub mentions: Vec<UserId>,
}

/// New place of a thread.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThreadMove {
    /// The cell, and the range of its source.
    pub place: CommentPlace,
}
