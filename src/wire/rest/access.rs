//! Roles in a notebook.

use notarium_core::{AccessEntry, Millis, NotebookId, Role, Subject, UserId, Version};
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

/// Puts somebody in the place of an owner whose account is deactivated. For administrators.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TakeOver {
    /// The owner who left; loses the role.
    pub from: UserId,
    /// Becomes an owner; absent: you.
    pub to: Option<UserId>,
}

/// Which page of somebody's notebooks is read.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OwnedQuery {
    /// 1 to 1,000; absent: 100.
    pub limit: Option<usize>,
    /// `next` of the page before.
    pub cursor: Option<String>,
}

/// Notebooks that somebody owns.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct OwnedPage {
    /// Of the notebooks in whose access lists the person stands, those that the person owns: a page may be empty, and not the last.
    pub notebooks: Vec<OwnedNotebook>,
    /// Ask again with this as `cursor`; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A notebook that somebody owns, as an administrator is told who cannot read it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct OwnedNotebook {
    /// Names it in `POST /api/notebooks/{notebook}/take-over`.
    pub id: NotebookId,
    /// 1 to 255 characters on one line; not unique.
    pub title: String,
    /// Whether it is archived.
    pub archived: bool,
}
