//! Accounts of people: names, passwords, sign-in (also with identities of OpenID Connect), tokens, the audit trail.

use std::collections::BTreeSet;

use notarium_core::{
    Actor, AgentId, Millis, NotebookId, Role, Scope, Scopes, ShareLinkId, TokenId, UserId, WorkspaceId,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Public profile: visible to every account that has the person's id or login.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Person {
    /// User id as in the actor of events, which have no names.
    pub id: UserId,
    /// Display name, chosen by the person: not unique, may change.
    pub name: String,
}

/// Finds one person by login, to share a notebook with that person.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PersonQuery {
    /// The whole login; parts do not match.
    pub login: String,
}

/// Finds people by a part of their name or login, as it is typed.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PeopleQuery {
    /// Search words; each must begin a word of the name, or the login. 1 to 100 characters.
    pub text: String,
}

/// A person found by a search.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct FoundPerson {
    /// User id as in the actor of events.
    pub id: UserId,
    /// Display name, chosen by the person: not unique.
    pub name: String,
    /// Login, unique.
    pub login: Option<String>,
}

/// Name of a guest: the label of the link, else the name that the guest entered.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Guest {
    /// Id of the link, as in the actor of events.
    pub id: ShareLinkId,
    /// Name; not unique.
    pub name: String,
}

/// Page of all accounts, by id. For administrators.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UsersQuery {
    /// The id of the last user of the page before.
    pub after: Option<UserId>,
    /// 1 to 1,000; absent: 100.
    pub limit: Option<usize>,
}

/// An account to create, without a password: the person chooses it. For administrators.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewUser {
    /// 1 to 100 characters on one line, not unique.
    pub name: String,
    /// 1 to 100 characters without spaces, unique; kept in lower case.
    pub login: String,
    /// True: tokens of the account may hold the scope `admin`, for accounts, tokens and workspaces of the whole server.
    #[serde(default)]
    pub is_admin: bool,
}

/// A created account, and the invitation for its person.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct CreatedUser {
    /// The account; it has no password until the invitation is used.
    pub user: User,
    /// Invitation for the person, who sends it to `POST /api/session` with a password.
    pub invitation: OneTimeToken,
}

/// Makes an account an administrator, or an ordinary one. The last administrator cannot be changed.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdminChange {
    /// True: administrator.
    pub is_admin: bool,
}

/// Page of the audit, newest entry first. For administrators.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditQuery {
    /// The number of the last entry of the page before.
    pub before: Option<u64>,
    /// 1 to 1,000; absent: 100.
    pub limit: Option<usize>,
}

/// One change of accounts, tokens, workspaces or share links. Changes of rights in a notebook are events of that notebook instead.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct AuditEntry {
    /// Serial number over the whole server, from 1; `before` of the next page.
    pub number: u64,
    /// Milliseconds since 1970.
    pub at: u64,
    /// Actor, as in `user:01J…`.
    pub actor: String,
    /// Action, as in `user.deactivate`.
    pub action: String,
    /// Id of the changed user, token, workspace, notebook or link.
    pub subject: String,
    /// Name of the workspace, or label of the token or link, as it is now; absent: it has none, or is not known any more.
    pub name: Option<String>,
}

/// Either `login` and `password`, or a one-time `token` (the printed owner token, an invitation, a reset, a link for a browser).
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SignIn {
    /// With a password: the account's login. With an owner token: the login that you choose; requires `name`.
    pub login: Option<String>,
    /// With a reset, an invitation or an owner token: the new password, at least 10 characters. `POST /api/session/one-time` lists what a
    /// token needs.
    pub password: Option<String>,
    /// The secret of a one-time token, good for one use.
    pub token: Option<String>,
    /// With an owner token: your display name. Requires `login`.
    pub name: Option<String>,
    /// Label in the list of your sessions, as in "laptop".
    #[serde(default)]
    pub label: String,
    /// With login and password: a session of 15 minutes instead of 30 days. If `me` has `asks_again`, only such a session confirms, shares
    /// and manages. Keep it in memory, never on a disk.
    #[serde(default)]
    pub fresh: bool,
    /// From browsers: the public point of a P-256 key with an unreadable private part, uncompressed (65 bytes), base64url without padding.
    /// The session is bound to it: a page that opens later gets its token from `POST /api/session/resume`.
    pub key: Option<String>,
}

/// Asks about a one-time token, which stays valid.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OneTimeQuestion {
    /// The token's secret, as in `POST /api/session`.
    pub token: String,
}

