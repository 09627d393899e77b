//! Accounts in PostgreSQL, beside the log.
//!
//! Changes of all nodes follow one another: each locks the only row of the table `notarium`. So the last administrator stays, and the numbers
//! of the audit grow in the order of the commits.

use async_trait::async_trait;
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};

use super::{Postgres, Repeat, transact, unreadable};
use crate::StoreError;
use crate::accounts::{
    AccountError, AccountTables, AuditedChanges, ChangeError, RowColumns, TableStatement, Tables, bound, impl_columns,
    make_all, run_all,
};
use crate::spending::{SpendingTables, SpendingWork, WorkDone, perform};

impl_columns!(PgRow);

#[async_trait]
impl Tables for PgConnection {
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

/// Makes the changes after those of other nodes; `Ok(Err(_))`: they are refused, and to be rolled back.
async fn change(
    connection: &mut PgConnection,
    all: &[AuditedChanges],
) -> Result<Result<(), AccountError>, sqlx::Error> {
    sqlx::query("SELECT 1 FROM notarium FOR UPDATE").execute(&mut *connection).await?;
    match make_all(connection, all).await {
        Ok(()) => Ok(Ok(())),
        Err(ChangeError::Account(error)) => Ok(Err(error)),
        Err(ChangeError::Database(error)) => Err(error),
    }
}

async fn spend(connection: &mut PgConnection, work: &SpendingWork) -> Result<WorkDone, sqlx::Error> {
    if work.is_exclusive() {
        sqlx::query("SELECT 1 FROM notarium FOR UPDATE").execute(&mut *connection).await?;
    }
    perform(connection, work).await
}

#[async_trait]
impl AccountTables for Postgres {
    type Row = PgRow;

    async fn rows(&self, statement: TableStatement) -> Result<Vec<PgRow>, StoreError> {
        self.read_from(|| bound!(statement.clone()).fetch_all(self.pool())).await
    }

    async fn run(&self, statement: TableStatement) -> Result<u64, StoreError> {
        self.write(|| bound!(statement.clone())).await
    }

    const NOW: &'static str = "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)";

    const NOTICE_LAG: &'static str = "SELECT n.id FROM notebooks n LEFT JOIN notice_positions p ON p.notebook = n.id \
                                      WHERE n.id > $1 AND n.version > coalesce(p.version, 0) AND n.erased = 0 ORDER BY n.id LIMIT $2";

    async fn transact(&self, statements: Vec<TableStatement>, is_guarded: bool) -> Result<bool, StoreError> {
        let keeps = |done: &bool| *done;
        transact!(self, Repeat::Always, keeps, connection => run_all(connection, statements.clone(), is_guarded))
    }

    async fn change(&self, all: &[AuditedChanges]) -> Result<(), AccountError> {
        transact!(self, once, Result::is_ok, connection => change(connection, all))?
    }

    fn unreadable(&self, error: sqlx::Error) -> StoreError {
        unreadable(error)
    }
}

#[async_trait]
impl SpendingTables for Postgres {
    async fn spend(&self, work: &SpendingWork) -> Result<WorkDone, StoreError> {
        transact!(self, connection => spend(connection, work))
    }
}
