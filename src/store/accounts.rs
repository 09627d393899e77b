//! [`AccountStore`]: people, tokens, workspaces, share links, and the audit of changes.
//!
//! Every backend passes the suite in `tests/contract/accounts.rs`.
//!
//! Invariants:
//! - A secret never reaches the store: tokens and share links are stored as SHA-256, passwords as argon2 PHC texts.
//! - Every change writes an audit entry in the same transaction: there is no other way to write.
//! - A token with a scope that its kind may not hold can neither be stored nor read ([`TokenKind::may_hold`]).
//! - No clock: every time is an argument.
//!
//! Rights *in* a notebook are not here: they are events of that notebook.

mod caps;
mod changes;
mod group_changes;
mod notice_changes;
mod notice_queries;
mod notices;
mod queries;
mod rows;
mod tables;
mod token_scopes;

use std::collections::BTreeSet;

use async_trait::async_trait;
use notarium_record::{AgentId, Millis, NotebookId, Role, ShareLinkId, TokenId, UserId, WorkspaceId};
use serde::{Deserialize, Serialize};

use crate::StoreError;
pub(crate) use caps::cap;
pub use caps::{Cap, CapKey, CapPeriod, CapUnit, Spender};
pub(crate) use changes::{ChangeError, make_all};
pub use notices::*;
pub(crate) use tables::{
    AccountTables, ColumnValue, Read, RowColumns, TableStatement, Tables, bound, impl_columns, run_all,
};
pub use token_scopes::{ForbiddenScope, TokenKind, TokenScopes};

/// Maximum number of entries that one query returns, whatever its limit.
pub const MAX_ACCOUNT_PAGE: usize = 1_000;

/// Reason for a refused change.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AccountError {
    #[error("there is no {what} of that id: list them to see what there is")]
    Unknown { what: &'static str },
    #[error("the {what} exists already: choose another")]
    Taken { what: &'static str },
    #[error("the last administrator stays: make somebody else administrator first")]
    LastAdmin,
    #[error("the last owner of a workspace stays: make somebody else owner first")]
    LastWorkspaceOwner,
    #[error("this one-time token was used already: ask for a new one")]
    AlreadySpent,
    /// Disk full, I/O error, damaged record. Nothing was changed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A person with an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    pub id: UserId,
    /// Display name.
    pub name: String,
    /// Login name; lower case, unique. `None` until the person has set a password.
    pub login: Option<String>,
    /// An argon2 PHC text; `None`: no sign-in with a password.
    pub password_hash: Option<String>,
    pub is_admin: bool,
    pub created_at: Millis,
    pub deactivated_at: Option<Millis>,
}

/// A person's identity at an OpenID Connect provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Id of this record, for people and programs.
    pub id: String,
    pub user_id: UserId,
    /// URL of the provider. Unique together with `subject`.
    pub issuer: String,
    pub subject: String,
    /// Address that the provider had when it was linked; for display only.
    pub email: Option<String>,
    pub created_at: Millis,
}

/// Notebooks for which a token is valid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Coverage {
    /// All notebooks that its holder may see; for an agent: every notebook of the server.
    All,
    Notebooks(BTreeSet<NotebookId>),
    Workspace(WorkspaceId),
}

/// Person or agent for whom a token is valid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenHolder {
    User(UserId),
    Agent(AgentId),
}

/// Public key by which heads of records are verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SigningKey {
    pub name: String,
    /// Ed25519.
    pub public_key: [u8; 32],
    /// Time from which the server signs with it.
    pub since: Millis,
}

/// A token without its secret, of which only the hash is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub id: TokenId,
    pub holder: TokenHolder,
    /// The person who created it, and may revoke it. The token outlives their account, except for agents of a deactivated person.
    pub created_by: UserId,
    pub secret_hash: [u8; 32],
    /// Scopes, with the kind of the token.
    pub scopes: TokenScopes,
    pub coverage: Coverage,
    /// Label for people.
    pub label: String,
    pub created_at: Millis,
    pub expires_at: Option<Millis>,
    /// Time of the last use, some minutes late.
    pub last_used_at: Option<Millis>,
    /// Time of revocation; also set when a one-time token is used.
    pub revoked_at: Option<Millis>,
    /// For sessions: the [`Identity`] of the sign-in. The session ends with it.
    pub identity: Option<String>,
}

impl Token {
    pub fn kind(&self) -> TokenKind {
        self.scopes.kind()
    }
}

/// Filter of tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenFilter {
    /// Sessions and API tokens of a person.
    OfUser(UserId),
    /// Agents' tokens that this person created.
    AgentsBy(UserId),
    /// All agents' tokens.
    AllAgents,
    /// The tokens of one agent.
    OfAgent(AgentId),
}

