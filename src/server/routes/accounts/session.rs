//! Sign-in by password, token or OpenID Connect, sign-out, and the caller's own account with its identities.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use notarium_core::{Scope, UserId};
use notarium_wire::rest::{
    self, BindBrowser, Identity, IdentityBegin, Me, MyWorkspace, OidcBegin, OidcBegun, OidcFinish, OidcOption,
    OneTimeQuestion, OneTimeUse, PasswordChange, Profile, Resume, ResumeChallenge, ResumeRequest, SignIn,
    SignInOptions,
};

use super::{AccountCaller, AccountRoutes, ClientAddress};
use crate::auth::oidc::{Oidc, OidcError, Purpose, StartedSignIn};
use crate::auth::{AuthError, ClientInfo, KeyProof, ProvedIdentity, SignedIn, hash_of_key, signed_by};
use crate::http::extract::{Created, JsonBody, NoContent, Params};
use crate::http::guard::{Guard, GuardedRouter, route_table};
use crate::http::problem::Problem;
use crate::routes::accounts;

pub fn routes(router: GuardedRouter<AccountRoutes>) -> GuardedRouter<AccountRoutes> {
    let (read, manage) = (Guard::User(Scope::Read), Guard::User(Scope::Manage));
    route_table!(router; "accounts" "/api" {
        /// Sign in.
        POST "/session", Guard::Public => sign_in;
        /// The purpose of a one-time token, and what its exchange needs. The token stays valid.
        POST "/session/one-time", Guard::Public => one_time_use;
        /// A session of its own for a browser that was opened with a kept session, bound to the browser's key.
        POST "/session/browser", read => bind_browser;
        /// A link for one browser, which it opens once, within an hour, as with a one-time token. An earlier link is
        /// void.
        POST "/session/link", read => make_link;
        /// The text that a browser signs to open a page of the session that is bound to its key.
        POST "/session/challenge", Guard::Public => challenge;
        /// A token for a page that has just opened: the browser proves the key that its session is bound to.
        POST "/session/resume", Guard::Public => resume;
        /// Sign out: the token that is presented ends, and so do its connections.
        DELETE "/session", read => sign_out;
        /// The token's holder, and what the token allows.
        GET "/me", Guard::Authenticated => read_me;
        /// Change your name and login.
        PUT "/me", manage => change_me;
        /// Change your password; your other sessions end.
        PUT "/me/password", manage => change_password;
    } "accounts" "/api" {
        /// Ways to sign in to this server.
        GET "/session/options", Guard::Public => options;
        /// A browser begins to sign in with the provider: it is told where to go.
        POST "/session/oidc/begin", Guard::Public => begin;
        /// Sign in with what the provider sent the browser back with.
        POST "/session/oidc", Guard::Public => finish;
        /// The sign-ins with providers that are linked to your account.
        GET "/me/identities", read => list_own;
        /// You begin to link a sign-in with the provider to your account: a session does, with the password where there
        /// is one.
        POST "/me/identities/begin", manage => begin_link;
        /// Links the sign-in that the provider sent the browser back with.
        POST "/me/identities", read => finish_link;
        /// You do not sign in so any more, and the sessions that came by it end. The last way into an account stays.
        DELETE "/me/identities/{identity}", manage => unlink_own;
        /// The sign-ins with providers that are linked to an account.
        GET "/users/{user}/identities", Guard::Admin => list;
        /// The person does not sign in so any more, and the sessions that came by it end.
        DELETE "/users/{user}/identities/{identity}", Guard::Admin => unlink;
    })
}

async fn sign_in(
    State(shared): State<AccountRoutes>,
    ClientAddress(address): ClientAddress,
    JsonBody(request): JsonBody<SignIn>,
) -> Result<Created<Json<rest::SignedIn>>, Problem> {
    if request.fresh && request.token.is_some() {
        return Err(Problem::invalid("fresh goes with login and password, not with a one-time token"));
    }
    if request.fresh && request.key.is_some() {
        return Err(Problem::invalid("a fresh session is kept by nobody: it is bound to no key"));
    }
    let client = ClientInfo { address, label: &request.label, key: request.key.as_deref() };
    let signed_in = match (request.token, request.login, request.password) {
        (Some(token), login, password) => {
            let profile = profile_of(request.name, login)?;
            shared.accounts.exchange(&token, profile, password, client).await?
        }
        (None, Some(login), Some(password)) if request.fresh => {
            shared.accounts.sign_in_afresh(&login, password, client).await?
        }
        (None, Some(login), Some(password)) => shared.accounts.sign_in(&login, password, client).await?,
        _ => return Err(Problem::invalid("send login and password, or a one-time token")),
    };
    Ok(Created(Json(told(signed_in))))
}

