//! End of an upgrade of a data folder.

use std::path::Path;

use super::Sqlite;
#[cfg(all(test, feature = "postgres"))]
use super::open;
use crate::schema::Upgrade;
use crate::store_error::StoreError;

/// Numbers and names of the schema's migrations, which every backend has.
#[cfg(all(test, feature = "postgres"))]
pub(crate) fn migrations() -> Vec<(i64, &'static str)> {
    open::MIGRATIONS.iter().map(|(version, name, _)| (*version, *name)).collect()
}

impl Sqlite {
    /// Ends the upgrade of a folder that no server uses: the release before does not open it any more.
    pub async fn finish_upgrade(folder: &Path) -> Result<(), StoreError> {
        Self::open_any(folder, Upgrade::Finish).await?.close().await;
        Ok(())
    }
}
