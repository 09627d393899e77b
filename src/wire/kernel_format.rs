//! Question `format`: code as the formatter in the kernel's Python writes it. Ephemeral: neither question nor answer enters the log.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::connection_schema::cut;

/// Feature of a server, and of a runtime agent, that answers the question `format`.
pub const KERNEL_FORMAT: &str = "kernel_format";
/// Maximum cells in one question.
pub const MAX_FORMATTED_CELLS: usize = 500;
/// Maximum bytes of all cells in one question.
pub const MAX_FORMATTED_BYTES: usize = 256 << 10;
/// Maximum bytes of all cells in one answer; larger, as a formatter may put each argument on a separate line.
const MAX_ANSWERED_BYTES: usize = 1 << 20;
/// Maximum bytes of a formatter's name.
const MAX_NAME_BYTES: usize = 64;

/// Cells to format.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FormatCells {
    /// Texts of the cells as the editor has them; at most 500 cells and 256 KiB.
    pub cells: Vec<String>,
}

/// Formatted cells.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FormattedCells {
    /// Name and version of the formatter, as in `black 26.1.0`. Absent: the kernel's Python has none, and `cells` is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub formatter: Option<String>,
    /// Texts in the order of the question; `null` for a cell that the formatter cannot parse or does not change.
    pub cells: Vec<Option<String>>,
}

impl FormattedCells {
    pub(crate) fn bounded(mut self) -> Self {
        if let Some(name) = &mut self.formatter {
            cut(name, MAX_NAME_BYTES);
        }
        self.cells.truncate(MAX_FORMATTED_CELLS);
        let mut left = MAX_ANSWERED_BYTES;
        for cell in &mut self.cells {
            let rest = left.checked_sub(cell.as_ref().map_or(0, String::len));
            // A truncated cell would be useless.
            if rest.is_none() {
                *cell = None;
            }
            left = rest.unwrap_or(left);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_bounded_and_no_cell_of_it_is_cut() {
        let large = "x".repeat(MAX_ANSWERED_BYTES - 1);
        let cells = vec![Some("a".to_owned()), Some(large), Some("b".to_owned()), None];
        let answer = FormattedCells { formatter: Some("é".repeat(100)), cells }.bounded();
        assert_eq!(answer.cells.iter().map(Option::is_some).collect::<Vec<_>>(), [true, true, false, false]);
        assert!(answer.formatter.is_some_and(|name| name.len() <= MAX_NAME_BYTES));
    }
}
