//! Sign-in through OpenID Connect: issuer and subject alone identify a person.

use std::net::IpAddr;

use notarium_core::{Actor, UserId};
use notarium_store::accounts::{AccountChange, AccountError, Identity, TokenKind, User};
use ulid::Ulid;

use super::oidc::GroupRules;
use super::sessions::ClientInfo;
use super::{Accounts, AuthError, Authenticated, SignedIn};
use crate::auth;

/// Limit of linked identities per person.
const MAX_IDENTITIES: usize = 10;
/// Longest e-mail address (RFC 5321).
const MAX_EMAIL_BYTES: usize = 254;
const MAX_NAME_CHARS: usize = 100;
/// Suffixes tried for a login that is taken: `ann-2` to `ann-20`.
const MAX_NAMESAKES: usize = 20;

/// Claims of a provider about a person whom it has signed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProvedIdentity {
    pub issuer: String,
    pub subject: String,
    pub name: Option<String>,
    /// User name at the provider. Chosen freely there, so it proves nothing.
    pub username: Option<String>,
    /// Address that the provider has verified.
    pub email: Option<String>,
    pub has_unverified_email: bool,
    /// Groups at the provider; `None`: it did not send them, or they are not read.
    pub groups: Option<Vec<String>>,
}

impl Accounts {
    /// Signs in the person with this identity; `None`: no person has it. `rules`: rights that groups of the provider give.
    pub async fn sign_in_with_identity(
        &self,
        proved: &ProvedIdentity,
        rules: Option<&GroupRules>,
        client: ClientInfo<'_>,
    ) -> Result<Option<SignedIn>, AuthError> {
        match self.person_of(proved, rules).await? {
            Some((identity, user)) => self.begin_session_by(identity, user, client).await.map(Some),
            None => Ok(None),
        }
    }

    /// Signs in for a session of 15 minutes that confirms, shares and manages, and that no client stores. The provider
    /// has just authenticated the person.
    pub async fn sign_in_afresh_with_identity(
        &self,
        proved: &ProvedIdentity,
        rules: Option<&GroupRules>,
        client: ClientInfo<'_>,
    ) -> Result<SignedIn, AuthError> {
        let Some((identity, user)) = self.person_of(proved, rules).await? else {
            let reason = "nobody here signs in with that: sign in again as who you are here";
            return Err(AuthError::forbidden(reason));
        };
        let mut minted = self.mint_fresh(&user, client)?;
        minted.token.identity = Some(identity.id);
        self.keep_session(user, minted, Vec::new(), "session.oidc_afresh").await
    }

    /// The person with this identity, whose rights from groups are up to date.
    async fn person_of(
        &self,
        proved: &ProvedIdentity,
        rules: Option<&GroupRules>,
    ) -> Result<Option<(Identity, User)>, AuthError> {
        let Some(identity) = self.store().identity(&proved.issuer, &proved.subject).await? else { return Ok(None) };
        let user = self.store().user(&identity.user_id).await?.ok_or(AuthError::Invalid)?;
        if user.deactivated_at.is_some() {
            return Err(AuthError::Deactivated);
        }
        Ok(Some((identity, self.with_groups(user, proved, rules).await?)))
    }

    /// Brings the person's rights from groups up to date.
    async fn with_groups(
        &self,
        user: User,
        proved: &ProvedIdentity,
        rules: Option<&GroupRules>,
    ) -> Result<User, AuthError> {
        let Some(rules) = rules else { return Ok(user) };
        self.follow_groups(&user.id, proved, rules).await?;
        self.store().user(&user.id).await?.ok_or(AuthError::Invalid)
    }

    async fn begin_session_by(
        &self,
        identity: Identity,
        user: User,
        client: ClientInfo<'_>,
    ) -> Result<SignedIn, AuthError> {
        let mut minted = self.mint_session(&user, client)?;
        minted.token.identity = Some(identity.id);
        self.begin_bound(user, minted, client, Vec::new(), "session.oidc").await
    }

    /// Creates an account for an admitted person, and signs in.
    pub async fn join_with_identity(
        &self,
        proved: &ProvedIdentity,
        rules: Option<&GroupRules>,
        client: ClientInfo<'_>,
    ) -> Result<SignedIn, AuthError> {
        let login = self.login_for(proved).await?;
        let user = User {
            id: Ulid::generate().into(),
            name: name_for(proved),
            login,
            password_hash: None,
            is_admin: false,
            created_at: self.now(),
            deactivated_at: None,
        };
        let identity = self.identity(&user.id, proved);
        let link = AccountChange::LinkIdentity(identity.clone());
        let actor = Actor::User { id: user.id.clone() };
        let changes = [AccountChange::CreateUser(user.clone()), link];
        match self.change(&changes, self.audit(&actor, "user.join", &user.id)).await {
            // Two pages of one person raced, and the other one has joined first.
            Err(AccountError::Taken { what: "sign-in" }) => {
                self.sign_in_with_identity(proved, rules, client).await?.ok_or(AuthError::Invalid)
            }
            done => {
                done?;
                let user = self.with_groups(user, proved, rules).await?;
                self.begin_session_by(identity, user, client).await
            }
        }
    }

