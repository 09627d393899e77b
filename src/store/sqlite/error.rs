//! From SQLite's result codes to what a person can do about them.

use std::path::Path;

use sqlx::migrate::MigrateError;

use crate::event_store::StoreError;

/// The primary result code: the extended one's low byte.
fn primary_code(error: &sqlx::Error) -> Option<i32> {
    let code: i32 = error.as_database_error()?.code()?.parse().ok()?;
    Some(code & 0xff)
}

pub(super) fn store_error(path: &Path, error: sqlx::Error) -> StoreError {
    let code = primary_code(&error);
    let folder = path.parent().unwrap_or(path).display();
    // Whatever SQLite makes of a disk that is gone.
    if code.is_some_and(|code| matches!(code, 8 | 10 | 11 | 14 | 26)) && is_gone(path) {
        return gone(path);
    }
    let path = path.display().to_string();
    match code {
        Some(8) => StoreError::ReadOnly { path },
        Some(11 | 26) => StoreError::Corrupt { path, reason: error.to_string() },
        Some(13) => {
            StoreError::Unavailable { reason: format!("the disk of {folder} is full ({error}): free some of it") }
        }
        Some(10 | 14) => {
            let reason = format!("the disk of {folder} failed ({error}): is it full, or still connected?");
            StoreError::Unavailable { reason }
        }
        _ => StoreError::Unavailable { reason: error.to_string() },
    }
}

/// Whether something else stands there than was written.
pub(super) fn is_damage(path: &Path, error: &sqlx::Error) -> bool {
    let is_undecodable = matches!(error, sqlx::Error::Decode(_) | sqlx::Error::ColumnDecode { .. });
    is_undecodable || (primary_code(error) == Some(11) && !is_gone(path))
}

/// The same of a commit: where the disk failed, what was written may be found by the next start.
pub(super) fn commit_error(path: &Path, error: sqlx::Error) -> StoreError {
    let has_failed = primary_code(&error) == Some(10);
    match store_error(path, error) {
        StoreError::Unavailable { reason } if has_failed => StoreError::Unknown { reason },
        error => error,
    }
}

/// SQLite goes on writing to a file that was deleted, and nobody would find it again.
pub(super) fn is_gone(path: &Path) -> bool {
    !path.exists()
}

pub(super) fn gone(path: &Path) -> StoreError {
    let (folder, path) = (path.parent().unwrap_or(path).display(), path.display());
    let reason = format!("{path} is not there any more: was its disk taken away, or {folder} moved or deleted?");
    StoreError::Unavailable { reason }
}

/// A row that this program cannot have written.
pub(super) fn damaged(path: &Path, reason: impl std::fmt::Display) -> StoreError {
    StoreError::Corrupt { path: path.display().to_string(), reason: reason.to_string() }
}

pub(super) fn migration_error(path: &Path, known: i64, error: MigrateError) -> StoreError {
    match error {
        MigrateError::VersionMissing(found) if found > known => StoreError::TooNew { found, known },
        MigrateError::Execute(error) => store_error(path, error),
        MigrateError::ExecuteMigration(error, _) if matches!(primary_code(&error), Some(8 | 10 | 11 | 13 | 26)) => {
            store_error(path, error)
        }
        error => StoreError::Migration { reason: error.to_string() },
    }
}

pub(super) fn is_unique_violation(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(|error| error.is_unique_violation())
}
