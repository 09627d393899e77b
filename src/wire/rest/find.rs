//! Search in the cells of one notebook, now and in its past.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use notarium_core::{CellId, Version};

/// Subjects whose names are wanted, signed.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NamesQuery {
    /// `user:ID`, `share_link:ID` or `agent:ID`, at most 1,000.
    pub subjects: Vec<String>,
}

/// A text to find in the sources of a notebook's cells, capitals aside.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindQuery {
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
