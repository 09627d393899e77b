//! Opens browsers from a kept session: by a link that is good once, or with the session's token. Each browser gets its
//! own session, which allows no more and lasts no longer.

use dashmap::DashMap;
use notarium_core::{Millis, TokenId};
use notarium_store::accounts::{Token, TokenKind, TokenScopes, User};

use super::sessions::{ClientInfo, EVERYDAY, FRESH_MS, TokenRequest, is_fresh, mint};
use super::{Accounts, AuthError, Authenticated, OneTimeToken, SignedIn, TokenText, values};

/// Lifetime of a printed link.
const LINK_MS: Millis = 60 * 60 * 1000;
/// Sessions with a link. At this number all links are cleared.
const MAX_LINKS: usize = 20_000;

/// Reason why a link is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LinkEnd {
    #[error("this link was opened before, and each is good for one browser, once: {}", ANOTHER)]
    Opened,
    #[error("this link is older than an hour: {}", ANOTHER)]
    Expired,
    #[error("this link is good no more (a newer one was made, or the server was started again since): {}", ANOTHER)]
    Replaced,
}

const ANOTHER: &str = "`notarium link` in a terminal prints another";

/// Newest link of each session. Held in memory: a restart voids all links.
#[derive(Default)]
pub(super) struct BrowserLinks(DashMap<TokenId, BrowserLink>);

struct BrowserLink {
    secret_hash: [u8; 32],
    expires_at: Millis,
    is_opened: bool,
}

impl BrowserLinks {
    /// Records a session's link, and voids its earlier one.
    fn made(&self, session: &TokenId, secret_hash: [u8; 32], expires_at: Millis) {
        if self.0.len() >= MAX_LINKS {
            self.0.clear();
        }
        self.0.insert(session.clone(), BrowserLink { secret_hash, expires_at, is_opened: false });
    }

    /// Uses up the link. Of concurrent attempts one succeeds.
    fn open(&self, link: &TokenText, now: Millis) -> Result<(), LinkEnd> {
        let mut known = self.0.get_mut(&link.id).ok_or(LinkEnd::Replaced)?;
        if known.secret_hash != link.secret_hash() {
            return Err(LinkEnd::Replaced);
        }
        if std::mem::replace(&mut known.is_opened, true) {
            return Err(LinkEnd::Opened);
        }
        if now >= known.expires_at { Err(LinkEnd::Expired) } else { Ok(()) }
    }

    /// Makes the link good again, after the session that it opened could not be stored.
    fn close(&self, link: &TokenText) {
        if let Some(mut known) = self.0.get_mut(&link.id).filter(|known| known.secret_hash == link.secret_hash()) {
            known.is_opened = false;
        }
    }

    pub fn ended(&self, session: &TokenId) {
        self.0.remove(session);
    }
}

impl Accounts {
    /// Makes a link that opens one browser, once, within an hour.
    pub async fn browser_link(&self, who: &Authenticated) -> Result<OneTimeToken, AuthError> {
        let kept = self.kept_session(&who.token_id).await?;
        let text = TokenText::generate(TokenKind::Link, kept.id)?;
        let expires_at = self.now() + LINK_MS;
        self.browser_links().made(&text.id, text.secret_hash(), expires_at);
        Ok(OneTimeToken { text, expires_at: Some(expires_at) })
    }

    /// Signs in the browser that opens the link.
    pub(super) async fn open_link(&self, link: &TokenText, client: ClientInfo<'_>) -> Result<SignedIn, AuthError> {
        self.browser_links().open(link, self.now())?;
        let opened = self.opened_by(link, client).await;
        if opened.is_err() {
            self.browser_links().close(link);
        }
        opened
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
            label: values::label(client.label)?,
            now: self.now(),
            expires_at: kept.expires_at,
        };
        let mut minted = mint(request)?;
        minted.token.identity = kept.identity;
        self.begin_bound(user, minted, client, Vec::new(), action).await
    }
}
