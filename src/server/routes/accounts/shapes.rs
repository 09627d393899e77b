//! Response shapes for accounts. Never a hash, and a secret only in the response that creates it.

use notarium_core::Role;
use notarium_store::accounts::{Coverage, Membership, ShareLink, Token, TokenHolder, User, Workspace};
use notarium_wire::rest;

use crate::auth::{NewToken, OneTimeToken};
use crate::http::problem::Problem;

pub fn user(user: User) -> rest::User {
    rest::User {
        id: user.id,
        name: user.name,
        login: user.login,
        is_admin: user.is_admin,
        has_password: user.password_hash.is_some(),
        created_at: user.created_at,
        deactivated_at: user.deactivated_at,
    }
}

pub fn covers(coverage: Coverage) -> rest::Covers {
    match coverage {
        Coverage::All => rest::Covers::default(),
        Coverage::Notebooks(notebooks) => rest::Covers { notebooks: Some(notebooks), workspace: None },
        Coverage::Workspace(workspace) => rest::Covers { notebooks: None, workspace: Some(workspace) },
    }
}

pub fn coverage(covers: rest::Covers) -> Result<Coverage, Problem> {
    match (covers.notebooks, covers.workspace) {
        (None, None) => Ok(Coverage::All),
        (Some(notebooks), None) => Ok(Coverage::Notebooks(notebooks)),
        (None, Some(workspace)) => Ok(Coverage::Workspace(workspace)),
        (Some(_), Some(_)) => Err(Problem::invalid("covers names notebooks or a workspace, not both")),
    }
}

pub fn token(token: Token) -> rest::Token {
    rest::Token {
        kind: token.kind().as_str().to_owned(),
        scopes: token.scopes.scopes().iter().copied().collect(),
        id: token.id,
        agent: match token.holder {
            TokenHolder::Agent(id) => Some(id),
            TokenHolder::User(_) => None,
        },
        label: token.label,
        covers: covers(token.coverage),
        created_by: token.created_by,
        created_at: token.created_at,
        expires_at: token.expires_at,
        last_used_at: token.last_used_at,
    }
}

pub fn issued(new: NewToken) -> rest::IssuedToken {
    rest::IssuedToken { token: new.text.reveal(), record: token(new.token) }
}

pub fn one_time(one_time: OneTimeToken) -> rest::OneTimeToken {
    rest::OneTimeToken { token: one_time.text.reveal(), expires_at: one_time.expires_at }
}

pub fn workspace(workspace: Workspace, role: Role) -> rest::Workspace {
    rest::Workspace { id: workspace.id, name: workspace.name, role, created_at: workspace.created_at }
}

pub fn member(membership: Membership) -> rest::Member {
    rest::Member { user: membership.user_id, role: membership.role }
}

pub fn share_link(link: ShareLink) -> rest::ShareLink {
    rest::ShareLink {
        id: link.id,
        notebook: link.notebook_id,
        role: link.role,
        label: link.label,
        created_by: link.created_by,
        created_at: link.created_at,
        expires_at: link.expires_at,
    }
}
