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

/// A new cell, or one that an undo or redo brings back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellInserted {
    /// New in this notebook, unless an undo or redo brings it back.
    pub cell_id: CellId,
    /// Type, source, place and marks.
    pub cell: CellContent,
    /// Of a prompt cell that a file or another notebook brought with its reply.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reply: Option<CellReply>,
}

/// The change is the transformed one: it applies to the text as it is in the log just before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellSourceEdited {
    /// A live cell.
    pub cell_id: CellId,
    /// CodeMirror's ChangeSet JSON, in UTF-16 code units.
    pub change: ChangeSet,
    /// The text that each deleting section of `change` removed, in order: with it the change can be inverted.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub removed: Vec<String>,
}

/// The cell has another place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellMoved {
    /// A live cell.
    pub cell_id: CellId,
    /// The new place.
    pub order_key: OrderKey,
    /// What it was before, for undo.
    pub previous: OrderKey,
}

/// The cell has another type; source, metadata and outputs stay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellTypeChanged {
    /// A live cell.
    pub cell_id: CellId,
    /// The new type.
    pub cell_type: CellType,
    /// What it was before, for undo.
    pub previous: CellType,
}

/// Carries the whole cell: the trash is a projection of these.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellDeleted {
    /// A live cell until now.
    pub cell_id: CellId,
    /// As it was.
    pub cell: CellContent,
    /// The execution whose outputs it showed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub latest_execution: Option<ExecutionId>,
    /// What an assistant had answered, of a prompt cell.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reply: Option<CellReply>,
}

/// A deleted cell is back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellRestored {
    /// Of a cell in the trash.
    pub cell_id: CellId,
    /// As it was deleted, perhaps with another order key.
    pub cell: CellContent,
    /// The execution whose outputs it shows again.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub latest_execution: Option<ExecutionId>,
    /// That execution, where it has left the document since.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub execution: Option<Box<PastExecution>>,
    /// What an assistant has answered, of a prompt cell.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reply: Option<CellReply>,
}

/// The cell's metadata is replaced as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellMetadataSet {
    /// A live cell.
    pub cell_id: CellId,
    /// As in nbformat.
    pub metadata: RawObject,
    /// What it was before, for undo.
    pub previous: RawObject,
}

/// The cell's attachments are replaced as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellAttachmentsSet {
    /// A live cell.
    pub cell_id: CellId,
    /// File name to MIME bundle, as in nbformat; null: none any more.
    pub attachments: Option<RawObject>,
    /// What it was before, for undo.
    pub previous: Option<RawObject>,
}

/// The cell has other marks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellFlagsSet {
    /// A live cell.
    pub cell_id: CellId,
    /// All of them; what is left out is not set.
    pub flags: CellFlags,
    /// What it was before, for undo.
    pub previous: CellFlags,
}

/// The cell shows no outputs from here on; the execution that it showed stays in the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellOutputsCleared {
    /// A live cell.
    pub cell_id: CellId,
    /// The run whose outputs it showed.
    pub execution_id: ExecutionId,
}
