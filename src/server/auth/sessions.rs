//! Sign-in and sign-out: passwords, one-time tokens, sessions.

use std::net::IpAddr;
use std::path::Path;

use notarium_core::{Actor, Millis, Scope, TokenId};
use notarium_store::Sqlite;
use notarium_store::accounts::{
    AccountChange, AccountError, AccountStore, AuditEntry, Coverage, Token, TokenFilter, TokenHolder, TokenKind,
    TokenScopes, User,
};
use notarium_wire::rest::Profile;
use ulid::Ulid;

use super::browser_keys::{KeyProof, hash_of_key};
use super::{Accounts, AuthError, Authenticated, NewToken, OneTimeToken, TokenText};
use crate::auth;

const DAY_MS: Millis = 24 * 60 * 60 * 1000;
/// Lifetime of a session; signing in again makes another.
const SESSION_MS: Millis = 30 * DAY_MS;
/// Lifetime of a session that was asked for to confirm something.
pub(super) const FRESH_MS: Millis = 15 * 60 * 1000;
/// Scopes of a kept session where confirming asks for the password again.
pub(super) const EVERYDAY: [Scope; 3] = [Scope::Read, Scope::Edit, Scope::Run];
/// Lifetime of a printed owner token or a password reset.
pub(super) const ONE_TIME_MS: Millis = DAY_MS;

/// Result of a sign-in.
#[derive(Debug, Clone)]
pub struct SignedIn {
    /// Token for the client, shown only now.
    pub text: TokenText,
    pub token: Token,
    pub user: User,
}

/// Information that a client gives when it signs in.
#[derive(Debug, Clone, Copy, Default)]
pub struct ClientInfo<'a> {
    /// Network address; attempts are counted per address.
    pub address: Option<IpAddr>,
    /// Label in the list of sessions.
    pub label: &'a str,
    /// Public key of a browser, to which the session is bound.
    pub key: Option<&'a str>,
}

/// Request for a new token.
pub(super) struct TokenRequest {
    pub holder: TokenHolder,
    pub created_by: notarium_core::UserId,
    pub scopes: TokenScopes,
    pub coverage: Coverage,
    pub label: String,
    pub now: Millis,
    pub expires_at: Option<Millis>,
}

pub(super) fn mint(request: TokenRequest) -> Result<NewToken, AccountError> {
    let text = TokenText::generate(request.scopes.kind(), Ulid::generate().into())?;
    let token = Token {
        id: text.id.clone(),
        holder: request.holder,
        created_by: request.created_by,
        secret_hash: text.secret_hash(),
        scopes: request.scopes,
        coverage: request.coverage,
        label: request.label,
        created_at: request.now,
        expires_at: request.expires_at,
        last_used_at: None,
        revoked_at: None,
        identity: None,
    };
    Ok(NewToken { text, token })
}

/// True for a short session: its password was just asked for, and no client stores it.
pub(super) fn is_fresh(token: &Token) -> bool {
    let life = token.expires_at.map(|at| at.saturating_sub(token.created_at));
    token.kind() == TokenKind::Session && life.is_some_and(|life| life <= FRESH_MS)
}

pub(super) fn mint_for(
    user: &User,
    kind: TokenKind,
    label: String,
    now: Millis,
    life: Millis,
) -> Result<NewToken, AccountError> {
    mint_with(user, TokenScopes::all_of(kind), label, now, life)
}

fn mint_with(
    user: &User,
    scopes: TokenScopes,
    label: String,
    now: Millis,
    life: Millis,
) -> Result<NewToken, AccountError> {
    mint(TokenRequest {
        holder: TokenHolder::User(user.id.clone()),
        created_by: user.id.clone(),
        scopes,
        coverage: Coverage::All,
        label,
        now,
        expires_at: Some(now + life),
    })
}

