//! Questions about variables of a kernel and the rows of its tables. Ephemeral: neither question nor answer enters the log.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use notarium_core::RawJson;

use crate::connection_schema::{cut, fitting};

/// Feature of a server, and of a runtime agent, that answers the questions `variables`, `read_table` and `summarize_column`.
pub const KERNEL_TABLES: &str = "kernel_tables";
/// Maximum rows in one answer.
pub const MAX_TABLE_ROWS: u32 = 10_000;
/// Maximum filters in one question.
pub const MAX_TABLE_FILTERS: usize = 20;
/// Maximum bytes of a search text, and of a name.
pub const MAX_TABLE_TEXT_BYTES: usize = 1 << 10;
/// Maximum bytes of the rows in one answer.
const MAX_PAGE_BYTES: usize = 1 << 20;
/// Maximum columns in one answer.
const MAX_PAGE_COLUMNS: usize = 2_100;
/// Maximum frequent values in a column's summary.
const MAX_TOP_VALUES: usize = 5;
/// Maximum quartiles in a column's summary.
const MAX_QUARTILES: usize = 3;
/// Maximum variables in one answer.
const MAX_VARIABLES: usize = 500;
/// Maximum bytes of a variable's preview.
const MAX_PREVIEW_BYTES: usize = 1 << 10;

/// Name of a table in a kernel's memory: exactly one of the two fields.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TableName {
    /// The `table` that the output carries: the very frame that it shows, even if its variable holds another by now.
    pub table: Option<String>,
    /// A variable that holds a data frame or a series of pandas or polars.
    pub variable: Option<String>,
}

/// Requests rows of a table that pass search and filters, sorted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadTable {
    /// The table.
    pub of: TableName,
    /// Offset of the first row, among the matching rows in sort order; from 0.
    #[serde(default)]
    pub first: u64,
    /// Number of rows; at most 10,000.
    pub count: u32,
    /// Sort order; absent: the order of the table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort: Option<TableSort>,
    /// Filters, all of which a row must pass; at most 20.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<TableFilter>,
    /// Returns only rows in which the text of a column contains this, ignoring case. At most 1 KiB.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub search: String,
}

/// Sort order by one column. Rows without a value come last; equal rows keep their order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TableSort {
    /// Index in `columns`, from 0.
    pub column: u32,
    /// Sorts from the largest to the smallest.
    #[serde(default)]
    pub is_descending: bool,
}

/// Condition on the value of a column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TableFilter {
    /// Index in `columns`, from 0.
    pub column: u32,
    /// Comparison: as numbers or times if `value` is one, else as text in lower case.
    pub operator: TableOperator,
    /// Value to compare with; empty for `empty` and `not_empty`. At most 1 KiB.
    #[serde(default)]
    pub value: String,
}

/// Comparison of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TableOperator {
    /// Its text contains the other.
    Contains,
    /// Its text does not contain the other.
    Lacks,
    /// Equal.
    Equal,
    /// Not equal, or missing.
    NotEqual,
    /// Less than.
    Less,
    /// Less than or equal.
    AtMost,
    /// Greater than.
    More,
    /// Greater than or equal.
    AtLeast,
    /// Missing, or an empty text.
    Empty,
    /// Neither missing nor an empty text.
    NotEmpty,
}

/// Requests a summary of a column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SummarizeColumn {
    /// The table.
    pub of: TableName,
    /// Index in `columns`, from 0.
    pub column: u32,
}

/// A column of a table. Index columns come first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TableColumn {
    /// Column name as text; not necessarily unique, and empty for an unnamed index.
    pub name: String,
    /// Type as the library names it: `int64`, `datetime64[ns, UTC]`, `String` …
    #[serde(rename = "type")]
    pub column_type: String,
    /// `integer`, `number`, `boolean`, `datetime`, `text` or `any`; more may be added.
    pub kind: String,
    /// Text that the library prints for a missing value. Absent: `NaN`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// True for a column of the index.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_index: bool,
}

/// Rows of a table, as it is in the kernel now.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TablePage {
    /// Name of the table in later questions.
    pub table: String,
    /// Type of the table: `pandas.DataFrame`, `polars.Series` …
    pub kind: String,
    /// Number of rows of the table.
    pub rows: u64,
    /// Number of rows that pass search and filters.
    pub matching: u64,
    /// Offset of the first row of `data` among the matching rows.
    pub first: u64,
    /// Columns, at most 2,000.
    pub columns: Vec<TableColumn>,
    /// Number of further columns that were left out.
    #[serde(default, skip_serializing_if = "notarium_core::is_default")]
    pub columns_left_out: u64,
    /// Rows, each with a value per column: `null` where there is none, a number, a boolean, or a text. Integers beyond 2^53 and numbers
    /// that are not finite (`inf`, `-inf`, `NaN`) are texts.
    #[schemars(with = "Vec<Vec<RawJson>>")]
    pub data: Vec<Vec<Value>>,
    /// The answer has fewer rows than requested because of its size: request the next ones from behind the last.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
    /// Shape, types or first rows differ from those that the output showed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_changed: bool,
}

