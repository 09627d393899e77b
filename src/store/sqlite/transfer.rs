//! SQLite as source and target of a transfer.

use std::collections::BTreeMap;
use std::path::Path;

use async_trait::async_trait;
use notarium_record::{CommandRecord, NewEvent, NotebookId, RawJson, Version};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection, SqlitePool};

use super::rows::{EventRow, INSERT_ACTORS, INSERT_MANY_EVENTS, INSERT_NOTEBOOKS, KeyRow, SqlScript, hash, integer};
use super::{Sqlite, erasure, folder, reader};
use crate::accounts::bound;
use crate::event_store::MAX_PAGE;
use crate::schema::Upgrade;
use crate::store_error::StoreError;
use crate::transfer::{NotebookCommand, StoreMoment, Transferable};
use crate::transfer_tables::{ROWS_PER_PAGE, TABLES, TransferRow, TransferTable};

impl Sqlite {
    /// Opens a folder to be filled, also one that a broken move has marked.
    pub(crate) async fn open_unfinished(folder: &Path) -> Result<Self, StoreError> {
        Self::open_any(folder, Upgrade::Begin).await
    }

    /// Marks the folder: until [`Self::finish`] no server opens it.
    pub(crate) fn begin_filling(&self) -> Result<(), StoreError> {
        folder::mark_as_moving(self.path.parent().unwrap_or(&self.path))
    }

    pub(crate) fn finish(&self) -> Result<(), StoreError> {
        folder::end_moving(self.path.parent().unwrap_or(&self.path))
    }
}

#[async_trait]
impl Transferable for Sqlite {
    async fn moment(&self) -> Result<StoreMoment, StoreError> {
        moment(&self.readers).await.map_err(|error| self.failed(error))
    }

    async fn subjects(
        &self,
        notebook: &NotebookId,
        after: Version,
        until: Version,
    ) -> Result<BTreeMap<Version, Option<String>>, StoreError> {
        let sql = "SELECT e.version, e.subject FROM (SELECT position FROM places \
                     WHERE notebook = (SELECT key FROM notebooks WHERE id = ?1) AND version > ?2 AND version <= ?3 \
                   UNION ALL SELECT position FROM recent_places \
                     WHERE notebook = (SELECT key FROM notebooks WHERE id = ?1) AND version > ?2 AND version <= ?3) p \
                   CROSS JOIN events e ON e.position = p.position";
        let query = sqlx::query_as(sql).bind(notebook.as_str()).bind(integer(after)).bind(integer(until));
        let rows: Vec<(Version, Option<String>)> =
            query.fetch_all(&self.readers).await.map_err(|error| self.failed(error))?;
        Ok(rows.into_iter().collect())
    }

    async fn put_erased(&self, last: NewEvent) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        put_erased(&mut transaction, &last).await.map_err(|error| self.failed(error))?;
        self.commit(transaction).await
    }

    async fn commands_after(&self, after: Option<&NotebookCommand>) -> Result<Vec<NotebookCommand>, StoreError> {
        let sql = "SELECT n.id, a.id, c.command_id, c.digest, c.version, c.outcome FROM commands c \
                   CROSS JOIN notebooks n ON n.key = c.notebook CROSS JOIN actors a ON a.key = c.actor \
                   WHERE (c.command_id, c.notebook, c.actor) > \
                     (?1, coalesce((SELECT key FROM notebooks WHERE id = ?2), 0), coalesce((SELECT key FROM actors WHERE id = ?3), 0)) \
                   ORDER BY c.command_id, c.notebook, c.actor LIMIT ?4";
        let query = sqlx::query(sql).bind(after.map_or("", |(_, command)| command.command_id.as_str()));
        let query = query.bind(after.map_or("", |(notebook, _)| notebook.as_str()));
        let query =
            query.bind(after.map_or("", |(_, command)| command.actor.as_str())).bind(integer(ROWS_PER_PAGE as u64));
        let rows = query.fetch_all(&self.readers).await.map_err(|error| self.failed(error))?;
        let commands: Result<Vec<NotebookCommand>, sqlx::Error> = rows.iter().map(command).collect();
        commands.map_err(|error| self.failed(error))
    }

    async fn put_commands(&self, commands: &[NotebookCommand]) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        for (notebook, command) in commands {
            put_command(&mut transaction, notebook, command).await.map_err(|error| self.failed(error))?;
        }
        self.commit(transaction).await
    }

    async fn put_table_rows(&self, table: &TransferTable, rows: &[TransferRow]) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        for row in rows {
            let insert = bound!(table.insert("(SELECT key FROM notebooks WHERE id = {})", row.clone()));
            insert.execute(&mut *transaction).await.map_err(|error| self.failed(error))?;
        }
        self.commit(transaction).await
    }
}

