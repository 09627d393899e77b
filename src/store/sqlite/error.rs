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
    let path = path.display().to_string();
    match primary_code(&error) {
        Some(8) => StoreError::ReadOnly { path },
        Some(11 | 26) => StoreError::Corrupt { path, reason: error.to_string() },
        _ => StoreError::Unavailable { reason: error.to_string() },
    }
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
