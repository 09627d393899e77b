//! Variables of a kernel and the rows of its tables. Ephemeral: neither a question nor its answer enters the log.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use notarium_core::RawJson;

use crate::connection_schema::cut;

/// The feature of a server, and of a runtime agent, that answers the questions `variables`, `read_table` and `summarize_column`.
pub const KERNEL_TABLES: &str = "kernel_tables";
/// Rows of one answer at most.
pub const MAX_TABLE_ROWS: u32 = 10_000;
/// Filters of one question.
pub const MAX_TABLE_FILTERS: usize = 20;
/// Bytes of a text that is looked for, and of a name.
pub const MAX_TABLE_TEXT_BYTES: usize = 1 << 10;
/// Bytes of the rows of one answer.
const MAX_PAGE_BYTES: usize = 1 << 20;
/// Columns of one answer.
const MAX_PAGE_COLUMNS: usize = 2_100;
/// Variables of one answer.
const MAX_VARIABLES: usize = 500;
/// Bytes of a variable's preview.
const MAX_PREVIEW_BYTES: usize = 1 << 10;

/// Names a table in a kernel's memory: exactly one of both.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TableName {
    /// What the output says in `table`: the very frame that it shows, whatever its variable holds by now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// A variable that holds a data frame or a series of pandas or polars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
}

/// Asks for rows of a table, in an order, of those that pass.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadTable {
    /// The table.
    pub of: TableName,
    /// The first row wanted, of those that pass in their order.
    #[serde(default)]
    pub first: u64,
    /// How many rows; at most 10,000.
    pub count: u32,
    /// Absent: the order of the table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort: Option<TableSort>,
    /// All of them must pass; at most 20.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<TableFilter>,
    /// Only rows with this in the text of a column, in small letters or capitals. At most 1 KiB.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub search: String,
}

/// By which column rows are sorted. Rows without a value come last, equal ones keep their order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TableSort {
    /// Its place in `columns`.
    pub column: u32,
    /// From the largest to the smallest.
    #[serde(default)]
    pub is_descending: bool,
}

/// What the value of a column must be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TableFilter {
    /// Its place in `columns`.
    pub column: u32,
    /// How it is compared: numbers and times as such where `value` is one, everything else as text in small letters.
    pub operator: TableOperator,
    /// Empty for `empty` and `not_empty`. At most 1 KiB.
    #[serde(default)]
    pub value: String,
}

/// How a value is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TableOperator {
    /// Its text has the other.
    Contains,
    /// Its text does not have it.
    Lacks,
    /// The same.
    Equal,
    /// Not the same, or missing.
    NotEqual,
    /// Less than.
    Less,
    /// Less or the same.
    AtMost,
    /// More than.
    More,
    /// More or the same.
    AtLeast,
    /// Missing, or an empty text.
    Empty,
    /// Neither.
    NotEmpty,
}

/// Asks what a column of a table holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SummarizeColumn {
    /// The table.
    pub of: TableName,
    /// Its place in `columns`.
    pub column: u32,
}

/// A column of a table. The columns of the index come first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TableColumn {
    /// As text; names need not differ, and that of an index may be empty.
    pub name: String,
    /// In the library's words: `int64`, `datetime64[ns, UTC]`, `String` …
    #[serde(rename = "type")]
    pub column_type: String,
    /// `integer`, `number`, `boolean`, `datetime`, `text` or `any`; others may come.
    pub kind: String,
    /// What the library writes where there is no value. Absent: `NaN`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// It is of the index.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_index: bool,
}

/// Rows of a table, as it is in the kernel now.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TablePage {
    /// Names the table in later questions.
    pub table: String,
    /// What it is: `pandas.DataFrame`, `polars.Series` …
    pub kind: String,
    /// How many rows it has.
    pub rows: u64,
    /// How many of them pass.
    pub matching: u64,
    /// The place of the first row of `data` among those that pass.
    pub first: u64,
    /// At most 2,000.
    pub columns: Vec<TableColumn>,
    /// How many more columns it has.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub columns_left_out: u64,
    /// Row by row, a value for each column: `null` where there is none, a number, a truth value, or a text. Whole numbers
    /// beyond 2^53 and numbers that are not finite (`inf`, `-inf`, `NaN`) are texts.
    #[schemars(with = "Vec<Vec<RawJson>>")]
    pub data: Vec<Vec<Value>>,
    /// Fewer rows than asked for fit in one answer: ask on behind the last.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
    /// Its shape, its types or its first rows are others than when the output showed it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_changed: bool,
}

