//! Opens browsers from a kept session: by a link that is good once, or with the session's token. Each browser gets its
//! own session, which allows no more and lasts no longer.
//!
//! The store keeps the newest link of each session, so that every node of a cluster knows it.

use notarium_core::{Millis, TokenId};
use notarium_store::accounts::{Token, TokenKind, TokenScopes, User};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::sessions::{ClientInfo, EVERYDAY, FRESH_MS, TokenRequest, is_fresh, mint};
use super::{Accounts, AuthError, Authenticated, OneTimeToken, SignedIn, TokenText};
use crate::auth;

/// Lifetime of a printed link.
const LINK_MS: Millis = 60 * 60 * 1000;
/// Time for which a link is remembered, so that its end can be told.
const REMEMBERED_MS: Millis = 24 * LINK_MS;

/// Reason why a link is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LinkEnd {
    #[error("this link was opened before, and each is good for one browser, once: {}", ANOTHER)]
    Opened,
    #[error("this link is older than an hour: {}", ANOTHER)]
    Expired,
    #[error("this link is good no more (a newer one was made since): {}", ANOTHER)]
    Replaced,
}

const ANOTHER: &str = "`notarium link` in a terminal prints another";

/// A session's link, as the store keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct BrowserLink {
    secret_hash: [u8; 32],
    expires_at: Millis,
    is_opened: bool,
}

impl BrowserLink {
    fn to_text(self) -> String {
        serde_json::to_string(&self).expect("numbers and flags")
    }
}

/// Key of a session's link in the store.
fn key_of(session: &TokenId) -> [u8; 32] {
    Sha256::digest(format!("browser link\n{session}")).into()
}

impl Accounts {
    /// Makes a link that opens one browser, once, within an hour. An earlier one of the session is void.
    pub async fn browser_link(&self, who: &Authenticated) -> Result<OneTimeToken, AuthError> {
        let kept = self.kept_session(&who.token_id).await?;
        let text = TokenText::generate(TokenKind::Link, kept.id)?;
        let now = self.now();
        let link = BrowserLink { secret_hash: text.secret_hash(), expires_at: now + LINK_MS, is_opened: false };
        self.store().keep_one_time(&key_of(&text.id), &link.to_text(), now + REMEMBERED_MS, now).await?;
        Ok(OneTimeToken { text, expires_at: Some(link.expires_at) })
    }

    /// Signs in the browser that opens the link.
    pub(super) async fn open_link(&self, link: &TokenText, client: ClientInfo<'_>) -> Result<SignedIn, AuthError> {
        let known = self.use_up(link).await?;
        let opened = self.opened_by(link, client).await;
        if opened.is_err() {
            // It is good again, because the session that it opened could not be stored. If this fails too, another link is needed.
            let used = BrowserLink { is_opened: true, ..known };
            let _ = self.store().change_one_time(&key_of(&link.id), &used.to_text(), Some(&known.to_text())).await;
        }
        opened
    }

    /// Uses up the link; returns it as it was. Of concurrent attempts one succeeds.
    async fn use_up(&self, link: &TokenText) -> Result<BrowserLink, AuthError> {
        let key = key_of(&link.id);
        let text = self.store().one_time(&key).await?.ok_or(LinkEnd::Replaced)?;
        let known: BrowserLink = serde_json::from_str(&text).map_err(|_| LinkEnd::Replaced)?;
        if known.secret_hash != link.secret_hash() {
            return Err(LinkEnd::Replaced.into());
        }
        if known.is_opened {
            return Err(LinkEnd::Opened.into());
        }
        if self.now() >= known.expires_at {
            return Err(LinkEnd::Expired.into());
        }
        let used = BrowserLink { is_opened: true, ..known };
        match self.store().change_one_time(&key, &text, Some(&used.to_text())).await? {
            true => Ok(known),
            false => Err(LinkEnd::Opened.into()),
        }
    }

    async fn opened_by(&self, link: &TokenText, client: ClientInfo<'_>) -> Result<SignedIn, AuthError> {
        let kept = self.kept_session(&link.id).await?;
        if kept.revoked_at.is_some() {
            return Err(AuthError::Revoked);
        }
        let user = self.holder_of(&kept).await?;
        self.begin_beside(kept, user, client, "session.link").await
    }

    /// Signs in a browser that was given the token of a kept session, with a session of its own.
    pub async fn bind_browser(&self, who: &Authenticated, client: ClientInfo<'_>) -> Result<SignedIn, AuthError> {
        let kept = self.kept_session(&who.token_id).await?;
        let user = self.user_of(who).await?;
        self.begin_beside(kept, user, client, "session.browser").await
    }

    async fn kept_session(&self, id: &TokenId) -> Result<Token, AuthError> {
        let kept = self.store().token(id).await?.ok_or(AuthError::Invalid)?;
        let lasts = kept.expires_at.is_none_or(|at| at.saturating_sub(self.now()) > FRESH_MS);
        // A session that ends within `FRESH_MS` would count as fresh.
        if kept.kind() != TokenKind::Session || is_fresh(&kept) || !lasts {
            return Err(AuthError::forbidden("only a kept session opens one for a browser: sign in"));
        }
        Ok(kept)
    }

    async fn begin_beside(
        &self,
        kept: Token,
        user: User,
        client: ClientInfo<'_>,
        action: &str,
    ) -> Result<SignedIn, AuthError> {
        let scopes = match self.asks_again() {
            true => {
                let everyday = kept.scopes.scopes().iter().copied().filter(|scope| EVERYDAY.contains(scope));
                TokenScopes::allowed_of(TokenKind::Session, everyday.collect())
            }
            false => kept.scopes,
        };
        let request = TokenRequest {
            holder: kept.holder,
            created_by: user.id.clone(),
            scopes,
            coverage: kept.coverage,
            label: auth::label(client.label)?,
            now: self.now(),
            expires_at: kept.expires_at,
        };
        let mut minted = mint(request)?;
        minted.token.identity = kept.identity;
        self.begin_bound(user, minted, client, Vec::new(), action).await
    }
}
