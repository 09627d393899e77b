//! Cells.

use std::sync::Arc;

use notarium_core::text::ChangeSet;
use notarium_core::{Cell, CellFlagChanges, CellId, CellType, Execution, ExecutionId, Place, RawObject, Version};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A cell to be inserted. Needs the right to edit.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewCell {
    /// Chosen by you, or by the server.
    pub cell_id: Option<CellId>,
    /// `code`, `markdown`, `raw`, `sql` or `prompt`.
    pub cell_type: CellType,
    /// At most 1 MiB. Lines end with `\n`; a `\r` is refused.
    #[serde(default)]
    pub source: String,
    /// `"start"`, `"end"`, `{"before": "CELL"}` or `{"after": "CELL"}`; absent: at the end.
    pub place: Option<Place>,
    /// As in nbformat; at most 1 MiB.
    #[serde(default)]
    pub metadata: RawObject,
    /// File name to MIME bundle, as in nbformat; at most 16 MiB.
    pub attachments: Option<RawObject>,
    /// What is set besides: pinned, skipped, hidden source, hidden outputs. Absent: none.
    #[serde(default)]
    pub flags: CellFlagChanges,
}

/// A cell as it is now.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct CellAnswer {
    /// As in the path.
    pub cell_id: CellId,
    /// Of the notebook.
    pub version: Version,
    /// The source changed since it was executed.
    pub stale: bool,
    /// Source, type, metadata, flags and versions.
    pub cell: Arc<Cell>,
    /// The id of `execution`, to be asked for under `…/runs/{run}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<ExecutionId>,
    /// The run whose outputs it shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution: Option<Arc<Execution>>,
}

/// Either `source` with `cell_version`, or `change` with `base`; and what else is to change.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CellChange {
    /// A whole new source.
    pub source: Option<String>,
    /// The `cell_version` that you read; refused when the cell has moved on.
    pub cell_version: Option<Version>,
    /// A CodeMirror ChangeSet: see `protocol/README.md`, Text.
    pub change: Option<ChangeSet>,
    /// The notebook's version that `change` applies to.
    pub base: Option<Version>,
    /// `code`, `markdown`, `raw`, `sql` or `prompt`; absent: as it is.
    pub cell_type: Option<CellType>,
    /// The whole metadata, in place of what stands; absent: as it is.
    pub metadata: Option<RawObject>,
    /// All attachments, in place of what stands; absent: as they are.
    pub attachments: Option<RawObject>,
    /// Flags to be set or cleared; those that are not named stay.
    pub flags: Option<CellFlagChanges>,
}

/// Another place for a cell. Needs the right to edit.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CellMove {
    /// `"start"`, `"end"`, `{"before": "CELL"}` or `{"after": "CELL"}`.
    pub place: Place,
    /// Refuse when the cell has moved on (`conflict`).
    pub cell_version: Option<Version>,
}

/// A condition for the deletion of a cell.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeleteQuery {
    /// Refuse when the cell has moved on.
    pub cell_version: Option<Version>,
}
