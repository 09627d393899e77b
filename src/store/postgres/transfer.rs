//! PostgreSQL as source and target of a transfer.

use std::collections::BTreeMap;

use async_trait::async_trait;
use notarium_record::{NewEvent, NotebookId, Version};
use sqlx::postgres::{PgPool, PgRow};
use sqlx::{PgConnection, Row};

use super::reader::{self, command_record, notebook_id, number};
use super::removal::{self, count_bytes};
use super::rows::{EventColumns, integer};
use super::{Postgres, cold, transact};
use crate::accounts::bound;
use crate::event_store::MAX_PAGE;
use crate::store_error::StoreError;
use crate::transfer::{NotebookCommand, StoreMoment, Transferable};
use crate::transfer_tables::{ROWS_PER_PAGE, TABLES, TransferRow, TransferTable};

#[async_trait]
impl Transferable for Postgres {
    async fn moment(&self) -> Result<StoreMoment, StoreError> {
        self.maintain(|| moment(&self.pool)).await
    }

    async fn subjects(
        &self,
        notebook: &NotebookId,
        after: Version,
        until: Version,
    ) -> Result<BTreeMap<Version, Option<String>>, StoreError> {
        let mut subjects = self.read_from(|| subjects(&self.pool, notebook, after, until)).await?;
        subjects.extend(cold::subjects(self, notebook, after, until).await?);
        Ok(subjects)
    }

    async fn put_erased(&self, last: NewEvent) -> Result<(), StoreError> {
        transact!(self, connection => put_erased(connection, &last))
    }

    async fn commands_after(&self, after: Option<&NotebookCommand>) -> Result<Vec<NotebookCommand>, StoreError> {
        self.read_from(|| commands_after(&self.pool, after)).await
    }

    async fn put_commands(&self, commands: &[NotebookCommand]) -> Result<(), StoreError> {
        transact!(self, connection => put_commands(connection, commands))
    }

    async fn put_table_rows(&self, table: &TransferTable, rows: &[TransferRow]) -> Result<(), StoreError> {
        transact!(self, connection => put_table_rows(connection, table, rows))
    }
}

async fn moment(pool: &PgPool) -> Result<StoreMoment, sqlx::Error> {
    let mut transaction = pool.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY").await?;
    let unfinished_erasures = removal::unfinished(&mut *transaction).await?;
    let (mut heads, mut after) = (BTreeMap::new(), None);
    loop {
        let page = reader::notebooks(&mut *transaction, after.as_ref(), MAX_PAGE).await?;
        let Some((last, _)) = page.last() else { break };
        after = Some(last.clone());
        heads.extend(page);
    }
    let mut rows = Vec::new();
    for table in &TABLES {
        let found = bound!(table.select("{}")).fetch_all(&mut *transaction).await?;
        rows.push(found.iter().map(|row| table.read(row)).collect::<Result<_, _>>()?);
    }
    transaction.commit().await?;
    Ok(StoreMoment { heads, unfinished_erasures, rows })
}

async fn put_table_rows(
    connection: &mut PgConnection,
    table: &TransferTable,
    rows: &[TransferRow],
) -> Result<(), sqlx::Error> {
    for row in rows {
        bound!(table.insert("{}", row.clone())).execute(&mut *connection).await?;
    }
    Ok(())
}

async fn subjects(
    pool: &PgPool,
    notebook: &NotebookId,
    after: Version,
    until: Version,
) -> Result<BTreeMap<Version, Option<String>>, sqlx::Error> {
    let sql = "SELECT version, subject FROM events WHERE notebook = $1 AND version > $2 AND version <= $3";
    let query = sqlx::query(sql).bind(notebook.as_str()).bind(integer(after)).bind(integer(until));
    query.fetch_all(pool).await?.iter().map(|row| Ok((number(row, 0)?, row.try_get(1)?))).collect()
}

async fn put_erased(connection: &mut PgConnection, last: &NewEvent) -> Result<(), sqlx::Error> {
    let (stored, notebook) = (&last.stored, &last.stored.envelope.notebook_id);
    let sql = "INSERT INTO notebooks (id, version, hash, recorded_at, erased) VALUES ($1, $2, $3, $4, 2) ON CONFLICT DO NOTHING";
    let query = sqlx::query(sql).bind(notebook.as_str()).bind(integer(stored.envelope.version));
    let query = query.bind(stored.hash.0.as_slice()).bind(integer(stored.envelope.recorded_at));
    query.execute(&mut *connection).await?;
    let mut events = EventColumns::default();
    events.add_event(notebook.as_str(), last);
    events.insert().execute(&mut *connection).await?;
    count_bytes(connection, notebook).await
}

async fn commands_after(pool: &PgPool, after: Option<&NotebookCommand>) -> Result<Vec<NotebookCommand>, sqlx::Error> {
    let sql = "SELECT actor, command_id, digest, version, outcome, notebook FROM commands \
               WHERE (notebook, command_id, actor) > ($1, $2, $3) ORDER BY notebook, command_id, actor LIMIT $4";
    let query = sqlx::query(sql).bind(after.map_or("", |(notebook, _)| notebook.as_str()));
    let query = query.bind(after.map_or("", |(_, command)| command.command_id.as_str()));
    let query = query.bind(after.map_or("", |(_, command)| command.actor.as_str())).bind(integer(ROWS_PER_PAGE as u64));
    let command = |row: &PgRow| Ok((notebook_id(row, 5)?, command_record(row)?));
    query.fetch_all(pool).await?.iter().map(command).collect()
}

async fn put_commands(connection: &mut PgConnection, commands: &[NotebookCommand]) -> Result<(), sqlx::Error> {
    let notebooks: Vec<&str> = commands.iter().map(|(notebook, _)| notebook.as_str()).collect();
    let ids: Vec<&str> = commands.iter().map(|(_, command)| command.command_id.as_str()).collect();
    let actors: Vec<&str> = commands.iter().map(|(_, command)| command.actor.as_str()).collect();
    let digests: Vec<&[u8]> = commands.iter().map(|(_, command)| command.digest.as_slice()).collect();
    let versions: Vec<i64> = commands.iter().map(|(_, command)| integer(command.version)).collect();
    let outcomes: Vec<&str> = commands.iter().map(|(_, command)| command.outcome.get()).collect();
    let sql = "INSERT INTO commands (notebook, command_id, actor, digest, version, outcome) \
               SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bytea[], $5::bigint[], $6::text[]) ON CONFLICT DO NOTHING";
    let query = sqlx::query(sql).bind(notebooks).bind(ids).bind(actors).bind(digests).bind(versions);
    query.bind(outcomes).execute(connection).await.map(drop)
}
