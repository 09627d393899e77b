//! The data of a server: the log, accounts and blobs, in its folder or in PostgreSQL.

use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "postgres")]
use notarium_store::Postgres;
#[cfg(not(feature = "postgres"))]
use notarium_store::StoreError;
use notarium_store::accounts::AccountStore;
use notarium_store::blobs::BLOBS_FOLDER;
use notarium_store::{Blobs, EventStore, Sqlite};
#[cfg(feature = "postgres")]
use secrecy::ExposeSecret;
use secrecy::SecretString;

use super::{ServerConfig, StartError};
use crate::blobs::location;

/// Time that closing waits for other owners of the store.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// The open data of a server.
pub(crate) struct Storage {
    pub events: Arc<dyn EventStore>,
    pub accounts: Arc<dyn AccountStore>,
    pub blobs: Blobs,
    database: Database,
}

enum Database {
    /// A data folder: created if missing, locked while the server runs.
    Sqlite(Arc<Sqlite>),
    #[cfg(feature = "postgres")]
    Postgres(Arc<Postgres>),
}

impl Storage {
    pub(crate) async fn open(config: &ServerConfig) -> Result<Self, StartError> {
        location::check_mark(&config.folder, config.blobs.as_ref())?;
        let (events, accounts, database) = match &config.store {
            None => {
                let sqlite = Sqlite::open(&config.folder).await?;
                let sqlite = Arc::new(sqlite.with_max_snapshot_gap(config.rooms.max_snapshot_gap));
                (
                    sqlite.clone() as Arc<dyn EventStore>,
                    sqlite.clone() as Arc<dyn AccountStore>,
                    Database::Sqlite(sqlite),
                )
            }
            Some(url) => open_postgres(config, url).await?,
        };
        let blobs = open_blobs(config).await?;
        Ok(Self { events, accounts, blobs, database })
    }

    /// Closes the database, once no other owner is left.
    pub async fn close(self) {
        let Self { events, accounts, blobs, database } = self;
        drop((events, accounts, blobs));
        match database {
            Database::Sqlite(database) => {
                if let Some(database) = alone(database).await {
                    database.close().await;
                }
            }
            #[cfg(feature = "postgres")]
            Database::Postgres(database) => {
                if let Some(database) = alone(database).await {
                    database.close().await;
                }
            }
        }
    }
}

async fn open_blobs(config: &ServerConfig) -> Result<Blobs, StartError> {
    let max_blob_bytes = config.limits.max_blob_bytes as u64;
    let in_folder = Blobs::local(config.folder.join(BLOBS_FOLDER), max_blob_bytes)?;
    let Some(place) = &config.blobs else { return Ok(in_folder) };
    let blobs = location::open(place, max_blob_bytes, config.clock.now(), &in_folder).await?;
    location::mark(&config.folder, place)?;
    Ok(blobs)
}

type Opened = (Arc<dyn EventStore>, Arc<dyn AccountStore>, Database);

#[cfg(feature = "postgres")]
async fn open_postgres(config: &ServerConfig, url: &SecretString) -> Result<Opened, StartError> {
    let postgres = Postgres::open(url.expose_secret(), None).await?;
    let postgres = Arc::new(postgres.with_max_snapshot_gap(config.rooms.max_snapshot_gap));
    Ok((postgres.clone(), postgres.clone(), Database::Postgres(postgres)))
}

#[cfg(not(feature = "postgres"))]
async fn open_postgres(_: &ServerConfig, _: &SecretString) -> Result<Opened, StartError> {
    let reason = "this build has no PostgreSQL: build with the default features".to_owned();
    Err(StoreError::Refused { reason }.into())
}

/// Waits for other owners; `None`: one is left.
async fn alone<T>(database: Arc<T>) -> Option<T> {
    let others = async {
        while Arc::strong_count(&database) > 1 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    if tokio::time::timeout(CLOSE_TIMEOUT, others).await.is_err() {
        tracing::warn!(holders = Arc::strong_count(&database), "the database is still in use: it closes later");
    }
    Arc::into_inner(database)
}
