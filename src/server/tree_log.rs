//! The tree of heads of this server: signed heads of changed notebooks are appended to it regularly, and proofs are read from it.
//!
//! Invariants:
//! - Tiles are on disk before the checkpoint that covers them. A crash in between leaves the tree of the last checkpoint; the next append
//!   writes the same tiles anew.
//! - One process at a time appends: it has the turn of the store, and of several tasks that of this process.
//! - The tree lies below the name of the key that signs it. With another key another tree begins.
//! - A tree that is smaller than the database says is never appended to: its files are older, and two trees would have one name.

use bytes::Bytes;
use http::StatusCode;
use notarium_core::NotebookId;
use notarium_store::{BlobError, LoggedHead, StoreError, TreeTurn};
use notarium_wire::signed_head::StatedHead;
use notarium_wire::tree_log::checkpoint::Checkpoint;
use notarium_wire::tree_log::merkle::{self, LeafRange};
use notarium_wire::tree_log::proof::InclusionProof;
use notarium_wire::tree_log::tiles::{self, Tile, Tiles, WIDTH};

use crate::app::App;
use crate::http::problem::Problem;

/// Heads appended in one step.
const STEP: usize = 1_000;

/// Folder of the trees in the blob store: no id of a notebook.
const FOLDER: &str = "tree.log";

/// Ways to begin a new tree.
const NEW_TREE: &str =
    "begin a new tree, with another key: move 'signing-key.pk8' away, or give all nodes of the cluster another secret";

/// Reason why the tree was not read or appended to.
#[derive(Debug, thiserror::Error)]
pub enum TreeLogError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Blobs(#[from] BlobError),
    #[error(
        "the tree of heads in the blob folder has {size} leaves, and the database knows of {known}: restore the folder '{FOLDER}' of the \
         blobs, or {NEW_TREE}"
    )]
    Behind { size: u64, known: u64 },
    #[error("the tree of heads is damaged ({0}): restore the folder '{FOLDER}' of the blobs, or {NEW_TREE}")]
    Damaged(String),
    #[error("no head is in the tree yet: ask again later")]
    Empty,
}

impl From<TreeLogError> for Problem {
    fn from(error: TreeLogError) -> Self {
        match error {
            TreeLogError::Store(error) => error.into(),
            TreeLogError::Blobs(error) => error.into(),
            TreeLogError::Empty => Problem::new(StatusCode::NOT_FOUND, "not_found", error.to_string()),
            error => {
                tracing::error!(%error, "the tree of heads is not usable");
                Problem::new(
                    StatusCode::CONFLICT,
                    "damaged",
                    "the server's tree of heads is damaged: its operator finds the reason in the log",
                )
            }
        }
    }
}

/// Result of an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appended {
    /// Leaves of the tree.
    pub size: u64,
    /// Leaves that are new.
    pub added: u64,
}

/// Appends regularly until the server stops. In a cluster one node does: the tree is placed as a notebook would be.
pub async fn follow(app: App) {
    let Some(interval) = app.limits.tree_interval else { return };
    let Ok(place) = NotebookId::new("tree-log") else { return };
    while app.stopping.run_until_cancelled(tokio::time::sleep(interval)).await.is_some() {
        if !app.cluster.owns(&place).await.unwrap_or(false) {
            continue;
        }
        match app.stopping.run_until_cancelled(append(&app)).await {
            Some(Ok(Appended { size, added })) if added > 0 => {
                tracing::info!(size, added, "heads were added to the tree")
            }
            Some(Err(error)) => tracing::error!(%error, "no heads were added to the tree: it is tried again later"),
            _ => {}
        }
    }
}

/// Appends the heads of all notebooks that have changed since they were appended.
pub async fn append(app: &App) -> Result<Appended, TreeLogError> {
    let _own = app.appending.lock().await;
    let mut turn = app.store.tree_turn(&app.signer.key_name()).await?;
    let mut appended = Appended { size: checkpoint(app).await?.map_or(0, |(checkpoint, _)| checkpoint.size), added: 0 };
    loop {
        let origin = app.signer.log_key().name;
        let known = app.store.logged_leaves(&origin).await?;
        if known > appended.size {
            return Err(TreeLogError::Behind { size: appended.size, known });
        }
        let heads = app.store.unlogged_heads(&origin, STEP).await?;
        if heads.is_empty() {
            return Ok(appended);
        }
        let signed_at = app.clock.now();
        let notes =
            heads.iter().map(|(id, head)| app.signer.sign(&StatedHead::new(id.clone(), *head, signed_at)).into_bytes());
        let notes: Vec<Vec<u8>> = notes.collect();
        let size = appended.size + notes.len() as u64;
        write(app, &mut turn, appended.size, &notes).await?;
        let leaves = (appended.size..).zip(heads).map(|(leaf, (notebook_id, head))| LoggedHead {
            notebook_id,
            version: head.version,
            leaf,
        });
        app.store.put_logged_heads(&origin, leaves.collect()).await?;
        appended = Appended { size, added: appended.added + notes.len() as u64 };
    }
}

