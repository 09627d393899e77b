//! Files beside a notebook: those of the folder in which a runtime agent starts its kernels. Ephemeral: nothing of it enters the
//! log, and the bytes of files cross no socket (see `protocol/README.md`).

use notarium_core::Millis;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A runtime agent that says this in `hello.features` answers `file_request`.
pub const WORKING_FILES: &str = "working_files";
/// A runtime agent that says this in `hello.features` also moves files, and has a trash: `move`, `remove`, `restore`, `trash`, `empty_trash`.
pub const WORKING_FILE_CHANGES: &str = "working_file_changes";
/// Entries of one page of a folder at most.
pub const MAX_LISTED_FILES: u32 = 1_000;
/// Longest path, in bytes.
pub const MAX_FILE_PATH_BYTES: usize = 4_096;

/// What a runtime agent is asked to do with a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileRequest {
    /// What a folder holds: the answer is `listed`.
    List {
        /// Below the working folder; empty: that folder itself.
        path: String,
        /// The name after which the page begins.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<String>,
        /// Entries at most.
        limit: u32,
        /// Those too whose names begin with a dot.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        all: bool,
    },
    /// What is known of a file or folder: the answer is `found`.
    Look {
        /// Below the working folder.
        path: String,
    },
    /// The bytes of a file: the answer is `found`, and the bytes go as the body of `PUT /api/transfers/{transfer}`.
    Read {
        /// Below the working folder.
        path: String,
        /// The name of the transfer.
        transfer: String,
    },
    /// A file comes: its bytes are the answer to `GET /api/transfers/{transfer}`. The answer is `written` when all of it is on the disk.
    Write {
        /// Below the working folder. Folders on the way are made.
        path: String,
        /// The name of the transfer.
        transfer: String,
        /// Whether a file of this name is replaced.
        overwrite: bool,
        /// How large it will be, where that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        size_bytes: Option<u64>,
        /// A larger one is refused.
        max_bytes: u64,
    },
    /// Another name or place for a file, a folder or a link. Nothing is replaced. The answer is `moved`.
    Move {
        /// Below the working folder.
        from: String,
        /// Below the working folder, with the new name. Folders on the way are made.
        to: String,
    },
    /// A file, a folder or a link goes to the trash. The answer is `trashed`.
    Remove {
        /// Below the working folder.
        path: String,
    },
    /// What the trash holds: the answer is `trash`.
    Trash {
        /// Entries at most.
        limit: u32,
    },
    /// Back from the trash. Nothing is replaced. The answer is `moved`.
    Restore {
        /// Its entry in the trash.
        id: String,
        /// Where to; absent: where it was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<String>,
    },
    /// Deletes for good. The answer is `trash`, with what is left.
    EmptyTrash {
        /// One entry; absent: all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
    },
}

/// What a runtime agent says to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileAnswer {
    /// To `list`.
    Listed(FolderPage),
    /// To `look` and `read`.
    Found(FileEntry),
    /// To `write`.
    Written(WrittenFile),
    /// To `move` and `restore`.
    Moved(MovedFile),
    /// To `remove`.
    Trashed(TrashedFile),
    /// To `trash` and `empty_trash`.
    Trash(TrashPage),
    /// It was not done.
    Refused {
        /// For programs.
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
    /// By name.
    pub files: Vec<FileEntry>,
    /// There is more: ask for what comes `after` this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// The folder holds more than is looked through: what is beyond is not listed, but found by its name.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
}

/// Something in a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileEntry {
    /// Its name, without the folder.
    pub name: String,
    /// What it is. Of a link: what it leads to.
    pub kind: FileKind,
    /// Of a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// When its content changed last, by the clock of that machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified_at: Option<Millis>,
}

/// What stands under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    /// It can be downloaded.
    File,
    /// It can be listed.
    Folder,
    /// A device, a pipe, a link that leads out of the folder or nowhere, a name that is no text: out of reach.
    Other,
}

/// A file that was stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WrittenFile {
    /// Below the working folder.
    pub path: String,
    /// All of it.
    pub size_bytes: u64,
    /// Of its bytes, in lower-case hex.
    pub sha256: String,
    /// It took the place of another.
    pub replaced: bool,
}

/// A file, folder or link that has another name or place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MovedFile {
    /// Where it was, below the working folder.
    pub from: String,
    /// Where it is.
    pub path: String,
    /// What it is.
    pub kind: FileKind,
}

/// An entry of the trash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrashedFile {
    /// By which it is restored.
    pub id: String,
    /// Where it was, below the working folder.
    pub path: String,
    /// What it is.
    pub kind: FileKind,
    /// All of it; of a folder with very many files, of those that were counted.
    pub size_bytes: u64,
    /// By the clock of that machine.
    pub removed_at: Millis,
}

/// What the trash of a working folder holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrashPage {
    /// The last removed first.
    pub files: Vec<TrashedFile>,
    /// Entries in all.
    pub count: u32,
    /// Of all entries.
    pub size_bytes: u64,
    /// Entries are deleted for good after so long.
    pub kept_days: u32,
    /// The oldest are deleted for good when all are larger; the last one stays.
    pub max_bytes: u64,
}

/// Why nothing was done. Each ends with its HTTP status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileRefusal {
    /// The path is none below the working folder: absolute, with `..`, too long, or its name cannot be a file's. 400
    InvalidPath,
    /// A link leads out of the working folder, or the place is hidden from kernels or read-only for them. 403
    OutOfReach,
    /// There is nothing of that name. 404
    NotFound,
    /// It is a folder where a file is meant, a file where a folder is, or neither. 409
    WrongKind,
    /// A file of that name exists, and `overwrite` was not asked for. 409
    FileExists,
    /// The file has more bytes than the server lets through. 413
    TooLarge,
    /// The disk of the runtime agent's machine has no room. 507
    DiskFull,
    /// The system of that machine does not allow or manage it; the message says why. 409
    SystemRefused,
    /// The bytes stopped coming before the end. Nothing was stored. 400
    BrokenOff,
    /// The notebook is archived. 409
    NotebookArchived,
    /// No kernel runs, and it is not clear whose folder is meant. 409
    NoKernel,
    /// No kernel of this id in this notebook. 404
    UnknownKernelSession,
    /// The runtime agent cannot be reached, or left before it answered. 503
    AgentUnreachable,
    /// The runtime agent is older than this, and knows of no files or cannot change them. 501
    AgentTooOld,
    /// Too many files are on their way. 429
    Busy,
    /// The runtime agent did not answer in time. 504
    Timeout,
}

impl FileRefusal {
    /// With a sentence that says what to do.
    pub fn because(self, message: impl Into<String>) -> FileAnswer {
        FileAnswer::Refused { code: self, message: message.into() }
    }
}
