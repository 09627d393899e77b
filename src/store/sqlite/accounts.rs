//! Accounts in the data folder's database, beside the log.
//!
//! A change takes the only writing connection for one short transaction, so the log's group commits continue before and after.

use async_trait::async_trait;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use super::Sqlite;
use crate::StoreError;
use crate::accounts::{
    AccountError, AccountTables, AuditedChanges, ChangeError, RowColumns, TableStatement, Tables, bound, impl_columns,
    make_all, run_all,
};
use crate::spending::{SpendingTables, SpendingWork, WorkDone, perform};

impl_columns!(SqliteRow);

#[async_trait]
impl Tables for SqliteConnection {
    async fn execute(&mut self, statement: TableStatement) -> Result<u64, sqlx::Error> {
        Ok(bound!(statement).execute(self).await?.rows_affected())
    }

    async fn has(&mut self, statement: TableStatement) -> Result<bool, sqlx::Error> {
        Ok(bound!(statement).fetch_optional(self).await?.is_some())
    }

    async fn number(&mut self, statement: TableStatement) -> Result<u64, sqlx::Error> {
        RowColumns::number(&bound!(statement).fetch_one(self).await?, "number")
    }
}

#[async_trait]
impl AccountTables for Sqlite {
    type Row = SqliteRow;

    async fn rows(&self, statement: TableStatement) -> Result<Vec<SqliteRow>, StoreError> {
        bound!(statement).fetch_all(self.readers()).await.map_err(|error| self.failed(error))
    }

    async fn run(&self, statement: TableStatement) -> Result<u64, StoreError> {
        self.write(bound!(statement)).await
    }

    const NOW: &'static str = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";

    const NOTICE_LAG: &'static str = "SELECT n.id FROM notebooks n JOIN heads h ON h.notebook = n.key \
                                      JOIN events e ON e.position = h.position LEFT JOIN notice_positions p ON p.notebook = n.id \
                                      WHERE n.id > $1 AND e.version > coalesce(p.version, 0) AND n.erased = 0 ORDER BY n.id LIMIT $2";

    async fn transact(&self, statements: Vec<TableStatement>, is_guarded: bool) -> Result<bool, StoreError> {
        let mut transaction = self.begin().await?;
        match run_all(&mut *transaction, statements, is_guarded).await {
            Ok(true) => self.commit(transaction).await.map(|()| true),
            Ok(false) => {
                transaction.roll_back().await;
                Ok(false)
            }
            Err(error) => {
                transaction.roll_back().await;
                Err(self.failed(error))
            }
        }
    }

    async fn change(&self, all: &[AuditedChanges]) -> Result<(), AccountError> {
        let mut transaction = self.begin().await?;
        match make_all(&mut *transaction, all).await {
            Ok(()) => Ok(self.commit(transaction).await?),
            Err(error) => {
                transaction.roll_back().await;
                Err(match error {
                    ChangeError::Account(error) => error,
                    ChangeError::Database(error) => self.failed(error).into(),
                })
            }
        }
    }

    fn unreadable(&self, error: sqlx::Error) -> StoreError {
        self.failed(error)
    }
}

#[async_trait]
impl SpendingTables for Sqlite {
    async fn spend(&self, work: &SpendingWork) -> Result<WorkDone, StoreError> {
        let mut transaction = self.begin().await?;
        match perform(&mut *transaction, work).await {
            Ok(done) => self.commit(transaction).await.map(|()| done),
            Err(error) => {
                transaction.roll_back().await;
                Err(self.failed(error))
            }
        }
    }
}
