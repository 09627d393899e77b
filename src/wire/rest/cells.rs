//! Cells.

use std::sync::Arc;

use notarium_core::text::ChangeSet;
use notarium_core::{Cell, CellFlagChanges, CellId, CellType, Execution, ExecutionId, Place, RawObject, Version};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewCell {
    /// Chosen by you, or by the server.
    pub cell_id: Option<CellId>,
    /// `code`, `markdown`, `raw`, `sql` or `prompt`.
    pub cell_type: CellType,
    #[serde(default)]
    pub source: String,
    /// `"start"`, `"end"`, `{"before": "CELL"}` or `{"after": "CELL"}`; absent: at the end.
    pub place: Option<Place>,
    #[serde(default)]
    pub metadata: RawObject,
    pub attachments: Option<RawObject>,
    #[serde(default)]
    pub flags: CellFlagChanges,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct CellAnswer {
    pub cell_id: CellId,
    /// Of the notebook.
    pub version: Version,
    /// The source changed since it was executed.
    pub stale: bool,
    pub cell: Arc<Cell>,
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
    pub cell_type: Option<CellType>,
    pub metadata: Option<RawObject>,
    pub attachments: Option<RawObject>,
    pub flags: Option<CellFlagChanges>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CellMove {
    /// `"start"`, `"end"`, `{"before": "CELL"}` or `{"after": "CELL"}`.
    pub place: Place,
    pub cell_version: Option<Version>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeleteQuery {
    /// Refuse when the cell has moved on.
    pub cell_version: Option<Version>,
}