impl Accounts {
    /// Signs in with login and password. Slow and throttled on purpose.
    pub async fn sign_in(&self, login: &str, password: String, client: ClientInfo<'_>) -> Result<SignedIn, AuthError> {
        auth::label(client.label)?;
        let user = self.proven(login, password, client.address).await?;
        self.begin_session(user, client, Vec::new(), "session.sign_in").await
    }

    /// Signs in for a session of 15 minutes that confirms, shares and manages, and that no client stores.
    pub async fn sign_in_afresh(
        &self,
        login: &str,
        password: String,
        client: ClientInfo<'_>,
    ) -> Result<SignedIn, AuthError> {
        auth::label(client.label)?;
        let user = self.proven(login, password, client.address).await?;
        let minted = self.mint_fresh(&user, client)?;
        self.keep_session(user, minted, Vec::new(), "session.sign_in_afresh").await
    }

    pub(super) fn mint_fresh(&self, user: &User, client: ClientInfo<'_>) -> Result<NewToken, AuthError> {
        Ok(mint_for(user, TokenKind::Session, auth::label(client.label)?, self.now(), FRESH_MS)?)
    }

    /// Verifies login and password; returns the person.
    async fn proven(&self, login: &str, password: String, address: Option<IpAddr>) -> Result<User, AuthError> {
        let login = auth::login(login)?;
        self.shared.throttle.attempt(&login, address).await?;
        let user = self.store().user_by_login(&login).await?;
        let phc = user.as_ref().and_then(|user| user.password_hash.clone());
        if !self.shared.passwords.verify(password, phc).await? {
            return Err(AuthError::WrongPassword);
        }
        let user = user.ok_or(AuthError::WrongPassword)?;
        if user.deactivated_at.is_some() {
            return Err(AuthError::Deactivated);
        }
        Ok(user)
    }

    /// Exchanges the printed owner token, a password reset or a link for a session, once. Afterwards the person has a
    /// login and a password, because a session ends; a link needs neither.
    pub async fn exchange(
        &self,
        text: &str,
        profile: Option<Profile>,
        password: Option<String>,
        client: ClientInfo<'_>,
    ) -> Result<SignedIn, AuthError> {
        self.exchange_with(text, profile, password, client, true).await
    }

    /// Exchanges an owner token for a program on the machine of the data folder (`notarium up`), which can make another
    /// any time.
    pub async fn exchange_locally(&self, text: &str, client: ClientInfo<'_>) -> Result<SignedIn, AuthError> {
        self.exchange_with(text, None, None, client, false).await
    }

    async fn exchange_with(
        &self,
        text: &str,
        profile: Option<Profile>,
        password: Option<String>,
        client: ClientInfo<'_>,
        is_remote: bool,
    ) -> Result<SignedIn, AuthError> {
        self.shared.throttle.attempt_from(client.address)?;
        if let Some(link) = TokenText::parse(text).filter(|text| text.kind == TokenKind::Link) {
            return match (profile, password) {
                (None, None) => self.open_link(&link, client).await,
                _ => Err(AuthError::invalid("a link signs a browser in, and sets nothing")),
            };
        }
        let (token, mut user) = self.one_time(text).await?;
        let mut changes = vec![AccountChange::SpendToken { token: token.id.clone(), at: self.now() }];
        if password.is_none() && is_remote && needs_password(token.kind(), &user) {
            return Err(AuthError::invalid("the first sign-in chooses a password: send password too"));
        }
        if token.kind() == TokenKind::Reset {
            changes.push(self.end_sessions(&user, None));
        }
        if let Some(profile) = profile {
            (user.name, user.login) = (auth::name(&profile.name)?, Some(auth::login(&profile.login)?));
            changes.push(set_profile(&user));
        }
        if let Some(password) = password {
            check_has_login(&user)?;
            changes.push(self.set_password(&user, password).await?);
        }
        self.begin_session(user, client, changes, "session.exchange").await
    }

    /// Challenge that a page of the session's browser signs to get a token.
    pub fn challenge(&self, session: &TokenId) -> String {
        self.shared.browser_keys.challenge(self.peers(), session, self.now())
    }

