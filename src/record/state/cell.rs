//! Live cells.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reply::Reply;
use crate::cell::{CellContent, CellFlags, CellType};
use crate::ids::Version;
use crate::json::RawObject;
use crate::order_key::OrderKey;

/// A live cell. In JSON the fields of its content are beside the versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "FlatCell")]
#[schemars(!from)]
pub struct Cell {
    /// Content of the cell, as events carry it. In JSON its fields are beside those below.
    #[serde(flatten)]
    pub content: CellContent,
    /// The reply that a prompt cell shows. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<Arc<Reply>>,
    /// Version of the last event that changed source, type, place or existence. Preconditions use it.
    pub cell_version: Version,
    /// Version of the last event that changed the source. A change whose base is not older needs no transform.
    pub source_version: Version,
}

/// Form in which a [`Cell`] is read: serde's `flatten` cannot read raw JSON, so the fields are listed.
#[derive(Deserialize)]
struct FlatCell {
    cell_type: CellType,
    source: String,
    order_key: OrderKey,
    #[serde(default)]
    metadata: RawObject,
    #[serde(default)]
    attachments: Option<RawObject>,
    #[serde(default)]
    flags: CellFlags,
    #[serde(default)]
    reply: Option<Arc<Reply>>,
    cell_version: Version,
    source_version: Version,
}

impl From<FlatCell> for Cell {
    fn from(flat: FlatCell) -> Self {
        let FlatCell { cell_type, source, order_key, metadata, attachments, flags, reply, .. } = flat;
        let content = CellContent { cell_type, source, order_key, metadata, attachments, flags };
        Cell { content, reply, cell_version: flat.cell_version, source_version: flat.source_version }
    }
}
