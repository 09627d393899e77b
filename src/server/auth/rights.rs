//! Current rights of a person, for assistants and the server that act in the person's name without a token.

use notarium_core::{Actor, Authority, Door, NotebookId, TokenId, UserId};
use notarium_store::accounts::{AccountError, Coverage, Token, TokenKind};

use super::{Accounts, Authenticated};

/// Placeholder of a token's id: no token has it.
const NO_TOKEN: &str = "none";

impl Accounts {
    /// True if a token was revoked, has expired, or has no record any more.
    pub async fn has_ended(&self, token: &TokenId) -> Result<bool, AccountError> {
        let is_over = |token: &Token| token.revoked_at.is_some() || token.expires_at.is_some_and(|at| at <= self.now());
        Ok(self.store().token(token).await?.as_ref().is_none_or(is_over))
    }

    /// Rights that an interactive session of the person would have in a notebook, besides the notebook's access list.
    /// `None`: no such account, or it is deactivated. Read from the accounts each time, so never stale.
    pub async fn rights_of(&self, user: &UserId, notebook: &NotebookId) -> Result<Option<Authority>, AccountError> {
        let person = self.as_session(user).await?;
        Ok(person.map(|person| Authority { token: None, ..person.authority_for(notebook) }))
    }

    /// The person as an interactive session would be authenticated now; `None`: no such account, or it is deactivated.
    pub async fn as_session(&self, user: &UserId) -> Result<Option<Authenticated>, AccountError> {
        let account = self.store().user(user).await?.filter(|account| account.deactivated_at.is_none());
        let Some(account) = account else { return Ok(None) };
        let Ok(token_id) = TokenId::new(NO_TOKEN) else { return Ok(None) };
        let memberships = self.store().memberships(user).await?;
        Ok(Some(Authenticated {
            actor: Actor::User { id: user.clone() },
            name: account.name,
            kind: TokenKind::Session,
            token_id,
            label: String::new(),
            door: Door::default(),
            scopes: Authority::session().scopes,
            coverage: Coverage::All,
            workspaces: memberships.into_iter().map(|member| (member.workspace_id, member.role)).collect(),
            expires_at: None,
            is_fresh: true,
            asks_again: false,
            placements: self.placements(),
        }))
    }
}