/// What a column holds. What makes no sense for its type, or takes too long, is absent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ColumnSummary {
    /// The column.
    pub column: TableColumn,
    /// Of the table.
    pub rows: u64,
    /// Rows without a value.
    pub missing: u64,
    /// How many different values there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distinct: Option<u64>,
    /// The smallest value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<RawJson>")]
    pub min: Option<Value>,
    /// The largest value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<RawJson>")]
    pub max: Option<Value>,
    /// The arithmetic mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<RawJson>")]
    pub mean: Option<Value>,
    /// The standard deviation of a sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<RawJson>")]
    pub std: Option<Value>,
    /// Below which a quarter, half and three quarters of the values lie.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<RawJson>")]
    pub quartiles: Vec<Value>,
    /// The most frequent values, at most 5.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub top: Vec<ValueCount>,
}

/// How often a value is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ValueCount {
    /// The value.
    #[schemars(with = "RawJson")]
    pub value: Value,
    /// In so many rows.
    pub count: u64,
}

/// The variables of a kernel: the user's own, no modules, functions or classes, and none that begins with `_`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VariableList {
    /// In the order in which they were made first; at most 200, those made last.
    pub variables: Vec<Variable>,
    /// How many more there are.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: u64,
}

/// A variable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its type, with the module where it is not Python's own.
    #[serde(rename = "type")]
    pub variable_type: String,
    /// Of arrays and tables: the length of each axis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<Vec<u64>>,
    /// Of containers and texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<u64>,
    /// Of memory, without what it refers to; absent where that is not known cheaply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The beginning of what it holds. `[hidden]`: its name says that it is a secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
    /// `read_table` reads it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_table: bool,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl TablePage {
    pub(crate) fn bounded(mut self) -> Self {
        self.columns.truncate(MAX_PAGE_COLUMNS);
        let before = self.data.len();
        self.data.truncate(MAX_TABLE_ROWS as usize);
        for row in &mut self.data {
            row.truncate(MAX_PAGE_COLUMNS);
        }
        let mut left = MAX_PAGE_BYTES;
        let fits = self.data.iter().take_while(|row| {
            let rest = left.checked_sub(bytes(row));
            left = rest.unwrap_or(0);
            rest.is_some()
        });
        let fitting = fits.count();
        self.data.truncate(fitting);
        self.is_cut |= fitting < before;
        self
    }
}

fn bytes(row: &[Value]) -> usize {
    row.iter().map(|value| value.as_str().map_or_else(|| value.to_string().len(), |text| text.len() + 2) + 1).sum()
}

impl VariableList {
    pub(crate) fn bounded(mut self) -> Self {
        let beyond = self.variables.len().saturating_sub(MAX_VARIABLES);
        self.variables.drain(..beyond);
        self.left_out += beyond as u64;
        for variable in &mut self.variables {
            cut(&mut variable.name, MAX_PREVIEW_BYTES);
            cut(&mut variable.variable_type, MAX_PREVIEW_BYTES);
            if let Some(preview) = &mut variable.preview {
                cut(preview, MAX_PREVIEW_BYTES);
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_page_ends_with_the_row_that_fits() {
        let row = vec![json!("x".repeat(1_000)), json!(1)];
        let page = TablePage { data: vec![row.clone(); 2_000], ..TablePage::default() }.bounded();
        assert_eq!((page.data.len(), page.is_cut), (MAX_PAGE_BYTES / 1_005, true));
        let page = TablePage { data: vec![row; 10], ..TablePage::default() }.bounded();
        assert_eq!((page.data.len(), page.is_cut), (10, false));
    }
}
