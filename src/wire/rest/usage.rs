//! What people and workspaces use of a server.

use notarium_core::{UserId, WorkspaceId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whose use is asked for.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UsageQuery {
    /// True: of everybody, who uses most of the disk first; for administrators.
    #[serde(default)]
    pub all: bool,
}

/// Notebooks, and bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Amounts {
    /// A notebook in a workspace counts for the workspace, any other for each of its owners.
    pub notebooks: u64,
    /// Of their records: payloads, and 256 bytes for each event.
    pub log_bytes: u64,
    /// Of their large outputs.
    pub blob_bytes: u64,
}

/// What an account uses, and what it may use.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct AccountUsage {
    /// A person; absent: a workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<UserId>,
    /// A workspace; absent: a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<WorkspaceId>,
    /// In the first seconds after a start of the server less than it is: what was there before is being counted.
    pub used: Amounts,
    /// Beyond these, what only grows is refused (`limit_exceeded`).
    pub limits: Amounts,
}

/// First you, then your workspaces.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct UsageAnswer {
    /// At most 1,000 of them.
    pub accounts: Vec<AccountUsage>,
}