/// A group of notebooks and people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    pub id: WorkspaceId,
    pub name: String,
    pub created_at: Millis,
}

/// Role of a member in each of the workspace's notebooks. An owner also manages the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Membership {
    pub workspace_id: WorkspaceId,
    pub user_id: UserId,
    pub role: Role,
    /// Group of an OpenID Connect provider that gives the membership. `None`: a person gave it.
    pub from_group: Option<String>,
}

/// A link by which people without an account take part in one notebook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShareLink {
    pub id: ShareLinkId,
    pub notebook_id: NotebookId,
    /// Role granted in the notebook when the link was created.
    pub role: Role,
    pub secret_hash: [u8; 32],
    pub label: String,
    pub created_by: UserId,
    pub created_at: Millis,
    pub expires_at: Option<Millis>,
    pub revoked_at: Option<Millis>,
}

/// One change to the accounts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccountChange {
    CreateUser(User),
    SetProfile {
        user: UserId,
        name: String,
        login: String,
    },
    SetPassword {
        user: UserId,
        hash: String,
    },
    SetAdmin {
        user: UserId,
        is_admin: bool,
    },
    /// Deactivates the account, revokes every token that the person holds or created, and deletes the person's notices and webhooks.
    /// The last active administrator cannot be deactivated.
    DeactivateUser {
        user: UserId,
        at: Millis,
    },
    ReactivateUser {
        user: UserId,
    },
    LinkIdentity(Identity),
    /// Unlinks an identity of this person, and ends the sessions created by it.
    UnlinkIdentity {
        user: UserId,
        identity: String,
        at: Millis,
    },
    CreateToken(Token),
    /// Revokes a token; no effect if it is already revoked.
    RevokeToken {
        token: TokenId,
        at: Millis,
    },
    /// Revokes a one-time token, and fails if it is already used: of two concurrent calls one succeeds.
    SpendToken {
        token: TokenId,
        at: Millis,
    },
    /// Revokes a person's tokens of these kinds.
    RevokeTokensOf {
        user: UserId,
        kinds: Vec<TokenKind>,
        except: Option<TokenId>,
        at: Millis,
    },
    CreateWorkspace(Workspace),
    RenameWorkspace {
        workspace: WorkspaceId,
        name: String,
    },
    /// Sets the member's role; `None` removes the member. The last owner cannot be removed.
    SetMember {
        workspace: WorkspaceId,
        user: UserId,
        role: Option<Role>,
    },
    /// Makes a member because of a group of a provider, or changes the role. A membership that a person gave stays as it is.
    SetGroupMember {
        workspace: WorkspaceId,
        user: UserId,
        role: Role,
        group: String,
    },
    /// Removes a membership that came from a group. The last owner cannot be removed.
    RemoveGroupMember {
        workspace: WorkspaceId,
        user: UserId,
    },
    /// Makes an administrator because of a group; `None`: of none any more. The right of an administrator that a person gave stays.
    SetGroupAdmin {
        user: UserId,
        group: Option<String>,
    },
    /// Places a notebook in a workspace; `None`: in none.
    PlaceNotebook {
        notebook: NotebookId,
        workspace: Option<WorkspaceId>,
    },
    CreateShareLink(ShareLink),
    /// Sets choices of notices; others stay.
    SetNoticeChoices {
        user: UserId,
        choices: Vec<NoticeChoice>,
    },
    /// Sets the seconds from which a run of the person is long; `None`: the default.
    SetLongRun {
        user: UserId,
        seconds: Option<u64>,
    },
    /// Sets the address to which a code was sent; `None`: none.
    SetNewAddress {
        user: UserId,
        new_address: Option<NewAddress>,
    },
    /// Sets the address for notices by mail. `None`: no mail, and what was still to be mailed is left out.
    SetNoticeAddress {
        user: UserId,
        address: Option<String>,
        at: Millis,
    },
    CreateWebhook(StoredWebhook),
    /// Sets address, label and secrets of this person's webhook.
    ChangeWebhook(StoredWebhook),
    /// Deletes this person's webhook, and what was still to be sent to it.
    DeleteWebhook {
        user: UserId,
        webhook: String,
    },
    /// Adds a public key of the server; keys are never removed.
    AddSigningKey(SigningKey),
    RevokeShareLink {
        share_link: ShareLinkId,
        at: Millis,
    },
    /// Sets a cap on spending; one of the same key is replaced.
    SetCap(Cap),
    RemoveCap(CapKey),
}

/// Audit entry of a change of accounts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditEntry {
    pub at: Millis,
    /// `Actor::key()` of the author.
    pub actor: String,
    /// Action, as in `user.deactivate`.
    pub action: String,
    /// Id of the changed record.
    pub subject: String,
}

