//! Authors of all characters of a notebook's cells, now and at a past version.
//!
//! They are folded from the nearest version at which they were kept; a fold over many events keeps some on its way.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use http::StatusCode;
use notarium_core::text::utf16_len;
use notarium_core::{Cell, CellId, Document, NotebookId, Version};
use notarium_store::{Blame, BlameRun, EventStore};
use notarium_wire::rest::{BlamedEvent, BlamedRun, CellBlame, NotebookBlame};
use tokio::sync::Mutex as AsyncMutex;

use super::Notebooks;
use crate::http::problem::Problem;

/// Events per read.
const PAGE: usize = 2_000;

/// Largest number of events between two versions whose authors are kept.
const MAX_GAP: Version = 10_000;

/// Types of events that change texts; others are not parsed.
const TYPES: [&str; 4] = ["CellInserted", "CellRestored", "CellDeleted", "CellSourceEdited"];

/// Keeps long folds apart: the next one finds what the one before has kept.
#[derive(Debug, Default)]
pub struct Blames {
    beyond_gap: AsyncMutex<()>,
}

impl Blames {
    /// Authors at a version that the log has reached.
    async fn at(&self, store: &dyn EventStore, notebook: &NotebookId, version: Version) -> Result<Blame, Problem> {
        let nearest = nearest(store, notebook, version).await?;
        if version - nearest.version() <= MAX_GAP {
            return advance(store, notebook, nearest, version).await;
        }
        let _turn = self.beyond_gap.lock().await;
        let nearest = self::nearest(store, notebook, version).await?;
        advance(store, notebook, nearest, version).await
    }

    /// Keeps the authors at a version, so that later questions begin there.
    pub async fn keep(&self, store: &dyn EventStore, notebook: &NotebookId, version: Version) -> Result<(), Problem> {
        put(store, notebook, &self.at(store, notebook, version).await?).await
    }
}

async fn nearest(store: &dyn EventStore, notebook: &NotebookId, version: Version) -> Result<Blame, Problem> {
    let packed = store.blame(notebook, version).await?;
    let kept = packed.and_then(|packed| Blame::unpack(&packed));
    Ok(kept.filter(|blame| blame.version() <= version).unwrap_or_default())
}

async fn put(store: &dyn EventStore, notebook: &NotebookId, blame: &Blame) -> Result<(), Problem> {
    let unwritable = |error: std::io::Error| {
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", format!("authors cannot be written: {error}"))
    };
    let packed = blame.pack().map_err(unwritable)?;
    Ok(store.put_blame(notebook, blame.version(), packed, MAX_GAP).await?)
}

async fn advance(
    store: &dyn EventStore,
    notebook: &NotebookId,
    mut blame: Blame,
    to: Version,
) -> Result<Blame, Problem> {
    let mut kept = blame.version();
    while blame.version() < to {
        let wanted = usize::try_from(to - blame.version()).unwrap_or(PAGE).min(PAGE);
        let events = store.read(notebook, blame.version(), wanted).await?;
        if events.is_empty() {
            let detail = format!("the notebook is at version {}, before {to}", blame.version());
            return Err(Problem::new(StatusCode::BAD_REQUEST, "version_in_future", detail));
        }
        for stored in &events {
            if !TYPES.contains(&stored.envelope.event_type.as_str()) {
                blame.pass(stored.envelope.version);
                continue;
            }
            let unknown = |error| {
                Problem::new(StatusCode::CONFLICT, "read_only", format!("{error}: ask for a version before it"))
            };
            blame.apply(&stored.typed().map_err(unknown)?);
        }
        if blame.version() - kept >= MAX_GAP - PAGE as Version {
            kept = blame.version();
            put(store, notebook, &blame).await?;
        }
        tokio::task::yield_now().await;
    }
    Ok(blame)
}

/// Authors in one cell or in all, at a version or now.
pub async fn of(
    notebooks: &Notebooks,
    now: Arc<Document>,
    cell: Option<CellId>,
    at: Option<Version>,
) -> Result<NotebookBlame, Problem> {
    let (store, notebook) = (&*notebooks.store, now.notebook_id.clone());
    let version = at.unwrap_or(now.version);
    let document = if version == now.version {
        now
    } else {
        Arc::new(notebooks.replays.state_at(store, &notebook, version).await?)
    };
    let blame = notebooks.blames.at(store, &notebook, version).await?;
    let cells = match cell {
        None => document.ordered_cells().map(|(cell_id, cell)| of_live(&blame, cell_id, cell)).collect(),
        Some(cell_id) => vec![match document.cells.get(&cell_id) {
            Some(cell) => of_live(&blame, &cell_id, cell),
            None => of_deleted(notebooks, &blame, &notebook, cell_id).await?,
        }],
    };
    let versions: BTreeSet<Version> = cells.iter().flat_map(|cell| &cell.runs).map(|run| run.version).collect();
    let versions: Vec<Version> = versions.into_iter().collect();
    let authors = store.authors(&notebook, &versions).await?.into_iter();
    let events: BTreeMap<_, _> = authors
        .map(|author| (author.version, BlamedEvent { actor: author.actor, recorded_at: author.recorded_at }))
        .collect();
    Ok(NotebookBlame { version, cells, events })
}

fn of_live(blame: &Blame, cell_id: &CellId, cell: &Cell) -> CellBlame {
    let runs = blame.cells().get(cell_id).map(Vec::as_slice).unwrap_or_default();
    shaped(cell_id.clone(), cell.content.source.clone(), runs)
}

fn shaped(cell_id: CellId, source: String, runs: &[BlameRun]) -> CellBlame {
    let runs = runs.iter().map(|BlameRun(length, version)| BlamedRun { length: *length, version: *version }).collect();
    CellBlame { cell_id, source, runs }
}

/// A cell that was in the trash at that version: its text is that of its last deletion.
async fn of_deleted(
    notebooks: &Notebooks,
    blame: &Blame,
    notebook: &NotebookId,
    cell_id: CellId,
) -> Result<CellBlame, Problem> {
    let unknown = || Problem::new(StatusCode::NOT_FOUND, "unknown_cell", format!("no cell {cell_id} at this version"));
    let runs = blame.deleted(&cell_id).ok_or_else(unknown)?;
    let length: usize = runs.iter().map(|run| run.0).sum();
    let deletions = notebooks.store.read_subject(notebook, cell_id.as_str(), 0, usize::MAX).await?;
    let source =
        deletions.iter().rev().filter(|stored| stored.envelope.version <= blame.version()).find_map(|stored| {
            match stored.typed().ok()?.event {
                notarium_core::Event::CellDeleted(event) => Some(event.cell.source),
                _ => None,
            }
        });
    let source = source.filter(|source| utf16_len(source) == length).ok_or_else(unknown)?;
    Ok(shaped(cell_id.clone(), source, runs))
}
