//! The past of one notebook: search in its cells, differences between versions, authors of characters, names of people.

use std::collections::BTreeMap;

use notarium_core::{Actor, CellId, Millis, Version};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Subjects whose names are wanted, signed.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NamesQuery {
    /// `user:ID`, `share_link:ID` or `agent:ID`, at most 1,000.
    pub subjects: Vec<String>,
}

/// Content to remove from a notebook's record for good.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewRedaction {
    /// The content.
    pub target: ContentToRedact,
    /// Why: 1 to 500 characters, which the record keeps. Not needed for a preview.
    #[serde(default)]
    pub reason: String,
    /// `true`: nothing is changed; the answer says what would be.
    #[serde(default)]
    pub preview: bool,
}

/// Content of a redaction.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ContentToRedact {
    /// All texts of one event.
    Event {
        /// The event's version.
        version: Version,
    },
    /// A text, wherever it stood: in cells, also if it was typed in pieces, in outputs, messages, arguments and blobs.
    Text {
        /// The exact text, 4 to 10,000 characters. It is not recorded.
        text: String,
    },
    /// The whole past of a cell: its texts, runs, outputs, replies and comments.
    Cell {
        /// The cell, live or in the trash.
        cell_id: CellId,
    },
}

/// Changes of a redaction.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Redaction {
    /// Versions of the events whose content goes.
    pub versions: Vec<Version>,
    /// Number of large outputs and attachments that go.
    pub blobs: u64,
    /// Version of the redaction itself. Absent in a preview.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epoch: Option<Version>,
}

/// A text to find in the sources of a notebook's cells, capitals aside.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlacesQuery {
    /// 1 to 1,000 characters on one line.
    pub text: String,
    /// `true`: also where it stood once.
    #[serde(default)]
    pub ever: bool,
}

/// Places of a text.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct FoundPlaces {
    /// Those where it stands now, in page order; then with `ever` those where it stood, the latest first.
    pub found: Vec<FoundPlace>,
    /// False: there are more, or a part of the past is not looked through yet; search again later, or for a longer text.
    pub is_complete: bool,
    /// With `ever`: the version up to which the past is looked through.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub looked_up_to: Option<Version>,
}

/// A line that holds the text, or held it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundPlace {
    /// The cell.
    pub cell_id: CellId,
    /// The whole line; of the past, the latest in the cell that held the text.
    pub line: String,
    /// Number of the line in the cell, from 1. Absent: it does not stand there now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_number: Option<usize>,
    /// With `ever`: the first version of this stretch at which the cell held the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<Version>,
    /// The last version of this stretch. Absent: it stands there now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<Version>,
    /// True if the cell is in the trash now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_deleted: bool,
}

/// Versions to compare.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiffQuery {
    /// The version to begin with.
    pub from: Version,
    /// The version to compare it with, usually a later one. Absent: the current one.
    pub to: Option<Version>,
}

/// The stretch of a report.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReportQuery {
    /// Events after this version; absent: from the beginning.
    pub from: Option<Version>,
    /// Events up to this version; absent: to the end.
    pub to: Option<Version>,
}

/// Differences between two versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotebookDiff {
    /// The version to begin with.
    pub from: Version,
    /// The version that it was compared with.
    pub to: Version,
    /// The titles at `from` and at `to`. Absent: they are the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<(String, String)>,
    /// Cells that differ, in page order at `to`; then those that `to` does not have.
    pub cells: Vec<CellDiff>,
}

/// Differences of a cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellDiff {
    /// The cell.
    pub cell_id: CellId,
    /// Any of `added`, `deleted`, `moved`, `edited`, `retyped`, `run`.
    pub changes: Vec<String>,
    /// A unified diff of the source; empty if the source is the same.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
}

/// Cells whose authors are asked for.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BlameQuery {
    /// A cell, also one in the trash. Absent: all cells.
    pub cell: Option<CellId>,
    /// A past version; absent: the current one.
    pub at: Option<Version>,
}

/// Authors of all characters of cells at a version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotebookBlame {
    /// The version.
    pub version: Version,
    /// The cells, in page order.
    pub cells: Vec<CellBlame>,
    /// Author and time of each event that `runs` name, by its version.
    pub events: BTreeMap<Version, BlamedEvent>,
}

/// Authors of a cell's characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellBlame {
    /// The cell.
    pub cell_id: CellId,
    /// Its text at this version.
    pub source: String,
    /// Runs of characters from the first to the last: together they are as long as `source`.
    pub runs: Vec<BlamedRun>,
}

/// Characters that one event wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlamedRun {
    /// UTF-16 code units.
    pub length: usize,
    /// Version of the event.
    pub version: Version,
}

/// Author and time of an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlamedEvent {
    /// Author of the event.
    pub actor: Actor,
    /// Milliseconds since 1970.
    pub recorded_at: Millis,
}
