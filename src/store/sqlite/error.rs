//! Translates SQLite's result codes to errors that say what to do.

use std::path::Path;

use sqlx::migrate::MigrateError;

use crate::store_error::StoreError;

/// Returns the primary result code: the extended one's low byte.
fn primary_code(error: &sqlx::Error) -> Option<i32> {
    let code: i32 = error.as_database_error()?.code()?.parse().ok()?;
    Some(code & 0xff)
}

pub(super) fn store_error(path: &Path, error: sqlx::Error) -> StoreError {
    let code = primary_code(&error);
    let folder = path.parent().unwrap_or(path).display();
    // Any of these codes may mean that the disk was removed.
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
        Some(10 | 14) => disk_failed(Path::new(&path), error),
        _ => StoreError::Unavailable { reason: error.to_string() },
    }
}

/// Returns true if the stored data differs from what was written.
pub(super) fn is_damage(path: &Path, error: &sqlx::Error) -> bool {
    let is_undecodable = matches!(error, sqlx::Error::Decode(_) | sqlx::Error::ColumnDecode { .. });
    is_undecodable || (primary_code(error) == Some(11) && !is_gone(path))
}

/// Translates what SQLite's checks found. A page that the disk does not give is named there with the code of the failed read
/// (`unable to get the page. error code=266`): then the disk has failed, and the database may be whole.
pub(super) fn found_error(path: &Path, found: &str) -> StoreError {
    let codes = found.split("error code=").skip(1).filter_map(|rest| {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        rest[..digits].parse::<i32>().ok()
    });
    if codes.map(|code| code & 0xff).any(|code| code == 10) {
        return disk_failed(path, found);
    }
    damaged(path, found)
}

fn disk_failed(path: &Path, error: impl std::fmt::Display) -> StoreError {
    let folder = path.parent().unwrap_or(path).display();
    StoreError::Unavailable {
        reason: format!("the disk of {folder} failed ({error}): is it full, or still connected?"),
    }
}

/// Translates an error of a commit. If the disk failed, the next start may find the transaction or not.
pub(super) fn commit_error(path: &Path, error: sqlx::Error) -> StoreError {
    let has_failed = primary_code(&error) == Some(10);
    match store_error(path, error) {
        StoreError::Unavailable { reason } if has_failed => StoreError::Unknown { reason },
        error => error,
    }
}

/// Returns true if the file was deleted: SQLite would continue to write to it, and the data would be lost.
pub(super) fn is_gone(path: &Path) -> bool {
    !path.exists()
}

pub(super) fn gone(path: &Path) -> StoreError {
    let (folder, path) = (path.parent().unwrap_or(path).display(), path.display());
    let reason = format!("{path} is not there any more: was its disk taken away, or {folder} moved or deleted?");
    StoreError::Unavailable { reason }
}

/// Builds the error for a row that this program cannot have written.
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
