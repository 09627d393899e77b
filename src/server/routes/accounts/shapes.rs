//! What the answers about accounts look like. Never a hash, and a secret only in the answer that makes it.

use std::collections::BTreeSet;

use notarium_core::{Millis, NotebookId, Role, Scope, ShareLinkId, TokenId, UserId, WorkspaceId};
use notarium_store::accounts::{Coverage, Membership, ShareLink, Token, TokenHolder, User, Workspace};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::auth::{NewToken, OneTimeToken};

#[derive(Debug, Serialize, ToSchema)]
pub struct UserShape {
    #[schema(value_type = String)]
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

impl From<User> for UserShape {
    fn from(user: User) -> Self {
        Self {
            id: user.id,
            name: user.name,
            login: user.login,
            is_admin: user.is_admin,
            has_password: user.password_hash.is_some(),
            created_at: user.created_at,
            deactivated_at: user.deactivated_at,
        }
    }
}

/// The notebooks that a token is good for: those of one list, or of one workspace; without either, all.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CoverageShape {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<String>>)]
    pub notebooks: Option<BTreeSet<NotebookId>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub workspace: Option<WorkspaceId>,
}

impl From<Coverage> for CoverageShape {
    fn from(coverage: Coverage) -> Self {
        match coverage {
            Coverage::All => Self::default(),
            Coverage::Notebooks(notebooks) => Self { notebooks: Some(notebooks), workspace: None },
            Coverage::Workspace(workspace) => Self { notebooks: None, workspace: Some(workspace) },
        }
    }
}

impl CoverageShape {
    /// `None` when both are given.
    pub fn coverage(self) -> Option<Coverage> {
        match (self.notebooks, self.workspace) {
            (None, None) => Some(Coverage::All),
            (Some(notebooks), None) => Some(Coverage::Notebooks(notebooks)),
            (None, Some(workspace)) => Some(Coverage::Workspace(workspace)),
            (Some(_), Some(_)) => None,
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct TokenShape {
    #[schema(value_type = String)]
    pub id: TokenId,
    /// `session`, `api` or `agent`.
    pub kind: &'static str,
    /// Of an agent: who it is in events.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub agent: Option<notarium_core::AgentId>,
    pub label: String,
    #[schema(value_type = Vec<String>)]
    pub scopes: Vec<Scope>,
    pub covers: CoverageShape,
    #[schema(value_type = String)]
    pub created_by: UserId,
    pub created_at: Millis,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Millis>,
    /// Up to ten minutes behind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<Millis>,
}

impl From<Token> for TokenShape {
    fn from(token: Token) -> Self {
        Self {
            kind: token.kind().as_str(),
            scopes: token.scopes.scopes().iter().copied().collect(),
            id: token.id,
            agent: match token.holder {
                TokenHolder::Agent(id) => Some(id),
                TokenHolder::User(_) => None,
            },
            label: token.label,
            covers: token.coverage.into(),
            created_by: token.created_by,
            created_at: token.created_at,
            expires_at: token.expires_at,
            last_used_at: token.last_used_at,
        }
    }
}

/// A new token: its text is in this answer and never again.
#[derive(Debug, Serialize, ToSchema)]
pub struct NewTokenShape {
    pub token: String,
    #[serde(flatten)]
    pub record: TokenShape,
}

impl From<NewToken> for NewTokenShape {
    fn from(new: NewToken) -> Self {
        Self { token: new.text.reveal(), record: new.token.into() }
    }
}

/// A token to hand to a person, who sends it once to `POST /api/session`.
#[derive(Debug, Serialize, ToSchema)]
pub struct OneTimeShape {
    pub token: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Millis>,
}

impl From<OneTimeToken> for OneTimeShape {
    fn from(one_time: OneTimeToken) -> Self {
        Self { token: one_time.text.reveal(), expires_at: one_time.expires_at }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct WorkspaceShape {
    #[schema(value_type = String)]
    pub id: WorkspaceId,
    pub name: String,
    /// Yours, in each of its notebooks.
    #[schema(value_type = String)]
    pub role: Role,
    pub created_at: Millis,
}

impl WorkspaceShape {
    pub fn new(workspace: Workspace, role: Role) -> Self {
        Self { id: workspace.id, name: workspace.name, role, created_at: workspace.created_at }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct MemberShape {
    #[schema(value_type = String)]
    pub user: UserId,
    #[schema(value_type = String)]
    pub role: Role,
}

impl From<Membership> for MemberShape {
    fn from(membership: Membership) -> Self {
        Self { user: membership.user_id, role: membership.role }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ShareLinkShape {
    #[schema(value_type = String)]
    pub id: ShareLinkId,
    #[schema(value_type = String)]
    pub notebook: NotebookId,
    /// As granted when it was made; the notebook's access list has what it is now.
    #[schema(value_type = String)]
    pub role: Role,
    pub label: String,
    #[schema(value_type = String)]
    pub created_by: UserId,
    pub created_at: Millis,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Millis>,
}

impl From<ShareLink> for ShareLinkShape {
    fn from(link: ShareLink) -> Self {
        Self {
            id: link.id,
            notebook: link.notebook_id,
            role: link.role,
            label: link.label,
            created_by: link.created_by,
            created_at: link.created_at,
            expires_at: link.expires_at,
        }
    }
}
