//! Sessions, people, tokens, agents, workspaces, share links, the audit. Never a hash, and a secret only in the answer that makes it.

use std::collections::BTreeSet;

use notarium_core::{
    Actor, AgentId, Millis, NotebookId, Role, Scope, Scopes, ShareLinkId, TokenId, UserId, WorkspaceId,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What everybody with an account may know of somebody whose id or login they have.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Person {
    pub id: UserId,
    pub name: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PersonQuery {
    /// The whole login: there is no search.
    pub login: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UsersQuery {
    /// The id of the last user of the page before.
    pub after: Option<UserId>,
    /// 1 to 1,000; absent: 100.
    pub limit: Option<usize>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewUser {
    pub name: String,
    pub login: String,
    #[serde(default)]
    pub is_admin: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct CreatedUser {
    pub user: User,
    /// Hand it to the person, who sends it to `POST /api/session` with a password.
    pub invitation: OneTimeToken,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdminChange {
    pub is_admin: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditQuery {
    /// The number of the last entry of the page before.
    pub before: Option<u64>,
    /// 1 to 1,000; absent: 100.
    pub limit: Option<usize>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct AuditEntry {
    pub number: u64,
    /// Milliseconds since 1970.
    pub at: u64,
    /// As in `user:01J…`.
    pub actor: String,
    /// As in `user.deactivate`.
    pub action: String,
    pub subject: String,
}

/// Either `login` and `password`, or a one-time `token` (the printed owner token, an invitation, a reset).
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SignIn {
    pub login: Option<String>,
    /// With a reset or an invitation: the new one. At least 10 characters.
    pub password: Option<String>,
    pub token: Option<String>,
    /// With an owner token: what you are called. Goes with `login`.
    pub name: Option<String>,
    /// For the list of your sessions, as in "laptop".
    #[serde(default)]
    pub label: String,
}

/// A session: carry the token as `Authorization: Bearer <token>`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct SignedIn {
    /// In this answer and never again.
    pub token: String,
    /// Milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Millis>,
    pub user: User,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Me {
    pub actor: Actor,
    pub name: String,
    /// `session`, `api`, `agent` or `share`.
    pub kind: String,
    pub token_id: TokenId,
    pub scopes: Vec<Scope>,
    pub covers: Covers,
    pub workspaces: Vec<MyWorkspace>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Millis>,
    /// Absent for agents and guests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<User>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct MyWorkspace {
    pub id: WorkspaceId,
    pub role: Role,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    pub name: String,
    pub login: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PasswordChange {
    /// Needed where there is one.
    pub current: Option<String>,
    /// At least 10 characters.
    pub password: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct User {
    pub id: UserId,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub login: Option<String>,
    pub is_admin: bool,
    pub has_password: bool,
    /// Milliseconds since 1970.
    pub created_at: Millis,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deactivated_at: Option<Millis>,
}

/// The notebooks that a token is good for: those of one list, or of one workspace; without either, all.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Covers {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notebooks: Option<BTreeSet<NotebookId>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<WorkspaceId>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Token {
    pub id: TokenId,
    /// `session`, `api` or `agent`.
    pub kind: String,
    /// Of an agent: who it is in events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    pub label: String,
    pub scopes: Vec<Scope>,
    pub covers: Covers,
    pub created_by: UserId,
    pub created_at: Millis,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Millis>,
    /// Up to ten minutes behind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<Millis>,
}

/// A new token: its text is in this answer and never again.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct IssuedToken {
    pub token: String,
    #[serde(flatten)]
    pub record: Token,
}

/// A token to hand to a person, who sends it once to `POST /api/session`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct OneTimeToken {
    pub token: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Millis>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Workspace {
    pub id: WorkspaceId,
    pub name: String,
    /// Yours, in each of its notebooks.
    pub role: Role,
    pub created_at: Millis,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Member {
    pub user: UserId,
    pub role: Role,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ShareLink {
    pub id: ShareLinkId,
    pub notebook: NotebookId,
    /// As granted when it was made; the notebook's access list has what it is now.
    pub role: Role,
    pub label: String,
    pub created_by: UserId,
    pub created_at: Millis,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Millis>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewShareLink {
    /// `viewer`, `commenter`, `runner`, `author` or `editor`.
    pub role: Role,
    /// What others see instead of a name, as in "Reviewer".
    #[serde(default)]
    pub label: String,
    /// Milliseconds since 1970; absent: until it is revoked.
    pub expires_at: Option<Millis>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct CreatedShareLink {
    /// The token stands behind `#`, which browsers send to no server. In this answer and never again.
    pub url: String,
    /// The same token, for programs.
    pub token: String,
    #[serde(flatten)]
    pub link: ShareLink,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewApiToken {
    /// For you to know it by.
    #[serde(default)]
    pub label: String,
    /// Of `read`, `edit`, `run`, `confirm`, `manage`, `admin`; `read` always. `confirm` lets a program decide on tool
    /// calls in your name.
    pub scopes: Scopes,
    #[serde(default)]
    pub covers: Covers,
    /// Milliseconds since 1970; absent: until it is revoked.
    pub expires_at: Option<Millis>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewAgent {
    /// What people see in the list of agents, as in "GPU machine".
    pub name: String,
    /// Notebooks that you may share, or a workspace that you own. Without either, every notebook of the server, which
    /// only an administrator can give.
    #[serde(default)]
    pub covers: Covers,
    /// Milliseconds since 1970; absent: until it is revoked.
    pub expires_at: Option<Millis>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkspaceName {
    pub name: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemberRole {
    /// `viewer`, `commenter`, `runner`, `author`, `editor` or `owner`, in each of the workspace's notebooks.
    pub role: Role,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Placement {
    /// Null: in none.
    pub workspace: Option<WorkspaceId>,
}
