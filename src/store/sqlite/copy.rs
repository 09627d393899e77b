//! Copies of a database that another process may write to, and their verification.

use std::collections::BTreeSet;
use std::path::Path;

use notarium_record::{Hash, Head, NotebookId, verify_chain};
use sqlx::sqlite::SqlitePoolOptions;
use sqlx::{ConnectOptions, Connection, SqlitePool};

use super::error::{damaged, found_error, store_error};
use super::open::{check_file, options};
use super::reader;
use crate::blobs::named_in;
use crate::event_store::MAX_PAGE;
use crate::store_error::StoreError;

/// Number of events per read.
const PAGE: usize = 1_000;

/// Content of a database.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inventory {
    pub notebooks: u64,
    pub events: u64,
    /// Blobs that events name.
    pub blobs: BTreeSet<(NotebookId, Hash)>,
    /// Notebooks that were erased.
    pub erased: BTreeSet<NotebookId>,
}

/// Writes a snapshot of the database into `copy`, a file that is missing or empty. Writers continue meanwhile; every acknowledged append
/// before is in the copy.
pub async fn copy_database(database: &Path, copy: &Path) -> Result<(), StoreError> {
    check_file(database)?;
    let failed = |error| store_error(database, error);
    let mut connection = options(database).read_only(true).connect().await.map_err(failed)?;
    // Reads one consistent state through every page, and does not write to the database itself.
    let copied = sqlx::query("VACUUM INTO ?").bind(copy.display().to_string()).execute(&mut connection).await;
    let closed = connection.close().await;
    copied.map_err(failed)?;
    closed.map_err(failed)?;
    let synced = std::fs::File::open(copy).and_then(|file| file.sync_all());
    synced.map_err(|error| StoreError::Unavailable { reason: format!("{}: {error}", copy.display()) })
}

/// Verifies a database without writers from end to end: its structure, and the hash chain of every notebook.
pub async fn verify_database(database: &Path) -> Result<Inventory, StoreError> {
    check_file(database)?;
    let pool = SqlitePoolOptions::new().max_connections(1).connect_lazy_with(options(database).read_only(true));
    let verified = verify(&pool, database).await;
    pool.close().await;
    verified
}

async fn verify(pool: &SqlitePool, database: &Path) -> Result<Inventory, StoreError> {
    let failed = |error: sqlx::Error| store_error(database, error);
    let found: String = sqlx::query_scalar("PRAGMA integrity_check(1)").fetch_one(pool).await.map_err(failed)?;
    if found != "ok" {
        return Err(found_error(database, &found));
    }
    let mut inventory = Inventory::default();
    let mut after = None;
    loop {
        let page = reader::notebooks(pool, after.as_ref(), MAX_PAGE).await.map_err(failed)?;
        for (notebook, head) in &page {
            verify_notebook(pool, database, notebook, *head, &mut inventory).await?;
        }
        match page.into_iter().last() {
            Some((notebook, _)) => after = Some(notebook),
            None => return Ok(inventory),
        }
    }
}

async fn verify_notebook(
    pool: &SqlitePool,
    database: &Path,
    notebook: &NotebookId,
    end: Head,
    inventory: &mut Inventory,
) -> Result<(), StoreError> {
    let wrong = |error: String| damaged(database, format!("notebook {notebook}: {error}"));
    let mut head = Head::START;
    // The last event of an erased notebook proves itself. Others may be left while they are being deleted.
    let last = reader::read(pool, notebook, end.version.saturating_sub(1), 1).await;
    let last = last.map_err(|error| wrong(error.to_string()))?;
    if last.first().is_some_and(|last| last.erased_head().is_some()) {
        head = verify_chain(head, &last).map_err(|error| wrong(error.to_string()))?;
        inventory.events += 1;
        inventory.erased.insert(notebook.clone());
    }
    while head.version < end.version {
        let events =
            reader::read(pool, notebook, head.version, PAGE).await.map_err(|error| wrong(error.to_string()))?;
        if events.is_empty() {
            return Err(wrong(format!("its record ends at version {}, not {}", head.version, end.version)));
        }
        head = verify_chain(head, &events).map_err(|error| wrong(error.to_string()))?;
        inventory.events += events.len() as u64;
        let named = events.iter().flat_map(|event| named_in(event.payload.get()));
        inventory.blobs.extend(named.map(|sha256| (notebook.clone(), sha256)));
    }
    inventory.notebooks += 1;
    Ok(())
}