/// Changes with their entry in the audit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditedChanges {
    pub changes: Vec<AccountChange>,
    pub audit: AuditEntry,
}

/// An entry with its number, 1, 2, 3 …
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditRecord {
    pub number: u64,
    #[serde(flatten)]
    pub entry: AuditEntry,
}

/// Store of accounts. A change that was answered with `Ok` is on disk.
#[async_trait]
pub trait AccountStore: Send + Sync + 'static {
    /// Applies the changes in order, all or none, with the `audit` entry.
    async fn apply(&self, changes: &[AccountChange], audit: &AuditEntry) -> Result<(), AccountError> {
        let all = AuditedChanges { changes: changes.to_vec(), audit: audit.clone() };
        self.apply_all(std::slice::from_ref(&all)).await
    }

    /// Applies changes that have an audit entry each, in order, all or none.
    async fn apply_all(&self, all: &[AuditedChanges]) -> Result<(), AccountError>;

    async fn user(&self, id: &UserId) -> Result<Option<User>, AccountError>;

    /// Finds a user by login, ignoring case.
    async fn user_by_login(&self, login: &str) -> Result<Option<User>, AccountError>;

    /// Returns the group that makes the person an administrator. `None`: a person did, or it is none.
    async fn admin_group(&self, user: &UserId) -> Result<Option<String>, AccountError>;

    /// Returns users by id, after `after`.
    async fn users(&self, after: Option<&UserId>, limit: usize) -> Result<Vec<User>, AccountError>;

    /// Finds the identity of a provider's subject.
    async fn identity(&self, issuer: &str, subject: &str) -> Result<Option<Identity>, AccountError>;

    /// Returns the identities of a person, oldest first.
    async fn identities(&self, user: &UserId, limit: usize) -> Result<Vec<Identity>, AccountError>;

    async fn token(&self, id: &TokenId) -> Result<Option<Token>, AccountError>;

    /// Returns the tokens that are neither revoked nor used, newest first.
    async fn tokens(&self, filter: &TokenFilter, limit: usize) -> Result<Vec<Token>, AccountError>;

    /// Notes the time of a token's last use, coarsely. Not audited.
    async fn touch_token(&self, id: &TokenId, at: Millis) -> Result<(), AccountError>;

    /// Removes the tokens that were revoked or expired before `before`; returns their number. Not audited.
    async fn forget_ended_tokens(&self, before: Millis) -> Result<u64, AccountError>;

    /// Keeps a value until `expires_at` under the SHA-256 of what its holder brings, in place of an earlier one. Forgets those that expired
    /// before `now`. Not audited.
    async fn keep_one_time(
        &self,
        key: &[u8; 32],
        value: &str,
        expires_at: Millis,
        now: Millis,
    ) -> Result<(), AccountError>;

    /// Returns the value under this key, also an expired one that is not forgotten yet.
    async fn one_time(&self, key: &[u8; 32]) -> Result<Option<String>, AccountError>;

    /// Replaces the value `from`, or removes it. False: another caller was first.
    async fn change_one_time(&self, key: &[u8; 32], from: &str, to: Option<&str>) -> Result<bool, AccountError>;

    async fn workspace(&self, id: &WorkspaceId) -> Result<Option<Workspace>, AccountError>;

    async fn workspaces(&self, after: Option<&WorkspaceId>, limit: usize) -> Result<Vec<Workspace>, AccountError>;

    /// Returns the workspaces of a person, by id.
    async fn memberships(&self, user: &UserId) -> Result<Vec<Membership>, AccountError>;

    /// Returns the members of a workspace, by user.
    async fn members(&self, workspace: &WorkspaceId) -> Result<Vec<Membership>, AccountError>;

    /// Returns the workspace of each notebook, by notebook, after `after`.
    async fn placements(
        &self,
        after: Option<&NotebookId>,
        limit: usize,
    ) -> Result<Vec<(NotebookId, WorkspaceId)>, AccountError>;

    async fn share_link(&self, id: &ShareLinkId) -> Result<Option<ShareLink>, AccountError>;

    /// Returns the links of a notebook that are not revoked, newest first.
    async fn share_links(&self, notebook: &NotebookId, limit: usize) -> Result<Vec<ShareLink>, AccountError>;

    /// Returns all public keys of the server, oldest first.
    async fn signing_keys(&self) -> Result<Vec<SigningKey>, AccountError>;

    /// Returns audit entries, newest first, before number `before`.
    async fn audit(&self, before: Option<u64>, limit: usize) -> Result<Vec<AuditRecord>, AccountError>;
}
