//! One statement for many rows: sqlx costs 15–20 µs a *statement*, so that a batch is one.

use std::sync::{Arc, OnceLock};

use sqlx::sqlite::SqliteArguments;
use sqlx::{Arguments as _, AssertSqlSafe, SqliteConnection};

/// 1, 2, 4 … rows: few enough statements to keep all of them prepared.
const SIZES: usize = 10;
/// The most rows of one statement.
pub(super) const MAX_ROWS: usize = 1 << (SIZES - 1);

/// A row that binds exactly as many arguments as its statement has columns; the first is never NULL.
pub(super) trait Row {
    fn bind(&self, arguments: &mut SqliteArguments) -> Result<(), sqlx::error::BoxDynError>;
}

/// An insert that comes in fixed sizes. Rows that are not given stay unbound, hence NULL, and are left out.
pub(super) struct MultiRow {
    insert: &'static str,
    columns: usize,
    sizes: [OnceLock<Arc<str>>; SIZES],
}

impl MultiRow {
    pub(super) const fn new(insert: &'static str, columns: usize) -> Self {
        Self { insert, columns, sizes: [const { OnceLock::new() }; SIZES] }
    }

    fn sql(&self, rows: usize) -> Arc<str> {
        let rows = rows.next_power_of_two();
        self.sizes[rows.trailing_zeros() as usize].get_or_init(|| self.build(rows)).clone()
    }

    fn build(&self, rows: usize) -> Arc<str> {
        let row = format!("({})", vec!["?"; self.columns].join(","));
        let values = vec![row; rows].join(",");
        format!("{} SELECT * FROM (VALUES {values}) WHERE column1 IS NOT NULL", self.insert).into()
    }

    /// Writes all rows, [`MAX_ROWS`] at a time.
    pub(super) async fn execute<R: Row>(
        &self,
        connection: &mut SqliteConnection,
        rows: &[R],
    ) -> Result<(), sqlx::Error> {
        for chunk in rows.chunks(MAX_ROWS) {
            let mut arguments = SqliteArguments::default();
            arguments.reserve(chunk.len() * self.columns, 0);
            for row in chunk {
                row.bind(&mut arguments).map_err(sqlx::Error::Encode)?;
            }
            sqlx::query_with(AssertSqlSafe(self.sql(chunk.len())), arguments).execute(&mut *connection).await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_rounded_up_to_the_next_power_of_two() {
        let statement = MultiRow::new("INSERT INTO t", 2);
        assert_eq!(&*statement.sql(1), "INSERT INTO t SELECT * FROM (VALUES (?,?)) WHERE column1 IS NOT NULL");
        assert_eq!(statement.sql(3).matches("(?,?)").count(), 4);
        assert_eq!(statement.sql(MAX_ROWS).matches("(?,?)").count(), MAX_ROWS);
    }
}
