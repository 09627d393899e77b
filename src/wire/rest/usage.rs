//! Storage use of people and workspaces, and their quotas.

use notarium_core::{UserId, WorkspaceId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Accounts whose use is requested.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UsageQuery {
    /// True: all accounts, the largest use of disk first; for administrators.
    #[serde(default)]
    pub all: bool,
}

/// Numbers of notebooks and bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Amounts {
    /// Number of notebooks. A notebook in a workspace counts for the workspace, any other for each of its owners.
    pub notebooks: u64,
    /// Bytes of their records: payloads, plus 256 bytes per event.
    pub log_bytes: u64,
    /// Bytes of their large outputs.
    pub blob_bytes: u64,
}

/// Use and quota of an account.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct AccountUsage {
    /// The person; absent: a workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<UserId>,
    /// The workspace; absent: a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<WorkspaceId>,
    /// Current use. Too low in the first seconds after a start of the server, until existing notebooks are counted.
    pub used: Amounts,
    /// Quotas; commands that would exceed one are refused (`limit_exceeded`).
    pub limits: Amounts,
}

/// Use of your account, then of your workspaces.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct UsageAnswer {
    /// Accounts, at most 1,000.
    pub accounts: Vec<AccountUsage>,
}
