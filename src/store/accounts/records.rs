//! What the accounts hold, and the changes to it.

use std::collections::BTreeSet;

use notarium_record::{AgentId, Millis, NotebookId, Role, Scope, Scopes, ShareLinkId, TokenId, UserId, WorkspaceId};
use serde::{Deserialize, Serialize};

/// A person with an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    pub id: UserId,
    /// For people to read.
    pub name: String,
    /// What is typed to sign in; lower case, unique. `None` until a password was set.
    pub login: Option<String>,
    /// An argon2 PHC text; `None` while nobody can sign in with a password.
    pub password_hash: Option<String>,
    pub is_admin: bool,
    pub created_at: Millis,
    pub deactivated_at: Option<Millis>,
}

/// Who a person is at a provider of OpenID Connect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Names it to people and programs here.
    pub id: String,
    pub user_id: UserId,
    /// With the subject: identifies it. No two people have the same.
    pub issuer: String,
    pub subject: String,
    /// As the provider said when it was linked; for people to read.
    pub email: Option<String>,
    pub created_at: Millis,
}

/// What a token is, visible in its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenKind {
    /// Printed once at the first start; exchanged once for a session.
    Owner,
    /// An interactive session of a person.
    Session,
    /// A program that acts for a person.
    Api,
    /// A runtime agent.
    Agent,
    /// Somebody who came by a share link. Its record is the [`ShareLink`].
    Share,
    /// Sets a new password, once.
    Reset,
    /// Opens a session in a browser, once. The running server alone knows it: no store keeps one.
    Link,
}

impl TokenKind {
    pub const ALL: [TokenKind; 7] = [
        TokenKind::Owner,
        TokenKind::Session,
        TokenKind::Api,
        TokenKind::Agent,
        TokenKind::Share,
        TokenKind::Reset,
        TokenKind::Link,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            TokenKind::Owner => "owner",
            TokenKind::Session => "session",
            TokenKind::Api => "api",
            TokenKind::Agent => "agent",
            TokenKind::Share => "share",
            TokenKind::Reset => "reset",
            TokenKind::Link => "link",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    /// Whether it is exchanged for something else instead of being carried with requests.
    pub fn is_one_time(self) -> bool {
        matches!(self, TokenKind::Owner | TokenKind::Reset | TokenKind::Link)
    }

    /// **Invariant.** `confirm` is for persons alone; an agent reports what its kernels do and nothing else.
    pub fn may_hold(self, scope: Scope) -> bool {
        match self {
            TokenKind::Session | TokenKind::Api => scope != Scope::Agent,
            TokenKind::Agent => matches!(scope, Scope::Read | Scope::Agent),
            TokenKind::Share => matches!(scope, Scope::Read | Scope::Edit | Scope::Run),
            TokenKind::Owner | TokenKind::Reset | TokenKind::Link => false,
        }
    }
}

/// A scope that this kind of token may not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a token of kind {} cannot hold the scope {scope:?}: leave it out", kind.as_str())]
pub struct ForbiddenScope {
    pub kind: TokenKind,
    pub scope: Scope,
}

/// Scopes that a kind of token may hold. Cannot be made otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenScopes {
    kind: TokenKind,
    scopes: Scopes,
}

impl TokenScopes {
    /// Refuses a scope that the kind may not hold.
    pub fn new(kind: TokenKind, scopes: Scopes) -> Result<Self, ForbiddenScope> {
        match scopes.iter().find(|scope| !kind.may_hold(**scope)) {
            Some(&scope) => Err(ForbiddenScope { kind, scope }),
            None => Ok(Self { kind, scopes }),
        }
    }

    /// All that the kind may hold.
    pub fn all_of(kind: TokenKind) -> Self {
        Self::allowed_of(kind, EVERY_SCOPE.into())
    }

