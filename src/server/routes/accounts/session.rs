//! Sign-in, sign-out, and the caller's own account.

use axum::Json;
use axum::extract::State;
use http::Method;
use notarium_core::Scope;
use notarium_wire::rest::{
    self, BindBrowser, Me, MyWorkspace, OneTimeQuestion, OneTimeUse, PasswordChange, Profile, Resume, ResumeChallenge,
    ResumeRequest, SignIn,
};

use super::{AccountRoutes, Caller, ClientAddress, shapes};
use crate::auth::{ClientInfo, Proof, SignedIn};
use crate::http::extract::{Created, JsonBody, NoContent};
use crate::http::guard::{Guard, GuardedRouter};
use crate::http::problem::Problem;

pub fn routes(router: GuardedRouter<AccountRoutes>) -> GuardedRouter<AccountRoutes> {
    router
        .group("accounts", "/api")
        .says("Sign in.")
        .on(Guard::Public, Method::POST, "/session", sign_in)
        .says("What a one-time token is good for, and what its exchange needs. It stays good.")
        .on(Guard::Public, Method::POST, "/session/one-time", one_time_use)
        .says("A session of its own for a browser that was opened with a kept session, bound to the browser's key.")
        .on(Guard::User(Scope::Read), Method::POST, "/session/browser", bind_browser)
        .says("A link for one browser, which it opens once, within an hour, as with a one-time token. An earlier link is void.")
        .on(Guard::User(Scope::Read), Method::POST, "/session/link", make_link)
        .says("What a browser signs to open a page of the session that is bound to its key.")
        .on(Guard::Public, Method::POST, "/session/challenge", challenge)
        .says("A token for a page that has just opened: the browser proves the key that its session is bound to.")
        .on(Guard::Public, Method::POST, "/session/resume", resume)
        .says("Sign out: the token that is presented ends, and so do its connections.")
        .on(Guard::User(Scope::Read), Method::DELETE, "/session", sign_out)
        .says("Who the token's holder is, and what it allows.")
        .on(Guard::Authenticated, Method::GET, "/me", read_me)
        .says("Change your name and login.")
        .on(Guard::User(Scope::Manage), Method::PUT, "/me", change_me)
        .says("Change your password; your other sessions end.")
        .on(Guard::User(Scope::Manage), Method::PUT, "/me/password", change_password)
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
    rest::SignedIn { token: text.reveal(), session, expires_at, user: shapes::user(user) }
}

async fn bind_browser(
    Caller { shared, who }: Caller,
    JsonBody(BindBrowser { key, label }): JsonBody<BindBrowser>,
) -> Result<Created<Json<rest::SignedIn>>, Problem> {
    let client = ClientInfo { label: &label, key: Some(&key), ..ClientInfo::default() };
    Ok(Created(Json(told(shared.accounts.bind_browser(&who, client).await?))))
}

async fn make_link(Caller { shared, who }: Caller) -> Result<Created<Json<rest::OneTimeToken>>, Problem> {
    Ok(Created(Json(shapes::one_time(shared.accounts.browser_link(&who).await?))))
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
    let proof = Proof { session: &session, key: &key, challenge: &challenge, signature: &signature };
    Ok(Created(Json(told(shared.accounts.resume(proof).await?))))
}

fn profile_of(name: Option<String>, login: Option<String>) -> Result<Option<Profile>, Problem> {
    match (name, login) {
        (Some(name), Some(login)) => Ok(Some(Profile { name, login })),
        (None, None) => Ok(None),
        _ => Err(Problem::invalid("name and login go together")),
    }
}

async fn sign_out(Caller { shared, who }: Caller) -> Result<NoContent, Problem> {
    shared.accounts.sign_out(&who).await?;
    Ok(NoContent)
}

async fn read_me(Caller { shared, who }: Caller) -> Result<Json<Me>, Problem> {
    let user = match who.user_id() {
        Some(id) => shared.accounts.store().user(id).await?.map(shapes::user),
        None => None,
    };
    let workspaces = who.workspaces.into_iter().map(|(id, role)| MyWorkspace { id, role });
    Ok(Json(Me {
        actor: who.actor,
        name: who.name,
        kind: who.kind.as_str().to_owned(),
        token_id: who.token_id,
        scopes: who.scopes.into_iter().collect(),
        covers: shapes::covers(who.coverage),
        workspaces: workspaces.collect(),
        expires_at: who.expires_at,
        asks_again: who.asks_again,
        user,
    }))
}

async fn change_me(
    Caller { shared, who }: Caller,
    JsonBody(profile): JsonBody<Profile>,
) -> Result<Json<rest::User>, Problem> {
    Ok(Json(shapes::user(shared.accounts.change_profile(&who, &profile).await?)))
}

async fn change_password(
    Caller { shared, who }: Caller,
    ClientAddress(address): ClientAddress,
    JsonBody(change): JsonBody<PasswordChange>,
) -> Result<NoContent, Problem> {
    shared.accounts.change_password(&who, change.current, change.password, address).await?;
    Ok(NoContent)
}
