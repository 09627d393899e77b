//! Problems of an open database, for health checks of the running server.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sqlx::{ConnectOptions, Connection, SqliteConnection};
use tokio::sync::watch;

use super::error::{found_error, store_error};
use super::open::options;
use crate::commit_metrics::CommitMetrics;
use crate::store_error::StoreError;

/// Number of SQLite steps between checks for a close of the store: some milliseconds.
const STEPS: i32 = 10_000;

const EVENTS_WITHOUT_PLACE: &str = "SELECT count(*) FROM events e WHERE e.position IS NOT coalesce(\
    (SELECT position FROM places WHERE notebook = e.notebook AND version = e.version), \
    (SELECT position FROM recent_places WHERE notebook = e.notebook AND version = e.version))";

/// Problems, in sentences without paths: strangers may see them, and the log has the details.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct HealthState {
    lost_commits: Option<&'static str>,
    damage: Option<&'static str>,
    refused_writes: Option<&'static str>,
    is_checked: bool,
}

/// Health, shared by the store, its writer and its check.
#[derive(Debug)]
pub(super) struct Health {
    state: watch::Sender<HealthState>,
    /// Measurements of the writer.
    pub(super) commits: CommitMetrics,
    is_closing: Arc<AtomicBool>,
}

impl Health {
    /// Starts with the findings of the start in the log.
    pub(super) fn new(lost_commits: Option<&'static str>) -> Arc<Self> {
        let state = watch::Sender::new(HealthState { lost_commits, ..HealthState::default() });
        Arc::new(Self { state, commits: CommitMetrics::default(), is_closing: Arc::default() })
    }

    /// Notes the result of a write; `None`: success.
    pub(super) fn written(&self, error: Option<&StoreError>) {
        let refused = error.and_then(|error| match error {
            StoreError::Unavailable { .. } | StoreError::Unknown { .. } | StoreError::ReadOnly { .. } => {
                Some("the last write was refused, for instance because the disk is full: reading goes on")
            }
            _ => None,
        });
        self.state.send_if_modified(|state| std::mem::replace(&mut state.refused_writes, refused) != refused);
    }

    pub(super) fn troubles(&self) -> Vec<&'static str> {
        let HealthState { lost_commits, damage, refused_writes, .. } = *self.state.borrow();
        [lost_commits, damage, refused_writes].into_iter().flatten().collect()
    }

    /// Those of the problems that say that stored data is damaged.
    pub(super) fn damage(&self) -> Vec<&'static str> {
        let HealthState { lost_commits, damage, .. } = *self.state.borrow();
        [lost_commits, damage].into_iter().flatten().collect()
    }

    /// Waits until the check after the start has ended.
    #[cfg(test)]
    pub(super) async fn checked(&self) {
        let is_checked = self.state.subscribe().wait_for(|state| state.is_checked).await.map(drop);
        is_checked.expect("the sender is here");
    }

    pub(super) fn close(&self) {
        self.is_closing.store(true, Ordering::SeqCst);
    }

    /// Verifies the whole database with its indexes in the background, and notes problems.
    pub(super) async fn check(self: Arc<Self>, path: PathBuf) {
        let found = self.integrity(&path).await;
        if self.is_closing.load(Ordering::SeqCst) {
            return;
        }
        let said = found.err().map(|error| match error {
            StoreError::Corrupt { reason, .. } => {
                tracing::error!(
                    path = %path.display(),
                    damage = reason,
                    "the database is damaged: stop the server, copy the whole folder away, and restore a backup (notarium restore)"
                );
                "the database is damaged: its operator finds the place in the log, and a backup helps"
            }
            error => {
                tracing::error!(%error, "the database was not read through: the next start tries again");
                "the database could not be read through, for instance because its disk fails: its operator finds the reason in the log"
            }
        });
        self.state.send_modify(|state| (state.damage, state.is_checked) = (said, true));
    }

    async fn integrity(&self, path: &Path) -> Result<(), StoreError> {
        let failed = |error| store_error(path, error);
        let mut connection = options(path).read_only(true).connect().await.map_err(failed)?;
        let found = self.integrity_of(&mut connection).await.map_err(failed);
        // Read-only, so a failed close loses nothing.
        let _ = connection.close().await;
        found?.map_or(Ok(()), |found| Err(found_error(path, &found)))
    }

    /// Returns what is wrong, in SQLite's words.
    async fn integrity_of(&self, connection: &mut SqliteConnection) -> Result<Option<String>, sqlx::Error> {
        let is_closing = self.is_closing.clone();
        connection.lock_handle().await?.set_progress_handler(STEPS, move || !is_closing.load(Ordering::SeqCst));
        let found: String = sqlx::query_scalar("PRAGMA integrity_check(3)").fetch_one(&mut *connection).await?;
        if found != "ok" {
            return Ok(Some(found));
        }
        let lost: i64 = sqlx::query_scalar(EVENTS_WITHOUT_PLACE).fetch_one(connection).await?;
        Ok((lost > 0).then(|| format!("{lost} events are not where their notebooks look for them")))
    }
}