    /// Gives a page that has just opened a token of its browser's session.
    pub async fn resume(&self, proof: KeyProof<'_>) -> Result<SignedIn, AuthError> {
        let key_hash = self.shared.browser_keys.check(self.peers(), proof, self.now())?;
        let is_bound = |token: &Token| token.kind() == TokenKind::Session && token.secret_hash == key_hash;
        let token = self.store().token(proof.session).await?.filter(is_bound).ok_or(AuthError::Invalid)?;
        let user = self.holder_of(&token).await?;
        if token.revoked_at.is_some() {
            return Err(AuthError::Revoked);
        }
        let text = self.page_token(token.id.clone())?;
        Ok(SignedIn { text, token, user })
    }

    /// Revokes the caller's token.
    pub async fn sign_out(&self, who: &Authenticated) -> Result<(), AuthError> {
        let revoke = AccountChange::RevokeToken { token: who.token_id.clone(), at: self.now() };
        Ok(self.change(&[revoke], self.audit(&who.actor, "session.sign_out", &who.token_id)).await?)
    }

    /// Changes the caller's password, and ends the other sessions that began with an earlier one.
    pub async fn change_password(
        &self,
        who: &Authenticated,
        current: Option<String>,
        password: String,
        address: Option<IpAddr>,
    ) -> Result<(), AuthError> {
        let user = self.user_of(who).await?;
        self.check_current_password(&user, current, address).await?;
        check_has_login(&user)?;
        let mut changes = vec![self.set_password(&user, password).await?];
        // A first password ends no sessions, such as that of `notarium up`.
        if user.password_hash.is_some() {
            changes.push(self.end_sessions(&user, Some(who)));
        }
        Ok(self.change(&changes, self.audit(&who.actor, "user.password", &user.id)).await?)
    }

    /// Verifies the current password, if the person has one.
    pub(super) async fn check_current_password(
        &self,
        user: &User,
        current: Option<String>,
        address: Option<IpAddr>,
    ) -> Result<(), AuthError> {
        let Some(phc) = &user.password_hash else { return Ok(()) };
        self.shared.throttle.attempt(user.login.as_deref().unwrap_or(user.id.as_str()), address).await?;
        match self.shared.passwords.verify(current.unwrap_or_default(), Some(phc.clone())).await? {
            true => Ok(()),
            false => Err(AuthError::WrongPassword),
        }
    }

    /// Counts an attempt to sign in without a login; an error above the limit.
    pub fn count_attempt(&self, address: Option<IpAddr>) -> Result<(), AuthError> {
        self.shared.throttle.attempt_from(address)
    }

    /// Changes the caller's name and login.
    pub async fn change_profile(&self, who: &Authenticated, profile: &Profile) -> Result<User, AuthError> {
        let mut user = self.user_of(who).await?;
        (user.name, user.login) = (auth::name(&profile.name)?, Some(auth::login(&profile.login)?));
        self.change(&[set_profile(&user)], self.audit(&who.actor, "user.profile", &user.id)).await?;
        Ok(user)
    }

    /// Makes a one-time token with which a person sets a new password; earlier ones are void.
    pub async fn reset_password(&self, by: &Authenticated, user: &User) -> Result<OneTimeToken, AuthError> {
        let minted = mint_for(user, TokenKind::Reset, String::new(), self.now(), ONE_TIME_MS)?;
        let earlier = self.revoke_kinds(user, vec![TokenKind::Reset], None);
        let one_time = OneTimeToken { text: minted.text, expires_at: minted.token.expires_at };
        let changes = [earlier, AccountChange::CreateToken(minted.token)];
        self.change(&changes, self.audit(&by.actor, "user.reset", &user.id)).await?;
        Ok(one_time)
    }

