//! Access list of a notebook: roles, owners, take-over.

use notarium_core::{AccessEntry, Millis, NotebookId, Role, Subject, UserId, Version};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Access list of a notebook, and your role in it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Access {
    /// The notebook's version for which the list is current.
    pub version: Version,
    /// Your role now.
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
    /// Milliseconds since 1970; absent: valid until revoked.
    pub expires_at: Option<Millis>,
}

/// Removes a subject from the access list. The last owner cannot be removed (`last_owner`).
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
    /// The new owner; you become an editor, other owners keep their role.
    pub user: UserId,
}

/// Replaces an owner whose account is deactivated. For administrators.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TakeOver {
    /// The deactivated owner, who loses the role.
    pub from: UserId,
    /// The new owner; absent: you.
    pub to: Option<UserId>,
}

/// Page of the notebooks that a person owns.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OwnedQuery {
    /// 1 to 1,000; absent: 100.
    pub limit: Option<usize>,
    /// `next` of the page before.
    pub cursor: Option<String>,
}

/// Notebooks that a person owns.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct OwnedPage {
    /// Notebooks with the person as owner. Pages are cut before this filter: a page may be empty, and not the last.
    pub notebooks: Vec<OwnedNotebook>,
    /// Ask again with this as `cursor`; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A notebook of a person, as shown to an administrator who cannot read it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct OwnedNotebook {
    /// Names it in `POST /api/notebooks/{notebook}/take-over`.
    pub id: NotebookId,
    /// 1 to 255 characters on one line; not unique.
    pub title: String,
    /// True if it is archived.
    pub archived: bool,
}