async fn one_time_use(
    State(shared): State<AccountRoutes>,
    ClientAddress(address): ClientAddress,
    JsonBody(OneTimeQuestion { token }): JsonBody<OneTimeQuestion>,
) -> Result<Json<OneTimeUse>, Problem> {
    let found = shared.accounts.one_time_use(&token, address).await?;
    let (name, login) = found.user.map(|user| (user.name, user.login)).unzip();
    let (needs_login, needs_password) = (found.needs_login, found.needs_password);
    let kind = found.kind.as_str().to_owned();
    Ok(Json(OneTimeUse { kind, name, login: login.flatten(), needs_login, needs_password }))
}

pub fn told(SignedIn { text, token, user }: SignedIn) -> rest::SignedIn {
    let (session, expires_at) = (token.id, token.expires_at);
    rest::SignedIn { token: text.reveal(), session, expires_at, user: accounts::user(user) }
}

async fn bind_browser(
    AccountCaller { shared, who }: AccountCaller,
    JsonBody(BindBrowser { key, label }): JsonBody<BindBrowser>,
) -> Result<Created<Json<rest::SignedIn>>, Problem> {
    let client = ClientInfo { label: &label, key: Some(&key), ..ClientInfo::default() };
    Ok(Created(Json(told(shared.accounts.bind_browser(&who, client).await?))))
}

async fn make_link(AccountCaller { shared, who }: AccountCaller) -> Result<Created<Json<rest::OneTimeToken>>, Problem> {
    Ok(Created(Json(shared.one_time(&shared.accounts.browser_link(&who).await?))))
}

async fn challenge(
    State(shared): State<AccountRoutes>,
    JsonBody(request): JsonBody<ResumeRequest>,
) -> Json<ResumeChallenge> {
    Json(ResumeChallenge { challenge: shared.accounts.challenge(&request.session) })
}

async fn resume(
    State(shared): State<AccountRoutes>,
    JsonBody(Resume { session, key, challenge, signature }): JsonBody<Resume>,
) -> Result<Created<Json<rest::SignedIn>>, Problem> {
    let proof = KeyProof { session: &session, key: &key, challenge: &challenge, signature: &signature };
    Ok(Created(Json(told(shared.accounts.resume(proof).await?))))
}

fn profile_of(name: Option<String>, login: Option<String>) -> Result<Option<Profile>, Problem> {
    match (name, login) {
        (Some(name), Some(login)) => Ok(Some(Profile { name, login })),
        (None, None) => Ok(None),
        _ => Err(Problem::invalid("name and login go together")),
    }
}

async fn sign_out(AccountCaller { shared, who }: AccountCaller) -> Result<NoContent, Problem> {
    shared.accounts.sign_out(&who).await?;
    Ok(NoContent)
}

async fn read_me(AccountCaller { shared, who }: AccountCaller) -> Result<Json<Me>, Problem> {
    let user = match who.user_id() {
        Some(id) => shared.accounts.store().user(id).await?.map(accounts::user),
        None => None,
    };
    let workspaces = who.workspaces.into_iter().map(|(id, role)| MyWorkspace { id, role });
    Ok(Json(Me {
        actor: who.actor,
        name: who.name,
        kind: who.kind.as_str().to_owned(),
        token_id: who.token_id,
        scopes: who.scopes.into_iter().collect(),
        covers: accounts::covers(who.coverage),
        workspaces: workspaces.collect(),
        expires_at: who.expires_at,
        asks_again: who.asks_again,
        user,
    }))
}

async fn change_me(
    AccountCaller { shared, who }: AccountCaller,
    JsonBody(profile): JsonBody<Profile>,
) -> Result<Json<rest::User>, Problem> {
    Ok(Json(accounts::user(shared.accounts.change_profile(&who, &profile).await?)))
}

async fn change_password(
    AccountCaller { shared, who }: AccountCaller,
    ClientAddress(address): ClientAddress,
    JsonBody(change): JsonBody<PasswordChange>,
) -> Result<NoContent, Problem> {
    shared.accounts.change_password(&who, change.current, change.password, address).await?;
    Ok(NoContent)
}

// --- OpenID Connect ---

impl AccountRoutes {
    fn oidc(&self) -> Result<&Arc<Oidc>, Problem> {
        self.oidc.as_ref().ok_or_else(|| OidcError::Absent.into())
    }

    /// Finishes a sign-in for the browser whose key has signed state and code; returns the person.
    async fn proved(&self, finish: OidcFinish, purpose: &Purpose) -> Result<ProvedIdentity, Problem> {
        let OidcFinish { state, code, key, signature, label: _, fresh: _ } = finish;
        let signed = format!("notarium-oidc\n{state}\n{code}");
        let key_hash = signed_by(&key, &signed, &signature).map_err(|_| OidcError::Ended)?;
        Ok(self.oidc()?.finish(&state, code, key_hash, purpose).await?)
    }
}