/// Purpose of a one-time token, and the other fields that `POST /api/session` needs.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct OneTimeUse {
    /// `owner` (the first sign-in of a server), `reset` (an invitation, or a new password) or `link` (opens a browser).
    pub kind: String,
    /// The person's display name; absent for a link.
    pub name: Option<String>,
    /// The person's login, if any.
    pub login: Option<String>,
    /// True: send `name` and `login`, which the person chooses.
    pub needs_login: bool,
    /// True: send `password`, which the person chooses.
    pub needs_password: bool,
}

/// Binds a session to a browser that was opened with its token.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BindBrowser {
    /// Public key, as in `SignIn.key`.
    pub key: String,
    /// Label in the list of your sessions, as in "laptop".
    #[serde(default)]
    pub label: String,
}

/// Session of a page that opens.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResumeRequest {
    /// Token id, from `session` of the sign-in.
    pub session: TokenId,
}

/// Challenge to sign.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ResumeChallenge {
    /// Text to sign; valid for one minute, for this session only.
    pub challenge: String,
}

/// Proof that the browser still has the key of its session.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Resume {
    /// Token id, from `session` of the sign-in.
    pub session: TokenId,
    /// The public point, as sent at the sign-in.
    pub key: String,
    /// Challenge from `POST /api/session/challenge`.
    pub challenge: String,
    /// ECDSA with SHA-256 of the text `notarium-session\n<session>\n<challenge>`, 64 bytes in base64url without padding.
    pub signature: String,
}

/// A session: send its token as `Authorization: Bearer <token>`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct SignedIn {
    /// The secret; only this answer has it.
    pub token: String,
    /// Token id, for `DELETE /api/tokens/{token}` and `POST /api/session/challenge`; not a secret.
    pub session: TokenId,
    /// Milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Millis>,
    /// The signed-in account.
    pub user: User,
}

/// Holder of the token, and the token's rights.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Me {
    /// Actor of the events that you cause.
    pub actor: Actor,
    /// Display name of the person or agent; for a guest the link's label.
    pub name: String,
    /// `session`, `api`, `agent` or `share`.
    pub kind: String,
    /// Token id, for `DELETE /api/tokens/{token}`; not a secret.
    pub token_id: TokenId,
    /// Scopes that are valid now: the token's scopes, as far as the account still holds them.
    pub scopes: Vec<Scope>,
    /// Notebooks that the token reaches.
    pub covers: Covers,
    /// Workspaces of which you are a member.
    pub workspaces: Vec<MyWorkspace>,
    /// Expiry in milliseconds since 1970; absent: valid until revoked.
    pub expires_at: Option<Millis>,
    /// True: tokens that can be stored on a disk lack the scopes `confirm`, `manage` and `admin`. `POST /api/session` with `fresh` gives a
    /// session of 15 minutes that has them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asks_again: bool,
    /// The account; absent for agents and guests.
    pub user: Option<User>,
}

/// A workspace of which you are a member.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct MyWorkspace {
    /// Workspace id; `GET /api/workspaces` has its name.
    pub id: WorkspaceId,
    /// Your role in each of its notebooks.
    pub role: Role,
}

/// New name and login of your account.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Display name, 1 to 100 characters on one line.
    pub name: String,
    /// 1 to 100 characters without spaces, unique; kept in lower case.
    pub login: String,
}

/// Changes the password, and ends all of your other sessions.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PasswordChange {
    /// Current password; required if there is one.
    pub current: Option<String>,
    /// New password, at least 10 characters.
    pub password: String,
}

/// An account, as its person and administrators see it.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct User {
    /// User id as in the actor of events.
    pub id: UserId,
    /// Display name, chosen by the person.
    pub name: String,
    /// Login for the sign-in. Absent until the person has chosen it.
    pub login: Option<String>,
    /// True for an administrator of the server. There is always at least one.
    pub is_admin: bool,
    /// False: an invitation was not used yet, or an administrator has reset the password.
    pub has_password: bool,
    /// Milliseconds since 1970.
    pub created_at: Millis,
    /// Time of deactivation by an administrator, milliseconds since 1970. Absent: the account is active.
    pub deactivated_at: Option<Millis>,
}

/// Notebooks for which a token is valid: a list, or those of one workspace; without either, all.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Covers {
    /// Notebook ids, at most 500.
    pub notebooks: Option<BTreeSet<NotebookId>>,
    /// All notebooks that are in this workspace at the time of a request.
    pub workspace: Option<WorkspaceId>,
}

