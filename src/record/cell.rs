//! Cell as events carry it: type, source, place, metadata, flags.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::json::RawObject;
use crate::order_key::OrderKey;

/// Type of a cell. `.ipynb` files have `sql` as code and `prompt` as Markdown, with Notarium's mark in the metadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CellType {
    /// Source that the kernel runs.
    Code,
    /// Markdown, shown as a page.
    Markdown,
    /// Text that is neither run nor rendered.
    Raw,
    /// An SQL query, which the kernel runs; in `.ipynb` a code cell.
    Sql,
    /// A message to an assistant, whose reply the cell shows; in `.ipynb` a Markdown cell.
    Prompt,
}

/// First line of the text that a kernel gets for an SQL cell. The run's record has it too, so that the text alone shows
/// that it is SQL.
pub const SQL_LINE: &str = "%%notarium_sql\n";

impl CellType {
    /// Returns true if a kernel runs cells of this type.
    pub fn runs(self) -> bool {
        matches!(self, Self::Code | Self::Sql)
    }

    /// Returns the text that a kernel gets for a source.
    pub fn text_to_run(self, source: &str) -> Cow<'_, str> {
        match self {
            Self::Sql => Cow::Owned(format!("{SQL_LINE}{source}")),
            _ => Cow::Borrowed(source),
        }
    }
}

/// Flags of a cell: its display and its use, not its content.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CellFlags {
    /// Always in the assistant's context.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// Never in the assistant's context.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub skipped: bool,
    /// Only the outputs are shown.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub source_hidden: bool,
    /// Only the source is shown.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub outputs_hidden: bool,
    /// For a heading: the cells below it, up to the next heading, are not shown.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub heading_collapsed: bool,
    /// A flag for exporters. Notarium stores it and does not use it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub exported: bool,
    /// Number of a bookmark, 1 to 9. Absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bookmark: Option<u8>,
}

/// Content of a cell, as events carry it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellContent {
    /// The cell's type.
    pub cell_type: CellType,
    /// The cell's source, at most 1 MiB, with `\n` line breaks only. May be empty.
    pub source: String,
    /// The cell's place. Cells are sorted by this key, then by id.
    pub order_key: OrderKey,
    /// The cell's metadata, as in nbformat. Absent: `{}`.
    #[serde(default, skip_serializing_if = "RawObject::is_empty")]
    pub metadata: RawObject,
    /// File name to MIME bundle, as in nbformat. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attachments: Option<RawObject>,
    /// The cell's flags. Absent: none is set.
    #[serde(default, skip_serializing_if = "is_default")]
    pub flags: CellFlags,
}

impl CellContent {
    /// Returns the text that a kernel gets for the cell.
    pub fn text_to_run(&self) -> Cow<'_, str> {
        self.cell_type.text_to_run(&self.source)
    }
}

pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