/// Summary of a column. Values that make no sense for its type, or take too long to compute, are absent.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ColumnSummary {
    /// The column.
    pub column: TableColumn,
    /// Number of rows of the table.
    pub rows: u64,
    /// Number of rows without a value.
    pub missing: u64,
    /// Number of distinct values.
    pub distinct: Option<u64>,
    /// The smallest value.
    #[schemars(with = "Option<RawJson>")]
    pub min: Option<Value>,
    /// The largest value.
    #[schemars(with = "Option<RawJson>")]
    pub max: Option<Value>,
    /// The arithmetic mean.
    #[schemars(with = "Option<RawJson>")]
    pub mean: Option<Value>,
    /// The sample standard deviation.
    #[schemars(with = "Option<RawJson>")]
    pub std: Option<Value>,
    /// The first, second and third quartile.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<RawJson>")]
    pub quartiles: Vec<Value>,
    /// The most frequent values, at most 5.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub top: Vec<ValueCount>,
}

/// A value and its frequency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ValueCount {
    /// The value.
    #[schemars(with = "RawJson")]
    pub value: Value,
    /// Number of rows with this value.
    pub count: u64,
}

/// Variables of a kernel: the user's own, without modules, functions, classes, and names that begin with `_`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VariableList {
    /// Variables in the order of their first assignment; at most 200, the latest.
    pub variables: Vec<Variable>,
    /// Number of further variables that were left out.
    #[serde(default, skip_serializing_if = "notarium_core::is_default")]
    pub left_out: u64,
}

/// A variable.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Variable {
    /// Variable name.
    pub name: String,
    /// Type name, with its module unless it is a built-in of Python.
    #[serde(rename = "type")]
    pub variable_type: String,
    /// Length of each axis; for arrays and tables.
    pub shape: Option<Vec<u64>>,
    /// Number of elements or characters; for containers and texts.
    pub length: Option<u64>,
    /// Size in memory in bytes, without referenced objects; absent if it is expensive to compute.
    pub bytes: Option<u64>,
    /// Beginning of the value as text. `[hidden]`: the variable's name suggests a secret.
    pub preview: Option<String>,
    /// True if `read_table` can read it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_table: bool,
}

impl TablePage {
    pub(crate) fn bounded(mut self) -> Self {
        self.columns_left_out += self.columns.len().saturating_sub(MAX_PAGE_COLUMNS) as u64;
        self.columns.truncate(MAX_PAGE_COLUMNS);
        let before = self.data.len();
        self.data.truncate(MAX_TABLE_ROWS as usize);
        for row in &mut self.data {
            row.truncate(MAX_PAGE_COLUMNS);
        }
        self.data.truncate(fitting(&self.data, MAX_PAGE_BYTES, |row| bytes(row)));
        self.is_cut |= self.data.len() < before;
        self
    }
}

impl ColumnSummary {
    pub(crate) fn bounded(mut self) -> Self {
        cut(&mut self.column.name, MAX_PREVIEW_BYTES);
        self.quartiles.truncate(MAX_QUARTILES);
        self.top.truncate(MAX_TOP_VALUES);
        let optional = [&mut self.min, &mut self.max, &mut self.mean, &mut self.std].into_iter().flatten();
        for value in optional.chain(&mut self.quartiles).chain(self.top.iter_mut().map(|it| &mut it.value)) {
            match value {
                Value::String(text) => _ = cut(text, MAX_PREVIEW_BYTES),
                Value::Array(_) | Value::Object(_) => *value = Value::Null,
                Value::Null | Value::Bool(_) | Value::Number(_) => {}
            }
        }
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

    #[test]
    fn a_page_counts_the_columns_that_are_cut() {
        let columns =
            (0..MAX_PAGE_COLUMNS + 3).map(|at| json!({"name": at.to_string(), "type": "int64", "kind": "integer"}));
        let page: TablePage = serde_json::from_value(json!({
            "table": "t", "kind": "pandas.DataFrame", "columns": columns.collect::<Vec<_>>(), "data": [], "rows": 0,
            "matching": 0, "first": 0, "columns_left_out": 2
        }))
        .unwrap();
        let page = page.bounded();
        assert_eq!((page.columns.len(), page.columns_left_out), (MAX_PAGE_COLUMNS, 5));
    }

    #[test]
    fn a_summary_has_short_values_and_few_of_them() {
        let long = "x".repeat(MAX_PREVIEW_BYTES + 1);
        let summary: ColumnSummary = serde_json::from_value(json!({
            "column": {"name": long, "type": "str", "kind": "text"}, "rows": 9, "missing": 0, "min": long, "max": 3, "mean": {"deep": [long]},
            "quartiles": [1, 2, 3, 4], "top": vec![json!({"value": long, "count": 1}); 9]
        }))
        .unwrap();
        let summary = summary.bounded();
        assert_eq!((summary.quartiles.len(), summary.top.len()), (MAX_QUARTILES, MAX_TOP_VALUES));
        assert_eq!((summary.max, summary.mean), (Some(json!(3)), Some(Value::Null)));
        let texts = [summary.min.as_ref(), summary.top.first().map(|it| &it.value)];
        assert!(texts.into_iter().all(|it| it.and_then(Value::as_str).is_some_and(|it| it.len() <= MAX_PREVIEW_BYTES)));
        assert!(summary.column.name.len() <= MAX_PREVIEW_BYTES);
    }
}