/// A token, without its secret.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Token {
    /// Token id, for `DELETE /api/tokens/{token}`.
    pub id: TokenId,
    /// `session`, `api` or `agent`.
    pub kind: String,
    /// Agent id as in the actor of events; only for agents.
    pub agent: Option<AgentId>,
    /// Label, up to 100 characters; may be empty. For an agent: its name.
    pub label: String,
    /// Scopes as requested when it was created.
    pub scopes: Vec<Scope>,
    /// Notebooks for which it is valid.
    pub covers: Covers,
    /// The person who created it, and may revoke it.
    pub created_by: UserId,
    /// Milliseconds since 1970.
    pub created_at: Millis,
    /// Milliseconds since 1970; absent: valid until revoked.
    pub expires_at: Option<Millis>,
    /// Time of the last use, up to ten minutes late; milliseconds since 1970.
    pub last_used_at: Option<Millis>,
}

/// A new token; only this answer has its secret.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct IssuedToken {
    /// The secret, to be sent as `Authorization: Bearer <token>`.
    pub token: String,
    /// The token without its secret, as in the list of tokens.
    #[serde(flatten)]
    pub record: Token,
}

/// A token to hand to a person, who sends it once to `POST /api/session`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct OneTimeToken {
    /// The secret, valid for one use.
    pub token: String,
    /// Address of the page that takes it, for the person to open: the server's public address, with the secret in the fragment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Milliseconds since 1970; absent: valid until used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Millis>,
}

/// A token to create for a program that acts for you. Requires a session; you have at most 500.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewApiToken {
    /// Label in the list of tokens.
    #[serde(default)]
    pub label: String,
    /// Subset of `read`, `edit`, `run`, `confirm`, `manage`, `admin`; `read` always. `confirm` lets a program decide on tool calls in your
    /// name.
    pub scopes: Scopes,
    /// Notebooks for which it is valid; absent: all that you may see.
    #[serde(default)]
    pub covers: Covers,
    /// Milliseconds since 1970; absent: valid until revoked.
    pub expires_at: Option<Millis>,
}

/// A token to create for a runtime agent.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewAgent {
    /// Name in the list of agents, as in "GPU machine".
    pub name: String,
    /// Notebooks that you may share, or a workspace that you own. Without either: every notebook of the server, which only an administrator
    /// can grant.
    #[serde(default)]
    pub covers: Covers,
    /// Milliseconds since 1970; absent: valid until revoked.
    pub expires_at: Option<Millis>,
}

/// Ways to sign in to this server, besides login and password and tokens.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct SignInOptions {
    /// The OpenID Connect provider; absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oidc: Option<OidcOption>,
}

/// An OpenID Connect provider.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct OidcOption {
    /// Name for the button, as in "Example University".
    pub name: String,
    /// Origin of the page, as in `https://notes.example.org`: the provider redirects the browser to it.
    pub origin: String,
}

/// Begins a sign-in of a browser with the provider.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OidcBegin {
    /// Public key, as in `SignIn.key`: the session is bound to it, and the same browser must finish the sign-in.
    pub key: String,
    /// True: confirms your identity again, for a session of 15 minutes as with `SignIn.fresh`. The provider asks again, and no key is bound
    /// to that session.
    #[serde(default)]
    pub fresh: bool,
}

/// Begins to link an identity at the provider to your account.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdentityBegin {
    /// Public key, as in `SignIn.key`.
    pub key: String,
    /// Your password, if you have one.
    pub current: Option<String>,
}

/// Redirect to the provider.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct OidcBegun {
    /// URL at the provider; navigate to it.
    pub url: String,
    /// State, which returns in the query of `/oidc/callback`: store the key under it until then.
    pub state: String,
    /// Milliseconds since 1970: ten minutes from now.
    pub expires_at: Millis,
}

/// Finishes a sign-in with the values in the query of `/oidc/callback`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OidcFinish {
    /// The `state` of the begin; valid once.
    pub state: String,
    /// The `code` from the provider.
    pub code: String,
    /// The public point sent at the begin.
    pub key: String,
    /// ECDSA with SHA-256 of the text `notarium-oidc\n<state>\n<code>`, 64 bytes in base64url without padding.
    pub signature: String,
    /// Label in the list of your sessions, as in "laptop".
    #[serde(default)]
    pub label: String,
    /// The `fresh` of the begin.
    #[serde(default)]
    pub fresh: bool,
}

/// An identity at a provider, linked to an account.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Identity {
    /// Id, for unlinking it.
    pub id: String,
    /// URL of the provider.
    pub issuer: String,
    /// The person's id at the provider.
    pub subject: String,
    /// Address that the provider had verified when it was linked. For display only: accounts are not searched by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// Milliseconds since 1970.
    pub created_at: Millis,
}
