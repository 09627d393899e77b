//! An authenticated caller on the way from the node that got the request to the owner of the notebook.

use std::collections::BTreeMap;

use notarium_core::{Actor, Door, Millis, Role, Scopes, TokenId, WorkspaceId};
use notarium_store::accounts::{Coverage, TokenKind};
use serde::{Deserialize, Serialize};

use super::{Accounts, AuthError, Authenticated, Follow};

/// [`Authenticated`] as nodes send it to each other, signed with the cluster's secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForwardedCaller {
    actor: Actor,
    name: String,
    kind: TokenKind,
    token_id: TokenId,
    label: String,
    door: Door,
    scopes: Scopes,
    coverage: Coverage,
    workspaces: BTreeMap<WorkspaceId, Role>,
    expires_at: Option<Millis>,
    is_fresh: bool,
    asks_again: bool,
    is_pass: bool,
}

impl From<&Authenticated> for ForwardedCaller {
    fn from(who: &Authenticated) -> Self {
        let who = who.clone();
        Self {
            actor: who.actor,
            name: who.name,
            kind: who.kind,
            token_id: who.token_id,
            label: who.label,
            door: who.door,
            scopes: who.scopes,
            coverage: who.coverage,
            workspaces: who.workspaces,
            expires_at: who.expires_at,
            is_fresh: who.is_fresh,
            asks_again: who.asks_again,
            is_pass: who.is_pass,
        }
    }
}

impl Accounts {
    /// The caller as another node has authenticated it.
    pub fn forwarded(&self, caller: ForwardedCaller) -> Authenticated {
        Authenticated {
            actor: caller.actor,
            name: caller.name,
            kind: caller.kind,
            token_id: caller.token_id,
            label: caller.label,
            door: caller.door,
            scopes: caller.scopes,
            coverage: caller.coverage,
            workspaces: caller.workspaces,
            expires_at: caller.expires_at,
            is_fresh: caller.is_fresh,
            asks_again: caller.asks_again,
            is_pass: caller.is_pass,
            placements: self.shared.placements.clone(),
        }
    }

    /// The same, if its token has not ended meanwhile. Its rights are those that the other node has found: what was changed there just now
    /// may not be known here yet.
    pub async fn living_forwarded(&self, caller: ForwardedCaller) -> Result<Authenticated, AuthError> {
        let who = self.forwarded(caller);
        // A pass is known to the other node alone.
        if !who.is_pass {
            self.recheck(&who).await?;
        }
        Ok(who)
    }

    /// Follows the token of a forwarded connection. A pass is known to the other node alone, which follows it.
    pub async fn follow_forwarded(&self, who: Authenticated) -> Result<(Authenticated, Follow), AuthError> {
        if who.is_pass {
            return Ok((who, Follow::never()));
        }
        let follow = Follow::new(self, &who).await?;
        Ok((self.recheck(&who).await?, follow))
    }
}