async fn moment(pool: &SqlitePool) -> Result<StoreMoment, sqlx::Error> {
    let mut transaction = pool.begin().await?;
    let unfinished_erasures = erasure::unfinished(&mut *transaction).await?;
    let (mut heads, mut after) = (BTreeMap::new(), None);
    loop {
        let page = reader::notebooks(&mut *transaction, after.as_ref(), MAX_PAGE).await?;
        let Some((last, _)) = page.last() else { break };
        after = Some(last.clone());
        heads.extend(page);
    }
    let mut rows = Vec::new();
    for table in &TABLES {
        let select = bound!(table.select("(SELECT id FROM notebooks WHERE key = {})"));
        let found = select.fetch_all(&mut *transaction).await?;
        rows.push(found.iter().map(|row| table.read(row)).collect::<Result<_, _>>()?);
    }
    transaction.commit().await?;
    Ok(StoreMoment { heads, unfinished_erasures, rows })
}

async fn put_erased(connection: &mut SqliteConnection, last: &NewEvent) -> Result<(), sqlx::Error> {
    let next = "SELECT coalesce(max(key), 0) + 1 FROM notebooks";
    let notebook: i64 = sqlx::query_scalar(next).fetch_one(&mut *connection).await?;
    let envelope = &last.stored.envelope;
    let author = envelope.actor.key();
    let known = sqlx::query_scalar("SELECT key FROM actors WHERE id = ?").bind(&author);
    let known: Option<i64> = known.fetch_optional(&mut *connection).await?;
    let next = "SELECT coalesce(max(key), 0) + 1 FROM actors";
    let next: i64 = sqlx::query_scalar(next).fetch_one(&mut *connection).await?;
    let actor = known.unwrap_or(next);
    let mut script = SqlScript::default();
    script.insert(&INSERT_NOTEBOOKS, &[KeyRow { key: notebook, id: envelope.notebook_id.to_string() }])?;
    if known.is_none() {
        script.insert(&INSERT_ACTORS, &[KeyRow { key: actor, id: author }])?;
    }
    script.insert(&INSERT_MANY_EVENTS, &[EventRow { notebook, actor, event: last }])?;
    script.execute_within(connection).await?;
    sqlx::query("UPDATE notebooks SET erased = 2 WHERE key = ?").bind(notebook).execute(connection).await.map(drop)
}

async fn put_command(
    connection: &mut SqliteConnection,
    notebook: &NotebookId,
    command: &CommandRecord,
) -> Result<(), sqlx::Error> {
    let sql = "INSERT INTO actors (key, id) SELECT (SELECT coalesce(max(key), 0) + 1 FROM actors), ?1 \
               WHERE NOT EXISTS (SELECT 1 FROM actors WHERE id = ?1)";
    sqlx::query(sql).bind(&command.actor).execute(&mut *connection).await?;
    let sql = "INSERT INTO commands (notebook, actor, command_id, digest, version, outcome) \
               SELECT n.key, a.key, ?3, ?4, ?5, ?6 FROM notebooks n, actors a WHERE n.id = ?1 AND a.id = ?2 ON CONFLICT DO NOTHING";
    let query = sqlx::query(sql).bind(notebook.as_str()).bind(&command.actor).bind(command.command_id.as_str());
    let query = query.bind(command.digest.to_vec()).bind(integer(command.version)).bind(command.outcome.get());
    query.execute(connection).await.map(drop)
}

fn command(row: &SqliteRow) -> Result<NotebookCommand, sqlx::Error> {
    let decode = |error: sqlx::error::BoxDynError| sqlx::Error::Decode(error);
    let notebook = NotebookId::new(row.try_get::<&str, _>(0)?).map_err(|error| decode(error.into()))?;
    let record = CommandRecord {
        actor: row.try_get(1)?,
        command_id: row.try_get::<&str, _>(2)?.parse().map_err(|error| sqlx::Error::Decode(Box::new(error)))?,
        digest: hash(row.try_get(3)?)?.0,
        version: row.try_get(4)?,
        outcome: RawJson::parse(row.try_get(5)?).map_err(|error| decode(error.into()))?,
    };
    Ok((notebook, record))
}
