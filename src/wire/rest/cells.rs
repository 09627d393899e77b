//! Cells: insert, read, change, move, delete. Comments on them.

use std::collections::BTreeMap;
use std::sync::Arc;

use notarium_core::text::{ChangeSet, TextRange};
use notarium_core::{
    Cell, CellFlagChanges, CellId, CellType, CommentPlace, Execution, ExecutionId, Place, RawObject, Thread, ThreadId,
    UserId, Version,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A cell to insert. Needs the right to edit.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewCell {
    /// Cell id, chosen by you; absent: by the server.
    pub cell_id: Option<CellId>,
    /// `code`, `markdown`, `raw`, `sql` or `prompt`.
    pub cell_type: CellType,
    /// At most 1 MiB. Lines end with `\n`; a `\r` is refused.
    #[serde(default)]
    pub source: String,
    /// `"start"`, `"end"`, `{"before": "CELL"}` or `{"after": "CELL"}`; absent: at the end.
    pub place: Option<Place>,
    /// Metadata as in nbformat; at most 1 MiB.
    #[serde(default)]
    pub metadata: RawObject,
    /// MIME bundles by file name, as in nbformat; at most 16 MiB.
    pub attachments: Option<RawObject>,
    /// Flags to set: pinned, skipped, hidden source, hidden outputs. Absent: none.
    #[serde(default)]
    pub flags: CellFlagChanges,
}

/// A cell in its current state.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct CellAnswer {
    /// Cell id, as in the path.
    pub cell_id: CellId,
    /// Version of the notebook.
    pub version: Version,
    /// True if the source has changed since it was executed.
    pub stale: bool,
    /// Source, type, metadata, flags and versions.
    pub cell: Arc<Cell>,
    /// Id of `execution`, for `…/runs/{run}`.
    pub run: Option<ExecutionId>,
    /// The run whose outputs the cell shows.
    pub execution: Option<Arc<Execution>>,
}

/// Changes of a cell: either `source` with `cell_version`, or `change` with `base`, and any other fields.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CellChange {
    /// New source as a whole.
    pub source: Option<String>,
    /// The `cell_version` that you read; a cell with a newer one is not changed (`conflict`).
    pub cell_version: Option<Version>,
    /// A CodeMirror ChangeSet: see `protocol/README.md`, Text.
    pub change: Option<ChangeSet>,
    /// The notebook's version that `change` applies to.
    pub base: Option<Version>,
    /// `code`, `markdown`, `raw`, `sql` or `prompt`; absent: unchanged.
    pub cell_type: Option<CellType>,
    /// New metadata as a whole; absent: unchanged.
    pub metadata: Option<RawObject>,
    /// New attachments as a whole; absent: unchanged.
    pub attachments: Option<RawObject>,
    /// Flags to set or clear; other flags are unchanged.
    pub flags: Option<CellFlagChanges>,
}

/// New position of a cell. Needs the right to edit.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CellMove {
    /// `"start"`, `"end"`, `{"before": "CELL"}` or `{"after": "CELL"}`.
    pub place: Place,
    /// Expected `cell_version`; a cell with a newer one is not moved (`conflict`).
    pub cell_version: Option<Version>,
}

/// Condition for the deletion of a cell.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeleteQuery {
    /// Expected `cell_version`; a cell with a newer one is not deleted.
    pub cell_version: Option<Version>,
}

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
