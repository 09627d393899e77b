//! Where a server keeps its data.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use notarium_store::accounts::{AccountStore, MemoryAccountStore, SqliteAccountStore};
use notarium_store::blobs::BLOBS_FOLDER;
use notarium_store::{Blobs, EventStore, Memory, Sqlite};

use crate::start_error::StartError;

/// How long closing waits for those that still hold the store.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// What a server is to keep its data in.
#[derive(Clone)]
pub enum Storage {
    /// A data folder: made when it is missing, locked while the server runs.
    Folder(PathBuf),
    /// Nothing: everything is forgotten with the process. For tests.
    Memory,
    /// Stores of the caller's own.
    Given(Stores),
}

/// The stores behind a server, for those who bring their own.
#[derive(Clone)]
pub struct Stores {
    pub events: Arc<dyn EventStore>,
    pub accounts: Arc<dyn AccountStore>,
    pub blobs: Blobs,
}

/// Open stores.
pub(crate) struct OpenStorage {
    pub events: Arc<dyn EventStore>,
    pub accounts: Arc<dyn AccountStore>,
    pub blobs: Blobs,
    database: Option<Arc<Sqlite>>,
}

impl Storage {
    pub(crate) async fn open(&self, max_blob_bytes: u64) -> Result<OpenStorage, StartError> {
        match self {
            Storage::Folder(folder) => {
                let database = Arc::new(Sqlite::open(folder).await?);
                Ok(OpenStorage {
                    events: database.clone(),
                    accounts: Arc::new(SqliteAccountStore::new(database.clone())),
                    blobs: Blobs::local(folder.join(BLOBS_FOLDER), max_blob_bytes)?,
                    database: Some(database),
                })
            }
            Storage::Memory => Ok(OpenStorage::of(Stores {
                events: Arc::new(Memory::default()),
                accounts: Arc::new(MemoryAccountStore::default()),
                blobs: Blobs::memory(max_blob_bytes),
            })),
            Storage::Given(stores) => Ok(OpenStorage::of(stores.clone())),
        }
    }
}

impl OpenStorage {
    fn of(Stores { events, accounts, blobs }: Stores) -> Self {
        Self { events, accounts, blobs, database: None }
    }

    /// Writes what is left and unlocks the folder, once nobody else holds the database.
    pub async fn close(self) {
        let Self { events, accounts, blobs, database } = self;
        drop((events, accounts, blobs));
        let Some(database) = database else { return };
        let alone = async {
            while Arc::strong_count(&database) > 1 {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        if tokio::time::timeout(CLOSE_TIMEOUT, alone).await.is_err() {
            tracing::warn!(holders = Arc::strong_count(&database), "the database is still in use: it closes later");
        }
        if let Some(database) = Arc::into_inner(database) {
            database.close().await;
        }
    }
}
