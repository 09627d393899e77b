//! A cell as events carry it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::json::RawObject;
use crate::order_key::OrderKey;

/// What a cell is. `sql` and `prompt` are written to `.ipynb` as code and markdown with our mark in the metadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CellType {
    Code,
    Markdown,
    Raw,
    Sql,
    Prompt,
}

/// Marks on a cell that change how it is shown or used, never what it says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CellFlags {
    /// Always in the assistant's context.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// Never in the assistant's context.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub skipped: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub source_hidden: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub outputs_hidden: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub heading_collapsed: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub exported: bool,
    /// 1 to 9.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bookmark: Option<u8>,
}

/// A cell as an event carries it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellContent {
    pub cell_type: CellType,
    pub source: String,
    pub order_key: OrderKey,
    #[serde(default, skip_serializing_if = "RawObject::is_empty")]
    pub metadata: RawObject,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attachments: Option<RawObject>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub flags: CellFlags,
}

pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
