//! Working files: files of the folder in which a runtime agent starts its kernels. Ephemeral: requests and answers are not in the log, and
//! no socket transfers the bytes of files (see `protocol/agents.md`).

use notarium_core::Millis;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Entry of `hello.features` of a runtime agent that answers `file_request`.
pub const WORKING_FILES: &str = "working_files";
/// Entry of `hello.features` of a runtime agent that also moves files and has a trash: `move`, `remove`, `restore`, `trash`, `empty_trash`.
pub const WORKING_FILE_CHANGES: &str = "working_file_changes";
/// Maximum entries on one page of a folder.
pub const MAX_LISTED_FILES: u32 = 1_000;
/// Maximum length of a path, in bytes.
pub const MAX_FILE_PATH_BYTES: usize = 4_096;

/// A request to a runtime agent about a file.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileRequest {
    /// Lists a folder: the answer is `listed`.
    List {
        /// Path below the working folder; empty: that folder itself.
        path: String,
        /// Lower bound: the name after which the page begins.
        after: Option<String>,
        /// Maximum number of entries.
        limit: u32,
        /// True: includes names that begin with a dot.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        all: bool,
    },
    /// Asks for kind, size and time of a file or folder: the answer is `found`.
    Look {
        /// Path below the working folder.
        path: String,
    },
    /// Reads a file: the answer is `found`, and the bytes are sent as the body of `PUT /api/transfers/{transfer}`.
    Read {
        /// Path below the working folder.
        path: String,
        /// Id of the transfer.
        transfer: String,
    },
    /// Writes a file: `GET /api/transfers/{transfer}` returns its bytes. The answer is `written` when all of it is on the disk.
    Write {
        /// Path below the working folder. Missing folders are created.
        path: String,
        /// Id of the transfer.
        transfer: String,
        /// True: an existing file is replaced.
        overwrite: bool,
        /// Size in bytes, if known.
        size_bytes: Option<u64>,
        /// Maximum size in bytes; a larger file is refused.
        max_bytes: u64,
    },
    /// Moves or renames a file, a folder or a link. Never replaces one. The answer is `moved`.
    Move {
        /// Path below the working folder.
        from: String,
        /// New path below the working folder. Missing folders are created.
        to: String,
    },
    /// Moves a file, a folder or a link to the trash. The answer is `trashed`.
    Remove {
        /// Path below the working folder.
        path: String,
    },
    /// Lists the trash: the answer is `trash`.
    Trash {
        /// Maximum number of entries.
        limit: u32,
    },
    /// Restores an entry from the trash. Never replaces a file. The answer is `moved`.
    Restore {
        /// Id of the entry in the trash.
        id: String,
        /// Path for the restored entry; absent: the former one.
        to: Option<String>,
    },
    /// Deletes entries permanently. The answer is `trash`, with the remaining entries.
    EmptyTrash {
        /// Id of one entry; absent: all.
        id: Option<String>,
    },
}

/// A runtime agent's answer to a file request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileAnswer {
    /// Answers `list`.
    Listed(FolderPage),
    /// Answers `look` and `read`.
    Found(FileEntry),
    /// Answers `write`.
    Written(WrittenFile),
    /// Answers `move` and `restore`.
    Moved(MovedFile),
    /// Answers `remove`.
    Trashed(TrashedFile),
    /// Answers `trash` and `empty_trash`.
    Trash(TrashPage),
    /// Refuses the request; nothing was changed.
    Refused {
        /// Code for programs.
        code: FileRefusal,
        /// One sentence for people that says what to do.
        message: String,
    },
}

/// A page of a folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FolderPage {
    /// The folder, below the working folder; empty: that folder itself.
    pub path: String,
    /// Entries by name.
    pub files: Vec<FileEntry>,
    /// Name to pass as `after` for the next page; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// True: the folder has more entries than are read. The others are not listed, but found by name.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
}

/// An entry of a folder.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileEntry {
    /// Name without the folder.
    pub name: String,
    /// Kind of the entry. For a link: kind of its target.
    pub kind: FileKind,
    /// Size in bytes; only for files.
    pub size_bytes: Option<u64>,
    /// Time of the last change of its content by the clock of that machine, in milliseconds since 1970.
    pub modified_at: Option<Millis>,
}

/// Kind of a folder's entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    /// A file, which can be downloaded.
    File,
    /// A folder, which can be listed.
    Folder,
    /// Not accessible: a device, a pipe, a link that leads out of the folder or nowhere, or a name that is not text.
    Other,
}

/// A stored file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WrittenFile {
    /// Path below the working folder.
    pub path: String,
    /// Total size in bytes.
    pub size_bytes: u64,
    /// SHA-256 of its bytes, in lower-case hex.
    pub sha256: String,
    /// True if it replaced an existing file.
    pub replaced: bool,
}

/// A moved file, folder or link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MovedFile {
    /// Former path, below the working folder.
    pub from: String,
    /// New path, below the working folder.
    pub path: String,
    /// Kind of the entry.
    pub kind: FileKind,
}

/// An entry of the trash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrashedFile {
    /// Id for restoring it.
    pub id: String,
    /// Former path, below the working folder.
    pub path: String,
    /// Kind of the entry.
    pub kind: FileKind,
    /// Total size in bytes; for a folder with very many files, of the counted ones.
    pub size_bytes: u64,
    /// Time of removal by the clock of that machine, in milliseconds since 1970.
    pub removed_at: Millis,
}

/// Entries of the trash of a working folder, with its limits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrashPage {
    /// Entries, the last removed first.
    pub files: Vec<TrashedFile>,
    /// Number of all entries.
    pub count: u32,
    /// Size of all entries, in bytes.
    pub size_bytes: u64,
    /// Number of days after which entries are deleted permanently.
    pub kept_days: u32,
    /// Maximum size of all entries, in bytes: beyond it the oldest are deleted permanently; the last one stays.
    pub max_bytes: u64,
}

/// Reason for a refusal. Each description ends with the HTTP status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileRefusal {
    /// The path is not below the working folder: absolute, with `..`, too long, or not valid as a file's name. 400
    InvalidPath,
    /// A link leads out of the working folder, or the path is hidden from kernels or read-only for them. 403
    OutOfReach,
    /// No file or folder has this name. 404
    NotFound,
    /// The entry has the wrong kind: a folder where a file is needed, the reverse, or neither. 409
    WrongKind,
    /// A file with this name exists, and `overwrite` is not set. 409
    FileExists,
    /// The file exceeds the server's maximum size. 413
    TooLarge,
    /// The disk of the runtime agent's machine is full. 507
    DiskFull,
    /// The system of that machine refused or failed; the message has the reason. 409
    SystemRefused,
    /// The transfer ended early. Nothing was stored. 400
    BrokenOff,
    /// The notebook is archived. 409
    NotebookArchived,
    /// No kernel runs, and several runtime agents are possible. 409
    NoKernel,
    /// The notebook has no kernel with this id. 404
    UnknownKernelSession,
    /// The runtime agent cannot be reached, or disconnected before its answer. 503
    AgentUnreachable,
    /// The runtime agent is too old: it has no working files, or cannot change them. 501
    AgentTooOld,
    /// Too many transfers are in progress. 429
    Busy,
    /// The runtime agent did not answer in time. 504
    Timeout,
}

impl FileRefusal {
    /// Builds the refusal; `message` is a sentence that says what to do.
    pub fn because(self, message: impl Into<String>) -> FileAnswer {
        FileAnswer::Refused { code: self, message: message.into() }
    }
}
