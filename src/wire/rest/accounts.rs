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
    /// As in the actor of events, where names do not stand.
    pub id: UserId,
    /// As the person chose it: not unique, and it may change.
    pub name: String,
}

/// Finds one person by login, to share a notebook with them.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PersonQuery {
    /// The whole login: there is no search.
    pub login: String,
}

/// Finds people by a part of their name or login, as somebody types it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PeopleQuery {
    /// Each word begins a word of the name, or the login. 1 to 100 characters.
    pub text: String,
}

/// Somebody whom a search has found.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct FoundPerson {
    /// As in the actor of events.
    pub id: UserId,
    /// As the person chose it: not unique.
    pub name: String,
    /// Unique.
    pub login: Option<String>,
}

/// What a guest is called: as the link says it, else as the guest said it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Guest {
    /// Of the link, as in the actor of events.
    pub id: ShareLinkId,
    /// Not unique.
    pub name: String,
}

/// Which accounts are listed, by id. For administrators.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UsersQuery {
    /// The id of the last user of the page before.
    pub after: Option<UserId>,
    /// 1 to 1,000; absent: 100.
    pub limit: Option<usize>,
}

/// An account to be made, without a password: the person chooses it. For administrators.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewUser {
    /// 1 to 100 characters on one line, not unique.
    pub name: String,
    /// 1 to 100 characters without spaces, unique; kept in lower case.
    pub login: String,
    /// May hold the scope `admin`: accounts, tokens and workspaces of the whole server.
    #[serde(default)]
    pub is_admin: bool,
}

/// An account that was made, and how its person gets in.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct CreatedUser {
    /// Without a password until the invitation is used.
    pub user: User,
    /// Hand it to the person, who sends it to `POST /api/session` with a password.
    pub invitation: OneTimeToken,
}

/// Makes an account an administrator, or takes that back. The last administrator stays.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdminChange {
    /// Whether it is to be one.
    pub is_admin: bool,
}

/// Which entries of the audit are read, newest first. For administrators.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditQuery {
    /// The number of the last entry of the page before.
    pub before: Option<u64>,
    /// 1 to 1,000; absent: 100.
    pub limit: Option<usize>,
}

/// One change of accounts, tokens, workspaces or share links. Rights in a notebook are events of that notebook instead.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct AuditEntry {
    /// Counts up over the whole server, from 1; `before` of the next page.
    pub number: u64,
    /// Milliseconds since 1970.
    pub at: u64,
    /// As in `user:01J…`.
    pub actor: String,
    /// As in `user.deactivate`.
    pub action: String,
    /// The id of what was changed: of a user, token, workspace, notebook or link.
    pub subject: String,
}

/// Either `login` and `password`, or a one-time `token` (the printed owner token, an invitation, a reset, a link for a browser).
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SignIn {
    /// With a password: whom you sign in as. With an owner token: the login that you choose; goes with `name`.
    pub login: Option<String>,
    /// With a reset, an invitation or an owner token: the new one. At least 10 characters. `POST /api/session/one-time` says what a token needs.
    pub password: Option<String>,
    /// The secret of a one-time token, good for one use.
    pub token: Option<String>,
    /// With an owner token: what you are called. Goes with `login`.
    pub name: Option<String>,
    /// For the list of your sessions, as in "laptop".
    #[serde(default)]
    pub label: String,
    /// With login and password: a session of 15 minutes, in place of one of 30 days. It alone confirms, shares and manages where `me`
    /// says `asks_again`. Keep it in memory, never on a disk.
    #[serde(default)]
    pub fresh: bool,
    /// Of a browser: the public point of a P-256 key that it made and whose private part nothing can read, uncompressed (65 bytes) in
    /// base64url without padding. The session is bound to it: a page that opens later gets its token from `POST /api/session/resume`.
    pub key: Option<String>,
}

/// A one-time token that is asked about. It stays good.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OneTimeQuestion {
    /// Its secret, as in `POST /api/session`.
    pub token: String,
}