    /// Creates the owner at a server's first start, or makes a new token for an owner who has never signed in. `None`
    /// once a person has signed in.
    pub async fn first_start(&self) -> Result<Option<OneTimeToken>, AccountError> {
        let users = self.store().users(None, 2).await?;
        match users.as_slice() {
            [] => {
                let owner = new_owner(self.now());
                let create = AccountChange::CreateUser(owner.clone());
                self.store().apply(&[create], &system_audit("user.create", &owner, self.now())).await?;
            }
            [owner] if self.is_unclaimed(owner).await? => {}
            _ => return Ok(None),
        }
        issue_owner_token(self.store(), self.now()).await.map(Some)
    }

    async fn is_unclaimed(&self, owner: &User) -> Result<bool, AccountError> {
        let tokens = self.store().tokens(&TokenFilter::OfUser(owner.id.clone()), 1).await?;
        Ok(owner.password_hash.is_none() && tokens.is_empty())
    }

    pub(super) async fn user_of(&self, who: &Authenticated) -> Result<User, AuthError> {
        let id = who.user_id().ok_or(AuthError::Missing)?;
        self.store().user(id).await?.ok_or(AuthError::Invalid)
    }

    /// Returns a one-time token that is still valid, and its holder.
    pub(super) async fn one_time(&self, text: &str) -> Result<(Token, User), AuthError> {
        let text = TokenText::parse(text).ok_or(AuthError::Invalid)?;
        let token = self.store().token(&text.id).await?.ok_or(AuthError::Invalid)?;
        let is_it = token.kind() == text.kind && text.kind.is_one_time() && token.secret_hash == text.secret_hash();
        if !is_it {
            return Err(AuthError::Invalid);
        }
        if token.revoked_at.is_some() {
            return Err(AccountError::AlreadySpent.into());
        }
        let user = self.holder_of(&token).await?;
        Ok((token, user))
    }

    /// The token's holder, if neither has the token expired nor the account been deactivated.
    pub(super) async fn holder_of(&self, token: &Token) -> Result<User, AuthError> {
        let TokenHolder::User(holder) = &token.holder else { return Err(AuthError::Invalid) };
        if token.expires_at.is_some_and(|at| self.now() >= at) {
            return Err(AuthError::Expired);
        }
        let user = self.store().user(holder).await?.ok_or(AuthError::Invalid)?;
        if user.deactivated_at.is_some() { Err(AuthError::Deactivated) } else { Ok(user) }
    }

    async fn begin_session(
        &self,
        user: User,
        client: ClientInfo<'_>,
        changes: Vec<AccountChange>,
        action: &str,
    ) -> Result<SignedIn, AuthError> {
        let minted = self.mint_session(&user, client)?;
        self.begin_bound(user, minted, client, changes, action).await
    }

    /// Makes a session as for every sign-in.
    pub(super) fn mint_session(&self, user: &User, client: ClientInfo<'_>) -> Result<NewToken, AuthError> {
        let scopes = match self.asks_again() {
            // Scopes are cut for the token's whole life: it stays stored where others may read it, even if the option
            // is turned off.
            true => TokenScopes::allowed_of(TokenKind::Session, EVERYDAY.into()),
            false => TokenScopes::all_of(TokenKind::Session),
        };
        Ok(mint_with(user, scopes, auth::label(client.label)?, self.now(), SESSION_MS)?)
    }

    /// Stores the session, bound to the browser's key if there is one.
    pub(super) async fn begin_bound(
        &self,
        user: User,
        mut minted: NewToken,
        client: ClientInfo<'_>,
        changes: Vec<AccountChange>,
        action: &str,
    ) -> Result<SignedIn, AuthError> {
        if let Some(hash) = client.key.map(hash_of_key).transpose()? {
            minted.token.secret_hash = hash;
            minted.text = self.page_token(minted.token.id.clone())?;
        }
        self.keep_session(user, minted, changes, action).await
    }

