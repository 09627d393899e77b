//! Files beside a notebook.

use notarium_core::{AgentId, KernelSessionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::working_files::{FolderPage, TrashPage};

/// Which folder is listed, and how much of it.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListFiles {
    /// Below the working folder; absent: that folder itself.
    #[serde(default)]
    pub path: String,
    /// The name after which the page begins: `next` of the page before.
    pub after: Option<String>,
    /// Entries of the page, 1 to 1,000; absent: 200.
    pub limit: Option<u32>,
    /// Those too whose names begin with a dot.
    #[serde(default)]
    pub all: bool,
    /// The kernel whose folder is meant; absent: the one that a cell would run on now, else the only runtime agent's.
    pub kernel: Option<KernelSessionId>,
}

/// Which file is meant.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FilePlace {
    /// Below the working folder, with `/` between folders: no `..`, and no `/` at the beginning.
    pub path: String,
    /// The kernel whose folder is meant; absent: the one that a cell would run on now, else the only runtime agent's.
    pub kernel: Option<KernelSessionId>,
}

/// Where a file is stored.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileTarget {
    /// Below the working folder, with `/` between folders. Folders on the way are made.
    pub path: String,
    /// Whether a file of this name is replaced. Without, it is refused (`file_exists`).
    #[serde(default)]
    pub overwrite: bool,
    /// The kernel whose folder is meant; absent: the one that a cell would run on now, else the only runtime agent's.
    pub kernel: Option<KernelSessionId>,
}

/// What a folder holds, and whose it is.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct FileList {
    /// One page.
    #[serde(flatten)]
    pub page: FolderPage,
    /// The runtime agent on whose machine the folder is.
    pub agent: AgentId,
    /// Its name, for people.
    pub agent_name: String,
    /// Largest file that is let through.
    pub max_file_bytes: u64,
    /// Files can be moved, and go to a trash: the runtime agent is new enough.
    #[serde(default)]
    pub can_change: bool,
}

/// Another name or place for a file or folder.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MoveFile {
    /// Below the working folder.
    pub from: String,
    /// Below the working folder, with the new name. Folders on the way are made; what exists is never replaced (`file_exists`).
    pub to: String,
    /// The kernel whose folder is meant; absent: the one that a cell would run on now, else the only runtime agent's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<KernelSessionId>,
}

/// Where something goes that comes back from the trash.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RestoreFile {
    /// Below the working folder; absent: where it was. What exists is never replaced (`file_exists`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The kernel whose folder is meant; absent: the one that a cell would run on now, else the only runtime agent's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<KernelSessionId>,
}

/// Whose trash is meant.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrashPlace {
    /// The kernel whose folder is meant; absent: the one that a cell would run on now, else the only runtime agent's.
    pub kernel: Option<KernelSessionId>,
}

/// What the trash of a folder holds, and whose it is.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct FileTrash {
    /// The last removed first, at most 1,000.
    #[serde(flatten)]
    pub page: TrashPage,
    /// The runtime agent on whose machine the folder is.
    pub agent: AgentId,
    /// Its name, for people.
    pub agent_name: String,
}
