//! Group commit: the queued appends of all notebooks go into one transaction with one sync. Before any disk
//! access a batch is planned: which appends can be written.

use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use foldhash::{HashMap, HashSet, HashSetExt};
use futures_util::FutureExt;
use notarium_record::{Append, Head, NotebookId};
use sqlx::{Row as _, SqliteConnection};
use tokio::sync::mpsc;

use super::error::{commit_error, gone, is_gone, is_unique_violation};
use super::health::Health;
use super::reader::head_of;
use super::rows::{
    CommandRow, EventRow, INSERT_ACTORS, INSERT_COMMANDS, INSERT_EVENTS, INSERT_MANY_EVENTS, INSERT_NOTEBOOKS, KeyRow,
    MultiRow, SqlScript, Texts,
};
use super::transaction::Writer;
use crate::group_commit::{BatchPlan, CommandPlace, NotebookHead, Queued, command_places, take_batch};
use crate::store_error::AppendError;

/// Maximum number of events whose places are in the pages shared by all notebooks. A larger one writes more of these pages in each commit,
/// a smaller one moves places too often.
pub(super) const MAX_RECENT_PLACES: usize = 1_024;

/// Number of events above which a batch has several per notebook, so that their places are written directly.
pub(super) const MANY_EVENTS: usize = 256;

pub(super) const MOVE_PLACES: &str =
    "INSERT OR FAIL INTO places SELECT * FROM recent_places;DELETE FROM recent_places;";

/// Idle time after which the write-ahead log is copied into the database.
const IDLE: Duration = Duration::from_millis(250);

/// Delay after a panic, so that a fault in every batch does not use up the machine.
const PAUSE_AFTER_FAULT: Duration = Duration::from_millis(100);

/// Small key of an actor, for rows.
pub(super) type ActorKey = i64;

/// Maximum number of cached entries, about 20 MB; beyond it the cache is cleared.
const MAX_KNOWN: usize = 100_000;

/// The writer's cache of the database. Always valid, as only the writer changes these tables.
#[derive(Debug, Default)]
struct WriterCache {
    notebooks: HashMap<NotebookId, NotebookHead>,
    actors: HashMap<String, ActorKey>,
}

impl WriterCache {
    /// Clears the cache after a failed write.
    fn forget(&mut self) {
        *self = Self::default();
    }

    fn forget_when_large(&mut self) {
        if self.notebooks.len() > MAX_KNOWN || self.actors.len() > MAX_KNOWN {
            self.forget();
        }
    }
}

/// The only task that appends.
pub(super) struct GroupCommit {
    pub(super) writer: Arc<Writer>,
    pub(super) queue: mpsc::Receiver<Queued>,
    pub(super) path: PathBuf,
    health: Arc<Health>,
    known: WriterCache,
    texts: Texts,
    /// Number of recent places; after a start the maximum is assumed, for those of an earlier process.
    recent_places: usize,
}

impl GroupCommit {
    pub(super) fn new(writer: Arc<Writer>, queue: mpsc::Receiver<Queued>, path: PathBuf, health: Arc<Health>) -> Self {
        let (known, texts) = (WriterCache::default(), Texts::default());
        Self { writer, queue, path, health, known, texts, recent_places: MAX_RECENT_PLACES }
    }

    /// Runs until all senders are dropped and every queued append is answered.
    pub(super) async fn run(self) {
        self.run_with(Self::commit).await;
    }

    /// Runs with this way to commit a batch; a panic there ends the batch alone.
    pub(super) async fn run_with(mut self, mut commit: impl AsyncFnMut(&mut Self, Vec<Queued>)) {
        let mut is_checkpointed = true;
        loop {
            let next = if is_checkpointed {
                self.queue.recv().await
            } else if let Ok(next) = tokio::time::timeout(IDLE, self.queue.recv()).await {
                next
            } else {
                self.checkpoint().await;
                is_checkpointed = true;
                continue;
            };
            let Some(first) = next else { return };
            // Lets senders that were just answered queue their next append.
            tokio::task::yield_now().await;
            let batch = take_batch(&mut self.queue, first);
            if AssertUnwindSafe(commit(&mut self, batch)).catch_unwind().await.is_err() {
                // Waiting senders learn that the outcome is unknown.
                tracing::error!("a fault in the writer: it goes on with what is queued");
                self.known.forget();
                tokio::time::sleep(PAUSE_AFTER_FAULT).await;
            }
            is_checkpointed = false;
        }
    }

