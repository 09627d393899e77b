//! Reads what the exchange of a one-time token needs, and makes a reset token in the data folder of a stopped server.

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use notarium_core::Millis;
use notarium_store::Sqlite;
use notarium_store::accounts::{AccountChange, AccountError, AccountStore, TokenKind, User};

use super::sessions::{ONE_TIME_MS, first_admin, mint_for, needs_password, system_audit};
use super::{Accounts, AuthError, OneTimeToken, TokenText, values};

/// Kind of a one-time token, and the fields that its exchange needs.
#[derive(Debug, Clone)]
pub struct OneTimeUse {
    pub kind: TokenKind,
    /// Holder of the token. `None` for a link, whose exchange needs no fields.
    pub user: Option<User>,
    /// True if the exchange has to send a name and a login too.
    pub needs_login: bool,
    pub needs_password: bool,
}

impl Accounts {
    /// Looks at a one-time token without using it up. Counted like an attempt to sign in.
    pub async fn one_time_use(&self, text: &str, address: Option<IpAddr>) -> Result<OneTimeUse, AuthError> {
        self.throttle().attempt_from(address)?;
        if TokenText::parse(text).is_some_and(|text| text.kind == TokenKind::Link) {
            let kind = TokenKind::Link;
            return Ok(OneTimeUse { kind, user: None, needs_login: false, needs_password: false });
        }
        let (token, user) = self.one_time(text).await?;
        let (kind, needs_login) = (token.kind(), user.login.is_none());
        let needs_password = needs_password(kind, &user);
        Ok(OneTimeUse { kind, needs_login: needs_login && needs_password, needs_password, user: Some(user) })
    }
}

/// Makes a one-time token with which a person sets a new password, in a data folder. Without a login it is for the
/// first active administrator. Refused while a server uses the folder: administrators reset passwords over HTTP.
pub async fn reset_in(data: &Path, login: Option<&str>, now: Millis) -> Result<(OneTimeToken, User), AuthError> {
    let database = Arc::new(Sqlite::open(data).await.map_err(AccountError::from)?);
    let made = reset(&AccountStore::new(database.clone()), login, now).await;
    if let Some(database) = Arc::into_inner(database) {
        database.close().await;
    }
    made
}

async fn reset(store: &AccountStore, login: Option<&str>, now: Millis) -> Result<(OneTimeToken, User), AuthError> {
    let user = match login {
        Some(login) => {
            store.user_by_login(&values::login(login)?).await?.ok_or(AccountError::Unknown { what: "user" })?
        }
        None => first_admin(store).await?,
    };
    if user.deactivated_at.is_some() {
        return Err(AuthError::Deactivated);
    }
    let minted = mint_for(&user, TokenKind::Reset, String::new(), now, ONE_TIME_MS)?;
    let one_time = OneTimeToken { text: minted.text, expires_at: minted.token.expires_at };
    let kinds = vec![TokenKind::Reset, TokenKind::Owner];
    let changes = [
        AccountChange::RevokeTokensOf { user: user.id.clone(), kinds, except: None, at: now },
        AccountChange::CreateToken(minted.token),
    ];
    store.apply(&changes, &system_audit("user.reset", &user, now)).await?;
    Ok((one_time, user))
}