/// What a one-time token is good for, and what `POST /api/session` needs beside it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct OneTimeUse {
    /// `owner` (the first sign-in of a server), `reset` (an invitation, or a new password) or `link` (opens a browser).
    pub kind: String,
    /// What the person is called; absent for a link.
    pub name: Option<String>,
    /// The person's login, where there is one.
    pub login: Option<String>,
    /// Send `name` and `login`, which the person chooses.
    pub needs_login: bool,
    /// Send `password`, which the person chooses.
    pub needs_password: bool,
}

/// A browser that was opened with the token of a session.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BindBrowser {
    /// As in signing in.
    pub key: String,
    /// For the list of your sessions, as in "laptop".
    #[serde(default)]
    pub label: String,
}

/// Which session a page belongs to.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResumeRequest {
    /// As `session` said when it began.
    pub session: TokenId,
}

/// What to sign.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ResumeChallenge {
    /// Good for a minute, and for this session.
    pub challenge: String,
}

/// The proof that the browser still has the key of its session.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Resume {
    /// As `session` said when it began.
    pub session: TokenId,
    /// The public point, as it was sent when the session began.
    pub key: String,
    /// From `POST /api/session/challenge`.
    pub challenge: String,
    /// ECDSA with SHA-256 of the text `notarium-session\n<session>\n<challenge>`, 64 bytes in base64url without padding.
    pub signature: String,
}

/// A session: carry the token as `Authorization: Bearer <token>`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct SignedIn {
    /// In this answer and never again.
    pub token: String,
    /// Names the session in `DELETE /api/tokens/{token}` and `POST /api/session/challenge`; it is no secret.
    pub session: TokenId,
    /// Milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Millis>,
    /// The account that you are signed in to.
    pub user: User,
}

/// Who the holder of the token is, and what the token allows.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Me {
    /// As in the events that you cause.
    pub actor: Actor,
    /// Of the person or agent; of a guest the link's label.
    pub name: String,
    /// `session`, `api`, `agent` or `share`.
    pub kind: String,
    /// Names this token in `DELETE /api/tokens/{token}`; it is no secret.
    pub token_id: TokenId,
    /// What the token is good for now: its own scopes, as far as the account still holds them.
    pub scopes: Vec<Scope>,
    /// The notebooks that it reaches.
    pub covers: Covers,
    /// Those that you are a member of.
    pub workspaces: Vec<MyWorkspace>,
    /// When the token ends. Milliseconds since 1970; absent: when it is revoked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Millis>,
    /// The scopes `confirm`, `manage` and `admin` are withheld from what can be kept on a disk: `POST /api/session` with `fresh` gives
    /// a session of 15 minutes that has them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asks_again: bool,
    /// Absent for agents and guests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<User>,
}

/// A workspace that you are in.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct MyWorkspace {
    /// Its name stands in `GET /api/workspaces`.
    pub id: WorkspaceId,
    /// What you are in each of its notebooks.
    pub role: Role,
}

/// How you are called from now on.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// 1 to 100 characters on one line; what others see.
    pub name: String,
    /// 1 to 100 characters without spaces, unique; kept in lower case.
    pub login: String,
}

/// Another password. Ends all of your other sessions.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PasswordChange {
    /// Needed where there is one.
    pub current: Option<String>,
    /// At least 10 characters.
    pub password: String,
}

/// An account, as its person and administrators see it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct User {
    /// As in the actor of events.
    pub id: UserId,
    /// As the person chose it.
    pub name: String,
    /// What is typed to sign in. Absent until the person has chosen it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub login: Option<String>,
    /// Whether the account administers the server. There is always one that does.
    pub is_admin: bool,
    /// False: an invitation was not used yet, or an administrator has reset the password.
    pub has_password: bool,
    /// Milliseconds since 1970.
    pub created_at: Millis,
    /// When an administrator ended the account's access. Absent: it is in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deactivated_at: Option<Millis>,
}