    pub(super) async fn commit(&mut self, batch: Vec<Queued>) {
        let began = self.health.commits.begin(&batch);
        let (appends, answers): (Vec<Append>, Vec<_>) =
            batch.into_iter().map(|queued| (queued.append, queued.answer)).unzip();
        let mut results: Vec<Result<(), AppendError>> = vec![Ok(()); appends.len()];
        let written = match is_gone(&self.path) {
            true => Err(gone(&self.path)),
            false => self.write(&appends).await.map_err(|error| commit_error(&self.path, error)),
        };
        self.health.written(written.as_ref().err());
        self.health.commits.end(began, written.is_ok());
        match written {
            Ok(refused) => refused.into_iter().for_each(|(index, error)| results[index] = Err(error)),
            Err(error) => {
                tracing::error!(%error, appends = appends.len(), "a batch was not written");
                results.fill(Err(AppendError::Store(error)));
            }
        }
        for (answer, result) in answers.into_iter().zip(results) {
            // A dropped receiver needs no answer.
            let _ = answer.send(result);
        }
    }

    /// Writes the valid appends and returns the refused ones.
    async fn write(&mut self, appends: &[Append]) -> Result<Vec<(usize, AppendError)>, sqlx::Error> {
        match self.try_write(appends, false).await {
            // A command is already in the store: refuse only the appends that repeat one.
            Err(error) if is_unique_violation(&error) => {
                self.known.forget();
                self.try_write(appends, true).await.inspect_err(|_| self.known.forget())
            }
            result => result.inspect_err(|_| self.known.forget()),
        }
    }

    async fn try_write(
        &mut self,
        appends: &[Append],
        look_for_recorded: bool,
    ) -> Result<Vec<(usize, AppendError)>, sqlx::Error> {
        let writer = self.writer.clone();
        let mut writer = writer.lock().await;
        for notebook in std::mem::take(&mut writer.leased) {
            self.known.notebooks.remove(&notebook);
        }
        learn_notebooks(&mut writer, &mut self.known, appends).await?;
        let recorded = if look_for_recorded { recorded_commands(&mut writer, appends).await? } else { HashSet::new() };
        let mut plan = BatchPlan::of(appends, &self.known.notebooks, &recorded);
        let new_notebooks = number_notebooks(&mut writer, &mut plan).await?;
        let accepted: Vec<&Append> = plan.accepted.iter().map(|index| &appends[*index]).collect();
        let new_actors = learn_actors(&mut writer, &mut self.known, &accepted).await?;
        let mut script = SqlScript::default();
        let events: usize = accepted.iter().map(|append| append.events.len()).sum();
        let are_many = events >= MANY_EVENTS;
        let moves_places = self.recent_places >= MAX_RECENT_PLACES || (are_many && self.recent_places > 0);
        if moves_places {
            script.add(MOVE_PLACES);
        }
        script.insert(&INSERT_NOTEBOOKS, &new_notebooks)?;
        script.insert(&INSERT_ACTORS, &new_actors)?;
        let insert_events = if are_many { &INSERT_MANY_EVENTS } else { &INSERT_EVENTS };
        self.insert_log(&mut script, &plan, &accepted, insert_events)?;
        let removing = accepted.iter().find(|append| !append.removal.is_empty());
        match removing {
            None => writer.run(script, &mut self.texts).await?,
            Some(append) => writer.run_with_removal(script, &append.notebook_id, &append.removal).await?,
        }
        let kept = if moves_places { 0 } else { self.recent_places };
        self.recent_places = kept + if are_many { 0 } else { events };
        self.known.notebooks.extend(plan.heads);
        self.known.forget_when_large();
        Ok(plan.refused)
    }

    fn insert_log(
        &self,
        script: &mut SqlScript,
        plan: &BatchPlan,
        appends: &[&Append],
        insert_events: &'static MultiRow,
    ) -> Result<(), sqlx::Error> {
        let actor = |id: &str| self.known.actors.get(id).copied().unwrap_or(0);
        let mut commands = Vec::with_capacity(appends.len());
        let mut events = Vec::with_capacity(appends.len());
        for append in appends {
            let notebook = plan.heads.get(&append.notebook_id).map_or(0, |place| place.key);
            for command in &append.commands {
                commands.push(CommandRow { notebook, actor: actor(&command.actor), command });
            }
            for event in &append.events {
                events.push(EventRow { notebook, actor: actor(&event.stored.envelope.actor.key()), event });
            }
        }
        script.reserve(&[(&INSERT_COMMANDS, commands.len()), (insert_events, events.len())]);
        script.insert(&INSERT_COMMANDS, &commands)?;
        script.insert(insert_events, &events)
    }

    /// Copies the write-ahead log into the database, as far as readers allow.
    async fn checkpoint(&self) {
        let mut connection = self.writer.lock().await;
        if let Err(error) = sqlx::query("PRAGMA wal_checkpoint(PASSIVE)").fetch_all(&mut **connection).await {
            tracing::warn!(%error, "the write-ahead log was not copied into the database; it is tried again later");
        }
    }
}

