//! Files beside a notebook: the working folder with its trash, and large parts of outputs (blobs).

use notarium_core::{AgentId, Hash, KernelSessionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::working_files::{FolderPage, TrashPage};

/// Folder and page to list.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListFiles {
    /// Path below the working folder; absent: that folder itself.
    #[serde(default)]
    pub path: String,
    /// Lower bound: the name after which the page begins, as in `next` of the page before.
    pub after: Option<String>,
    /// Number of entries on the page, 1 to 1,000; absent: 200.
    pub limit: Option<u32>,
    /// True: includes names that begin with a dot.
    #[serde(default)]
    pub all: bool,
    /// Kernel whose folder is used; absent: the kernel that a cell would run on now, else the only runtime agent.
    pub kernel: Option<KernelSessionId>,
}

/// Path of a file.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FilePlace {
    /// Path below the working folder, with `/` between folders; no `..`, and no `/` at the beginning.
    pub path: String,
    /// Kernel whose folder is used; absent: the kernel that a cell would run on now, else the only runtime agent.
    pub kernel: Option<KernelSessionId>,
}

/// Path under which a file is stored.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileTarget {
    /// Path below the working folder, with `/` between folders. Missing folders are created.
    pub path: String,
    /// True: an existing file is replaced. Otherwise it is refused (`file_exists`).
    #[serde(default)]
    pub overwrite: bool,
    /// Kernel whose folder is used; absent: the kernel that a cell would run on now, else the only runtime agent.
    pub kernel: Option<KernelSessionId>,
}

/// Page of a folder, with its runtime agent.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct FileList {
    /// The page.
    #[serde(flatten)]
    pub page: FolderPage,
    /// Runtime agent on whose machine the folder is.
    pub agent: AgentId,
    /// Display name of the agent.
    pub agent_name: String,
    /// Maximum size of a file in a transfer, in bytes.
    pub max_file_bytes: u64,
    /// True if the runtime agent can move files and has a trash.
    #[serde(default)]
    pub can_change: bool,
}

/// New path of a file or folder.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MoveFile {
    /// Path below the working folder.
    pub from: String,
    /// New path below the working folder. Missing folders are created; an existing file is never replaced (`file_exists`).
    pub to: String,
    /// Kernel whose folder is used; absent: the kernel that a cell would run on now, else the only runtime agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<KernelSessionId>,
}

/// Path for an entry restored from the trash.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RestoreFile {
    /// Path below the working folder; absent: the former one. An existing file is never replaced (`file_exists`).
    pub to: Option<String>,
    /// Kernel whose folder is used; absent: the kernel that a cell would run on now, else the only runtime agent.
    pub kernel: Option<KernelSessionId>,
}

/// Trash to use.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrashPlace {
    /// Kernel whose folder is used; absent: the kernel that a cell would run on now, else the only runtime agent.
    pub kernel: Option<KernelSessionId>,
}

/// Trash of a folder, with its runtime agent.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct FileTrash {
    /// Entries, the last removed first, at most 1,000.
    #[serde(flatten)]
    pub page: TrashPage,
    /// Runtime agent on whose machine the folder is.
    pub agent: AgentId,
    /// Display name of the agent.
    pub agent_name: String,
}

/// An uploaded blob.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Uploaded {
    /// Hash of the received bytes: the same as in the path.
    pub sha256: Hash,
    /// Size in bytes; at most 256 MiB by default.
    pub size_bytes: u64,
}
