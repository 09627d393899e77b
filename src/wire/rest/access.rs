//! Roles in a notebook.

use notarium_core::{AccessEntry, Millis, Role, Subject, UserId, Version};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Access {
    pub version: Version,
    /// Yours, now.
    pub role: Role,
    pub access: Vec<AccessEntry>,
}

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

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AccessEnd {
    pub subject: Subject,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewOwner {
    pub user: UserId,
}
