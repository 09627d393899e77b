//! Rows of blobs and snapshots that are removed because of their age.

use notarium_record::{Hash, Millis, NotebookId};
use sqlx::{SqliteConnection, SqlitePool};

use super::reader::ReaderQuery;
use super::rows::integer;

/// Snapshots before a time, but for the newest of each notebook and those on which a kept one builds.
macro_rules! old_snapshots {
    ($begin:literal) => {
        concat!(
            $begin,
            " FROM snapshots AS s WHERE s.recorded_at < ?1 \
             AND s.version < (SELECT max(version) FROM snapshots WHERE notebook = s.notebook) \
             AND NOT EXISTS (SELECT 1 FROM snapshots AS d WHERE d.notebook = s.notebook AND d.base = s.version AND (d.recorded_at >= ?1 \
             OR d.version = (SELECT max(version) FROM snapshots WHERE notebook = s.notebook)))"
        )
    };
}

pub(super) async fn retire_blob(
    connection: &mut SqliteConnection,
    notebook: &NotebookId,
    sha256: &Hash,
    at: Millis,
) -> Result<(), sqlx::Error> {
    let sql = "INSERT OR REPLACE INTO retired_blobs (notebook, sha256, retired_at) SELECT key, ?, ? FROM notebooks WHERE id = ? AND erased = 0";
    let query = sqlx::query(sql).bind(sha256.0.to_vec()).bind(integer(at)).bind(notebook.as_str());
    query.execute(&mut *connection).await?;
    let sql = "DELETE FROM blobs WHERE notebook = (SELECT key FROM notebooks WHERE id = ?) AND sha256 = ?";
    sqlx::query(sql).bind(notebook.as_str()).bind(sha256.0.to_vec()).execute(connection).await.map(drop)
}

pub(super) async fn retired_blob(
    pool: &SqlitePool,
    notebook: &NotebookId,
    sha256: &Hash,
) -> Result<Option<Millis>, sqlx::Error> {
    let sql =
        "SELECT retired_at FROM retired_blobs WHERE notebook = (SELECT key FROM notebooks WHERE id = ?) AND sha256 = ?";
    sqlx::query_scalar(sql).bind(notebook.as_str()).bind(sha256.0.to_vec()).fetch_optional(pool).await
}

pub(super) fn delete_snapshots<'a>(before: Millis) -> ReaderQuery<'a> {
    sqlx::query(old_snapshots!("DELETE")).bind(integer(before))
}

pub(super) async fn count_snapshots(pool: &SqlitePool, before: Millis) -> Result<u64, sqlx::Error> {
    sqlx::query_scalar(old_snapshots!("SELECT count(*)")).bind(integer(before)).fetch_one(pool).await
}