/// Reads the heads of notebooks that are not cached.
async fn learn_notebooks(
    connection: &mut SqliteConnection,
    known: &mut WriterCache,
    appends: &[Append],
) -> Result<(), sqlx::Error> {
    let ids = appends.iter().map(|append| &append.notebook_id);
    let unknown: Vec<&str> = ids.filter(|id| !known.notebooks.contains_key(*id)).map(NotebookId::as_str).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    let sql = "SELECT n.id, n.key, n.epoch, e.version, e.hash, e.recorded_at FROM notebooks n \
               JOIN heads h ON h.notebook = n.key LEFT JOIN events e ON e.position = h.position WHERE n.id IN (SELECT value FROM json_each(?))";
    for row in sqlx::query(sql).bind(json(&unknown)).fetch_all(connection).await? {
        let id = NotebookId::new(row.try_get::<&str, _>(0)?).map_err(|error| sqlx::Error::Decode(error.into()))?;
        let has_events = row.try_get::<Option<i64>, _>(3)?.is_some();
        let head = if has_events { head_of(&row, 3)? } else { Head::START };
        known.notebooks.insert(id, NotebookHead { key: row.try_get(1)?, epoch: row.try_get(2)?, head });
    }
    Ok(())
}

/// Assigns keys to the batch's new notebooks, and returns them.
async fn number_notebooks(connection: &mut SqliteConnection, plan: &mut BatchPlan) -> Result<Vec<KeyRow>, sqlx::Error> {
    if plan.heads.values().all(|place| place.key != 0) {
        return Ok(Vec::new());
    }
    let first = next_key(connection, "SELECT coalesce(max(key), 0) + 1 FROM notebooks").await?;
    let new = plan.heads.iter_mut().filter(|(_, place)| place.key == 0);
    let rows = (first..).zip(new).map(|(key, (id, place))| {
        place.key = key;
        KeyRow { key, id: id.to_string() }
    });
    Ok(rows.collect())
}

async fn next_key(connection: &mut SqliteConnection, sql: &'static str) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar(sql).fetch_one(connection).await
}

/// Reads the keys of actors that are not cached; assigns keys to new ones, and returns those.
async fn learn_actors(
    connection: &mut SqliteConnection,
    known: &mut WriterCache,
    appends: &[&Append],
) -> Result<Vec<KeyRow>, sqlx::Error> {
    let mut unknown: HashSet<String> = HashSet::new();
    for append in appends {
        let events = append.events.iter().map(|event| event.stored.envelope.actor.key());
        let ids = append.commands.iter().map(|command| command.actor.clone()).chain(events);
        unknown.extend(ids.filter(|id| !known.actors.contains_key(id)));
    }
    if unknown.is_empty() {
        return Ok(Vec::new());
    }
    let sql = "SELECT id, key FROM actors WHERE id IN (SELECT value FROM json_each(?))";
    let found: Vec<(String, ActorKey)> = sqlx::query_as(sql).bind(json(&unknown)).fetch_all(&mut *connection).await?;
    found.iter().for_each(|(id, _)| _ = unknown.remove(id));
    known.actors.extend(found);
    if unknown.is_empty() {
        return Ok(Vec::new());
    }
    let first = next_key(connection, "SELECT coalesce(max(key), 0) + 1 FROM actors").await?;
    let new: Vec<KeyRow> = (first..).zip(unknown).map(|(key, id)| KeyRow { key, id }).collect();
    known.actors.extend(new.iter().map(|row| (row.id.clone(), row.key)));
    Ok(new)
}

/// Returns the commands of these appends that are already in the store.
async fn recorded_commands<'a>(
    connection: &mut SqliteConnection,
    appends: &'a [Append],
) -> Result<HashSet<CommandPlace<'a>>, sqlx::Error> {
    let places: Vec<CommandPlace> = appends.iter().flat_map(command_places).collect();
    let sql = "SELECT wanted.key FROM json_each(?) wanted \
               JOIN notebooks n ON n.id = wanted.value ->> 0 JOIN actors a ON a.id = wanted.value ->> 1 \
               JOIN commands c ON c.notebook = n.key AND c.actor = a.key AND c.command_id = wanted.value ->> 2";
    let found: Vec<i64> = sqlx::query_scalar(sql).bind(json(&places)).fetch_all(connection).await?;
    let found = found.into_iter().filter_map(|index| usize::try_from(index).ok());
    Ok(found.filter_map(|index| places.get(index).copied()).collect())
}

fn json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| unreachable!("texts are JSON"))
}
