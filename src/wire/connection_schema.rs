//! Tables and columns of a database connection, never rows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The feature of a server, and of a runtime agent, that answers the question `describe`.
pub const CONNECTION_SCHEMAS: &str = "connection_schemas";
/// Maximum tables in one answer.
pub const MAX_TABLES: usize = 1_000;
/// Maximum columns of all tables in one answer.
pub const MAX_COLUMNS: usize = 10_000;
/// Maximum bytes of all names and types in one answer.
const MAX_BYTES: usize = 256 << 10;
/// Maximum bytes of one name. Tables and columns with a longer one are left out.
const MAX_NAME_BYTES: usize = 1 << 10;
/// Maximum bytes of a connection's name in a question, and of the text that table names must contain.
pub const MAX_ASKED_BYTES: usize = 1 << 10;

/// Tables and views of a connection, with their columns. Left out: system schemas, partitions, and tables that the account may not read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConnectionSchema {
    /// `postgresql`, `sqlite` or `duckdb`.
    pub kind: String,
    /// At most 1,000; tables that need no schema before their name come first.
    pub tables: Vec<Table>,
    /// Number of further tables that were left out.
    #[serde(default, skip_serializing_if = "notarium_core::is_default")]
    pub tables_left_out: u64,
}

/// A table or a view.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Table {
    /// Catalog, if it is not the default one: a database that DuckDB has attached, or `temp`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub catalog: Option<String>,
    /// Schema of the table.
    pub schema: String,
    /// Unquoted name; SQL may need quotes around it.
    pub name: String,
    /// `table`, `view`, `materialized_view` or `foreign_table`.
    pub kind: String,
    /// True if SQL finds the table by its name alone.
    pub is_visible: bool,
    /// Columns in table order; at most 10,000 over all tables.
    pub columns: Vec<Column>,
    /// Number of further columns that were left out.
    #[serde(default, skip_serializing_if = "notarium_core::is_default")]
    pub columns_left_out: u64,
}

/// A column of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Column {
    /// Unquoted name; SQL may need quotes around it.
    pub name: String,
    /// Type as the database names it, at most 200 characters. Empty: SQLite has columns without a type.
    #[serde(rename = "type")]
    pub column_type: String,
    /// True if the column may hold NULL.
    pub nullable: bool,
}

impl ConnectionSchema {
    /// Cuts the schema to the limits of an answer, whoever made it.
    pub(crate) fn bounded(mut self) -> Self {
        let mut budget = AnswerBudget { columns: MAX_COLUMNS, bytes: MAX_BYTES };
        cut(&mut self.kind, MAX_NAME_BYTES);
        let all = self.tables.len();
        self.tables.truncate(MAX_TABLES);
        self.tables.retain_mut(|table| budget.has(&table.texts()) && table.fit(&mut budget));
        self.tables_left_out = self.tables_left_out.saturating_add((all - self.tables.len()) as u64);
        self
    }

    /// Returns true if tables or columns were left out.
    pub fn is_cut(&self) -> bool {
        self.tables_left_out > 0 || self.tables.iter().any(|table| table.columns_left_out > 0)
    }
}

impl Table {
    fn texts(&self) -> [&str; 4] {
        [self.catalog.as_deref().unwrap_or_default(), &self.schema, &self.name, &self.kind]
    }

    /// Leaves out columns beyond the limits; always returns true, so that the table itself stays.
    fn fit(&mut self, budget: &mut AnswerBudget) -> bool {
        let all = self.columns.len();
        self.columns.retain(|column| {
            let fits = budget.columns > 0 && budget.has(&[&column.name, &column.column_type]);
            budget.columns -= usize::from(fits);
            fits
        });
        self.columns_left_out = self.columns_left_out.saturating_add((all - self.columns.len()) as u64);
        true
    }

    /// Returns `schema.name`, or the name alone if SQL finds the table by it.
    pub fn short_name(&self) -> String {
        match (self.is_visible, &self.catalog) {
            (true, _) => self.name.clone(),
            (false, Some(catalog)) => format!("{catalog}.{}.{}", self.schema, self.name),
            (false, None) => format!("{}.{}", self.schema, self.name),
        }
    }
}

/// Columns and bytes that are still free in an answer.
struct AnswerBudget {
    columns: usize,
    bytes: usize,
}

impl AnswerBudget {
    /// Returns true if the texts fit, and takes their bytes from the free ones.
    fn has(&mut self, texts: &[&str]) -> bool {
        let bytes: usize = texts.iter().map(|text| text.len()).sum();
        if texts.iter().any(|text| text.len() > MAX_NAME_BYTES) || bytes > self.bytes {
            return false;
        }
        self.bytes -= bytes;
        true
    }
}

/// Number of first items that have at most `max_bytes` together.
pub(crate) fn fitting<T>(items: &[T], max_bytes: usize, bytes: impl Fn(&T) -> usize) -> usize {
    let mut sum = 0;
    let fits = items.iter().take_while(|item| {
        sum += bytes(item);
        sum <= max_bytes
    });
    fits.count()
}

/// Cuts a text to `max_bytes` at a character boundary; returns true if it was longer.
pub(crate) fn cut(text: &mut String, max_bytes: usize) -> bool {
    let is_longer = text.len() > max_bytes;
    text.truncate(text.floor_char_boundary(max_bytes));
    is_longer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(name: &str, columns: usize) -> Table {
        let column = |_| Column { name: "c".to_owned(), column_type: "int".to_owned(), nullable: true };
        Table { name: name.to_owned(), columns: (0..columns).map(column).collect(), ..Table::default() }
    }

    fn bounded(tables: Vec<Table>) -> ConnectionSchema {
        ConnectionSchema { tables, ..ConnectionSchema::default() }.bounded()
    }

    #[test]
    fn tables_and_columns_beyond_the_limits_are_counted() {
        let few = bounded(vec![table("a", 2), table("b", 0)]);
        let columns: usize = few.tables.iter().map(|table| table.columns.len()).sum();
        assert_eq!((few.tables.len(), columns, few.is_cut()), (2, 2, false));
        let many = bounded(vec![table("t", 0); MAX_TABLES + 2]);
        assert_eq!((many.tables.len(), many.tables_left_out), (MAX_TABLES, 2));
        let wide = bounded(vec![table("a", MAX_COLUMNS - 1), table("b", 3)]);
        let left_out: Vec<u64> = wide.tables.iter().map(|table| table.columns_left_out).collect();
        assert_eq!((left_out, wide.is_cut()), (vec![0, 2], true));
    }

    #[test]
    fn long_names_and_too_many_bytes_are_left_out_and_counted() {
        let long = "x".repeat(MAX_NAME_BYTES);
        let large = bounded(vec![table(&long, 0); 300]);
        assert_eq!((large.tables.len(), large.tables_left_out), (256, 44));
        let endless = bounded(vec![table(&format!("{long}x"), 1), table("b", 0)]);
        assert_eq!((endless.tables.len(), endless.tables_left_out), (1, 1));
    }

    #[test]
    fn a_table_is_called_as_short_as_sql_finds_it() {
        let mut named = Table { catalog: Some("lake".into()), schema: "s".into(), ..table("t", 0) };
        assert_eq!(named.short_name(), "lake.s.t");
        named.catalog = None;
        assert_eq!(named.short_name(), "s.t");
        named.is_visible = true;
        assert_eq!(named.short_name(), "t");
    }
}
