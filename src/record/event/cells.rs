//! Cells: text, type, place, marks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cell::{CellContent, CellFlags, CellType};
use crate::execution::PastExecution;
use crate::ids::{CellId, ExecutionId};
use crate::json::RawObject;
use crate::order_key::OrderKey;
use crate::reply::CellReply;
use crate::text::ChangeSet;

/// A cell was inserted, or an undo or redo inserted it again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellInserted {
    /// The cell's id: new in this notebook, unless an undo or redo inserts the cell again.
    pub cell_id: CellId,
    /// Type, source, place and flags of the cell.
    pub cell: CellContent,
    /// The reply of a prompt cell that came from a file or another notebook. Absent: none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reply: Option<CellReply>,
}

/// The cell's text changed. The change is transformed already: it applies to the text just before this event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellSourceEdited {
    /// A live cell.
    pub cell_id: CellId,
    /// CodeMirror's ChangeSet JSON, in UTF-16 code units.
    pub change: ChangeSet,
    /// The texts that the deleting sections of `change` removed, in order. They allow clients to invert the change.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub removed: Vec<String>,
}

/// The cell was moved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellMoved {
    /// A live cell.
    pub cell_id: CellId,
    /// The key of the new place.
    pub order_key: OrderKey,
    /// The key of the previous place, for undo.
    pub previous: OrderKey,
}

/// The cell's type changed. Source, metadata and outputs stay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellTypeChanged {
    /// A live cell.
    pub cell_id: CellId,
    /// The new type.
    pub cell_type: CellType,
    /// The previous type, for undo.
    pub previous: CellType,
}

/// The cell was moved to the trash. The event carries the whole cell: the trash is a projection of these events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellDeleted {
    /// The cell, live until this event.
    pub cell_id: CellId,
    /// The cell's content when it was deleted.
    pub cell: CellContent,
    /// The execution whose outputs the cell showed. Absent: none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub latest_execution: Option<ExecutionId>,
    /// The reply that a prompt cell showed. Absent: none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reply: Option<CellReply>,
}

/// A cell was restored from the trash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellRestored {
    /// A cell in the trash until this event.
    pub cell_id: CellId,
    /// The cell's content when it was deleted. The order key differs if its place was taken.
    pub cell: CellContent,
    /// The execution whose outputs the cell shows again. Absent: none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub latest_execution: Option<ExecutionId>,
    /// The execution itself, if it has left the document since. Absent: the document has it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub execution: Option<Box<PastExecution>>,
    /// The reply that the prompt cell shows, with progress since the deletion. Absent: none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reply: Option<CellReply>,
}

/// The cell's whole metadata was replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellMetadataSet {
    /// A live cell.
    pub cell_id: CellId,
    /// The new metadata, as in nbformat.
    pub metadata: RawObject,
    /// The previous metadata, for undo.
    pub previous: RawObject,
}

/// All attachments of the cell were replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellAttachmentsSet {
    /// A live cell.
    pub cell_id: CellId,
    /// File name to MIME bundle, as in nbformat. Null: the cell has no attachments any more.
    pub attachments: Option<RawObject>,
    /// The previous attachments, for undo. Null: none.
    pub previous: Option<RawObject>,
}

/// The cell's flags changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellFlagsSet {
    /// A live cell.
    pub cell_id: CellId,
    /// All flags of the cell. A flag that is left out is not set.
    pub flags: CellFlags,
    /// The previous flags, for undo.
    pub previous: CellFlags,
}

/// The cell's outputs were cleared. Their execution stays in the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellOutputsCleared {
    /// A live cell.
    pub cell_id: CellId,
    /// The execution whose outputs the cell showed.
    pub execution_id: ExecutionId,
}
