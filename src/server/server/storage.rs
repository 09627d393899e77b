//! The data of a server: the log, accounts and blobs, in its folder or in PostgreSQL.

use std::sync::Arc;
use std::time::Duration;

#[cfg(not(feature = "postgres"))]
use notarium_store::StoreError;
use notarium_store::accounts::{AccountStore, NoticeStore};
use notarium_store::blobs::{BLOBS_FOLDER, check_mark, set_mark};
use notarium_store::spending::SpendingStore;
use notarium_store::{Blobs, EventStore, NodeStore, Sqlite};
#[cfg(feature = "postgres")]
use notarium_store::{Postgres, Segments};
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
    pub spending: Arc<dyn SpendingStore>,
    pub notices: Arc<dyn NoticeStore>,
    /// Nodes of the cluster; `None`: the store is this process's alone.
    pub nodes: Option<Arc<dyn NodeStore>>,
    pub blobs: Blobs,
    /// Database that [`Self::close`] closes; `None`: others of this process use it.
    database: Option<Database>,
}

enum Database {
    /// A data folder: created if missing, locked while the server runs.
    Sqlite(Arc<Sqlite>),
    #[cfg(feature = "postgres")]
    Postgres(Arc<Postgres>),
}

impl Storage {
    pub(crate) async fn open(config: &ServerConfig) -> Result<Self, StartError> {
        check_mark(&config.folder, config.blobs.as_ref())?;
        let (opened, blobs) = match &config.store {
            None => (open_folder(config).await?, open_blobs(config).await?),
            Some(url) => {
                let blobs = open_blobs(config).await?;
                (open_postgres(config, url, &blobs).await?, blobs)
            }
        };
        let Opened { events, accounts, spending, notices, nodes, database } = opened;
        Ok(Self { events, accounts, spending, notices, nodes, blobs, database: Some(database) })
    }

    /// Data that other nodes of this process use too.
    #[cfg(test)]
    pub(crate) fn shared(
        events: Arc<dyn EventStore>,
        (accounts, spending, notices): (Arc<dyn AccountStore>, Arc<dyn SpendingStore>, Arc<dyn NoticeStore>),
        nodes: Arc<dyn NodeStore>,
        blobs: Blobs,
    ) -> Self {
        Self { events, accounts, spending, notices, nodes: Some(nodes), blobs, database: None }
    }

    /// Closes the database, once no other owner is left.
    pub async fn close(self) {
        let Self { events, accounts, spending, notices, nodes, blobs, database } = self;
        drop((events, accounts, spending, notices, nodes, blobs));
        match database {
            None => {}
            Some(Database::Sqlite(database)) => {
                if let Some(database) = alone(database).await {
                    database.close().await;
                }
            }
            #[cfg(feature = "postgres")]
            Some(Database::Postgres(database)) => {
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
    set_mark(&config.folder, place)?;
    Ok(blobs)
}

/// An open database, by its uses.
struct Opened {
    events: Arc<dyn EventStore>,
    accounts: Arc<dyn AccountStore>,
    spending: Arc<dyn SpendingStore>,
    notices: Arc<dyn NoticeStore>,
    nodes: Option<Arc<dyn NodeStore>>,
    database: Database,
}

async fn open_folder(config: &ServerConfig) -> Result<Opened, StartError> {
    let sqlite = Sqlite::open(&config.folder).await?;
    let sqlite = Arc::new(sqlite.with_max_snapshot_gap(config.rooms.max_snapshot_gap));
    Ok(Opened {
        events: sqlite.clone(),
        accounts: sqlite.clone(),
        spending: sqlite.clone(),
        notices: sqlite.clone(),
        nodes: None,
        database: Database::Sqlite(sqlite),
    })
}

/// Difference between this machine's clock and the database's above which a node does not start.
#[cfg(feature = "postgres")]
const MAX_CLOCK_DIFFERENCE: Duration = Duration::from_secs(5 * 60);

#[cfg(feature = "postgres")]
async fn open_postgres(config: &ServerConfig, url: &SecretString, blobs: &Blobs) -> Result<Opened, StartError> {
    let secret = config.cluster.as_ref().map(|cluster| secret_digest(&cluster.secret));
    let postgres = Postgres::open(url.expose_secret(), secret).await?;
    let difference = Duration::from_millis(postgres.now().await?.abs_diff(config.clock.now()));
    if difference > MAX_CLOCK_DIFFERENCE {
        return Err(StartError::Clock { minutes: difference.as_secs() / 60 });
    }
    let postgres = postgres.with_max_snapshot_gap(config.rooms.max_snapshot_gap);
    let postgres = Arc::new(postgres.with_segments(Segments::new(blobs.clone())));
    Ok(Opened {
        events: postgres.clone(),
        accounts: postgres.clone(),
        spending: postgres.clone(),
        notices: postgres.clone(),
        nodes: Some(postgres.clone()),
        database: Database::Postgres(postgres),
    })
}

/// Digest of the cluster's secret, by which the database tells other clusters apart.
#[cfg(feature = "postgres")]
fn secret_digest(secret: &SecretString) -> [u8; 32] {
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, secret.expose_secret().as_bytes());
    let tag = ring::hmac::sign(&key, b"notarium cluster");
    tag.as_ref().try_into().unwrap_or_default()
}

#[cfg(not(feature = "postgres"))]
async fn open_postgres(_: &ServerConfig, _: &SecretString, _: &Blobs) -> Result<Opened, StartError> {
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