    /// Checks that the person may link a sign-in. Asks for the password if there is one, as for changing it.
    pub async fn check_may_link(
        &self,
        who: &Authenticated,
        current: Option<String>,
        address: Option<IpAddr>,
    ) -> Result<UserId, AuthError> {
        if who.kind != TokenKind::Session {
            return Err(AuthError::forbidden("a way to sign in is added in a session: sign in"));
        }
        let user = self.user_of(who).await?;
        self.check_current_password(&user, current, address).await?;
        if self.store().identities(&user.id, MAX_IDENTITIES).await?.len() >= MAX_IDENTITIES {
            let reason = format!("there are {MAX_IDENTITIES} sign-ins linked already: unlink one first");
            return Err(AuthError::invalid(reason));
        }
        Ok(user.id)
    }

    /// Links the identity, so that the person can sign in with it.
    pub async fn link_identity(&self, who: &Authenticated, proved: &ProvedIdentity) -> Result<Identity, AuthError> {
        let user = self.user_of(who).await?;
        if let Some(identity) = self.store().identity(&proved.issuer, &proved.subject).await? {
            if identity.user_id == user.id {
                return Ok(identity);
            }
            let reason =
                "another account here is signed in to with that: unlink it there first, or ask an administrator";
            return Err(AuthError::forbidden(reason));
        }
        let identity = self.identity(&user.id, proved);
        let audit = self.audit(&who.actor, "identity.link", format!("{}/{}", user.id, identity.id));
        self.change(&[AccountChange::LinkIdentity(identity.clone())], audit).await?;
        Ok(identity)
    }

    pub async fn identities_of(&self, user: &UserId) -> Result<Vec<Identity>, AuthError> {
        Ok(self.store().identities(user, MAX_IDENTITIES).await?)
    }

    /// Unlinks an identity of the caller's own account. The last way to sign in stays.
    pub async fn unlink_own_identity(&self, who: &Authenticated, identity: &str) -> Result<(), AuthError> {
        let user = self.user_of(who).await?;
        let others = self.identities_of(&user.id).await?.into_iter().filter(|other| other.id != identity).count();
        if others == 0 && user.password_hash.is_none() {
            let reason = "this is the only way into your account: choose a password or link another sign-in first";
            return Err(AuthError::invalid(reason));
        }
        self.unlink_identity(who, &user.id, identity).await
    }

    /// Unlinks an identity, for an administrator or the person. Sessions that began with it end.
    pub async fn unlink_identity(&self, who: &Authenticated, user: &UserId, identity: &str) -> Result<(), AuthError> {
        let change =
            AccountChange::UnlinkIdentity { user: user.clone(), identity: identity.to_owned(), at: self.now() };
        let audit = self.audit(&who.actor, "identity.unlink", format!("{user}/{identity}"));
        Ok(self.change(&[change], audit).await?)
    }

    fn identity(&self, user: &UserId, proved: &ProvedIdentity) -> Identity {
        Identity {
            id: Ulid::generate().to_string(),
            user_id: user.clone(),
            issuer: proved.issuer.clone(),
            subject: proved.subject.clone(),
            email: proved.email.clone().filter(|email| email.len() <= MAX_EMAIL_BYTES),
            created_at: self.now(),
        }
    }

    /// Login of a new account: a verified address that is not taken, else the user name there, with a number if taken.
    async fn login_for(&self, proved: &ProvedIdentity) -> Result<Option<String>, AuthError> {
        if let Some(login) = proved.email.as_deref().and_then(|email| auth::login(email).ok()) {
            if self.store().user_by_login(&login).await?.is_some() {
                let reason = format!(
                    "there is an account with the login {login} already: sign in to it with its password and link this sign-in \
                     there, or ask an administrator"
                );
                return Err(AuthError::forbidden(reason));
            }
            return Ok(Some(login));
        }
        // An unverified address may belong to another person: only the part before the @ is used.
        let username = proved.username.as_deref().map(|name| name.split('@').next().unwrap_or_default());
        let Some(login) = username.and_then(|name| auth::login(name).ok()) else { return Ok(None) };
        let namesakes = (2..=MAX_NAMESAKES).map(|number| format!("{login}-{number}"));
        for login in std::iter::once(login.clone()).chain(namesakes) {
            if self.store().user_by_login(&login).await?.is_none() {
                return Ok(Some(login));
            }
        }
        Ok(None)
    }
}

fn name_for(proved: &ProvedIdentity) -> String {
    let said = [&proved.name, &proved.username, &proved.email].into_iter().flatten();
    let cut = |text: &String| text.chars().filter(|character| !character.is_control()).take(MAX_NAME_CHARS).collect();
    said.map(cut).find_map(|text: String| auth::name(&text).ok()).unwrap_or_else(|| "Somebody".to_owned())
}
