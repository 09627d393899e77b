//! Translates PostgreSQL's SQLSTATEs to errors that say what to do.
//!
//! The codes: <https://www.postgresql.org/docs/current/errcodes-appendix.html>.

use crate::store_error::StoreError;

/// Meaning of a failed statement for the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StatementFailure {
    /// Another transaction stood in the way: nothing was written, and the same may succeed at once.
    Conflict,
    /// The connection broke: a statement that was sent may have been carried out.
    Lost,
    /// The server takes no writes, as a standby does.
    ReadOnly,
    /// A key is there already.
    Duplicate,
    Other,
}

fn code(error: &sqlx::Error) -> Option<String> {
    Some(error.as_database_error()?.code()?.into_owned())
}

pub(super) fn failure(error: &sqlx::Error) -> StatementFailure {
    match error {
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed
        | sqlx::Error::Protocol(_) => return StatementFailure::Lost,
        _ => {}
    }
    match code(error).as_deref() {
        Some("40001" | "40P01") => StatementFailure::Conflict,
        // The server says itself that it does not know.
        Some("40003") => StatementFailure::Lost,
        Some("57P01" | "57P02" | "57P03" | "57P05") => StatementFailure::Lost,
        Some(code) if code.starts_with("08") => StatementFailure::Lost,
        Some("25006") => StatementFailure::ReadOnly,
        Some("23505") => StatementFailure::Duplicate,
        _ => StatementFailure::Other,
    }
}

/// Translates an error of a statement that wrote nothing.
pub(super) fn store_error(error: sqlx::Error) -> StoreError {
    if matches!(error, sqlx::Error::Decode(_) | sqlx::Error::ColumnDecode { .. }) {
        return StoreError::Damaged { reason: error.to_string() };
    }
    let unavailable = |reason: String| StoreError::Unavailable { reason };
    match code(&error).as_deref() {
        Some("25006") => {
            unavailable(format!("PostgreSQL takes no writes ({error}): is it a standby, or set to be read-only?"))
        }
        Some("53100") => unavailable(format!("PostgreSQL's disk is full ({error}): free some of it")),
        Some("53300") => unavailable(format!("PostgreSQL has no connection left ({error}): raise max_connections")),
        Some("42501") => unavailable(format!("PostgreSQL refuses it ({error}): the role must own the tables")),
        Some("XX001" | "XX002") => StoreError::Damaged { reason: error.to_string() },
        Some("22021") => StoreError::Invalid { reason: "a text has the character NUL: leave it out".to_owned() },
        _ if matches!(error, sqlx::Error::PoolTimedOut) => {
            unavailable("PostgreSQL did not answer in time: is it there, and not overloaded?".to_owned())
        }
        _ => unavailable(format!("PostgreSQL: {error}")),
    }
}

/// Translates an error of a statement that may have been carried out.
pub(super) fn sent_error(error: sqlx::Error) -> StoreError {
    match failure(&error) {
        StatementFailure::Lost => {
            StoreError::Unknown { reason: format!("the connection to PostgreSQL broke ({error})") }
        }
        _ => store_error(error),
    }
}
