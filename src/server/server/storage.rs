//! Data folder of a server: events, accounts, blobs.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use notarium_store::accounts::AccountStore;
use notarium_store::blobs::BLOBS_FOLDER;
use notarium_store::{Blobs, Sqlite};

use crate::server::start_error::StartError;

/// Time that closing waits for other owners of the store.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// The open data folder: created if missing, locked while the server runs.
pub(crate) struct Storage {
    pub events: Arc<Sqlite>,
    pub accounts: AccountStore,
    pub blobs: Blobs,
}

impl Storage {
    pub(crate) async fn open(folder: &Path, max_blob_bytes: u64, max_snapshot_gap: u64) -> Result<Self, StartError> {
        let events = Arc::new(Sqlite::open(folder).await?.with_max_snapshot_gap(max_snapshot_gap));
        let accounts = AccountStore::new(events.clone());
        Ok(Self { events, accounts, blobs: Blobs::local(folder.join(BLOBS_FOLDER), max_blob_bytes)? })
    }

    /// Closes the database and unlocks the folder, once no other owner is left.
    pub async fn close(self) {
        let Self { events: database, accounts, blobs } = self;
        drop((accounts, blobs));
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
