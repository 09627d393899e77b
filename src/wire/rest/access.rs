//! Access to notebooks: roles of people, workspaces and links. Quotas of people and workspaces.

use notarium_core::{AccessEntry, Millis, NotebookId, Role, ShareLinkId, Subject, UserId, Version, WorkspaceId};
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

/// A group of notebooks and people.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Workspace {
    /// Workspace id, chosen by the server.
    pub id: WorkspaceId,
    /// 1 to 100 characters on one line; not unique.
    pub name: String,
    /// Your role in each of its notebooks.
    pub role: Role,
    /// Milliseconds since 1970.
    pub created_at: Millis,
}

/// A member of a workspace.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Member {
    /// The person; `GET /api/people/{user}` has the name.
    pub user: UserId,
    /// Role in each of the workspace's notebooks, besides the notebook's access list.
    pub role: Role,
    /// Group of the OpenID Connect provider that gives the membership: it ends with the group. Absent: a person gave it.
    pub group: Option<String>,
}

/// A link by which people without an account take part in one notebook.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ShareLink {
    /// Link id: the subject of its entry in the notebook's access list, and the actor of its guests' events.
    pub id: ShareLinkId,
    /// The only notebook that it opens.
    pub notebook: NotebookId,
    /// Role when it was created; the notebook's access list has the current one.
    pub role: Role,
    /// Text that others see instead of a guest's name; may be empty.
    pub label: String,
    /// The person who created the link.
    pub created_by: UserId,
    /// Milliseconds since 1970.
    pub created_at: Millis,
    /// Milliseconds since 1970; absent: valid until revoked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Millis>,
}

/// A link to create. Needs the right to share. A notebook has at most 500.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewShareLink {
    /// `viewer`, `commenter`, `runner`, `author` or `editor`.
    pub role: Role,
    /// Text that others see instead of a name, as in "Reviewer".
    #[serde(default)]
    pub label: String,
    /// Milliseconds since 1970; absent: valid until revoked.
    pub expires_at: Option<Millis>,
}

/// A created link, with its secret.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct CreatedShareLink {
    /// Link with the token after `#`, a part that browsers send to no server. Only this answer has it.
    pub url: String,
    /// The same token, for programs.
    pub token: String,
    /// The link without its secret, as in the list of links.
    #[serde(flatten)]
    pub link: ShareLink,
}

/// Name of a workspace to create or rename; its creator is its owner.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkspaceName {
    /// 1 to 100 characters on one line; not unique.
    pub name: String,
}

/// Adds a member, or changes a member's role. For owners of the workspace.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemberRole {
    /// `viewer`, `commenter`, `runner`, `author`, `editor` or `owner`, in each of the workspace's notebooks.
    pub role: Role,
}

/// Puts a notebook into a workspace, so that its members have their role in it. Needs the right to share.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Placement {
    /// The workspace; null: none.
    pub workspace: Option<WorkspaceId>,
}

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
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct AccountUsage {
    /// The person; absent: a workspace.
    pub person: Option<UserId>,
    /// The workspace; absent: a person.
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
