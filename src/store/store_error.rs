//! Errors of the store, each with a sentence that says what to do.

use notarium_record::{CommandId, Epoch, Head, NotebookId, Version};

/// Reason for a refused append; nothing was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    /// Another append came first. Reload and decide again.
    #[error("the notebook's head is {actual:?}, not the expected one: load what is new and decide again")]
    VersionConflict {
        /// `None`: there is no such notebook.
        actual: Option<Head>,
    },
    /// The command is already recorded. Answer with [`crate::EventStore::command`].
    #[error("command {command_id} of {actor} is recorded already: answer with its record")]
    DuplicateCommand { actor: String, command_id: CommandId },
    /// Another instance has the notebook's lease. Reads still work; writing needs [`crate::EventStore::take_lease`] first.
    #[error("the notebook's lease was lost: it is in epoch {epoch} now")]
    LeaseLost { epoch: Epoch },
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Error of the store. Each says what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The disk is full, failed, or the connection was lost. Nothing was written; a retry may succeed.
    #[error("the store is unavailable: {reason}; nothing was written, try again when that is mended")]
    Unavailable { reason: String },
    /// The disk failed during the commit. The append may or may not be there after the next start.
    #[error("it is not known whether this was written: {reason}; try again with the same id when that is mended")]
    Unknown { reason: String },
    #[error(
        "the database {path} is missing or empty, but {beside} is there: it was lost, and a new one in its place would delete what is \
         left. Put it back, or restore a backup into another folder (notarium restore); to begin anew choose another data folder (--data)"
    )]
    Lost { path: String, beside: String },
    #[error(
        "a restore into {path} broke off: run `notarium restore BACKUP {path}` again, which goes on from what is there; to begin anew \
         choose another data folder (--data)"
    )]
    HalfRestored { path: String },
    #[error("a move into {path} broke off: run the same `notarium move-store` again, which goes on from what is there")]
    HalfMoved { path: String },
    #[error("the data folder {path} cannot be made ({reason}): choose another (--data)")]
    NoFolder { path: String, reason: String },
    #[error("{path} cannot be written to: give this user write permission, or choose another data folder (--data)")]
    ReadOnly { path: String },
    #[error(
        "the database {path} is damaged: {reason}. Stop the server, copy the whole folder away, then restore a backup \
         (notarium restore), or save what is readable with: sqlite3 {path} .recover | sqlite3 recovered.db"
    )]
    Corrupt { path: String, reason: String },
    #[error("the database is damaged: {reason}. Stop the servers, and restore its backup")]
    Damaged { reason: String },
    /// The database of another program, or with settings that would lose what was acknowledged.
    #[error("this database cannot be used: {reason}")]
    Refused { reason: String },
    #[error(
        "the database was written by a newer version (its schema is {found}, this build knows {known}): \
         update this program, or restore the backup made before the update"
    )]
    TooNew { found: i64, known: i64 },
    #[error("another server uses the data folder {path}: stop it, or choose another folder (--data)")]
    Locked { path: String },
    #[error(
        "the database could not be brought up to date: {reason}; nothing was changed, restore a backup or report it"
    )]
    Migration { reason: String },
    /// An event cannot be read; earlier ones can.
    #[error(
        "version {version} of the notebook's record cannot be read ({reason}): it is whole before that. Read a version before it, and \
         ask the server's operator to restore a backup"
    )]
    UnreadableEvent { version: Version, reason: String },
    /// The caller made a mistake, for instance an append whose events are not consecutive.
    #[error("not a valid request to the store: {reason}")]
    Invalid { reason: String },
    /// The answer exceeds [`crate::MAX_HISTORY_EVENTS`]: the base version is too old.
    #[error("the answer has more than {limit} events: start from a newer version")]
    HistoryTooLong { limit: usize },
}

impl StoreError {
    pub fn unknown(notebook: &NotebookId) -> Self {
        Self::Invalid { reason: format!("there is no notebook {notebook}") }
    }
}