/// Writes tiles, then the checkpoint, then removes tiles that full ones replace.
async fn write(app: &App, turn: &mut TreeTurn, size: u64, notes: &[Vec<u8>]) -> Result<(), TreeLogError> {
    let mut open = read_tiles(app, tiles::open_tiles(size)).await?;
    let bundle = match Tile::at(0, size / WIDTH, size) {
        Some(tile) => read(app, &tile.bundle().path()).await?,
        None => Bytes::new(),
    };
    let files = tiles::append(&mut open, &bundle, size, notes);
    let size = size + notes.len() as u64;
    let root = open.range(LeafRange::tree(size)).ok_or_else(|| TreeLogError::Damaged("its right edge".to_owned()))?;
    let mut full = Vec::new();
    for (tile, bytes) in files {
        let path = tile.path();
        app.blobs.put_file(&place(app, &path), bytes.into()).await?;
        full.extend((tile.width == WIDTH).then_some(path));
    }
    if !turn.is_held().await {
        return Err(
            StoreError::Unavailable { reason: "the database closed the connection amid an append".to_owned() }.into()
        );
    }
    app.blobs.put_file(&place(app, "checkpoint"), app.signer.sign_tree(size, root).into()).await?;
    for path in full {
        app.blobs.delete_files(&place(app, &format!("{path}.p"))).await?;
    }
    Ok(())
}

fn place(app: &App, path: &str) -> String {
    format!("{FOLDER}/{}/{path}", app.signer.log_key().name)
}

/// The last checkpoint, and its note; `None`: nothing was appended yet.
pub async fn checkpoint(app: &App) -> Result<Option<(Checkpoint, Bytes)>, TreeLogError> {
    let Some(bytes) = app.blobs.file(&place(app, "checkpoint")).await? else { return Ok(None) };
    let text = std::str::from_utf8(&bytes).map_err(|error| TreeLogError::Damaged(error.to_string()))?;
    let verified = Checkpoint::verified(text, &[app.signer.log_key()]);
    verified
        .map(|checkpoint| Some((checkpoint, bytes.clone())))
        .map_err(|error| TreeLogError::Damaged(error.to_string()))
}

/// Bytes of a file of the tree; `None`: there is none.
pub async fn file(app: &App, tile: Tile) -> Result<Option<Bytes>, TreeLogError> {
    Ok(app.blobs.file(&place(app, &tile.path())).await?)
}

async fn read(app: &App, path: &str) -> Result<Bytes, TreeLogError> {
    let found = app.blobs.file(&place(app, path)).await?;
    found.ok_or_else(|| TreeLogError::Damaged(format!("{path} is missing")))
}

async fn read_tiles(app: &App, wanted: impl IntoIterator<Item = Tile>) -> Result<Tiles, TreeLogError> {
    let mut read_tiles = Tiles::default();
    for tile in wanted {
        let path = tile.path();
        if !read_tiles.put(tile, &read(app, &path).await?) {
            return Err(TreeLogError::Damaged(format!("{path} has another size")));
        }
    }
    Ok(read_tiles)
}

/// The last appended head of a notebook, with the proof that it is in the tree. A newer head is appended before.
pub async fn proven_head(app: &App, notebook: &NotebookId) -> Result<String, TreeLogError> {
    let origin = app.signer.log_key().name;
    let now = app.store.head(notebook).await?.map_or(0, |head| head.version);
    let is_there = app.store.logged_head(&origin, notebook).await?.is_some_and(|logged| logged.version >= now);
    if !is_there {
        append(app).await?;
    }
    // No append meanwhile removes the partial tiles of this checkpoint.
    let _own = app.appending.lock().await;
    let _turn = app.store.tree_turn(&app.signer.key_name()).await?;
    let LoggedHead { leaf, .. } = app.store.logged_head(&origin, notebook).await?.ok_or(TreeLogError::Empty)?;
    let (Checkpoint { size, .. }, note) = checkpoint(app).await?.ok_or(TreeLogError::Empty)?;
    let damaged = || TreeLogError::Damaged(format!("leaf {leaf} of {size}"));
    let ranges = merkle::inclusion(leaf, size).ok_or_else(damaged)?;
    let hashes = read_tiles(app, tiles::needed(&ranges, size)).await?.proof(&ranges).ok_or_else(damaged)?;
    let tile = Tile::at(0, leaf / WIDTH, size).ok_or_else(damaged)?;
    let bundle = read(app, &tile.bundle().path()).await?;
    let entries = tiles::entries_of(&bundle).ok_or_else(damaged)?;
    let entry = usize::try_from(leaf % WIDTH).ok().and_then(|at| entries.get(at)).ok_or_else(damaged)?;
    let proof = InclusionProof { index: leaf, hashes, checkpoint: String::from_utf8_lossy(&note).into_owned() };
    Ok(format!("{}{}", String::from_utf8_lossy(entry), proof.text()))
}
