//! Port of the accounts to a database: statements with values, and rows with columns. The SQL is the same for every backend.

use std::borrow::Cow;

use async_trait::async_trait;
use notarium_record::Millis;

use super::{AccountError, AuditedChanges};
use crate::StoreError;

pub(crate) type Read<T> = Result<T, sqlx::Error>;

/// Value of a statement; a time or number is below 2^53.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ColumnValue {
    Text(Option<String>),
    Number(Option<i64>),
    Flag(bool),
    Bytes(Vec<u8>),
}

/// A statement with values for `$1`, `$2` …
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TableStatement {
    pub(crate) sql: Cow<'static, str>,
    pub(crate) values: Vec<ColumnValue>,
}

impl TableStatement {
    pub(crate) fn new(sql: impl Into<Cow<'static, str>>) -> Self {
        Self { sql: sql.into(), values: Vec::new() }
    }

    pub(crate) fn bind(mut self, value: impl Into<ColumnValue>) -> Self {
        self.values.push(value.into());
        self
    }
}

/// Binds the values of a [`TableStatement`] to a query of sqlx, whatever its database.
macro_rules! bound {
    ($statement:expr) => {{
        let statement = $statement;
        let mut query = sqlx::query(sqlx::AssertSqlSafe(statement.sql.into_owned()));
        for value in statement.values {
            query = match value {
                $crate::accounts::ColumnValue::Text(text) => query.bind(text),
                $crate::accounts::ColumnValue::Number(number) => query.bind(number),
                $crate::accounts::ColumnValue::Flag(flag) => query.bind(flag),
                $crate::accounts::ColumnValue::Bytes(bytes) => query.bind(bytes),
            };
        }
        query
    }};
}
pub(crate) use bound;

impl From<&str> for ColumnValue {
    fn from(text: &str) -> Self {
        Self::Text(Some(text.to_owned()))
    }
}

impl From<&String> for ColumnValue {
    fn from(text: &String) -> Self {
        Self::Text(Some(text.clone()))
    }
}

impl From<String> for ColumnValue {
    fn from(text: String) -> Self {
        Self::Text(Some(text))
    }
}

impl From<Option<&str>> for ColumnValue {
    fn from(text: Option<&str>) -> Self {
        Self::Text(text.map(str::to_owned))
    }
}

impl From<&Option<String>> for ColumnValue {
    fn from(text: &Option<String>) -> Self {
        Self::Text(text.clone())
    }
}

impl From<u64> for ColumnValue {
    fn from(number: u64) -> Self {
        Some(number).into()
    }
}

impl From<Option<u64>> for ColumnValue {
    fn from(number: Option<u64>) -> Self {
        Self::Number(number.map(|number| i64::try_from(number).unwrap_or(i64::MAX)))
    }
}

impl From<usize> for ColumnValue {
    fn from(number: usize) -> Self {
        Self::Number(Some(i64::try_from(number).unwrap_or(i64::MAX)))
    }
}

impl From<bool> for ColumnValue {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<Option<String>> for ColumnValue {
    fn from(text: Option<String>) -> Self {
        Self::Text(text)
    }
}

impl From<&[u8]> for ColumnValue {
    fn from(bytes: &[u8]) -> Self {
        Self::Bytes(bytes.to_vec())
    }
}

/// Columns of a row, by name.
pub(crate) trait RowColumns {
    fn text(&self, column: &str) -> Result<String, sqlx::Error>;
    fn optional_text(&self, column: &str) -> Result<Option<String>, sqlx::Error>;
    fn number(&self, column: &str) -> Result<Millis, sqlx::Error>;
    fn optional_number(&self, column: &str) -> Result<Option<Millis>, sqlx::Error>;
    fn flag(&self, column: &str) -> Result<bool, sqlx::Error>;
    fn bytes(&self, column: &str) -> Result<Vec<u8>, sqlx::Error>;
}

/// [`RowColumns`] of a row of sqlx.
macro_rules! impl_columns {
    ($row:ty) => {
        impl $crate::accounts::RowColumns for $row {
            fn text(&self, column: &str) -> Result<String, sqlx::Error> {
                self.try_get(column)
            }

            fn optional_text(&self, column: &str) -> Result<Option<String>, sqlx::Error> {
                self.try_get(column)
            }

            fn number(&self, column: &str) -> Result<u64, sqlx::Error> {
                u64::try_from(self.try_get::<i64, _>(column)?).map_err(|error| sqlx::Error::Decode(error.into()))
            }

            fn optional_number(&self, column: &str) -> Result<Option<u64>, sqlx::Error> {
                let number = self.try_get::<Option<i64>, _>(column)?.map(u64::try_from).transpose();
                number.map_err(|error| sqlx::Error::Decode(error.into()))
            }

            fn flag(&self, column: &str) -> Result<bool, sqlx::Error> {
                self.try_get(column)
            }

            fn bytes(&self, column: &str) -> Result<Vec<u8>, sqlx::Error> {
                self.try_get(column)
            }
        }
    };
}
pub(crate) use impl_columns;

/// An open transaction.
#[async_trait]
pub(crate) trait Tables: Send {
    /// Runs a statement; returns the number of changed rows.
    async fn execute(&mut self, statement: TableStatement) -> Result<u64, sqlx::Error>;

    /// True if the statement has a row.
    async fn has(&mut self, statement: TableStatement) -> Result<bool, sqlx::Error>;

    /// Returns the column `number` of the statement's only row.
    async fn number(&mut self, statement: TableStatement) -> Result<u64, sqlx::Error>;
}

/// Runs statements in a transaction that is open; false: the first changed no row.
pub(crate) async fn run_all(
    tables: &mut dyn Tables,
    statements: Vec<TableStatement>,
    is_guarded: bool,
) -> Result<bool, sqlx::Error> {
    for (index, statement) in statements.into_iter().enumerate() {
        let changed = tables.execute(statement).await?;
        if index == 0 && is_guarded && changed == 0 {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A database with the accounts' tables. Each is an [`super::AccountStore`].
#[async_trait]
pub(crate) trait AccountTables: Send + Sync + 'static {
    type Row: RowColumns + Send + Sync;

    async fn rows(&self, statement: TableStatement) -> Result<Vec<Self::Row>, StoreError>;

    /// Runs one statement that may be repeated; returns the number of changed rows.
    async fn run(&self, statement: TableStatement) -> Result<u64, StoreError>;

    /// Expression for the database's clock, in milliseconds since 1970.
    const NOW: &'static str;

    /// Statement for notebooks whose events go beyond their row in `notice_positions`; `$1`: the id before the first, `$2`: their number.
    const NOTICE_LAG: &'static str;

    /// Runs statements as a transaction, in order. False: the first was to change a row (`is_guarded`) and did not, so nothing was done.
    /// They may be run again: the first then finds its row changed.
    async fn transact(&self, statements: Vec<TableStatement>, is_guarded: bool) -> Result<bool, StoreError>;

    /// Runs [`super::changes::make_all`] as a transaction, one after the other with those of other nodes.
    async fn change(&self, all: &[AuditedChanges]) -> Result<(), AccountError>;

    /// Translates an error of a row that was read.
    fn unreadable(&self, error: sqlx::Error) -> StoreError;
}
