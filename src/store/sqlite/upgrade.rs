//! End of an upgrade of a data folder.

use std::path::Path;

use sqlx::{ConnectOptions, Connection};

use super::error::store_error;
use super::{Sqlite, open};
use crate::schema::Upgrade;
use crate::store_error::StoreError;

/// Numbers and names of the schema's migrations, which every backend has.
#[cfg(all(test, feature = "postgres"))]
pub(crate) fn migrations() -> Vec<(i64, &'static str)> {
    open::MIGRATIONS.iter().map(|(version, name, _)| (*version, *name)).collect()
}

impl Sqlite {
    /// True if the release before does not open this folder any more. A server may use it: nothing is written.
    pub async fn upgrade_has_ended(folder: &Path) -> Result<bool, StoreError> {
        let path = open::database_path(folder);
        let failed = |error| store_error(&path, error);
        let mut connection = open::options(&path).read_only(true).connect().await.map_err(failed)?;
        open::refuse_foreign(&mut connection, &path).await?;
        let has_ended = open::is_upgraded(&mut connection).await.map_err(failed)?;
        connection.close().await.map_err(failed)?;
        Ok(has_ended)
    }

    /// Ends the upgrade of a folder that no server uses: the release before does not open it any more.
    pub async fn finish_upgrade(folder: &Path) -> Result<(), StoreError> {
        Self::open_any(folder, Upgrade::Finish).await?.close().await;
        Ok(())
    }
}
