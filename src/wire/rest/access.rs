//! Roles in a notebook.

use notarium_core::{AccessEntry, Millis, Role, Subject, UserId, Version};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who may do what in a notebook, and what you may.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Access {
    /// The notebook's version at which the list stands.
    pub version: Version,
    /// Yours, now.
    pub role: Role,
    /// Sorted by kind (`user`, `share_link`, `workspace`, `agent`), then by id. At most 1,000 entries.
    pub access: Vec<AccessEntry>,
}

/// Gives a subject a role, in place of the one it has. Needs the right to share.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AccessGrant {
    /// `{"kind": "user", "id": "…"}`, or of the kind `share_link`, `workspace` or `agent`.
    pub subject: Subject,
    /// `viewer`, `commenter`, `runner`, `author`, `editor`, `owner`; `agent` for runtime agents.
    pub role: Role,
    /// Milliseconds since 1970; absent: until it is revoked.
    pub expires_at: Option<Millis>,
}

/// Takes a subject off the access list. The last owner cannot go (`last_owner`).
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AccessEnd {
    /// `{"kind": "user", "id": "…"}`, or of the kind `share_link`, `workspace` or `agent`.
    pub subject: Subject,
}

/// Hands a notebook over. Needs the right to share.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewOwner {
    /// Gets the role `owner`, and you become an editor; other owners keep theirs.
    pub user: UserId,
}