/// The notebooks that a token is good for: those of one list, or of one workspace; without either, all.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Covers {
    /// At most 500 ids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notebooks: Option<BTreeSet<NotebookId>>,
    /// All notebooks that are in this workspace at the time of a request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<WorkspaceId>,
}

/// A token, without its secret.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Token {
    /// Names it in `DELETE /api/tokens/{token}`.
    pub id: TokenId,
    /// `session`, `api` or `agent`.
    pub kind: String,
    /// Of an agent: who it is in events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    /// Up to 100 characters; may be empty. Of an agent: its name.
    pub label: String,
    /// What it may be used for, as asked for when it was made.
    pub scopes: Vec<Scope>,
    /// The notebooks that it is good for.
    pub covers: Covers,
    /// Who made it; they may revoke it.
    pub created_by: UserId,
    /// Milliseconds since 1970.
    pub created_at: Millis,
    /// Milliseconds since 1970; absent: it holds until it is revoked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Millis>,
    /// Up to ten minutes behind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<Millis>,
}

/// A new token: its text is in this answer and never again.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct IssuedToken {
    /// The secret, to be sent as `Authorization: Bearer <token>`.
    pub token: String,
    /// Everything else about it, as the list of tokens shows it.
    #[serde(flatten)]
    pub record: Token,
}

/// A token to hand to a person, who sends it once to `POST /api/session`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct OneTimeToken {
    /// The secret. Good for one use.
    pub token: String,
    /// Milliseconds since 1970; absent: it holds until it is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Millis>,
}

/// A group of notebooks and people.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Workspace {
    /// Chosen by the server.
    pub id: WorkspaceId,
    /// 1 to 100 characters on one line; not unique.
    pub name: String,
    /// Yours, in each of its notebooks.
    pub role: Role,
    /// Milliseconds since 1970.
    pub created_at: Millis,
}

/// Somebody in a workspace.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Member {
    /// The person; `GET /api/people/{user}` has the name.
    pub user: UserId,
    /// In each of the workspace's notebooks, beside what a notebook's own list grants.
    pub role: Role,
}

/// A link by which people without an account take part in one notebook.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ShareLink {
    /// The subject of its entry in the notebook's access list, and the actor of what its guests do.
    pub id: ShareLinkId,
    /// The only notebook that it opens.
    pub notebook: NotebookId,
    /// As granted when it was made; the notebook's access list has what it is now.
    pub role: Role,
    /// What others see instead of a guest's name; may be empty.
    pub label: String,
    /// Who shared the notebook.
    pub created_by: UserId,
    /// Milliseconds since 1970.
    pub created_at: Millis,
    /// Milliseconds since 1970; absent: it holds until it is revoked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Millis>,
}

/// A link to be made. Needs the right to share. A notebook has at most 500.
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

/// A link that was made, with its secret.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct CreatedShareLink {
    /// The token stands behind `#`, which browsers send to no server. In this answer and never again.
    pub url: String,
    /// The same token, for programs.
    pub token: String,
    /// Everything else about it, as the list of links shows it.
    #[serde(flatten)]
    pub link: ShareLink,
}

/// A token to be made for a program that acts for you. Only a session makes one; you have at most 500.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewApiToken {
    /// For you to know it by.
    #[serde(default)]
    pub label: String,
    /// Of `read`, `edit`, `run`, `confirm`, `manage`, `admin`; `read` always. `confirm` lets a program decide on tool
    /// calls in your name.
    pub scopes: Scopes,
    /// Absent: all notebooks that you may see.
    #[serde(default)]
    pub covers: Covers,
    /// Milliseconds since 1970; absent: until it is revoked.
    pub expires_at: Option<Millis>,
}

/// A token to be made for a runtime agent.
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

/// A workspace to be made or renamed; who makes one owns it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkspaceName {
    /// 1 to 100 characters on one line; not unique.
    pub name: String,
}

/// Makes somebody a member, or changes what they are. For owners of the workspace.
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
    /// Null: in none.
    pub workspace: Option<WorkspaceId>,
}
