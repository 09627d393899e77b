//! Moves a store from a data folder to PostgreSQL or back, while nobody uses it.
//!
//! The target is marked until everything was compared: no server opens it before, and the same move goes on if it broke off. The source is
//! unchanged. Blobs and the signing key are files: they stay where they are.

use std::path::{Path, PathBuf};

use crate::blobs::{BlobLocation, Blobs, set_mark};
use crate::nodes::NODE_TIMEOUT;
use crate::postgres::Postgres;
use crate::segments::Segments;
use crate::sqlite::Sqlite;
use crate::store_error::StoreError;
use crate::transfer::{ReportTransfer, TransferError, Transferable, Transferred, refuse_filled, transfer};

/// Place of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StorePlace {
    /// A data folder.
    Folder(PathBuf),
    /// URL of a PostgreSQL database.
    Postgres(String),
}

impl StorePlace {
    /// Reads a folder or a URL.
    pub fn parse(text: &str) -> Self {
        match text.starts_with("postgresql://") || text.starts_with("postgres://") {
            true => Self::Postgres(text.to_owned()),
            false => Self::Folder(PathBuf::from(text)),
        }
    }
}

/// An open store of either kind.
enum OpenStore {
    Sqlite(Box<Sqlite>),
    Postgres(Box<Postgres>),
}

impl OpenStore {
    /// Opens a store that is there, and that no server uses.
    async fn source(place: &StorePlace, blobs: Option<&BlobLocation>) -> Result<Self, TransferError> {
        match place {
            StorePlace::Folder(folder) if !folder.join(crate::sqlite::DATABASE_FILE).is_file() => {
                let path = folder.display().to_string();
                Err(StoreError::NoFolder { path, reason: "there is no database in it".to_owned() }.into())
            }
            StorePlace::Folder(folder) => Ok(Self::Sqlite(Box::new(Sqlite::open(folder).await?))),
            StorePlace::Postgres(url) => {
                let store = open_postgres(url, blobs).await?;
                store.refuse_if_used(NODE_TIMEOUT).await?;
                Ok(Self::Postgres(Box::new(store)))
            }
        }
    }

    /// Opens a store to be filled.
    async fn target(place: &StorePlace) -> Result<Self, StoreError> {
        match place {
            StorePlace::Folder(folder) => Ok(Self::Sqlite(Box::new(Sqlite::open_unfinished(folder).await?))),
            StorePlace::Postgres(url) => {
                let store = Postgres::open_unfinished(url).await?;
                store.refuse_if_used(NODE_TIMEOUT).await?;
                Ok(Self::Postgres(Box::new(store)))
            }
        }
    }

    fn transferable(&self) -> &dyn Transferable {
        match self {
            Self::Sqlite(store) => &**store,
            Self::Postgres(store) => &**store,
        }
    }

    async fn begin_filling(&self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(store) => store.begin_filling(),
            Self::Postgres(store) => store.begin_filling().await,
        }
    }

    async fn finish(&self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(store) => store.finish(),
            Self::Postgres(store) => store.finish().await,
        }
    }

    async fn close(self) {
        match self {
            Self::Sqlite(store) => store.close().await,
            Self::Postgres(store) => store.close().await,
        }
    }
}

/// Opens a database; old events of its notebooks are beside the blobs.
async fn open_postgres(url: &str, blobs: Option<&BlobLocation>) -> Result<Postgres, TransferError> {
    let segments = blobs.map(|blobs| Blobs::open_shared(blobs).map(Segments::new)).transpose()?;
    let store = Postgres::open(url, None).await?;
    Ok(match segments {
        Some(segments) => store.with_segments(segments),
        None => store,
    })
}

/// Moves everything that is not derived, and compares it. `blobs`: place of the blobs, which a new folder remembers, and of the old events of
/// a PostgreSQL database.
pub async fn move_store(
    from: &StorePlace,
    to: &StorePlace,
    blobs: Option<&BlobLocation>,
    progress: ReportTransfer<'_>,
) -> Result<Transferred, TransferError> {
    let source = OpenStore::source(from, blobs).await?;
    let target = match OpenStore::target(to).await {
        Ok(target) => target,
        Err(error) => {
            source.close().await;
            return Err(error.into());
        }
    };
    let moved = fill(&source, &target, (to, blobs), progress).await;
    source.close().await;
    target.close().await;
    moved
}

async fn fill(
    source: &OpenStore,
    target: &OpenStore,
    (to, blobs): (&StorePlace, Option<&BlobLocation>),
    progress: ReportTransfer<'_>,
) -> Result<Transferred, TransferError> {
    let from = source.transferable();
    let moment = from.moment().await?;
    if !from.blobs_to_purge().await?.is_empty() || !moment.unfinished_erasures.is_empty() {
        let what = "a redaction or an erasure is unfinished: start the server on the source once, and stop it";
        return Err(StoreError::Refused { reason: what.to_owned() }.into());
    }
    // A store that is another's stays as it is.
    refuse_filled(&moment, target.transferable()).await?;
    target.begin_filling().await?;
    let moved = transfer(from, &moment, target.transferable(), progress).await?;
    if from.moment().await? != moment {
        return Err(TransferError::Differs { what: "somebody wrote to the source meanwhile".to_owned() });
    }
    if let (StorePlace::Folder(folder), Some(blobs)) = (to, blobs) {
        set_mark(folder, blobs)?;
    }
    target.finish().await?;
    Ok(moved)
}

/// Copies a database that servers may be writing to into an empty data folder: for backups. It is as it was at the beginning.
pub async fn copy_store(
    url: &str,
    folder: &Path,
    blobs: &BlobLocation,
    progress: ReportTransfer<'_>,
) -> Result<Transferred, TransferError> {
    let source = open_postgres(url, Some(blobs)).await?;
    let target = match Sqlite::open_unfinished(folder).await {
        Ok(target) => target,
        Err(error) => {
            source.close().await;
            return Err(error.into());
        }
    };
    let copied = async {
        target.begin_filling()?;
        let moment = source.moment().await?;
        let copied = transfer(&source, &moment, &target, progress).await?;
        target.finish()?;
        Ok(copied)
    };
    let copied = copied.await;
    source.close().await;
    target.close().await;
    copied
}