fn shape(identity: notarium_store::accounts::Identity) -> Identity {
    let notarium_store::accounts::Identity { id, issuer, subject, email, created_at, user_id: _ } = identity;
    Identity { id, issuer, subject, email, created_at }
}

fn begun(StartedSignIn { url, state, expires_at }: StartedSignIn) -> Created<Json<OidcBegun>> {
    Created(Json(OidcBegun { url, state, expires_at }))
}

fn purpose(fresh: bool) -> Purpose {
    if fresh { Purpose::Afresh } else { Purpose::SignIn }
}

async fn options(State(shared): State<AccountRoutes>) -> Json<SignInOptions> {
    let option = |oidc: &Arc<Oidc>| OidcOption { name: oidc.name().to_owned(), origin: oidc.origin().to_owned() };
    Json(SignInOptions { oidc: shared.oidc.as_ref().map(option) })
}

async fn begin(
    State(shared): State<AccountRoutes>,
    ClientAddress(address): ClientAddress,
    JsonBody(OidcBegin { key, fresh }): JsonBody<OidcBegin>,
) -> Result<Created<Json<OidcBegun>>, Problem> {
    let oidc = shared.oidc()?;
    shared.accounts.count_attempt(address)?;
    Ok(begun(oidc.begin(hash_of_key(&key)?, purpose(fresh), address).await?))
}

async fn finish(
    State(shared): State<AccountRoutes>,
    ClientAddress(address): ClientAddress,
    JsonBody(finish): JsonBody<OidcFinish>,
) -> Result<Created<Json<rest::SignedIn>>, Problem> {
    let oidc = shared.oidc()?;
    shared.accounts.count_attempt(address)?;
    let (key, label, fresh) = (finish.key.clone(), finish.label.clone(), finish.fresh);
    let proved = shared.proved(finish, &purpose(fresh)).await?;
    if fresh {
        // A fresh session is not stored: the key only bound this sign-in.
        let client = ClientInfo { address, label: &label, key: None };
        let signed_in = shared.accounts.sign_in_afresh_with_identity(&proved, oidc.groups(), client).await?;
        return Ok(Created(Json(told(signed_in))));
    }
    let client = ClientInfo { address, label: &label, key: Some(&key) };
    if let Some(signed_in) = shared.accounts.sign_in_with_identity(&proved, oidc.groups(), client).await? {
        return Ok(Created(Json(told(signed_in))));
    }
    oidc.admission().check(&proved)?;
    Ok(Created(Json(told(shared.accounts.join_with_identity(&proved, oidc.groups(), client).await?))))
}

async fn list_own(AccountCaller { shared, who }: AccountCaller) -> Result<Json<Vec<Identity>>, Problem> {
    let user = who.user_id().ok_or(AuthError::Missing)?;
    list(State(shared), Params(user.clone())).await
}

async fn begin_link(
    AccountCaller { shared, who }: AccountCaller,
    ClientAddress(address): ClientAddress,
    JsonBody(IdentityBegin { key, current }): JsonBody<IdentityBegin>,
) -> Result<Created<Json<OidcBegun>>, Problem> {
    let oidc = shared.oidc()?;
    shared.accounts.count_attempt(address)?;
    let user = shared.accounts.check_may_link(&who, current, address).await?;
    Ok(begun(oidc.begin(hash_of_key(&key)?, Purpose::Link(user), address).await?))
}

async fn finish_link(
    AccountCaller { shared, who }: AccountCaller,
    JsonBody(finish): JsonBody<OidcFinish>,
) -> Result<Created<Json<Identity>>, Problem> {
    if finish.fresh {
        return Err(Problem::invalid("fresh goes with signing in, not with linking"));
    }
    let user = who.user_id().ok_or(AuthError::Missing)?;
    let proved = shared.proved(finish, &Purpose::Link(user.clone())).await?;
    Ok(Created(Json(shape(shared.accounts.link_identity(&who, &proved).await?))))
}

async fn unlink_own(
    AccountCaller { shared, who }: AccountCaller,
    Params(identity): Params<String>,
) -> Result<NoContent, Problem> {
    shared.accounts.unlink_own_identity(&who, &identity).await?;
    Ok(NoContent)
}

async fn list(
    State(shared): State<AccountRoutes>,
    Params(user): Params<UserId>,
) -> Result<Json<Vec<Identity>>, Problem> {
    Ok(Json(shared.accounts.identities_of(&user).await?.into_iter().map(shape).collect()))
}

async fn unlink(
    AccountCaller { shared, who }: AccountCaller,
    Params((user, identity)): Params<(UserId, String)>,
) -> Result<NoContent, Problem> {
    shared.accounts.unlink_identity(&who, &user, &identity).await?;
    Ok(NoContent)
}