    /// What the kind may hold of these: for records that an older or a foreign hand wrote.
    pub fn allowed_of(kind: TokenKind, scopes: Scopes) -> Self {
        Self { kind, scopes: scopes.into_iter().filter(|scope| kind.may_hold(*scope)).collect() }
    }

    pub fn kind(&self) -> TokenKind {
        self.kind
    }

    pub fn scopes(&self) -> &Scopes {
        &self.scopes
    }
}

const EVERY_SCOPE: [Scope; 7] =
    [Scope::Read, Scope::Edit, Scope::Run, Scope::Confirm, Scope::Manage, Scope::Admin, Scope::Agent];

/// The notebooks that a token is good for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Coverage {
    /// All that its holder may see; for an agent: every notebook of the server.
    All,
    Notebooks(BTreeSet<NotebookId>),
    Workspace(WorkspaceId),
}

/// Whom a token stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenHolder {
    User(UserId),
    Agent(AgentId),
}

/// A token, known by the hash of its secret alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub id: TokenId,
    pub holder: TokenHolder,
    /// Who made it: the person who may revoke it. Its end is not the token's, except for agents of a deactivated person.
    pub created_by: UserId,
    pub secret_hash: [u8; 32],
    /// With the kind.
    pub scopes: TokenScopes,
    pub coverage: Coverage,
    /// For people to read.
    pub label: String,
    pub created_at: Millis,
    pub expires_at: Option<Millis>,
    /// Minutes behind.
    pub last_used_at: Option<Millis>,
    /// Also when a one-time token was spent.
    pub revoked_at: Option<Millis>,
    /// Of a session: the [`Identity`] that it came by, with which it ends.
    pub identity: Option<String>,
}

impl Token {
    pub fn kind(&self) -> TokenKind {
        self.scopes.kind()
    }

    /// When it was revoked, or else expires.
    pub fn ended_at(&self) -> Option<Millis> {
        self.revoked_at.or(self.expires_at)
    }
}

/// Which tokens to list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenFilter {
    /// Sessions and API tokens of a person.
    OfUser(UserId),
    /// Agents' tokens that this person made.
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

/// What somebody is in a workspace: the role in each of its notebooks. An owner also manages the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Membership {
    pub workspace_id: WorkspaceId,
    pub user_id: UserId,
    pub role: Role,
}

/// A link by which somebody without an account takes part in one notebook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShareLink {
    pub id: ShareLinkId,
    pub notebook_id: NotebookId,
    /// As granted in the notebook when the link was made.
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
    /// Also revokes every token that the person holds or made. The last active administrator stays.
    DeactivateUser {
        user: UserId,
        at: Millis,
    },
    ReactivateUser {
        user: UserId,
    },
    LinkIdentity(Identity),
    /// Of this person, or it is unknown.
    /// Ends the sessions that came by it too.
    UnlinkIdentity {
        user: UserId,
        identity: String,
        at: Millis,
    },
    CreateToken(Token),
    /// Does nothing to a token that is revoked.
    RevokeToken {
        token: TokenId,
        at: Millis,
    },
    /// Revokes a one-time token, and fails when it is spent: of two that race one wins.
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
    /// `None` removes. The last owner stays.
    SetMember {
        workspace: WorkspaceId,
        user: UserId,
        role: Option<Role>,
    },
    /// `None`: in no workspace.
    PlaceNotebook {
        notebook: NotebookId,
        workspace: Option<WorkspaceId>,
    },
    CreateShareLink(ShareLink),
    RevokeShareLink {
        share_link: ShareLinkId,
        at: Millis,
    },
}

/// Who did what to the accounts, when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditEntry {
    pub at: Millis,
    /// `Actor::key()` of who did it.
    pub actor: String,
    /// For instance `user.deactivate`.
    pub action: String,
    /// The id of what it was done to.
    pub subject: String,
}

/// An entry with its number, 1, 2, 3 …
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditRecord {
    pub number: u64,
    #[serde(flatten)]
    pub entry: AuditEntry,
}