    pub(super) async fn keep_session(
        &self,
        user: User,
        NewToken { text, token }: NewToken,
        mut changes: Vec<AccountChange>,
        action: &str,
    ) -> Result<SignedIn, AuthError> {
        changes.push(AccountChange::CreateToken(token.clone()));
        let actor = Actor::User { id: user.id.clone() };
        self.change(&changes, self.audit(&actor, action, &token.id)).await?;
        Ok(SignedIn { text, token, user })
    }

    async fn set_password(&self, user: &User, password: String) -> Result<AccountChange, AuthError> {
        auth::check_password(&password)?;
        let hash = self.shared.passwords.hash(password).await?;
        Ok(AccountChange::SetPassword { user: user.id.clone(), hash })
    }

    fn end_sessions(&self, user: &User, but: Option<&Authenticated>) -> AccountChange {
        self.revoke_kinds(user, vec![TokenKind::Session], but)
    }

    fn revoke_kinds(&self, user: &User, kinds: Vec<TokenKind>, but: Option<&Authenticated>) -> AccountChange {
        let except = but.map(|who| who.token_id.clone());
        AccountChange::RevokeTokensOf { user: user.id.clone(), kinds, except, at: self.now() }
    }
}

/// Makes an owner token for the first active administrator, for the command line on a data folder that no server uses.
/// Owner tokens issued before are void.
pub async fn issue_owner_token(store: &dyn AccountStore, now: Millis) -> Result<OneTimeToken, AccountError> {
    let owner = first_admin(store).await?;
    let minted = mint_for(&owner, TokenKind::Owner, String::new(), now, ONE_TIME_MS)?;
    let one_time = OneTimeToken { text: minted.text, expires_at: minted.token.expires_at };
    let kinds = vec![TokenKind::Owner];
    let changes = [
        AccountChange::RevokeTokensOf { user: owner.id.clone(), kinds, except: None, at: now },
        AccountChange::CreateToken(minted.token),
    ];
    store.apply(&changes, &system_audit("user.owner_token", &owner, now)).await?;
    Ok(one_time)
}

/// [`issue_owner_token`] in a data folder. Refused while a server uses it: administrators reset passwords over HTTP.
pub async fn issue_owner_token_in(data: &Path, now: Millis) -> Result<OneTimeToken, AccountError> {
    let database = Sqlite::open(data).await?;
    let issued = issue_owner_token(&database, now).await;
    database.close().await;
    issued
}

pub(super) async fn first_admin(store: &dyn AccountStore) -> Result<User, AccountError> {
    let mut after = None;
    loop {
        let page = store.users(after.as_ref(), 100).await?;
        let last = page.last().map(|user| user.id.clone());
        if let Some(admin) = page.into_iter().find(|user| user.is_admin && user.deactivated_at.is_none()) {
            return Ok(admin);
        }
        after = Some(last.ok_or(AccountError::Unknown { what: "administrator" })?);
    }
}

fn new_owner(now: Millis) -> User {
    User {
        id: Ulid::generate().into(),
        name: "Owner".to_owned(),
        login: None,
        password_hash: None,
        is_admin: true,
        created_at: now,
        deactivated_at: None,
    }
}

pub(super) fn system_audit(action: &str, user: &User, now: Millis) -> AuditEntry {
    AuditEntry { at: now, actor: Actor::System.key(), action: action.to_owned(), subject: user.id.to_string() }
}

/// An owner with a password signs in without choosing a new one.
pub(super) fn needs_password(kind: TokenKind, user: &User) -> bool {
    kind == TokenKind::Reset || (kind == TokenKind::Owner && user.password_hash.is_none())
}

fn check_has_login(user: &User) -> Result<(), AuthError> {
    match user.login {
        Some(_) => Ok(()),
        None => Err(AuthError::invalid("a password is of no use without a login: send name and login too")),
    }
}

/// Change that stores the name and login of `user`.
fn set_profile(user: &User) -> AccountChange {
    let login = user.login.clone().unwrap_or_default();
    AccountChange::SetProfile { user: user.id.clone(), name: user.name.clone(), login }
}
